package finance_test

import (
	"context"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"countersign.dev/internal/access"
	"countersign.dev/internal/confirm"
	"countersign.dev/internal/database"
	"countersign.dev/internal/domain/finance"
	"countersign.dev/internal/testkit/conformance"
	"countersign.dev/internal/testkit/domaintest"
	"countersign.dev/internal/tool"
)

// The row stays in the table and records who deleted it; the reason is in the
// audit.
func TestDeletionRecordsWhoDeleted(t *testing.T) {
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

// A caller without a verified address is recorded as who they are at their issuer,
// whatever name it gives them.
func TestDeletionIsNotSignedWithAUserName(t *testing.T) {
	t.Parallel()
	h := open(t)
	h.Apply(access.With(t.Context(), access.NewPrincipal(access.Claims{
		Issuer: "https://other.example", Subject: "u-1", Username: "eve@tamshai.local", Roles: []string{"finance-write"}, MayConfirm: true,
	})), "delete_invoice", args{"invoice_id": h.id("INV-2025-009")})
	got, err := database.Rows[string](h.As("bob.martinez"), h.DB, `select deleted_by from finance.invoices where deleted_at is not null`)
	if err != nil || !slices.Equal(got, []string{"https://other.example|u-1"}) {
		t.Errorf("got %v, %v", got, err)
	}
}

func TestApprovalsNotesAreShown(t *testing.T) {
	t.Parallel()
	h := open(t)
	eve := h.As("eve.thompson")
	h.Apply(eve, "approve_budget", args{"department": "Marketing", "fiscal_year": 2026, "notes": "less travel"})
	b := get[map[string]any](h, h.As("bob.martinez"), "get_budget", args{"department": "Marketing", "year": 2026})
	if b["approval_notes"] != "less travel" {
		t.Errorf("got %v", b)
	}
	if others := get[map[string]any](h, eve, "get_budget", args{"department": "Finance", "year": 2026}); others["approval_notes"] != nil {
		t.Errorf("a budget without notes: got %v", others)
	}
}

// What an approval says is the sum of the quarters afterwards, whichever quarters
// the budget has.
func TestApprovalStoresWhatItSays(t *testing.T) {
	t.Parallel()
	h := open(t)
	eve := h.As("eve.thompson")
	h.admin(`delete from finance.budget_quarters q using finance.budgets b where b.id = budget_id and department = 'MKT' and fiscal_year = 2026 and quarter = 1`)
	said := h.Apply(eve, "approve_budget", args{"department": "Marketing", "fiscal_year": 2026, "amount": 900_000})
	b := get[budget](h, eve, "get_budget", args{"department": "Marketing", "year": 2026})
	if said["approvedAmount"] != 900_000.0 || b.AllocatedAmount != 900_000 || len(b.Quarters) != 3 {
		t.Errorf("approved %v, stored %v", said["approvedAmount"], b)
	}
}

// Every amount of whole cents can be approved, and no other.
func TestApprovedAmountsAreWholeCents(t *testing.T) {
	t.Parallel()
	h := open(t)
	eve := h.As("eve.thompson")
	h.Pending(eve, "approve_budget", args{"department": "Marketing", "amount": 632_265_518_394.20})
	h.Refused(eve, "INVALID_INPUT", "approve_budget", args{"department": "Marketing", "amount": 1.0000049})
}

func TestBudgetWithoutQuartersIsNotApproved(t *testing.T) {
	t.Parallel()
	h := open(t)
	h.admin(`delete from finance.budget_quarters q using finance.budgets b where b.id = budget_id and department = 'MKT' and fiscal_year = 2026`)
	h.Refused(h.As("eve.thompson"), "BUDGET_NOT_FOUND", "approve_budget", args{"department": "Marketing", "fiscal_year": 2026, "amount": 900_000})
}

// admin runs a statement that no tool can make.
func (h *harness) admin(statement string) {
	h.Helper()
	err := database.Seed(h.Context(), h.AdminURL, func(ctx context.Context, s *database.Seeder) error { return s.Exec(ctx, statement) })
	if err != nil {
		h.Fatal(err)
	}
}

// barrier is a receipt store that stops before it keeps its receipt, until it is opened.
type barrier struct {
	tool.ReceiptStore
	arrived, opened chan struct{}
}

func (g barrier) Keep(ctx context.Context, r confirm.Receipt) error {
	close(g.arrived)
	<-g.opened
	return g.ReceiptStore.Keep(ctx, r)
}

// Two people approve the same budget at once. The second waits for the first
// one's change, previews again, and finds a budget that was approved.
func TestTwoApproversApproveOnce(t *testing.T) {
	t.Parallel()
	h := open(t)
	service := confirm.NewService(domaintest.NewRedis(t), h.Sink, nil)
	arrived, opened := make(chan struct{}), make(chan struct{})
	slow := domaintest.NewRunner(t, "finance", conformance.Keeping(h.server, func(r tool.ReceiptStore) tool.ReceiptStore { return barrier{r, arrived, opened} }), service, h.Sink, domaintest.Speaks{})
	h.Runner = domaintest.NewRunner(t, "finance", h.server, service, h.Sink, domaintest.Speaks{})
	bob, eve := h.As("bob.martinez"), h.As("eve.thompson")
	first := h.Pending(bob, "approve_budget", args{"department": "Marketing"})
	second := h.Pending(eve, "approve_budget", args{"department": "Marketing", "amount": 1})

	var codes [2]string
	var wg sync.WaitGroup
	wg.Go(func() { codes[0] = slow.Answer(bob, first.ID, true, "").Code() })
	<-arrived
	wg.Go(func() { codes[1] = h.Answer(eve, second.ID, true, "").Code() })
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

// For any amount and any proportions the parts add up to the amount, none is
// negative, and none differs from its share by more than rounding needs.
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
