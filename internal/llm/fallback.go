package llm

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"sync/atomic"
	"time"

	"countersign.dev/internal/agent"
	"countersign.dev/internal/fault"
	"countersign.dev/internal/llm/vendor"
	"countersign.dev/internal/telemetry"
)

// outageTime is how long a model that could not answer is not asked again.
const outageTime = 30 * time.Second

// falling is a model for which a second one answers when it cannot: when its tries
// are over, or when there is nothing to try again (its key, its name, a request
// that it does not take). Never after a piece of an answer was there.
type falling struct {
	agent.Model
	second agent.Model
	until  *atomic.Int64 // UnixNano: the second one is asked at once
	log    *slog.Logger
	now    func() time.Time
}

func (m falling) Stream(ctx context.Context, r agent.Request) iter.Seq2[agent.Delta, error] {
	return func(yield func(agent.Delta, error) bool) {
		if m.now().UnixNano() < m.until.Load() {
			m.fall(ctx, r, yield)
			return
		}
		bounded, begun, stop := untilBegun(ctx)
		defer stop()
		began := false
		for d, err := range m.Model.Stream(bounded, r) {
			if !began && err == nil && d.Usage == nil {
				if began = begun(); !began {
					d, err = agent.Delta{}, errSilent // the rest of this answer would not come
				}
			}
			if !began && cannotAnswer(ctx, bounded, err) {
				stop()
				m.note(ctx, err)
				m.fall(ctx, r, yield)
				return
			}
			if !yield(d, err) {
				return
			}
		}
	}
}

// errSilent ends the try of a model that has not begun to answer when half of the
// time of the answer is over, so that the second one has the other half.
var errSilent = &vendor.Failure{Fault: fault.Timeout.New("The model did not begin to answer in time.")}

// untilBegun bounds a try by half of the time that is left, until begun is called,
// which reports whether that was in time.
func untilBegun(ctx context.Context) (bounded context.Context, begun func() bool, stop func()) {
	bounded, cancel := context.WithCancelCause(ctx)
	begun = func() bool { return true }
	if end, ok := ctx.Deadline(); ok {
		begun = time.AfterFunc(time.Until(end)/2, func() { cancel(errSilent) }).Stop
	}
	return bounded, begun, func() { begun(); cancel(nil) }
}

// fall says which model answers, and lets it. Parts of the first one's provider
// are no use to the second, whose adapter leaves them out.
func (m falling) fall(ctx context.Context, r agent.Request, yield func(agent.Delta, error) bool) {
	note := fmt.Sprintf("%s cannot answer at the moment. %s answers instead.", m.Name(), m.second.Name())
	if yield(agent.Delta{Note: note, Model: m.second.Name()}, nil) {
		m.second.Stream(ctx, r)(yield)
	}
}

func (m falling) note(ctx context.Context, err error) {
	var f *vendor.Failure
	if !errors.As(err, &f) || !f.Alone {
		m.until.Store(m.now().Add(outageTime).UnixNano())
	}
	if m.log != nil {
		ctx = telemetry.WithStep(ctx, telemetry.Step{Component: "llm", Action: "answer", Recovery: telemetry.Fallback})
		m.log.WarnContext(ctx, "a model cannot answer, and the fallback does", "model", m.Name(), "fallback", m.second.Name(), "error", err)
	}
}

// cannotAnswer reports whether the provider failed or kept silent, and not the turn
// ended.
func cannotAnswer(ctx, bounded context.Context, err error) bool {
	var f *vendor.Failure
	silent := errors.Is(context.Cause(bounded), errSilent)
	return err != nil && ctx.Err() == nil && (silent || errors.As(err, &f))
}
