package conformance

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"countersign.dev/internal/confirm"
	"countersign.dev/internal/result"
	"countersign.dev/internal/testkit/domaintest"
	"countersign.dev/internal/tool"
)

// Write is a tool that changes rows, once its caller has approved.
type Write struct {
	Tool     string
	Username string // who asks
	Other    string // someone else who may call the tool
	In       Args
	Says     string  // part of the receipt
	Stale    []Stale // what can happen between the question and the answer
}

// Stale is a confirmation that is approved too late.
type Stale struct {
	name   string
	code   string // of the answer
	change func(t testing.TB, s *Store)
}

// Meanwhile is a change that someone else makes before a confirmation is
// approved. The approval must be answered with that code.
func Meanwhile(name, code string, change func(t testing.TB, s *Store)) Stale {
	return Stale{name, code, change}
}

func (w Write) pending(h *harness) *result.Pending {
	h.Helper()
	return h.Pending(h.As(w.Username), w.Tool, w.In)
}

func (w Write) answer(h *harness, id string) string {
	h.Helper()
	return h.AnswerAs(w.Username, id, true)
}

// approvals: a question changes nothing, a denial and another person's approval
// neither; the approval of the person who asked changes the store once, and is
// answered with the same receipt, to the letter, however often it is repeated:
// at once, through a service that has forgotten it, and in another process.
func (s *suite) approvals(t *testing.T) {
	for _, w := range s.Writes {
		t.Run(w.Tool, func(t *testing.T) {
			h := s.open(t, Company)
			before := h.store.Dump()
			p, denied := w.pending(h), w.pending(h)
			if o := h.AnswerAs(w.Username, denied.ID, false); !strings.Contains(o, "cancelled") {
				t.Errorf("a denial is answered with %s", o)
			}
			if o := h.Answer(h.As(w.Other), p.ID, true, ""); o.Code() != "USER_MISMATCH" {
				t.Errorf("another person's approval: got %s", h.Encode(o))
			}
			if h.store.Dump() != before {
				t.Error("something was changed before the approval")
			}
			first := w.answer(h, p.ID)
			after := h.store.Dump()
			if !strings.Contains(first, w.Says) || !strings.Contains(first, `"status":"success"`) || after == before {
				t.Errorf("got %s, changed %v, want %q", first, after != before, w.Says)
			}
			h.wantMarked(w.Tool, p, first)
			forgetful := domaintest.Open(t, s.Server, h.store)
			repeated := []string{w.answer(h, p.ID), forgetful.AnswerAs(w.Username, p.ID, true)}
			if s.engine.Connect != nil {
				again, err := s.engine.Connect(t.Context(), h.store.Address)
				if err != nil {
					t.Fatal(err)
				}
				repeated = append(repeated, domaintest.Open(t, s.Server, again).AnswerAs(w.Username, p.ID, true))
			}
			for i, again := range repeated {
				if again != first {
					t.Errorf("repeated (%d): got %s, want %s", i, again, first)
				}
			}
			if o := forgetful.Answer(h.As(w.Other), p.ID, true, ""); o.Fault() == nil {
				t.Errorf("another person gets the receipt: %s", h.Encode(o))
			}
			if o := h.Answer(h.As(w.Username), denied.ID, true, ""); o.Fault() == nil || h.store.Dump() != after {
				t.Errorf("what was denied is approved, or something changed again: %s", h.Encode(o))
			}
		})
	}
}

// wantMarked fails when the sentence of a receipt has a text of others that the model would
// read as ours.
func (h *harness) wantMarked(tool string, card *result.Pending, receipt string) {
	h.Helper()
	var answer struct{ Data struct{ Message string } }
	if err := json.Unmarshal([]byte(receipt), &answer); err != nil {
		h.Fatal(err)
	}
	untrusted := h.info(tool).Untrusted
	for _, field := range untrusted {
		if text, _ := card.Data[field].(string); text != "" && strings.Contains(answer.Data.Message, text) && !slices.Contains(untrusted, "message") {
			h.Errorf("the receipt of %s names %s (%q): put message into Spec.Untrusted, too", tool, field, text)
		}
	}
}

// stale makes each change that can happen between a question and its approval:
// the approval is refused, and changes nothing.
func (s *suite) stale(t *testing.T) {
	for _, w := range s.Writes {
		for _, c := range w.Stale {
			t.Run(w.Tool+", "+c.name, func(t *testing.T) {
				t.Parallel()
				if s.engine.Connect == nil {
					t.Skip("no other process can reach this store")
				}
				h := s.open(t, Company)
				p := w.pending(h)
				c.change(t, h.store)
				before := h.store.Dump()
				if o := h.Answer(h.As(w.Username), p.ID, true, ""); o.Code() != c.code {
					t.Errorf("got %s, want %s", h.Encode(o), c.code)
				}
				if h.store.Dump() != before {
					t.Error("something was changed")
				}
			})
		}
	}
}

// races: many approvals of one confirmation change once and get one receipt;
// of many confirmations of the same change, by two people, one is applied.
func (s *suite) races(t *testing.T) {
	const rivals = 12
	for _, w := range s.Writes {
		h := s.open(t, Company)
		commits := new(atomic.Int64)
		h = h.over(s, counting(h.store, commits), confirm.NewService(domaintest.NewRedis(t), h.Sink, nil))
		ids, people := make([]string, rivals), make([]string, rivals)
		for i := range ids {
			people[i] = []string{w.Username, w.Other}[i%2]
			ids[i] = h.Pending(h.As(people[i]), w.Tool, w.In).ID
		}
		answers := h.together(people, ids)
		winner := ""
		for i, answer := range answers {
			switch {
			case strings.Contains(answer, `"status":"success"`) && winner == "":
				winner = ids[i]
			case strings.Contains(answer, `"status":"success"`), holds(answer, []string{"INTERNAL_ERROR", "DATABASE_ERROR", "TIMEOUT", "UNAVAILABLE"}):
				t.Errorf("%s: one of them got %s", w.Tool, answer)
			}
		}
		if winner == "" || commits.Load() != 1 {
			t.Errorf("%s: %d changes, winner %q; want one", w.Tool, commits.Load(), winner)
		}

		h = s.open(t, Company)
		commits.Store(0)
		h = h.over(s, counting(h.store, commits), confirm.NewService(domaintest.NewRedis(t), h.Sink, nil))
		id := w.pending(h).ID
		for i := range ids {
			people[i], ids[i] = w.Username, id
		}
		answers = h.together(people, ids)
		receipt := w.answer(h, id)
		for _, answer := range answers {
			if answer != receipt && !strings.Contains(answer, "CONFIRMATION_IN_PROGRESS") {
				t.Errorf("%s: got %s, want %s", w.Tool, answer, receipt)
			}
		}
		if commits.Load() != 1 {
			t.Errorf("%s: %d changes, want one", w.Tool, commits.Load())
		}
	}
}

// together approves every confirmation at the same moment.
func (h *harness) together(people, ids []string) []string {
	h.Helper()
	answers := make([]string, len(ids))
	var group sync.WaitGroup
	for i := range ids {
		ctx := h.As(people[i])
		group.Go(func() { answers[i] = string(h.Encode(h.Answer(ctx, ids[i], true, ""))) })
	}
	group.Wait()
	return answers
}

// wrapped changes every receipt store of a domain.
type wrapped struct {
	tool.ReceiptStores
	wrap func(tool.ReceiptStore) tool.ReceiptStore
}

func (w wrapped) Of(ctx context.Context, id confirm.ID) (tool.ReceiptStore, bool, error) {
	store, found, err := w.ReceiptStores.Of(ctx, id)
	return w.wrap(store), found, err
}

// rekept is a domain with other receipt stores.
type rekept struct {
	domaintest.Domain
	receipts tool.ReceiptStores
}

func (r rekept) Receipts() tool.ReceiptStores { return r.receipts }

// Keeping is the domain with its receipt stores changed.
func Keeping(d domaintest.Domain, wrap func(tool.ReceiptStore) tool.ReceiptStore) domaintest.Domain {
	return rekept{d, wrapped{d.Receipts(), wrap}}
}

// counting is the domain, and counts the changes that are made.
func counting(d domaintest.Domain, n *atomic.Int64) domaintest.Domain {
	return Keeping(d, func(r tool.ReceiptStore) tool.ReceiptStore { return counted{r, n} })
}

type counted struct {
	tool.ReceiptStore
	n *atomic.Int64
}

func (c counted) Change(ctx context.Context, fn func(context.Context) error) error {
	err := c.ReceiptStore.Change(ctx, fn)
	if err == nil {
		c.n.Add(1)
	}
	return err
}

// later is a clock by which every acquisition counts as abandoned.
func later() time.Time { return time.Now().Add(confirm.AbandonedAfter + time.Second) }
