package upstream

import (
	"context"
	"errors"
	"time"

	"countersign.dev/internal/fault"
	"countersign.dev/internal/telemetry"
	"countersign.dev/internal/upstream/mcpsession"
)

// retryPause is between a failed call and its one repetition.
const retryPause = 500 * time.Millisecond

// retries reports whether a call that got no answer is sent once more: the tool
// has no second effect, the server did not take its whole time, and it failed in a
// way that may pass.
func (s *server) retries(r route, err error) bool {
	switch {
	case !r.repeats || s.up.life.Err() != nil || !r.breaker.Closed():
		return false
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled), errors.Is(err, mcpsession.ErrTooLarge):
		return false
	case errors.Is(err, mcpsession.ErrBusy), errors.Is(err, mcpsession.ErrHost), errors.As(err, new(mcpsession.Rejected)):
		return false
	}
	return true
}

// pause waits before the repetition, and reports whether the call still has time. Its
// context is its own.
func pause(ctx context.Context, end context.CancelFunc) bool {
	defer end()
	timer := time.NewTimer(retryPause)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// logLost writes the one line of a failed attempt.
func (s *server) logLost(ctx context.Context, tool string, err error, attempt int, again bool) {
	recovery := telemetry.Abort
	if again {
		recovery = telemetry.Retry
	}
	ctx = telemetry.WithStep(ctx, telemetry.Step{Component: "upstream", Action: "call", Attempt: attempt, Recovery: recovery})
	if s.fault(err).Code == fault.Cancelled {
		s.up.o.Log.InfoContext(ctx, "call cancelled", "server", s.Name, "tool", tool)
		return
	}
	s.up.o.Log.WarnContext(ctx, "call got no answer", "server", s.Name, "tool", tool, "error", err)
}
