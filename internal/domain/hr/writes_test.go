package hr_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"countersign.dev/internal/company"
	"countersign.dev/internal/database"
	"countersign.dev/internal/testkit/domaintest"
)

func TestDeletionIsSoftAndRecordsWhoDeleted(t *testing.T) {
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

// The fixture has the same tree numbers that the store would compute, so that no
// row is written twice.
func TestSeededTreeIsNumberedAsTheStoreNumbersIt(t *testing.T) {
	t.Parallel()
	h := openScaled(t)
	before := h.digest()
	h.Admin(`update hr.employees set lft = 0, rgt = 0, depth = 0`)
	h.Admin(`select hr.renumber()`)
	if h.digest() != before {
		t.Error("the store numbers the tree differently")
	}
}
