package conformance

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/alicebob/miniredis/v2"

	"countersign.dev/internal/access"
	"countersign.dev/internal/confirm"
	"countersign.dev/internal/state"
	"countersign.dev/internal/testkit"
	"countersign.dev/internal/testkit/domaintest"
	"countersign.dev/internal/tool"
)

// order is what a crash process approves until it is killed.
type order struct{ Engine, Address, Redis, Username, Confirmation string }

// The stages of a change at which a process is killed.
const (
	beforeReceipt = "before the receipt is kept"
	beforeCommit  = "before the change ends"
	afterCommit   = "after the change has ended"
)

// staged is a receipt store that reports where a change is.
type staged struct {
	tool.ReceiptStore
	at func(stage string)
}

func (s staged) Change(ctx context.Context, fn func(context.Context) error) error {
	err := s.ReceiptStore.Change(ctx, fn)
	s.at(afterCommit)
	return err
}

func (s staged) Keep(ctx context.Context, r confirm.Receipt) error {
	s.at(beforeReceipt)
	err := s.ReceiptStore.Keep(ctx, r)
	s.at(beforeCommit)
	return err
}

// RunAsCrashProcess is the first line of the TestMain of a domain that runs the
// suite. It returns true in a process that the suite started to kill it.
func RunAsCrashProcess(d Domain) bool {
	return testkit.RunAsCrashProcess(func(encoded string, at func(stage string)) {
		if err := d.approve(encoded, at); err != nil {
			panic(err)
		}
	})
}

// approve approves a confirmation in a process of its own.
func (d Domain) approve(encoded string, at func(stage string)) error {
	var o order
	if err := json.Unmarshal([]byte(encoded), &o); err != nil {
		return err
	}
	ctx, err := domaintest.SignIn(context.Background(), o.Username)
	if err != nil {
		return err
	}
	runner, err := d.connect(ctx, o, at)
	if err != nil {
		return err
	}
	answer := runner.Encode(runner.Answer(ctx, o.Confirmation, true, ""))
	return errors.New("the process was not killed: " + string(answer))
}

func (d Domain) connect(ctx context.Context, o order, at func(stage string)) (*tool.Runner, error) {
	var domain domaintest.Domain
	for _, e := range d.Engines {
		if e.Name == o.Engine {
			var err error
			if domain, err = e.Connect(ctx, o.Address); err != nil {
				return nil, err
			}
		}
	}
	redis, err := state.Open(ctx, "redis://"+o.Redis, &state.Options{Timeout: testkit.Patience})
	if err != nil {
		return nil, err
	}
	sink := &testkit.MemorySink{}
	return tool.NewRunner(domain.Tools(), tool.Options{
		Server: d.Server, Codes: d.Codes, Policy: domain.Policy(), Cursors: testkit.Ring("cursor"), Audit: sink,
		Receipts:      wrapped{domain.Receipts(), func(r tool.ReceiptStore) tool.ReceiptStore { return staged{r, at} }},
		Confirmations: confirm.NewService(state.NewConfirmations(redis, testkit.Ring("record")), sink, nil),
	})
}

// crashes kills a process at each stage of every change. What it leaves is a
// change with its receipt, or neither, and its owner is shown which; approved again, there
// is one change and one receipt, the same to the letter ever after.
func (s *suite) crashes(t *testing.T) {
	if s.engine.Connect == nil {
		t.Skip("no other process can reach this store")
	}
	for _, w := range s.Writes {
		for _, stage := range []string{beforeReceipt, beforeCommit, afterCommit} {
			t.Run(w.Tool+", "+stage, func(t *testing.T) {
				t.Parallel()
				h := s.open(t, Company)
				redis := miniredis.RunT(t)
				store := domaintest.OpenRedis(t, redis.Addr())
				h = h.over(s, h.store, confirm.NewService(store, h.Sink, nil))
				p, before := w.pending(h), h.store.Dump()
				encoded, err := json.Marshal(order{s.engine.Name, h.store.Address, redis.Addr(), w.Username, p.ID})
				if err != nil {
					t.Fatal(err)
				}
				testkit.Kill(t, string(encoded), stage)

				changed, kept := h.store.Dump() != before, h.kept(w.Username, p.ID)
				if want := stage == afterCommit; changed != want || kept != want {
					t.Errorf("after the crash: changed %v, receipt %v; want both %v", changed, kept, want)
				}
				h = h.over(s, h.store, confirm.NewService(store, h.Sink, &confirm.Options{Now: later}))
				want := map[bool]string{true: "applied", false: "pending"}[kept]
				if card, err := h.Confirmation(h.As(w.Username), p.ID); err != nil || card.State != want {
					t.Errorf("shown as %s, %v, want %s", card.State, err, want)
				}
				first, after := w.answer(h, p.ID), h.store.Dump()
				if again := w.answer(h, p.ID); !strings.Contains(first, w.Says) || again != first {
					t.Errorf("got %s, then %s, want %q", first, again, w.Says)
				}
				if h.store.Dump() != after || !h.kept(w.Username, p.ID) {
					t.Error("the change was made again, or has no receipt")
				}
			})
		}
	}
}

// kept reports whether the store has a receipt.
func (h *harness) kept(username, id string) bool {
	h.Helper()
	p, err := access.From(h.As(username))
	if err != nil {
		h.Fatal(err)
	}
	store, found, err := h.store.Receipts().Of(h.Context(), confirm.ID(id))
	if err != nil || !found {
		h.Fatal(found, err)
	}
	if _, found, err = store.Find(h.As(username), p.Owner(), confirm.ID(id)); err != nil {
		h.Fatal(err)
	}
	return found
}

// broken is a receipt store that cannot keep a receipt, or whose answer is lost.
type broken struct {
	tool.ReceiptStore
	lost bool
}

func (b broken) Keep(ctx context.Context, r confirm.Receipt) error {
	if !b.lost {
		return errors.New("the disk is full")
	}
	return b.ReceiptStore.Keep(ctx, r)
}

func (b broken) Change(ctx context.Context, fn func(context.Context) error) error {
	err := b.ReceiptStore.Change(ctx, fn)
	if b.lost && err == nil {
		return errors.New("the connection was lost")
	}
	return err
}

// receipts: a change whose receipt cannot be kept is not made, and a change whose
// answer is lost is found again. Approved again through a store that works, each
// is made once.
func (s *suite) receipts(t *testing.T) {
	for _, w := range s.Writes {
		for _, lost := range []bool{false, true} {
			h := s.open(t, Company)
			service := confirm.NewService(domaintest.NewRedis(t), h.Sink, nil)
			failing := h.over(s, Keeping(h.store, func(r tool.ReceiptStore) tool.ReceiptStore { return broken{r, lost} }), service)
			p, before := w.pending(failing), h.store.Dump()
			_ = w.answer(failing, p.ID) // a receipt that is found, or a failure
			if changed, kept := h.store.Dump() != before, h.kept(w.Username, p.ID); changed != lost || kept != lost {
				t.Errorf("%s, answer lost %v: changed %v, receipt %v; want both %v", w.Tool, lost, changed, kept, lost)
			}
			h = h.over(s, h.store, service)
			first := w.answer(h, p.ID)
			after := h.store.Dump()
			if again := w.answer(h, p.ID); !strings.Contains(first, w.Says) || again != first || after == before || h.store.Dump() != after {
				t.Errorf("%s, answer lost %v: approved again, got %s, then %s", w.Tool, lost, first, again)
			}
		}
	}
}
