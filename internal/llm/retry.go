package llm

import (
	"context"
	"errors"
	"iter"
	"math/rand/v2"
	"time"

	"countersign.dev/internal/admission"
	"countersign.dev/internal/agent"
	"countersign.dev/internal/llm/vendor"
)

// The one retry policy of all providers: the first try and three more.
const (
	retries    = 3
	firstPause = time.Second
	maxPause   = 30 * time.Second // a provider that asks for more is not waited for
)

// retrying repeats a request that failed before anything of the answer was
// there, so that no text and no call comes twice.
type retrying struct {
	agent.Model
	pause func(ctx context.Context, d time.Duration) error
}

func (m retrying) Stream(ctx context.Context, r agent.Request) iter.Seq2[agent.Delta, error] {
	return func(yield func(agent.Delta, error) bool) {
		defer admission.Outside(ctx)() // a provider works, and not this process
		for try := 0; ; try++ {
			failed, ended := m.try(ctx, r, yield)
			if ended {
				return
			}
			wait, again := pauseBefore(failed, try)
			if !again || m.pause(ctx, wait) != nil {
				yield(agent.Delta{}, failed)
				return
			}
		}
	}
}

// try passes one answer on. It returns the error that came before any piece of
// the answer; ended means that there is nothing more to do.
func (m retrying) try(ctx context.Context, r agent.Request, yield func(agent.Delta, error) bool) (failed error, ended bool) {
	began := false
	for delta, err := range m.Model.Stream(ctx, r) {
		if err != nil && !began {
			return err, false
		}
		began = began || delta.Usage == nil
		if !yield(delta, err) || err != nil {
			return nil, true
		}
	}
	return nil, true
}

// pauseBefore says how long to wait before the next try, if there is one. The
// pause doubles, and half of it is random, so that many callers do not return
// at the same moment.
func pauseBefore(err error, try int) (time.Duration, bool) {
	var f *vendor.Failure
	if !errors.As(err, &f) || !f.Retry || try >= retries || f.After > maxPause {
		return 0, false
	}
	if f.After > 0 {
		return f.After, true
	}
	pause := firstPause << try
	return pause/2 + rand.N(pause/2+1), true
}

// sleep waits, or returns the context's error.
func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
