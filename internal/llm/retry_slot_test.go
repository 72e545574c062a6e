package llm

import (
	"context"
	"iter"
	"testing"
	"time"

	"countersign.dev/internal/access"
	"countersign.dev/internal/admission"
	"countersign.dev/internal/agent"
)

// provider calls do while it answers.
type provider struct{ do func() }

func (provider) Name() string { return "provider" }

func (p provider) Stream(context.Context, agent.Request) iter.Seq2[agent.Delta, error] {
	return func(func(agent.Delta, error) bool) { p.do() }
}

// Turns that wait for a provider, which takes seconds, keep no others waiting.
func TestProviderIsWaitedForWithoutASlot(t *testing.T) {
	q := admission.New(admission.Options{Slots: 2, Patience: time.Millisecond})
	work := func(name string) *admission.Work {
		return q.Work().For(access.Owner{Issuer: "https://issuer.test", Subject: name})
	}
	turn, other, third := work("alice"), work("bob"), work("carol")
	for _, w := range []*admission.Work{turn, other} {
		if err := w.Begin(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	asked := false
	m := retrying{provider{func() {
		asked = true
		if err := third.Admit(t.Context()); err != nil {
			t.Errorf("got %v, want the slot of the turn that waits", err)
		}
		third.End()
	}}, 0, 0, nil, nil}
	for range m.Stream(admission.With(t.Context(), turn), agent.Request{}) {
		t.Error("got a piece of an empty answer")
	}
	if !asked {
		t.Error("the provider was not asked")
	}
}
