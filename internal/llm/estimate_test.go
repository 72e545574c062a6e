package llm

import (
	"context"
	"errors"
	"iter"
	"testing"
	"testing/synctest"
	"time"

	"countersign.dev/internal/agent"
	"countersign.dev/internal/fault"
	"countersign.dev/internal/llm/vendor"
	"countersign.dev/internal/tokens"
)

// TestAnswerThatWasCutOffIsCounted: a person stops an answer before its provider said
// what it used. The request and the words that came are estimated, and priced.
func TestAnswerThatWasCutOffIsCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for stopped, written := range map[time.Duration]string{15 * time.Second: "Slow. ", 5 * time.Second: ""} {
			ctx, cancel := context.WithTimeout(t.Context(), stopped)
			m := named{Model: silent{10 * time.Second}, price: agent.Price{Input: 1, Output: 10, Currency: "USD"}, tokens: new(tokens.Counter)}
			var used agent.Usage
			var failed error
			for d, err := range m.Stream(ctx, question) {
				used.Add(d.Usage)
				failed = errors.Join(failed, err)
			}
			cancel()
			input := sizeOf(question, m.tokens)
			want := agent.Usage{InputTokens: input, OutputTokens: m.tokens.Count(written), Estimated: true, Currency: "USD"}
			want.Cost = m.price.Of(want)
			if used != want || input == 0 || used.Cost == 0 || failed == nil {
				t.Errorf("stopped after %v: used %+v, want %+v (%v)", stopped, used, want, failed)
			}
		}
	})
}

// failing is a model whose provider refuses the request.
type failing struct{ silent }

func (failing) Stream(context.Context, agent.Request) iter.Seq2[agent.Delta, error] {
	return func(yield func(agent.Delta, error) bool) {
		yield(agent.Delta{}, &vendor.Failure{Fault: fault.ServiceDown.New("No.")})
	}
}

// What a provider did not take used nothing, and rehearsal never does.
func TestRefusedRequestUsesNothing(t *testing.T) {
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for name, m := range map[string]struct {
		named
		ctx context.Context
	}{
		"refused":   {named{Model: failing{}, tokens: new(tokens.Counter)}, t.Context()},
		"rehearsal": {named{Model: silent{time.Hour}}, ended},
	} {
		for d := range m.Stream(m.ctx, question) {
			if d.Usage != nil {
				t.Errorf("%s: used %+v", name, *d.Usage)
			}
		}
	}
}
