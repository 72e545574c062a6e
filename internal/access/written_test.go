package access_test

import (
	"slices"
	"testing"

	"countersign.dev/internal/access"
)

func TestWrittenRolesAreReadAsTheyWere(t *testing.T) {
	for _, roles := range [][]string{nil, {"employee"}, {"auditor", "executive assistant", "hr-read"}, {"a b", "c d"}} {
		if got := access.ReadRoles(access.WriteRoles(roles)); !slices.Equal(got, roles) {
			t.Errorf("%q: got %q", roles, got)
		}
	}
	if got := access.ReadRoles("employee manag…"); got != nil {
		t.Errorf("of a text that was cut: got %q", got)
	}
}
