package hr_test

import (
	"testing"

	"countersign.dev/internal/database"
	"countersign.dev/internal/testkit/housetest"
)

// What finds parts of names looks past the policies, so it must keep to the
// caller's scope itself, and say nothing rather than too little.
func TestNamesAreLookedUpWithinTheCallersScope(t *testing.T) {
	h := openCrowd(t)
	const howMany = `select coalesce(cardinality(hr.named($1)), -1)`
	for _, c := range []struct {
		who, role, part string
		want            int
	}{
		{"x@y", "hr-read", "zane zhang", 8},
		{"x@y", "hr-read", "nobody is called that", 0},
		{"x@y", "hr-read", "z", -1}, // too short to look up
		{"x@y", "hr-read", "a", -1},
		{"person000111@tamshai.local", "manager", "tara", 1}, // of 57
		{"person000111@tamshai.local", "employee", "tara", 0},
		{"x@y", "auditor", "quinn", 0},
	} {
		got, _, err := database.Row[int](housetest.SignedIn(t.Context(), c.who, c.role), h.DB, howMany, c.part)
		if err != nil || got != c.want {
			t.Errorf("%s as %s finds %d of %q (%v), want %d", c.who, c.role, got, c.part, err, c.want)
		}
	}
}
