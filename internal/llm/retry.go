package llm

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"log/slog"
	"math/rand/v2"
	"time"

	"countersign.dev/internal/admission"
	"countersign.dev/internal/agent"
	"countersign.dev/internal/fault"
	"countersign.dev/internal/llm/vendor"
	"countersign.dev/internal/telemetry"
)

// The one retry policy of all providers, unless it is configured: the first try
// and three more.
const (
	defaultRetries = 3
	defaultDelay   = time.Second
	maxPause       = 30 * time.Second // a provider that asks for more is not waited for
)

// Policy is what holds for all models.
type Policy struct {
	Default  string        // the name of the model of conversations that choose none
	Fallback string        // that answers when another cannot; empty: none
	Retries  *int          // tries after the first; nil: 3
	Delay    time.Duration // before the second try; 0: 1 s
	Log      *slog.Logger  // nil: nothing is logged
}

func (p Policy) retries() int {
	if p.Retries == nil {
		return defaultRetries
	}
	return *p.Retries
}

// retrying repeats a request that failed before anything of the answer was
// there, so that no text and no call comes twice.
type retrying struct {
	agent.Model
	retries int
	delay   time.Duration
	pause   func(ctx context.Context, d time.Duration) error
	log     *slog.Logger // nil: nothing is logged
}

func newRetrying(m agent.Model, p Policy) retrying {
	return retrying{m, p.retries(), cmp.Or(p.Delay, defaultDelay), sleep, p.Log}
}

func (m retrying) Stream(ctx context.Context, r agent.Request) iter.Seq2[agent.Delta, error] {
	return func(yield func(agent.Delta, error) bool) {
		defer admission.Outside(ctx)() // a provider works, and not this process
		for try := 0; ; try++ {
			failed, ended := m.try(ctx, r, yield)
			if ended {
				return
			}
			wait, again := m.pauseBefore(failed, try)
			m.note(ctx, failed, try, again)
			if !again || m.pause(ctx, wait) != nil {
				yield(agent.Delta{}, m.last(ctx, failed, try))
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

// note writes the line of a failed try, with the provider's own reason if there is one:
// people read what it means, and who runs the gateway needs what was said.
func (m retrying) note(ctx context.Context, err error, try int, again bool) {
	if m.log == nil || ctx.Err() != nil {
		return
	}
	recovery := telemetry.Abort
	if again {
		recovery = telemetry.Retry
	}
	ctx = telemetry.WithStep(ctx, telemetry.Step{Component: "llm", Action: "answer", Attempt: try + 1, Recovery: recovery})
	m.log.WarnContext(ctx, "a model gave no answer", "model", m.Name(), "error", reasonOf(err))
}

func reasonOf(err error) error {
	var f *vendor.Failure
	if !errors.As(err, &f) {
		return err
	}
	return cmp.Or(errors.Unwrap(f.Fault), err)
}

// pauseBefore says how long to wait before the next try, if there is one. The
// pause doubles, and half of it is random, so that many callers do not return
// at the same moment.
func (m retrying) pauseBefore(err error, try int) (time.Duration, bool) {
	var f *vendor.Failure
	if !errors.As(err, &f) || !f.Retry || try >= m.retries || f.After > maxPause {
		return 0, false
	}
	if f.After > 0 {
		return f.After, true
	}
	pause := min(m.delay<<try, maxPause)
	return pause/2 + rand.N(pause/2+1), true
}

// last is the error of a request that is not repeated any more: the provider's, or
// that all tries failed.
func (m retrying) last(ctx context.Context, err error, try int) error {
	var f *vendor.Failure
	if ctx.Err() != nil || try == 0 || try < m.retries || !errors.As(err, &f) || f.Fault.Code == fault.TooManyRequests {
		return err
	}
	return &vendor.Failure{Alone: f.Alone, Fault: fault.ServiceDown.New("%s", fault.TriesFailed).Suggest("%s", f.Fault.Message).Because(err)}
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
