package hr_test

import (
	"strings"
	"testing"
)

// The founding scenario "show me employee ABC123" ends with what helps.
func TestIdThatIsNoUUIDIsAnsweredWithTheWayToFindOne(t *testing.T) {
	t.Parallel()
	h := open(t)
	f := h.Refused(h.As("alice.chen"), "VALIDATION_ERROR", "get_employee", args{"employee_id": "ABC123"})
	if !strings.Contains(f.SuggestedAction, "Use list_employees tool to find valid employee IDs") {
		t.Errorf("got %q", f.SuggestedAction)
	}
}

func TestHasReportsNamesTheNumberAndTheWayOut(t *testing.T) {
	t.Parallel()
	h := open(t)
	f := h.Refused(h.As("alice.chen"), "EMPLOYEE_HAS_REPORTS", "delete_employee", args{"employee_id": h.id("EMP071")})
	if f.Message != "Steven Harris cannot be deleted: they have 4 active direct reports." || !strings.Contains(f.SuggestedAction, "another manager") {
		t.Errorf("got %q, %q", f.Message, f.SuggestedAction)
	}
}

// Nina's tenth report is terminated: only nine count.
func TestTerminatedReportsDoNotCount(t *testing.T) {
	t.Parallel()
	h := open(t)
	f := h.Refused(h.As("alice.chen"), "EMPLOYEE_HAS_REPORTS", "delete_employee", args{"employee_id": h.id("EMP051")})
	if f.Details["directReports"] != 9 {
		t.Errorf("got %v", f.Details)
	}
}
