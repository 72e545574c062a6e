package conversation

import (
	"bytes"
	"context"
	"fmt"
	"iter"
	"strings"
	"sync"
	"testing"
	"time"

	"countersign.dev/internal/access"
	"countersign.dev/internal/admission"
	"countersign.dev/internal/agent"
	"countersign.dev/internal/conversation/lease"
	"countersign.dev/internal/testkit"
)

// chronicler is a model of language that counts the summaries that it is asked for,
// and answers with what it knows of one.
type chronicler struct {
	mu        sync.Mutex
	summaries int
}

func (*chronicler) Name() string { return "chronicler" }

func (m *chronicler) Choose(string) (agent.Choice, error) {
	return agent.Choice{Model: m, Language: true, Budget: 100_000}, nil
}

func (m *chronicler) Stream(_ context.Context, r agent.Request) iter.Seq2[agent.Delta, error] {
	return func(yield func(agent.Delta, error) bool) {
		text := "I know of no summary."
		switch first := r.Messages[0].Text(); {
		case strings.HasPrefix(r.System, "You summarise"):
			m.mu.Lock()
			m.summaries++
			text = fmt.Sprintf("A secret summary, number %d.", m.summaries)
			m.mu.Unlock()
		case strings.Contains(first, "secret summary"):
			text = first
		}
		yield(agent.Delta{Text: text, Usage: &agent.Usage{InputTokens: 5, OutputTokens: 2}, Stop: agent.StopEnd}, nil)
	}
}

// answered asks in a conversation and returns the answer when its turn is over.
func answered(t *testing.T, s *Service, p *access.Principal, c Conversation) (Conversation, string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), testkit.Patience)
	defer cancel()
	c, first, err := s.Ask(ctx, p, Question{Text: "And now?", Conversation: c.ID})
	if err != nil {
		t.Fatal(err)
	}
	var text string
	for e, err := range s.Follow(ctx, c.Log(), first.ID) {
		if err != nil {
			t.Fatal(err)
		}
		if text += e.Text; e.Type == Done {
			break
		}
	}
	return c, text
}

func TestSummaryIsKeptWithItsConversationSealed(t *testing.T) {
	m := &chronicler{}
	s, mini := newService(t, m, nil)
	s.turns.limits.Messages, s.turns.limits.Retain = 8, 2
	p := testkit.Person("ann", access.Employee)
	var c Conversation
	for range 5 { // two messages each, and the fifth question finds eight
		c, _ = answered(t, s, p, c)
	}
	if m.summaries != 0 {
		t.Fatalf("%d summaries before the limit", m.summaries)
	}
	c, text := answered(t, s, p, c)
	if m.summaries != 1 || !strings.Contains(text, "number 1.") {
		t.Fatalf("%d summaries, the answer is %q", m.summaries, text)
	}
	c, text = answered(t, s, p, c)
	if m.summaries != 1 || !strings.Contains(text, "number 1.") {
		t.Errorf("%d summaries, the answer is %q", m.summaries, text)
	}
	kept, err := s.Open(t.Context(), p.Owner(), c.ID)
	if err != nil || kept.Memory.Covered == 0 || !strings.Contains(kept.Memory.Summary, "secret") {
		t.Errorf("kept %+v, %v", kept.Memory, err)
	}
	if kept.Usage.InputTokens < 7*5 { // of seven answers, and of the summary
		t.Errorf("the conversation has used %+v", kept.Usage)
	}
	if raw, err := mini.Get(recordKey(c.ID)); err != nil || bytes.Contains([]byte(raw), []byte("secret")) {
		t.Errorf("the record is %q, %v", raw, err)
	}
}

// gated answers when released.
type gated struct {
	script
	release chan struct{}
}

func (g gated) Choose(string) (agent.Choice, error) { return agent.Choice{Model: g}, nil }

func (g gated) Stream(context.Context, agent.Request) iter.Seq2[agent.Delta, error] {
	return func(yield func(agent.Delta, error) bool) {
		<-g.release
		yield(agent.Delta{Text: "Leo.", Usage: &agent.Usage{OutputTokens: 1}, Stop: agent.StopEnd}, nil)
	}
}

// A question that waited goes on from what the turn before it stored.
func TestWaitingQuestionTakesNothingBack(t *testing.T) {
	g := gated{release: make(chan struct{}, 2)}
	s, _ := newService(t, g, nil)
	p := testkit.Person("ann", access.Employee)
	c, _, err := s.Ask(t.Context(), p, Question{Text: "one"})
	if err != nil {
		t.Fatal(err)
	}
	waits, begun := make(chan struct{}), make(chan error, 1)
	go func() {
		_, _, err := s.Ask(t.Context(), p, Question{Text: "two", Conversation: c.ID, Waits: func() { close(waits) }})
		begun <- err
	}()
	<-waits
	g.release <- struct{}{}
	if err := <-begun; err != nil {
		t.Fatal(err)
	}
	g.release <- struct{}{}
	for done, read := 0, 1; done < 2; read++ {
		if take(t, s, c.Log(), read)[read-1].Type == Done {
			done++
		}
	}
	if kept, err := s.Open(t.Context(), p.Owner(), c.ID); err != nil || kept.Usage.OutputTokens != 2 {
		t.Errorf("the conversation has used %+v (%v), want the tokens of both answers", kept.Usage, err)
	}
}

// A turn that waits for a slot on a busy machine is no crash.
func TestLeaseIsKeptWhileATurnWaitsForASlot(t *testing.T) {
	t.Parallel()
	s, mini := newService(t, script{}, nil)
	s.queue = admission.New(admission.Options{Slots: 1})
	busy := s.queue.Work().For(access.Owner{Issuer: "i", Subject: "busy"})
	if err := busy.Begin(t.Context()); err != nil {
		t.Fatal(err)
	}
	defer busy.End()
	c, _, err := s.Ask(t.Context(), testkit.Person("ann", access.Employee), Question{Text: "one"})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 { // together longer than the lease
		mini.FastForward(3 * time.Second)
		for began := time.Now(); mini.TTL(lease.Key(c.ID)) <= time.Second; {
			if held, err := s.turns.leases.Held(t.Context(), c.ID); !held || err != nil || time.Since(began) > testkit.Patience {
				t.Fatalf("the lease was not renewed: %v, %v", held, err)
			}
		}
	}
}
