package finance_test

import (
	"context"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"countersign.dev/internal/confirm"
	"countersign.dev/internal/database"
	"countersign.dev/internal/domain/finance"
	"countersign.dev/internal/testkit/conformance"
	"countersign.dev/internal/testkit/domaintest"
	"countersign.dev/internal/tool"
)

// The founding request: delete invoice INV-2025-009. Its id is found by number.
func TestDeletingAnInvoice(t *testing.T) {
	t.Parallel()
	h := open(t)
	bob := h.As("bob.martinez")
	found := get[[]invoice](h, bob, "list_invoices", args{"invoice_number": "INV-2025-009"})
	p := h.Pending(bob, "delete_invoice", args{"invoice_id": found[0].InvoiceID, "reason": "sent twice"})
	want := "Delete invoice INV-2025-009 of CloudFlare ($3,200, Engineering, pending, due 2026-12-12)?\n\n" +
		"It will no longer be listed or paid, and this cannot be undone."
	if p.Message != want {
		t.Errorf("got %q", p.Message)
	}
	delete(p.Data, "timestamp")
	delete(p.Data, "expiresAt")
	card := map[string]any{
		"action": "delete_invoice", "mcpServer": "finance", "userId": "sub-bob@tamshai.local", "invoiceId": found[0].InvoiceID, "invoiceNumber": "INV-2025-009",
		"vendorName": "CloudFlare", "amount": 3200.0, "currency": "USD", "department": "Engineering", "status": "pending", "dueDate": "2026-12-12", "reason": "sent twice",
	}
	if diff := cmp.Diff(card, p.Data); diff != "" {
		t.Errorf("card (-want +got):\n%s", diff)
	}
	done := domaintest.Decode[map[string]any](h, h.Answer(bob, p.ID, true))
	outcome := map[string]any{"deleted": true, "invoiceId": found[0].InvoiceID, "invoiceNumber": "INV-2025-009", "message": "Invoice INV-2025-009 of CloudFlare has been deleted."}
	if diff := cmp.Diff(outcome, done); diff != "" {
		t.Errorf("outcome (-want +got):\n%s", diff)
	}
	if left := get[[]invoice](h, bob, "list_invoices", nil); len(left) != 12 || slices.Contains(numbers(left), "INV-2025-009") {
		t.Errorf("still listed: %v", numbers(left))
	}
	h.Refused(bob, "INVOICE_NOT_FOUND", "delete_invoice", args{"invoice_id": found[0].InvoiceID})
}

// The row stays on the books and says who took it off the lists; the reason is
// in the audit.
func TestDeletionIsSigned(t *testing.T) {
	t.Parallel()
	h := open(t)
	h.Apply(h.As("bob.martinez"), "delete_invoice", args{"invoice_id": h.id("INV-2025-009"), "reason": "sent twice"})
	const gone = `select number || ' by ' || deleted_by from finance.invoices where deleted_at is not null`
	got, err := database.Rows[string](h.As("bob.martinez"), h.DB, gone)
	if err != nil || !slices.Equal(got, []string{"INV-2025-009 by bob@tamshai.local"}) {
		t.Errorf("got %v, %v", got, err)
	}
	for _, e := range h.Sink.Events() {
		if e.Note == "sent twice" {
			return
		}
	}
	t.Error("the reason is in no event of the audit")
}

// The founding request: approve the 2026 marketing budget.
func TestApprovingTheSubmittedAmount(t *testing.T) {
	t.Parallel()
	h := open(t)
	bob := h.As("bob.martinez")
	p := h.Pending(bob, "approve_budget", args{"department": "marketing", "fiscal_year": 2026})
	if want := "Approve the 2026 budget of Marketing, $980,000, submitted by lisa.anderson@tamshai.local?\nAn approval cannot be undone here."; p.Message != want {
		t.Errorf("got %q", p.Message)
	}
	if _, changed := p.Data["change"]; changed || p.Data["submittedAmount"] != 980_000.0 || p.Data["approvedAmount"] != 980_000.0 {
		t.Errorf("card %v", p.Data)
	}
	done := domaintest.Decode[map[string]any](h, h.Answer(bob, p.ID, true))
	if done["message"] != "The 2026 budget of Marketing has been approved with $980,000." || done["approvedBy"] != "bob@tamshai.local" {
		t.Errorf("got %v", done)
	}
	b := get[budget](h, bob, "get_budget", args{"department": "Marketing", "year": 2026})
	if b.Status != "approved" || *b.ApprovedBy != "bob@tamshai.local" || b.AllocatedAmount != 980_000 || b.Quarters[0].AllocatedAmount != 235_200 {
		t.Errorf("got %+v", b)
	}
	h.Refused(bob, "BUDGET_ALREADY_APPROVED", "approve_budget", args{"department": "MKT", "fiscal_year": 2026})
}

func TestAnotherAmountIsShownAsAChange(t *testing.T) {
	t.Parallel()
	h := open(t)
	eve := h.As("eve.thompson")
	p := h.Pending(eve, "approve_budget", args{"department": "Marketing", "fiscal_year": 2026, "amount": 900_000.50, "notes": "less travel"})
	want := "Approve the 2026 budget of Marketing, submitted by lisa.anderson@tamshai.local, with another amount: " +
		"$900,000.50 instead of the submitted $980,000 (-$79,999.50, -8.2 %)?\nAn approval cannot be undone here."
	if p.Message != want {
		t.Errorf("got %q", p.Message)
	}
	if p.Data["change"] != -79_999.5 || p.Data["changePercent"] != -8.2 || p.Data["submittedAmount"] != 980_000.0 || p.Data["approvedAmount"] != 900_000.5 || p.Data["notes"] != "less travel" {
		t.Errorf("card %v", p.Data)
	}
	domaintest.Decode[map[string]any](h, h.Answer(eve, p.ID, true))
	b := get[budget](h, eve, "get_budget", args{"department": "Marketing", "year": 2026})
	sum := 0.0
	for _, q := range b.Quarters {
		sum += q.AllocatedAmount
	}
	if b.AllocatedAmount != 900_000.5 || sum != 900_000.5 || b.Quarters[0].AllocatedAmount != 216_000.12 {
		t.Errorf("got %+v", b)
	}
	const notes = `select approval_notes from finance.budgets where id = $1`
	if kept, _, err := database.Row[string](eve, h.DB, notes, b.BudgetID); err != nil || kept != "less travel" {
		t.Errorf("notes %q, %v", kept, err)
	}
}

func TestApprovingLessThanIsSpentWarns(t *testing.T) {
	t.Parallel()
	h := open(t)
	p := h.Pending(h.As("bob.martinez"), "approve_budget", args{"department": "Marketing", "amount": 0})
	if !strings.Contains(p.Message, "Warning: $") || !strings.Contains(p.Message, "-100.0 %") {
		t.Errorf("got %q", p.Message)
	}
}

// Bob submitted the finance budget, so only Eve may approve it.
func TestOwnBudgetCannotBeApproved(t *testing.T) {
	t.Parallel()
	h := open(t)
	h.Refused(h.As("bob.martinez"), "SEPARATION_OF_DUTIES", "approve_budget", args{"department": "Finance", "fiscal_year": 2026})
	h.Apply(h.As("eve.thompson"), "approve_budget", args{"department": "Finance", "fiscal_year": 2026})
}

// gate is a receipt store that stops before it keeps its receipt, until it is opened.
type gate struct {
	tool.ReceiptStore
	arrived, opened chan struct{}
}

func (g gate) Keep(ctx context.Context, r confirm.Receipt) error {
	close(g.arrived)
	<-g.opened
	return g.ReceiptStore.Keep(ctx, r)
}

// Two people approve the same budget at once. The second waits for the first
// one's change, looks again, and meets a budget that was approved.
func TestTwoApproversApproveOnce(t *testing.T) {
	t.Parallel()
	h := open(t)
	service := confirm.NewService(domaintest.NewRedis(t), h.Sink, nil)
	arrived, opened := make(chan struct{}), make(chan struct{})
	slow := domaintest.NewRunner(t, "finance", conformance.Keeping(h.server, func(r tool.ReceiptStore) tool.ReceiptStore { return gate{r, arrived, opened} }), service, h.Sink)
	h.Runner = domaintest.NewRunner(t, "finance", h.server, service, h.Sink)
	bob, eve := h.As("bob.martinez"), h.As("eve.thompson")
	first := h.Pending(bob, "approve_budget", args{"department": "Marketing"})
	second := h.Pending(eve, "approve_budget", args{"department": "Marketing", "amount": 1})

	var codes [2]string
	var wg sync.WaitGroup
	wg.Go(func() { codes[0] = slow.Answer(bob, first.ID, true).Code() })
	<-arrived
	wg.Go(func() { codes[1] = h.Answer(eve, second.ID, true).Code() })
	h.awaitBlocked()
	close(opened)
	wg.Wait()
	if codes != [2]string{"success", "BUDGET_ALREADY_APPROVED"} {
		t.Errorf("got %v", codes)
	}
}

// awaitBlocked returns when a transaction waits for a lock.
func (h *harness) awaitBlocked() {
	h.Helper()
	for blocked := false; !blocked; {
		err := database.Seed(h.Context(), h.AdminURL, func(ctx context.Context, s *database.Seeder) (err error) {
			blocked, err = s.Ask(ctx, `select exists (select from pg_locks where not granted)`)
			return err
		})
		if err != nil {
			h.Fatal(err)
		}
	}
}

// Whatever is approved, in whatever proportions: the parts add up to it, none
// is negative, and none is a cent further from its share than rounding needs.
func TestQuartersAddUpToWhatWasApproved(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 5))
	for range 10_000 {
		cents, quarters := r.Int64N(100_000_000_000_000), []int64{0, 0, 0, 0}
		for i := range quarters {
			if r.IntN(4) > 0 {
				quarters[i] = r.Int64N(100_000_000_000)
			}
		}
		weights := slices.Clone(quarters)
		parts := finance.Spread(cents, quarters)
		var sum, whole int64
		for i := range parts {
			sum, whole = sum+parts[i], whole+weights[i]
		}
		if sum != cents || !slices.Equal(quarters, weights) {
			t.Fatalf("%d over %v gives %v", cents, weights, parts)
		}
		for i := range parts {
			share := float64(cents) / 4
			if whole > 0 {
				share = float64(cents) * float64(weights[i]) / float64(whole)
			}
			if parts[i] < 0 || float64(parts[i])-share > 2 || share-float64(parts[i]) > 2 {
				t.Fatalf("%d over %v gives %v", cents, weights, parts)
			}
		}
	}
}
