package finance_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"countersign.dev/internal/access"
	"countersign.dev/internal/database"
	"countersign.dev/internal/domain/finance"
	"countersign.dev/internal/fault"
	"countersign.dev/internal/testkit"
	"countersign.dev/internal/testkit/conformance"
	"countersign.dev/internal/testkit/dbtest"
	"countersign.dev/internal/testkit/domaintest"
)

// ofBob are the quarters of the budgets that Bob approved.
const ofBob = ` budget_id in (select id from finance.budgets where approved_by = 'bob@tamshai.local')`

// A caller who may only change rows sees what they change and what its card
// shows.
func TestPolicies(t *testing.T) {
	t.Parallel()
	p := collected(dataset(conformance.Company))
	tails, items := 0, 0
	for _, name := range p.vendors {
		distinct := map[string]bool{}
		for i := range name {
			distinct[strings.ToLower(name[i:])] = true
		}
		tails += len(distinct)
	}
	for _, r := range p.reports {
		items += len(r.Items)
	}
	own := fmt.Sprintf("0 0 0 0 0 0 2 %d", len(p.report("EXP-2026-007").Items)+len(p.report("EXP-2026-019").Items))
	reader := fmt.Sprintf("16 10 16 %d 24 96 %d %d", tails, len(p.reports), items)
	dbtest.Policies{
		Schema: schema, Name: finance.SchemaName, Email: "bob@tamshai.local", Otherwise: "0 0 0 0 0 0 0 0",
		Tables:  []string{"invoices", "departments", "vendors", "vendor_tails", "budgets", "budget_quarters", "expense_reports", "expense_items"},
		Sees:    map[string]string{"finance-read": reader, "executive": reader, "finance-write": "16 10 16 0 24 96 0 0", "employee": own},
		Writers: []string{"finance-write", "executive"},
		Writes: map[string]int64{
			`update finance.invoices set deleted_by = deleted_by`:                                16,
			`update finance.budgets set status = status where approved_by = 'bob@tamshai.local'`: 14,
			`update finance.budget_quarters set allocated_cents = allocated_cents where` + ofBob: 4 * 14,
		},
		Rights: "budget_quarters SELECT, budget_quarters.allocated_cents UPDATE, budgets SELECT, budgets.approval_notes UPDATE, budgets.approved_at UPDATE, " +
			"budgets.approved_by UPDATE, budgets.status UPDATE, caller_email(), caller_has(), confirmations INSERT, confirmations SELECT, departments SELECT, " +
			"expense_items SELECT, expense_reports SELECT, holds_money(), invoices SELECT, invoices.deleted_at UPDATE, invoices.deleted_by UPDATE, " +
			"link_caller(), linked_address(), reports_of(), vendor_tails SELECT, vendors SELECT",
		Refused: map[string]string{
			`update finance.budgets set status = 'approved', approved_by = submitted_by, approved_at = now() where department = 'FIN' and fiscal_year = 2026`:        "row-level security",
			`update finance.budgets set status = 'approved', approved_by = 'eve@tamshai.local', approved_at = now() where department = 'MKT' and fiscal_year = 2026`: "row-level security",
			`update finance.budget_quarters set allocated_cents = 1 where not` + ofBob:                                                                               "row-level security",
			`update finance.budgets set status = 'agreed' where approved_by = 'bob@tamshai.local'`:                                                                   "budgets_status_check",
			`update finance.budget_quarters set allocated_cents = -1 where` + ofBob:                                                                                  "budget_quarters_allocated_cents_check",
			`update finance.invoices set deleted_at = now(), deleted_by = 'x' where number = 'INV-2025-003'`:                                                         "invoices_check",
			`update finance.invoices set deleted_at = now(), deleted_by = null where number = 'INV-2025-009'`:                                                        "invoices_check",
		},
		Steps: func(h *domaintest.Harness) {
			bob := h.As("bob.martinez")
			h.Apply(bob, "approve_budget", args{"department": "Marketing", "fiscal_year": 2026, "amount": 1})
			h.Apply(bob, "delete_invoice", args{"invoice_id": p.id("INV-2025-009")})
		},
	}.Run(t, cluster)
}

// The store refuses an approval to whom it cannot tell apart from the submitter,
// when every check above it fails.
func TestStoreRefusesApprovalsOfUnprovenCallers(t *testing.T) {
	t.Parallel()
	db := dbtest.OpenLogin(t, schema.Filled(t, cluster, conformance.Company), finance.Login)
	for name, claims := range map[string]access.Claims{
		"an unverified address": {Subject: "s", Email: "bob@tamshai.local", Roles: []string{"finance-write"}},
		"no address":            {Subject: "s", Roles: []string{"executive"}},
	} {
		claims.Issuer = testkit.Issuer
		ctx := access.With(t.Context(), access.NewPrincipal(claims))
		for _, statement := range []string{
			`update finance.budgets set status = 'approved', approved_by = 'bob@tamshai.local', approved_at = now() where status = 'draft' and submitted_by <> 'bob@tamshai.local'`,
			`update finance.budgets set status = 'approved', approved_by = '', approved_at = now() where status = 'draft'`,
			`update finance.budget_quarters set allocated_cents = 1`,
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

// Constraints hold for the owner of the tables too, whom no policy binds: an
// approval by the submitter is rejected by both.
func TestConstraintsHoldWithoutPolicies(t *testing.T) {
	t.Parallel()
	url := schema.Filled(t, cluster, conformance.Company)
	for statement, constraint := range map[string]string{
		`update finance.budgets set status = 'approved', approved_by = submitted_by, approved_at = now() where submitted_by is not null`: "separation_of_duties",
		`update finance.budgets set approved_by = null`:             "budgets_check",
		`update finance.budget_quarters set spent_cents = -1`:       "budget_quarters_spent_cents_check",
		`update finance.invoices set deleted_by = 'x'`:              "invoices_check",
		`update finance.invoices set due_date = invoice_date - 1`:   "invoices_check",
		`update finance.expense_items set amount_cents = 0`:         "expense_items_amount_cents_check",
		`update finance.expense_reports set employee_email = 'A@B'`: "expense_reports_employee_email_check",
	} {
		err := database.Seed(t.Context(), url, func(ctx context.Context, s *database.Seeder) error { return s.Exec(ctx, statement) })
		if err == nil || !strings.Contains(err.Error()+cause(err), constraint) {
			t.Errorf("%s: got %v, want %s", statement, err, constraint)
		}
	}
}

// An address counts for the first subject that proved it, in the policies too.
func TestSecondSubjectOfAnAddressIsNoPerson(t *testing.T) {
	t.Parallel()
	db := dbtest.OpenLogin(t, schema.Filled(t, cluster, conformance.Company), finance.Login)
	as := func(subject string, roles ...string) context.Context {
		return access.With(t.Context(), access.NewPrincipal(access.Claims{Issuer: testkit.Issuer, Subject: subject, Email: "bob@tamshai.local", EmailVerified: true, Roles: roles}))
	}
	reports := func(ctx context.Context) int {
		n, _, err := database.Row[int](ctx, db, "select count(*)::int from finance.expense_reports")
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	if n := reports(as("first", "employee")); n != 2 {
		t.Fatalf("Bob sees %d reports, want his 2", n)
	}
	if n := reports(as("second", "employee")); n != 0 {
		t.Errorf("a second subject sees %d reports of the first", n)
	}
	err := db.Change(as("second", "finance-write"), func(ctx context.Context) error {
		_, err := database.Exec(ctx, db, `update finance.budgets set status = 'approved', approved_by = 'bob@tamshai.local', approved_at = now() where status = 'draft' and submitted_by <> 'bob@tamshai.local'`)
		return err
	})
	if !fault.Is(err, fault.DatabaseError) || !strings.Contains(cause(err), "row-level security") {
		t.Errorf("a second subject approves in the name of the first: %v", err)
	}
}

// cause is the server's own error.
func cause(err error) string {
	if inner := fault.From(err).Unwrap(); inner != nil {
		return inner.Error()
	}
	return ""
}
