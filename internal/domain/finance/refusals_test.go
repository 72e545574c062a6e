package finance_test

import (
	"slices"
	"strings"
	"testing"

	"countersign.dev/internal/access"
	"countersign.dev/internal/fault"
	"countersign.dev/internal/result"
	"countersign.dev/internal/testkit"
)

const unknown = "00000000-1111-2222-3333-444444444444"

func TestRefusals(t *testing.T) {
	h := open(t)
	h.Apply(h.As("bob.martinez"), "delete_invoice", args{"invoice_id": h.id("INV-2025-011")})
	marcus, _ := h.papers.company.ByNumber("EMP052")
	seen := map[string]bool{}
	for _, c := range []struct {
		code, who, tool string
		in              args
	}{
		{"BUDGET_NOT_FOUND", "bob.martinez", "get_budget", args{"department": "Astrology"}},
		{"BUDGET_NOT_FOUND", "bob.martinez", "get_budget", args{"department": ""}},
		{"BUDGET_NOT_FOUND", "bob.martinez", "get_budget", args{"department": "Support", "year": 2025}},
		{"BUDGET_NOT_FOUND", "bob.martinez", "get_budget", args{"department": "Marketing", "year": 2099}},
		{"BUDGET_NOT_FOUND", "bob.martinez", "approve_budget", args{"department": "Astrology"}},
		{"BUDGET_NOT_FOUND", "bob.martinez", "approve_budget", args{"department": "Marketing", "fiscal_year": 2030}},
		{"BUDGET_NOT_FOUND", "bob.martinez", "approve_budget", args{"department": "Marketing", "fiscal_year": 2024}}, // a draft that nobody submitted
		{"BUDGET_ALREADY_APPROVED", "bob.martinez", "approve_budget", args{"department": "Legal"}},
		{"BUDGET_ALREADY_APPROVED", "bob.martinez", "approve_budget", args{"department": "ENG"}}, // active
		{"BUDGET_ALREADY_APPROVED", "bob.martinez", "approve_budget", args{"department": "Marketing", "fiscal_year": 2025}},
		{"SEPARATION_OF_DUTIES", "bob.martinez", "approve_budget", args{"department": "Finance"}},
		{"INVALID_INPUT", "bob.martinez", "approve_budget", args{"department": "Marketing", "amount": 1.005}},
		{"INVALID_INPUT", "bob.martinez", "approve_budget", args{"department": "Marketing", "amount": 1e300}},
		{"INVALID_INPUT", "bob.martinez", "list_invoices", args{"min_amount": 2, "max_amount": 1}},
		{"INVALID_INPUT", "bob.martinez", "get_expense_report", nil},
		{"INVALID_INPUT", "bob.martinez", "get_expense_report", args{"employee_id": marcus.ID}},
		{"INVALID_INPUT", "bob.martinez", "get_expense_report", args{"month": "2026-10"}},
		{"INVOICE_NOT_FOUND", "bob.martinez", "delete_invoice", args{"invoice_id": unknown}},
		{"INVOICE_NOT_FOUND", "bob.martinez", "delete_invoice", args{"invoice_id": h.id("INV-2025-011")}}, // deleted
		{"INVOICE_NOT_DELETABLE", "bob.martinez", "delete_invoice", args{"invoice_id": h.id("INV-2025-003")}},
		{"INVOICE_NOT_DELETABLE", "eve.thompson", "delete_invoice", args{"invoice_id": h.id("INV-2025-001")}},
		{"EXPENSE_REPORT_NOT_FOUND", "bob.martinez", "get_expense_report", args{"report_number": "EXP-2026-999"}},
		{"EXPENSE_REPORT_NOT_FOUND", "bob.martinez", "get_expense_report", args{"employee_id": marcus.ID, "month": "2020-01"}},
		{"EXPENSE_REPORT_NOT_FOUND", "bob.martinez", "get_expense_report", args{"employee_id": marcus.ID, "month": "2026-10", "report_number": "EXP-2026-001"}}, // Nina's
		{"INSUFFICIENT_PERMISSIONS", "frank.davis", "list_invoices", nil},
		{"INSUFFICIENT_PERMISSIONS", "alice.chen", "list_budgets", nil},
		{"INSUFFICIENT_PERMISSIONS", "auditor.demo", "get_expense_report", args{"report_number": "EXP-2026-001"}},
		{"VALIDATION_ERROR", "bob.martinez", "delete_invoice", args{"invoice_id": "INV-2025-009"}},
		{"VALIDATION_ERROR", "bob.martinez", "delete_invoice", args{"invoice_id": h.id("INV-2025-009"), "reason": strings.Repeat("x", 501)}},
		{"VALIDATION_ERROR", "bob.martinez", "approve_budget", args{"amount": 1}},
		{"VALIDATION_ERROR", "bob.martinez", "approve_budget", args{"department": "Marketing", "amount": -1}},
		{"VALIDATION_ERROR", "bob.martinez", "get_budget", args{"department": "Marketing", "year": 1999}},
		{"VALIDATION_ERROR", "bob.martinez", "list_budgets", args{"quarter": "Q5"}},
		{"VALIDATION_ERROR", "bob.martinez", "list_invoices", args{"status": "cancelled"}},
		{"VALIDATION_ERROR", "bob.martinez", "list_invoices", args{"due_before": "2026-02-30"}},
		{"VALIDATION_ERROR", "bob.martinez", "list_invoices", args{"limit": 51}},
		{"VALIDATION_ERROR", "bob.martinez", "get_expense_report", args{"employee_id": marcus.ID, "month": "2026-13"}},
		{"INVALID_CURSOR", "bob.martinez", "list_invoices", args{"cursor": "bm90IGEgY3Vyc29y"}},
		{"INVALID_CURSOR", "bob.martinez", "list_budgets", args{"cursor": "bm90IGEgY3Vyc29y"}},
	} {
		f := h.Refused(h.As(c.who), c.code, c.tool, c.in)
		if f.SuggestedAction == "" || strings.Contains(f.Message, "SQL") {
			t.Errorf("%s: %q, %q", c.code, f.Message, f.SuggestedAction)
		}
		seen[c.code] = true
	}
	for _, code := range h.server.Codes() {
		if !seen[code.Name] {
			t.Errorf("no case raises %s", code.Name)
		}
	}
}

// Whoever deletes by number is told how to find the id.
func TestInvoiceNumberIsAnsweredWithTheWayToFindTheID(t *testing.T) {
	h := open(t)
	f := h.Refused(h.As("bob.martinez"), "VALIDATION_ERROR", "delete_invoice", args{"invoice_id": "INV-2025-009"})
	if !strings.Contains(f.SuggestedAction, "Use list_invoices tool to find valid invoice IDs: with invoice_number") {
		t.Errorf("got %q", f.SuggestedAction)
	}
}

// Someone whose address nobody verified could be the submitter.
func TestUnverifiedAddressApprovesNothing(t *testing.T) {
	h := open(t)
	ctx := access.With(t.Context(), access.NewPrincipal(access.Claims{
		Issuer: testkit.Issuer, Subject: "s", Username: "lisa", Email: "lisa.anderson@tamshai.local", Roles: []string{"finance-write"},
	}))
	h.Refused(ctx, "SEPARATION_OF_DUTIES", "approve_budget", args{"department": "Marketing"})
}

// Nothing that a person types reaches the store as syntax: odd texts find what
// is called so, which is nothing.
func TestHostileTextsAreValues(t *testing.T) {
	h := open(t)
	before := fingerprint(h)
	for _, text := range []string{
		`' or 1=1 --`, `'; drop table finance.invoices; --`, `%`, `_`, `\`, `\%`, `"`, `$1`, `{"$ne": ""}`, `*) OR _index:*`, `.*`, `(((`,
		strings.Repeat("(", 500), strings.Repeat("é", 500), "\u202ecloud", "\x01", "\U0010ffff", "ß",
	} {
		for _, in := range []struct {
			tool, field string
		}{{"list_invoices", "vendor"}, {"list_invoices", "department"}, {"list_invoices", "invoice_number"}, {"list_budgets", "department"}} {
			if o := h.Ask(h.As("bob.martinez"), in.tool, args{in.field: text}); o.Code() != result.StatusSuccess || string(o.Data()) != "[]" {
				t.Errorf("%s, %s %q: got %s", in.tool, in.field, text, h.Encode(o))
			}
		}
		h.Refused(h.As("bob.martinez"), "BUDGET_NOT_FOUND", "get_budget", args{"department": text})
		h.Refused(h.As("bob.martinez"), "BUDGET_NOT_FOUND", "approve_budget", args{"department": text})
		h.Refused(h.As("bob.martinez"), "EXPENSE_REPORT_NOT_FOUND", "get_expense_report", args{"report_number": text})
	}
	if fingerprint(h) != before {
		t.Error("something was changed")
	}
}

// What is no text where a text belongs is refused, and never reaches the store
// as something else.
func TestOtherTypesThanTextAreRefused(t *testing.T) {
	h := open(t)
	for _, value := range []any{map[string]any{"$ne": ""}, []string{"a"}, 5, true, nil, "cloud\x00"} {
		h.Refused(h.As("bob.martinez"), "VALIDATION_ERROR", "list_invoices", args{"vendor": value})
		h.Refused(h.As("bob.martinez"), "VALIDATION_ERROR", "delete_invoice", args{"invoice_id": value})
		h.Refused(h.As("bob.martinez"), "VALIDATION_ERROR", "get_budget", args{"department": value})
	}
}

func TestRefusalNamesWhoMay(t *testing.T) {
	h := open(t)
	f := h.Refused(h.As("frank.davis"), "INSUFFICIENT_PERMISSIONS", "approve_budget", args{"department": "IT"})
	if roles, _ := f.Details["requiredRoles"].([]string); !slices.Equal(roles, []string{"finance-write", "executive"}) {
		t.Errorf("got %v", f.Details)
	}
}

func TestUnreachableDatabaseIsServiceUnavailable(t *testing.T) {
	h := open(t)
	h.DB.Close()
	for tool, in := range map[string]args{"list_invoices": nil, "get_budget": {"department": "IT"}, "approve_budget": {"department": "IT"}} {
		if f := h.Ask(h.As("bob.martinez"), tool, in).Fault(); f == nil || f.Code != fault.ServiceDown {
			t.Errorf("%s: got %v, want SERVICE_UNAVAILABLE", tool, f)
		}
	}
}
