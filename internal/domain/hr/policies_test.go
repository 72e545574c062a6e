package hr_test

import (
	"context"
	"fmt"
	"testing"

	"countersign.dev/internal/access"
	"countersign.dev/internal/database"
	"countersign.dev/internal/domain/hr"
	"countersign.dev/internal/fault"
	"countersign.dev/internal/testkit"
	"countersign.dev/internal/testkit/conformance"
	"countersign.dev/internal/testkit/dbtest"
	"countersign.dev/internal/testkit/domaintest"
)

// Terminated people are rows too: the tools hide them, the policies do not.
// Nina has nine reports, one of them terminated, and ten reviews below her.
func TestPolicies(t *testing.T) {
	t.Parallel()
	c := dataset(conformance.Company)
	frank, _ := c.ByNumber("EMP061")
	all, everyone := fmt.Sprintf("62 %d 354 10 9 7", len(c.Reviews)), "62 0 354 10 9 7"
	member := func(email string, roles ...string) access.Claims {
		return access.Claims{Subject: "s", Email: email, EmailVerified: true, Roles: roles}
	}
	dbtest.Policies{
		Schema: schema, Name: hr.SchemaName, Email: "nina.p@tamshai.local", Otherwise: "0 0 0 10 9 7",
		Tables: []string{"employees", "performance_reviews", "time_off_balances", "departments", "grade_levels", "time_off_types"},
		Sees: map[string]string{
			"employee": "1 0 6 10 9 7", "manager": "11 10 60 10 9 7", "executive": all, "hr-read": everyone, "hr-write": all,
		},
		Callers: map[string]access.Claims{
			"an unverified address":       {Subject: "s", Email: "nina.p@tamshai.local", Roles: []string{"employee", "manager"}},
			"an address of no employee":   member("test-user.journey@tamshai.local", "employee", "manager"),
			"the address of one who left": member("victor.reyes@tamshai.local", "employee", "manager", "hr-read"),
		},
		Writers: []string{"hr-write", "executive"},
		Writes:  map[string]int64{`update hr.employees set salary_cents = salary_cents where email <> 'nina.p@tamshai.local'`: 61},
		Refused: map[string]string{
			`update hr.employees set salary_cents = 1 where email = 'nina.p@tamshai.local'`:                             "row-level security",
			`update hr.employees set status = 'TERMINATED', terminated_at = now() where email = 'nina.p@tamshai.local'`: "row-level security",
			`update hr.employees set status = 'TERMINATED' where employee_number = 'EMP061'`:                            "employees_check",
			`update hr.employees set salary_cents = 1000000001 where employee_number = 'EMP061'`:                        "employees_salary_cents_check",
		},
		Rights: "below(), caller_email(), caller_has(), confirmations INSERT, confirmations SELECT, departments SELECT, employees SELECT, " +
			"employees.salary_cents UPDATE, employees.status UPDATE, employees.terminated_at UPDATE, employees.terminated_by UPDATE, employees.updated_at UPDATE, " +
			"ended(), grade_levels SELECT, holds_people(), link_caller(), linked_address(), name_of(), named(), performance_reviews SELECT, scope(), team(), " +
			"time_off_balances SELECT, time_off_types SELECT",
		Steps: func(h *domaintest.Harness) {
			h.Apply(h.As("alice.chen"), "delete_employee", args{"employee_id": frank.ID})
		},
	}.Run(t, cluster)
}

// The store refuses changes to whom it cannot tell apart from the person that
// they are about, when every check above it fails.
func TestStoreRefusesChangesOfUnprovenCallers(t *testing.T) {
	t.Parallel()
	db := dbtest.OpenLogin(t, schema.Filled(t, cluster, conformance.Company), hr.Login)
	for name, claims := range map[string]access.Claims{
		"an unverified address": {Subject: "s", Email: "alice@tamshai.local", Roles: []string{"hr-write"}},
		"no address":            {Subject: "s", Roles: []string{"executive"}},
	} {
		claims.Issuer = testkit.Issuer
		ctx := access.With(t.Context(), access.NewPrincipal(claims))
		for _, statement := range []string{
			`update hr.employees set salary_cents = 1`,
			`update hr.employees set status = 'TERMINATED', terminated_at = now() where status = 'ACTIVE'`,
		} {
			err := db.Change(ctx, func(ctx context.Context) error {
				_, err := database.Exec(ctx, db, statement)
				return err
			})
			if !fault.Is(err, fault.DatabaseError) {
				t.Errorf("%s, %s: got %v", name, statement, err)
			}
		}
	}
}

// A manager whose employment ended reads no reviews, also where people are still below them.
func TestEndedManagerReadsNoReviews(t *testing.T) {
	t.Parallel()
	h := open(t)
	nina := domaintest.SignedIn(t.Context(), "nina.p@tamshai.local", "manager")
	for _, c := range []struct {
		change string
		want   int
	}{{`select 1`, 10}, {`update hr.employees set status = 'TERMINATED', terminated_at = now() where email = 'nina.p@tamshai.local'`, 0}} {
		h.Admin(c.change)
		if n, _, err := database.Row[int](nina, h.DB, `select count(*)::int from hr.performance_reviews`); err != nil || n != c.want {
			t.Errorf("after %s: reads %d (%v), want %d", c.change, n, err, c.want)
		}
	}
}
