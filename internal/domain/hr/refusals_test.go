package hr_test

import (
	"strings"
	"testing"

	"countersign.dev/internal/access"
	"countersign.dev/internal/testkit"
	"countersign.dev/internal/testkit/domaintest"
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

// Who works here without a record, a contractor, has no balance of their own.
func TestThereIsNoBalanceWithoutARecord(t *testing.T) {
	t.Parallel()
	h := open(t)
	contractor := domaintest.SignedIn(t.Context(), "contractor@tamshai.local", "employee")
	if f := h.Refused(contractor, "EMPLOYEE_NOT_FOUND", "get_time_off_balance", nil); f.Message != "There is no employee record for you." {
		t.Errorf("got %q", f.Message)
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

// A caller whose address is not verified could be the person whose salary it is.
func TestUnverifiedWriterChangesNoSalaryAndDeletesNoOne(t *testing.T) {
	t.Parallel()
	h := open(t)
	alice := access.With(t.Context(), access.NewPrincipal(access.Claims{
		Issuer: testkit.Issuer, Subject: "s", Username: "alice", Email: "alice@tamshai.local", Roles: []string{"hr-write"}, MayConfirm: true,
	}))
	for _, number := range []string{"EMP010", "EMP052"} { // herself, and someone else
		f := h.Refused(alice, "IDENTITY_UNPROVEN", "update_salary", args{"employee_id": h.id(number), "new_salary": 990_000})
		if !strings.Contains(f.SuggestedAction, "trust_email") {
			t.Errorf("got %q", f.SuggestedAction)
		}
		h.Refused(alice, "IDENTITY_UNPROVEN", "delete_employee", args{"employee_id": h.id(number)})
	}
}

// A refusal says what was refused, who may, who sees the hidden values, and what
// the person can see instead; a wrong id has a sentence for people.
func TestRefusalsAreForPeople(t *testing.T) {
	t.Parallel()
	h := open(t)
	f := h.Refused(h.As("frank.davis"), "INSUFFICIENT_PERMISSIONS", "list_employees", nil)
	want := "You do not have permission to list employees: that needs the role hr-read, manager or executive. " +
		"Phone is shown to hr-read, hr-write, executive or managers above the person. " +
		"Salary and SSN are shown to hr-write, executive or finance-read for rows that they may see."
	if f.Message != want {
		t.Errorf("got %q\nwant %q", f.Message, want)
	}
	if want := "You can see your own employee record, with your own salary."; !strings.HasSuffix(f.SuggestedAction, want) {
		t.Errorf("got %q, want it to end in %q", f.SuggestedAction, want)
	}
	for name, want := range map[string]string{
		"get_performance_reviews": "You do not have permission to see performance reviews: that needs the role hr-write, manager or executive. Comments are shown to hr-write, executive or managers above the person.",
		"update_salary":           "You do not have permission to update a salary: that needs the role hr-write or executive.",
	} {
		if f := h.Refused(h.As("frank.davis"), "INSUFFICIENT_PERMISSIONS", name, args{"employee_id": "7c5dbb3e-5f3a-4b11-b0a1-4ed51e2c7e77", "new_salary": 1}); f.Message != want {
			t.Errorf("%s: got %q, want %q", name, f.Message, want)
		}
	}
	f = h.Refused(h.As("alice.chen"), "VALIDATION_ERROR", "get_employee", args{"employee_id": "ABC123"})
	if f.Message != "I find no employee with that id." || !strings.Contains(f.SuggestedAction, "Use list_employees tool") {
		t.Errorf("got %q, %q", f.Message, f.SuggestedAction)
	}
}
