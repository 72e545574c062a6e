package hr_test

import (
	"fmt"
	"testing"

	"countersign.dev/internal/access"
	"countersign.dev/internal/domain/hr"
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
		Writes:  map[string]int64{`update hr.employees set salary_cents = salary_cents`: 62},
		Denied: []string{
			`update hr.employees set email = 'x@y'`,
			`update hr.employees set lft = 1, rgt = 100000`,
			`update hr.employees set ssn = '900-00-0000'`,
			`update hr.performance_reviews set comments = ''`,
			`update hr.time_off_balances set used = 0`,
			`update hr.grade_levels set max_salary_cents = 1`,
			`select hr.renumber()`,
		},
		Steps: func(h *domaintest.Harness) {
			h.Apply(h.As("alice.chen"), "delete_employee", args{"employee_id": frank.ID})
		},
	}.Run(t, cluster)
}
