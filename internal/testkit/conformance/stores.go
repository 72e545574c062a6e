package conformance

import (
	"context"
	"strings"
	"testing"
	"time"

	"countersign.dev/internal/testkit"
)

// away cuts the store off: a change that cannot reach it is answered as a store
// that is down or too busy, without a word of its internals, and is made once it
// is back.
func (s *suite) away(t *testing.T) {
	h := s.open(t, Company)
	if h.store.Cut == nil {
		t.Skip("this store cannot be away")
	}
	w := s.Writes[0]
	p, before := w.pending(h), h.store.Dump()
	h.store.Cut()
	unavailable := func(what string, o string) {
		if !holds(o, []string{"SERVICE_UNAVAILABLE", "TIMEOUT"}) || holds(o, internals) {
			t.Errorf("%s while the store is away: got %s", what, o)
		}
	}
	if h.store.CutsReads {
		for _, c := range s.Calls {
			if !s.changes(c.Tool) {
				o := h.Ask(Asker{Email: c.Email, Roles: c.Allow}.in(t.Context()), c.Tool, c.In)
				unavailable(c.Tool, string(h.Encode(o)))
			}
		}
	}
	ctx, cancel := context.WithTimeout(h.As(w.Username), time.Second)
	defer cancel()
	unavailable("an approval", string(h.Encode(h.Answer(ctx, p.ID, true, ""))))
	h.store.Restore()
	if h.store.Dump() != before {
		t.Error("something was changed while the store was away")
	}
	answer := w.answer(h, p.ID)
	for until := time.Now().Add(testkit.Patience); time.Now().Before(until) && holds(answer, []string{"SERVICE_UNAVAILABLE", "TIMEOUT"}); { // a driver may have to notice that its connections are closed
		answer = w.answer(h, p.ID)
	}
	if !strings.Contains(answer, w.Says) {
		t.Errorf("back: got %s, want %q", answer, w.Says)
	}
}

// deadline calls every tool with a deadline that has passed.
func (s *suite) deadline(t *testing.T) {
	h := s.unchanged
	for _, c := range s.Calls {
		ctx, cancel := context.WithDeadline(Asker{Email: c.Email, Roles: c.Allow}.in(t.Context()), time.Now().Add(-time.Second))
		if o := h.Ask(ctx, c.Tool, c.In); o.Code() != "TIMEOUT" {
			t.Errorf("%s: got %s, want TIMEOUT", c.Tool, h.Encode(o))
		}
		cancel()
	}
}

// cancelled calls every tool for a caller who has left: that is no fault of the
// store, which had all the time it needs.
func (s *suite) cancelled(t *testing.T) {
	h := s.unchanged
	for _, c := range s.Calls {
		ctx, cancel := context.WithCancel(Asker{Email: c.Email, Roles: c.Allow}.in(t.Context()))
		cancel()
		if o := h.Ask(ctx, c.Tool, c.In); o.Code() != "CANCELLED" {
			t.Errorf("%s: got %s, want CANCELLED", c.Tool, h.Encode(o))
		}
	}
}

// seeding: a store without data is not ready; one with data stays as it is when
// it is seeded again, changes included.
func (s *suite) seeding(t *testing.T) {
	h := s.open(t, Company)
	if err := h.store.Ready(t.Context()); err != nil {
		t.Errorf("a seeded store is not ready: %v", err)
	}
	for _, w := range s.Writes {
		w.answer(h, w.pending(h).ID)
	}
	before := h.store.Dump()
	if err := h.store.Seed(); err != nil {
		t.Fatal(err)
	}
	if h.store.Dump() != before {
		t.Error("seeding again changed a store that has data")
	}
	if h.store.Empty == nil {
		return
	}
	if err := h.store.Empty().Ready(t.Context()); err == nil {
		t.Error("a store without data is ready")
	}
}
