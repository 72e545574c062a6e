package hr_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"countersign.dev/internal/company"
	"countersign.dev/internal/database"
	"countersign.dev/internal/testkit/domaintest"
)

// The founding scenario: delete employee Frank Davis.
func TestDeletingFrank(t *testing.T) {
	t.Parallel()
	h := open(t)
	alice := h.As("alice.chen")
	p := h.Pending(alice, "delete_employee", args{"employee_id": h.id("EMP061"), "reason": "internship over"})
	want := "Delete employee Frank Davis (frank@tamshai.local)?\n\nThis action will permanently delete the employee record and cannot be undone.\n\n" +
		"Department: Information Technology\nEmployee ID: " + h.id("EMP061")
	if p.Message != want {
		t.Errorf("got %q", p.Message)
	}
	delete(p.Data, "timestamp")
	delete(p.Data, "expiresAt")
	card := map[string]any{
		"action": "delete_employee", "mcpServer": "hr", "userId": "sub-alice@tamshai.local",
		"employeeId": h.id("EMP061"), "employeeName": "Frank Davis", "employeeEmail": "frank@tamshai.local",
		"department": "Information Technology", "jobTitle": "IT Intern", "reason": "internship over",
	}
	if diff := cmp.Diff(card, p.Data); diff != "" {
		t.Errorf("card (-want +got):\n%s", diff)
	}
	domaintest.Get[employee](h, alice, "get_employee", args{"employee_id": h.id("EMP061")}) // nothing happened yet

	done := domaintest.Decode[map[string]any](h, h.Answer(alice, p.ID, true))
	outcome := map[string]any{"deleted": true, "employeeId": h.id("EMP061"), "employeeName": "Frank Davis", "message": "Employee Frank Davis has been deleted."}
	if diff := cmp.Diff(outcome, done); diff != "" {
		t.Errorf("outcome (-want +got):\n%s", diff)
	}
	h.Refused(alice, "EMPLOYEE_NOT_FOUND", "get_employee", args{"employee_id": h.id("EMP061")})
	h.Refused(alice, "EMPLOYEE_NOT_FOUND", "delete_employee", args{"employee_id": h.id("EMP061")})
	if people := domaintest.Get[[]employee](h, alice, "list_employees", args{"name": "Frank"}); len(people) != 0 {
		t.Errorf("still listed: %v", names(people))
	}
}

func TestDeletionIsSoftAndSigned(t *testing.T) {
	t.Parallel()
	h := open(t)
	h.Apply(h.As("alice.chen"), "delete_employee", args{"employee_id": h.id("EMP061")})
	const left = `select status || ' by ' || terminated_by from hr.employees where id = $1`
	got, _, err := database.Row[string](domaintest.SignedIn(t.Context(), "x@y", "hr-read"), h.DB, left, h.id("EMP061"))
	if err != nil || got != "TERMINATED by alice@tamshai.local" {
		t.Errorf("got %q, %v", got, err)
	}
	frank := h.As("frank.davis")
	h.Refused(frank, "EMPLOYEE_NOT_FOUND", "get_employee", args{"employee_id": h.id("EMP061")})
	h.Refused(frank, "EMPLOYEE_NOT_FOUND", "get_time_off_balance", nil)
}

// The founding scenario: set Sarah's salary to $120,000.
func TestSalaryCardTellsTheWholeChange(t *testing.T) {
	t.Parallel()
	h := open(t)
	p := h.Pending(h.As("alice.chen"), "update_salary", args{"employee_id": h.id("EMP003"), "new_salary": 120_000})
	want := "Change the annual salary of Sarah Kim (sarah.kim@tamshai.local) from $395,000 to $120,000 (-69.6 %)?\n" +
		"It applies at once; only another salary change can undo it.\n" +
		"Warning: $120,000 is outside the range of grade L9 ($350,000 to $600,000)."
	if p.Message != want {
		t.Errorf("got %q", p.Message)
	}
	for field, value := range map[string]any{
		"currentSalary": 395_000.0, "newSalary": 120_000.0, "change": -275_000.0, "changePercent": -69.6, "effectiveDate": "2026-03-31",
		"employeeName": "Sarah Kim", "gradeRange": "$350,000 to $600,000 (L9)",
	} {
		if diff := cmp.Diff(value, p.Data[field]); diff != "" {
			t.Errorf("%s (-want +got):\n%s", field, diff)
		}
	}
}

func TestSalaryChangesOnlyWhenApproved(t *testing.T) {
	t.Parallel()
	h := open(t)
	alice := h.As("alice.chen")
	salary := func() any {
		return domaintest.Get[employee](h, alice, "get_employee", args{"employee_id": h.id("EMP052")}).Salary
	}
	p := h.Pending(alice, "update_salary", args{"employee_id": h.id("EMP052"), "new_salary": 150_000.50})
	if strings.Contains(p.Message, "Warning") || salary() != 145_000.0 {
		t.Errorf("before: %v, %q", salary(), p.Message)
	}
	done := domaintest.Decode[map[string]any](h, h.Answer(alice, p.ID, true))
	if done["message"] != "The annual salary of Marcus Johnson is now $150,000.50." || done["oldSalary"] != 145_000.0 || salary() != 150_000.50 {
		t.Errorf("after: %v, %v", done, salary())
	}
	denied := h.Pending(alice, "update_salary", args{"employee_id": h.id("EMP052"), "new_salary": 1})
	h.Answer(alice, denied.ID, false)
	if salary() != 150_000.50 {
		t.Errorf("after a denial: %v", salary())
	}
}

func TestRenumberRefusesACircle(t *testing.T) {
	t.Parallel()
	h := open(t)
	err := database.Seed(t.Context(), h.AdminURL, func(ctx context.Context, s *database.Seeder) error {
		eve, _ := h.company.ByNumber("EMP001")
		marcus, _ := h.company.ByNumber("EMP052")
		return errors.Join(
			s.Exec(ctx, `update hr.employees set manager_id = $2 where id = $1`, eve.ID, marcus.ID),
			s.Exec(ctx, `select hr.renumber()`))
	})
	if err == nil || !strings.Contains(err.Error(), "their own manager") {
		t.Errorf("got %v", err)
	}
}

func TestManagerSeesAPersonWhoMovedToThem(t *testing.T) {
	t.Parallel()
	h := open(t)
	move := func(e company.Employee, to string) {
		h.Admin(`update hr.employees set manager_id = $2 where id = $1`, e.ID, to)
		h.Admin(`select hr.renumber()`)
	}
	frank, _ := h.company.ByNumber("EMP061")
	move(frank, h.id("EMP052"))
	got := names(domaintest.Get[[]employee](h, h.As("nina.patel"), "list_employees", args{"name": "Frank"}))
	if !slices.Equal(got, []string{"Frank Davis"}) {
		t.Errorf("Nina sees %v", got)
	}
}

// The fixture comes with its tree numbers; what the store would give is the
// same, so that nothing is written twice.
func TestSeededTreeIsNumberedAsTheStoreNumbersIt(t *testing.T) {
	t.Parallel()
	h := openCrowd(t)
	before := h.digest()
	h.Admin(`update hr.employees set lft = 0, rgt = 0, depth = 0`)
	h.Admin(`select hr.renumber()`)
	if h.digest() != before {
		t.Error("the store numbers the tree differently")
	}
}
