package finance_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"

	"countersign.dev/internal/confirm"
	"countersign.dev/internal/database"
	"countersign.dev/internal/domain/finance"
	"countersign.dev/internal/result"
	"countersign.dev/internal/seal"
	"countersign.dev/internal/state"
	"countersign.dev/internal/testkit"
	"countersign.dev/internal/testkit/domaintest"
	"countersign.dev/internal/tool"
)

// order is what a victim approves until it is killed.
type order struct{ Database, Redis, Confirmation string }

// stopping is a receipt store that reports its stages.
type stopping struct {
	tool.ReceiptStore
	at func(stage string)
}

func (s stopping) Change(ctx context.Context, fn func(context.Context) error) error {
	err := s.ReceiptStore.Change(ctx, fn)
	s.at("after the end")
	return err
}

func (s stopping) Keep(ctx context.Context, r confirm.Receipt) error {
	s.at("before the receipt")
	err := s.ReceiptStore.Keep(ctx, r)
	s.at("before the end")
	return err
}

// approveUntilKilled approves a confirmation as Bob, and never gets to its end.
func approveUntilKilled(encoded string, at func(stage string)) {
	var o order
	if err := json.Unmarshal([]byte(encoded), &o); err != nil {
		panic(err)
	}
	ctx := bob(context.Background())
	db, err := database.Open(ctx, o.Database, nil)
	if err != nil {
		panic(err)
	}
	redis, err := state.Open(ctx, "redis://"+o.Redis, nil)
	if err != nil {
		panic(err)
	}
	server, journal := finance.New(db), &testkit.MemorySink{}
	server.SetClock(func() time.Time { return today })
	cursors, err := seal.NewRing("cursor", seal.RandomSecret())
	if err != nil {
		panic(err)
	}
	runner, err := tool.NewRunner(server.Tools(), tool.Options{
		Server: "finance", Cursors: cursors, Audit: journal, Receipts: tool.OneStore(stopping{database.NewReceipts(db), at}),
		Confirmations: confirm.NewService(state.NewConfirmations(redis), journal, nil),
	})
	if err != nil {
		panic(err)
	}
	runner.Answer(ctx, o.Confirmation, true)
}

func bob(ctx context.Context) context.Context {
	return domaintest.SignedIn(ctx, "bob@tamshai.local", "employee", "manager", "finance-read", "finance-write")
}

// TestKilledApprovalIsMadeOnce: kill -9 around the change and its receipt, then
// approve again. However far the first approval came, there is one change and
// one receipt.
func TestKilledApprovalIsMadeOnce(t *testing.T) {
	for stage, changed := range map[string]bool{"before the receipt": false, "before the end": false, "after the end": true} {
		t.Run(stage, func(t *testing.T) {
			h := open(t)
			redis := miniredis.RunT(t)
			store := domaintest.OpenRedis(t, redis.Addr())
			h.Runner = domaintest.NewRunner(t, "finance", h.server, confirm.NewService(store, h.Sink, nil), h.Sink)
			p := h.Pending(bob(t.Context()), "approve_budget", args{"department": "Marketing", "fiscal_year": 2026, "amount": 1_000_000})
			url, err := database.LoginURL(h.AdminURL, finance.Login, "")
			if err != nil {
				t.Fatal(err)
			}
			encoded, _ := json.Marshal(order{Database: url, Redis: redis.Addr(), Confirmation: p.ID})
			testkit.Kill(t, string(encoded), stage)
			if got := status(h, "MKT"); (got == "approved") != changed {
				t.Errorf("after the crash the budget is %s", got)
			}

			// Half a minute later its claim counts as left behind.
			later := func() time.Time { return time.Now().Add(confirm.ClaimAge + time.Second) }
			h.Runner = domaintest.NewRunner(t, "finance", h.server, confirm.NewService(store, h.Sink, later), h.Sink)
			first := string(h.Encode(h.Answer(bob(t.Context()), p.ID, true)))
			again := string(h.Encode(h.Answer(bob(t.Context()), p.ID, true)))
			if !strings.Contains(first, "has been approved with $1,000,000") || again != first {
				t.Errorf("got %s, then %s", first, again)
			}
			if kept := receipts(h, bob(t.Context())); kept != 1 || status(h, "MKT") != "approved" {
				t.Errorf("%d receipts are kept, the budget is %s", kept, status(h, "MKT"))
			}
		})
	}
}

const countReceipts = `select count(*) from confirmations`

func receipts(h *house, ctx context.Context) int64 {
	h.Helper()
	kept, _, err := database.Row[int64](ctx, h.DB, countReceipts)
	if err != nil {
		h.Fatal(err)
	}
	return kept
}

const budgetStatus = `select status from finance.budgets where department = $1 and fiscal_year = 2026`

func status(h *house, department string) string {
	h.Helper()
	got, _, err := database.Row[string](bob(h.Context()), h.DB, budgetStatus, department)
	if err != nil {
		h.Fatal(err)
	}
	return got
}

// brokenStore cannot keep a receipt, or loses the answer of its commit.
type brokenStore struct {
	tool.ReceiptStore
	lost bool
}

func (b brokenStore) Keep(ctx context.Context, r confirm.Receipt) error {
	if !b.lost {
		return fmt.Errorf("the disk is full")
	}
	return b.ReceiptStore.Keep(ctx, r)
}

func (b brokenStore) Change(ctx context.Context, fn func(context.Context) error) error {
	err := b.ReceiptStore.Change(ctx, fn)
	if b.lost && err == nil {
		return fmt.Errorf("the connection was lost")
	}
	return err
}

type withReceipts struct {
	*finance.Server
	store tool.ReceiptStore
}

func (w withReceipts) Receipts() tool.ReceiptStores { return tool.OneStore(w.store) }

// TestChangeWithoutReceiptIsNoChange: both or neither, and an answer that was
// lost on its way is found again.
func TestChangeWithoutReceiptIsNoChange(t *testing.T) {
	for _, lost := range []bool{false, true} {
		h := open(t)
		desk := confirm.NewService(domaintest.NewRedis(t), h.Sink, nil)
		h.Runner = domaintest.NewRunner(t, "finance", withReceipts{h.server, brokenStore{database.NewReceipts(h.DB), lost}}, desk, h.Sink)
		p := h.Pending(bob(t.Context()), "delete_invoice", args{"invoice_id": h.id("INV-2025-009")})
		o := h.Answer(bob(t.Context()), p.ID, true)
		if (o.Code() == result.StatusSuccess) != lost {
			t.Errorf("lost %v: got %s", lost, h.Encode(o))
		}
		h.Runner = domaintest.NewRunner(t, "finance", h.server, desk, h.Sink)
		if left := len(get[[]invoice](h, bob(t.Context()), "list_invoices", args{"invoice_number": "INV-2025-009"})); (left == 0) != lost {
			t.Errorf("lost %v: %d invoices are left", lost, left)
		}
		if o := h.Answer(bob(t.Context()), p.ID, true); o.Code() != result.StatusSuccess || receipts(h, bob(t.Context())) != 1 {
			t.Errorf("lost %v: asked again, got %s", lost, h.Encode(o))
		}
	}
}
