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
	"countersign.dev/internal/testkit/domaintest"
	"countersign.dev/internal/tool"
)

const everything = `select md5(concat(
	(select string_agg(t::text, '|' order by t.id) from finance.invoices t),
	(select string_agg(t::text, '|' order by t.id) from finance.budgets t),
	(select string_agg(t::text, '|' order by t.budget_id, t.quarter) from finance.budget_quarters t),
	(select string_agg(t::text, '|' order by t.id) from finance.expense_reports t),
	(select string_agg(t::text, '|' order by t.tail, t.vendor_id) from finance.vendor_tails t)))`

// fingerprint is a digest of every row of the schema.
func fingerprint(h *house) string {
	h.Helper()
	sum, _, err := database.Row[string](domaintest.SignedIn(h.Context(), "x@y", "finance-read"), h.DB, everything)
	if err != nil {
		h.Fatal(err)
	}
	return sum
}

// The founding request: delete invoice INV-2025-009. Its id is found by number.
func TestDeletingAnInvoice(t *testing.T) {
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
	h := open(t)
	p := h.Pending(h.As("bob.martinez"), "approve_budget", args{"department": "Marketing", "amount": 0})
	if !strings.Contains(p.Message, "Warning: $") || !strings.Contains(p.Message, "-100.0 %") {
		t.Errorf("got %q", p.Message)
	}
}

// Bob submitted the finance budget, so only Eve may approve it.
func TestNobodyApprovesTheirOwnBudget(t *testing.T) {
	h := open(t)
	h.Refused(h.As("bob.martinez"), "SEPARATION_OF_DUTIES", "approve_budget", args{"department": "Finance", "fiscal_year": 2026})
	h.Apply(h.As("eve.thompson"), "approve_budget", args{"department": "Finance", "fiscal_year": 2026})
}

func TestStalePreviewsChangeNothing(t *testing.T) {
	marketing := args{"department": "Marketing", "fiscal_year": 2026}
	for name, c := range map[string]struct {
		tool   string
		in     args
		behind string
		code   string
	}{
		"resubmitted with more":  {"approve_budget", marketing, `update finance.budget_quarters q set allocated_cents = allocated_cents + 1 from finance.budgets b where b.id = budget_id and b.department = 'MKT' and b.fiscal_year = 2026 and quarter = 2`, "CONFIRMATION_STALE"},
		"shifted between":        {"approve_budget", marketing, `update finance.budget_quarters q set allocated_cents = allocated_cents + quarter * 2 - 5 from finance.budgets b where b.id = budget_id and b.department = 'MKT' and b.fiscal_year = 2026`, "CONFIRMATION_STALE"},
		"submitted by another":   {"approve_budget", marketing, `update finance.budgets set submitted_by = 'kevin.brown@tamshai.local' where department = 'MKT' and fiscal_year = 2026`, "CONFIRMATION_STALE"},
		"submitted by oneself":   {"approve_budget", marketing, `update finance.budgets set submitted_by = 'bob@tamshai.local' where department = 'MKT' and fiscal_year = 2026`, "SEPARATION_OF_DUTIES"},
		"withdrawn":              {"approve_budget", marketing, `update finance.budgets set submitted_by = null, submitted_at = null where department = 'MKT' and fiscal_year = 2026`, "BUDGET_NOT_FOUND"},
		"approved by another":    {"approve_budget", marketing, `update finance.budgets set status = 'active', approved_by = 'eve@tamshai.local', approved_at = now() where department = 'MKT' and fiscal_year = 2026`, "BUDGET_ALREADY_APPROVED"},
		"amount of invoice":      {"delete_invoice", nil, `update finance.invoices set amount_cents = amount_cents + 1 where number = 'INV-2025-009'`, "CONFIRMATION_STALE"},
		"vendor renamed":         {"delete_invoice", nil, `update finance.vendors set name = 'Cloudy' where name = 'CloudFlare'`, "CONFIRMATION_STALE"},
		"invoice was approved":   {"delete_invoice", nil, `update finance.invoices set status = 'approved' where number = 'INV-2025-009'`, "INVOICE_NOT_DELETABLE"},
		"invoice was deleted":    {"delete_invoice", nil, `update finance.invoices set deleted_at = now(), deleted_by = 'eve@tamshai.local' where number = 'INV-2025-009'`, "INVOICE_NOT_FOUND"},
		"invoice was postponed":  {"delete_invoice", nil, `update finance.invoices set due_date = due_date + 30 where number = 'INV-2025-009'`, "CONFIRMATION_STALE"},
		"another number on it":   {"delete_invoice", nil, `update finance.invoices set number = 'INV-2025-099' where number = 'INV-2025-009'`, "CONFIRMATION_STALE"},
		"it was refused instead": {"delete_invoice", nil, `update finance.invoices set status = 'rejected' where number = 'INV-2025-009'`, "CONFIRMATION_STALE"},
	} {
		t.Run(name, func(t *testing.T) {
			h := open(t)
			bob := h.As("bob.martinez")
			in := c.in
			if c.tool == "delete_invoice" {
				in = args{"invoice_id": h.id("INV-2025-009")}
			}
			p := h.Pending(bob, c.tool, in)
			h.Admin(c.behind)
			before := fingerprint(h)
			if o := h.Answer(bob, p.ID, true); o.Fault() == nil || o.Fault().Code.Name != c.code {
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
	p := h.Pending(h.As("bob.martinez"), "delete_invoice", args{"invoice_id": h.id("INV-2025-009")})
	if o := h.Answer(h.As("eve.thompson"), p.ID, true); o.Fault() == nil {
		t.Fatal("Eve approved Bob's deletion")
	}
	domaintest.Decode[map[string]any](h, h.Answer(h.As("bob.martinez"), p.ID, true)) // and it was not consumed
}

// Whoever approves how often and at whatever moment: one change, one receipt.
func TestManyApprovalsChangeOnce(t *testing.T) {
	h := open(t)
	bob := h.As("bob.martinez")
	p := h.Pending(bob, "approve_budget", args{"department": "Marketing", "amount": 1_000_000})
	answers := make([]string, 16)
	var wg sync.WaitGroup
	for i := range answers {
		wg.Go(func() { answers[i] = string(h.Encode(h.Answer(bob, p.ID, true))) })
	}
	wg.Wait()
	last := string(h.Encode(h.Answer(bob, p.ID, true)))
	for _, a := range answers {
		if a != last && !strings.Contains(a, "CONFIRMATION_IN_PROGRESS") {
			t.Errorf("got %s, want %s", a, last)
		}
	}
	if kept := receipts(h, bob); kept != 1 {
		t.Errorf("%d receipts are kept, want 1", kept)
	}
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
	h := open(t)
	desk := confirm.NewService(domaintest.NewRedis(t), h.Sink, nil)
	g := gate{database.NewReceipts(h.DB), make(chan struct{}), make(chan struct{})}
	slow := domaintest.NewRunner(t, "finance", withReceipts{h.server, g}, desk, h.Sink)
	h.Runner = domaintest.NewRunner(t, "finance", h.server, desk, h.Sink)
	bob, eve := h.As("bob.martinez"), h.As("eve.thompson")
	first := h.Pending(bob, "approve_budget", args{"department": "Marketing"})
	second := h.Pending(eve, "approve_budget", args{"department": "Marketing", "amount": 1})

	var codes [2]string
	var wg sync.WaitGroup
	wg.Go(func() { codes[0] = slow.Answer(bob, first.ID, true).Code() })
	<-g.arrived
	wg.Go(func() { codes[1] = h.Answer(eve, second.ID, true).Code() })
	h.awaitBlocked()
	close(g.opened)
	wg.Wait()
	if codes != [2]string{"success", "BUDGET_ALREADY_APPROVED"} {
		t.Errorf("got %v", codes)
	}
}

// awaitBlocked returns when somebody waits for a lock.
func (h *house) awaitBlocked() {
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

// Redis may forget an approved confirmation; the receipt beside the change does
// not, and it forbids a second effect.
func TestReceiptOutlivesTheDesk(t *testing.T) {
	h := open(t)
	bob := h.As("bob.martinez")
	p := h.Pending(bob, "delete_invoice", args{"invoice_id": h.id("INV-2025-009")})
	first := string(h.Encode(h.Answer(bob, p.ID, true)))
	another := furnish(t, h.AdminURL, h.papers) // a new desk that knows nothing
	if again := string(another.Encode(another.Answer(bob, p.ID, true))); again != first {
		t.Errorf("got %s, want %s", again, first)
	}
}

// Whatever is approved, in whatever proportions: the parts add up to it, none
// is negative, and none is a cent further from its share than rounding needs.
func TestQuartersAddUpToWhatWasApproved(t *testing.T) {
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
