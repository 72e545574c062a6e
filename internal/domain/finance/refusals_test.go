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
