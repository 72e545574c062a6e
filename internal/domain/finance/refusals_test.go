package finance_test

import (
	"strings"
	"testing"

	"countersign.dev/internal/access"
	"countersign.dev/internal/testkit"
)

// A deletion by number is answered with the way to find the id.
func TestInvoiceNumberIsAnsweredWithTheWayToFindTheID(t *testing.T) {
	t.Parallel()
	h := open(t)
	f := h.Refused(h.As("bob.martinez"), "VALIDATION_ERROR", "delete_invoice", args{"invoice_id": "INV-2025-009"})
	if !strings.Contains(f.SuggestedAction, "Use list_invoices tool to find valid invoice IDs: with invoice_number") {
		t.Errorf("got %q", f.SuggestedAction)
	}
}

// A report that exists, but not in that month, is not said to be missing.
func TestMissingExpenseReportIsNamedByAllThatWasAsked(t *testing.T) {
	t.Parallel()
	h := open(t)
	const number, person = "EXP-2026-001", "00000000-0000-0000-0000-000000000000"
	for _, c := range []struct {
		in           args
		says, people string
	}{
		{args{"report_number": "EXP-2020-001"}, "There is no expense report EXP-2020-001.", "I find no expense report with that number among those that you can see."},
		{args{"report_number": number, "month": "2020-10"}, "There is no expense report EXP-2026-001 for 2020-10.", "I find no expense report with that number for that month among those that you can see."},
		{args{"report_number": number, "employee_id": person}, "There is no expense report EXP-2026-001 of employee " + person + ".", "I find no expense report with that number of that person among those that you can see."},
		{args{"employee_id": person, "month": "2026-10"}, "There is no expense report of employee " + person + " for 2026-10.", "I find no expense report of that person for that month among those that you can see."},
	} {
		f := h.Refused(h.As("bob.martinez"), "EXPENSE_REPORT_NOT_FOUND", "get_expense_report", c.in)
		if f.Message != c.says || f.People.Message != c.people {
			t.Errorf("%v: %q, %q to people; want %q, %q", c.in, f.Message, f.People.Message, c.says, c.people)
		}
	}
}

// A caller whose address is not verified could be the submitter.
func TestUnverifiedAddressApprovesNothing(t *testing.T) {
	t.Parallel()
	h := open(t)
	ctx := access.With(t.Context(), access.NewPrincipal(access.Claims{
		Issuer: testkit.Issuer, Subject: "s", Username: "lisa", Email: "lisa.anderson@tamshai.local", Roles: []string{"finance-write"},
	}))
	f := h.Refused(ctx, "IDENTITY_UNPROVEN", "approve_budget", args{"department": "Marketing"})
	if !strings.Contains(f.SuggestedAction, "trust_email") {
		t.Errorf("got %q", f.SuggestedAction)
	}
}
