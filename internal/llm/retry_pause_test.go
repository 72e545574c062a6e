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
)

// busy is a provider that may answer later.
type busy struct{}

func (busy) Name() string { return "busy" }

func (busy) Stream(context.Context, agent.Request) iter.Seq2[agent.Delta, error] {
	return func(yield func(agent.Delta, error) bool) {
		yield(agent.Delta{}, &vendor.Failure{Fault: fault.TooManyRequests.New("Busy."), Retry: true})
	}
}

// A question that is cancelled between two tries is not waited for.
func TestCancelEndsThePauseBetweenTries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		began, failed := time.Now(), 0
		for _, err := range newRetrying(busy{}, Policy{Delay: 20 * time.Second}).Stream(ctx, agent.Request{}) {
			if failed++; err == nil || errors.Is(err, context.Canceled) {
				t.Errorf("got %v", err)
			}
		}
		if took := time.Since(began); failed != 1 || took != time.Second {
			t.Errorf("%d errors after %s, want one after a second", failed, took)
		}
	})
}
