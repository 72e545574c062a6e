package hr_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"countersign.dev/internal/company"
	"countersign.dev/internal/database"
	"countersign.dev/internal/domain/hr"
	"countersign.dev/internal/testkit/domaintest"
)

func hrMigrate(t *testing.T, adminURL string) error {
	_, err := hr.Migrate(t.Context(), adminURL, "")
	return err
}

// fingerprint is a digest of every row of the schema.
func fingerprint(h *house) string {
	h.Helper()
	const everything = `select md5(concat(
		(select string_agg(t::text, '|' order by t.id) from hr.employees t),
		(select string_agg(t::text, '|' order by t.id) from hr.departments t),
		(select string_agg(t::text, '|' order by t.id) from hr.performance_reviews t),
		(select string_agg(t::text, '|' order by t.employee_id, t.fiscal_year, t.type_code) from hr.time_off_balances t)))`
	sum, _, err := database.Row[string](domaintest.SignedIn(h.Context(), "x@y", "hr-write"), h.DB, everything)
	if err != nil {
		h.Fatal(err)
	}
	return sum
}

// The founding scenario: delete employee Frank Davis.
func TestDeletingFrank(t *testing.T) {
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

func TestExecutiveMayWrite(t *testing.T) {
	h := open(t)
	eve := h.As("eve.thompson")
	p := h.Pending(eve, "update_salary", args{"employee_id": h.id("EMP052"), "new_salary": 146_000, "effective_date": "2026-03-31"})
	domaintest.Decode[map[string]any](h, h.Answer(eve, p.ID, true))
	p = h.Pending(eve, "delete_employee", args{"employee_id": h.id("EMP052")})
	domaintest.Decode[map[string]any](h, h.Answer(eve, p.ID, true))
}

func TestStalePreviewsChangeNothing(t *testing.T) {
	for name, c := range map[string]struct {
		tool   string
		in     args
		behind string
		code   string
	}{
		"salary changed": {"update_salary", args{"new_salary": 99}, `update hr.employees set salary_cents = salary_cents + 1 where id = $1`, "CONFIRMATION_STALE"},
		"name changed":   {"delete_employee", args{}, `update hr.employees set last_name = 'Dawson' where id = $1`, "CONFIRMATION_STALE"},
		"grade changed":  {"update_salary", args{"new_salary": 99}, `update hr.employees set grade = 'L2' where id = $1`, "CONFIRMATION_STALE"},
		"was terminated": {"update_salary", args{"new_salary": 99}, `update hr.employees set status = 'TERMINATED', terminated_at = now() where id = $1`, "EMPLOYEE_NOT_FOUND"},
		"got a report":   {"delete_employee", args{}, `update hr.employees set manager_id = $1 where employee_number = 'EMP062'`, "EMPLOYEE_HAS_REPORTS"},
	} {
		t.Run(name, func(t *testing.T) {
			h := open(t)
			alice := h.As("alice.chen")
			c.in["employee_id"] = h.id("EMP061")
			p := h.Pending(alice, c.tool, c.in)
			h.Admin(c.behind, h.id("EMP061"))
			before := fingerprint(h)
			o := h.Answer(alice, p.ID, true)
			if o.Fault() == nil || o.Fault().Code.Name != c.code {
				t.Errorf("got %s, want %s", o.Code(), c.code)
			}
			if fingerprint(h) != before {
				t.Error("something was changed")
			}
		})
	}
}

func TestStrangerCannotApprove(t *testing.T) {
	h := open(t)
	p := h.Pending(h.As("alice.chen"), "delete_employee", args{"employee_id": h.id("EMP061")})
	o := h.Answer(h.As("eve.thompson"), p.ID, true)
	if o.Fault() == nil {
		t.Fatal("Eve approved Alice's deletion")
	}
	domaintest.Decode[map[string]any](h, h.Answer(h.As("alice.chen"), p.ID, true)) // and it was not consumed
}

// Whoever approves how often and at whatever moment: one change, one receipt.
func TestManyApprovalsChangeOnce(t *testing.T) {
	h := open(t)
	alice := h.As("alice.chen")
	p := h.Pending(alice, "update_salary", args{"employee_id": h.id("EMP052"), "new_salary": 150_000})
	receipts := make([]string, 16)
	var wg sync.WaitGroup
	for i := range receipts {
		wg.Go(func() { receipts[i] = string(h.Encode(h.Answer(alice, p.ID, true))) })
	}
	wg.Wait()
	last := string(h.Encode(h.Answer(alice, p.ID, true)))
	for _, r := range receipts {
		if r != last && !strings.Contains(r, "CONFIRMATION_IN_PROGRESS") {
			t.Errorf("got %s, want %s", r, last)
		}
	}
	kept, _, err := database.Row[int](alice, h.DB, `select count(*) from confirmations`)
	if err != nil || kept != 1 {
		t.Errorf("%d receipts are kept (%v), want 1", kept, err)
	}
}

// Redis may forget an approved confirmation; the receipt beside the change does
// not, and it forbids a second effect.
func TestReceiptOutlivesTheDesk(t *testing.T) {
	h := open(t)
	alice := h.As("alice.chen")
	p := h.Pending(alice, "delete_employee", args{"employee_id": h.id("EMP061")})
	first := string(h.Encode(h.Answer(alice, p.ID, true)))
	another := furnish(t, h.AdminURL, h.company) // a new desk that knows nothing
	if again := string(another.Encode(another.Answer(alice, p.ID, true))); again != first {
		t.Errorf("got %s, want %s", again, first)
	}
}

func TestRenumberRefusesACircle(t *testing.T) {
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
	h := openCrowd(t)
	before := fingerprint(h)
	h.Admin(`update hr.employees set lft = 0, rgt = 0, depth = 0`)
	h.Admin(`select hr.renumber()`)
	if fingerprint(h) != before {
		t.Error("the store numbers the tree differently")
	}
}
