package conversation

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"countersign.dev/internal/fault"
)

func TestOwnCodesAreListed(t *testing.T) {
	names := make(map[string]bool)
	for _, c := range Codes() {
		names[c.Name] = c.Meaning != "" && c.Suggest != "" && c.Status == 404
	}
	if diff := cmp.Diff(map[string]bool{"CONVERSATION_NOT_FOUND": true, "EVENTS_GONE": true}, names); diff != "" {
		t.Errorf("codes (-want +got):\n%s", diff)
	}
	for _, c := range fault.Shared() {
		if names[c.Name] {
			t.Errorf("%s is declared twice", c.Name)
		}
	}
}
