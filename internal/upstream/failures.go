package upstream

import (
	"context"
	"errors"
	"net/http"
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
	case errors.Is(err, mcpsession.ErrBusy), errors.Is(err, mcpsession.ErrHost), errors.Is(err, mcpsession.ErrUnreadable), errors.As(err, new(mcpsession.Rejected)):
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

// fault names the server in the reason why it gave no answer.
func (s *server) fault(err error) *fault.Error {
	var f *fault.Error
	var rejected mcpsession.Rejected
	switch {
	case errors.As(err, &f):
		return f
	case errors.As(err, &rejected):
		return s.rejection(rejected).With("server", s.Name).Because(err)
	case errors.Is(err, mcpsession.ErrTooLarge):
		return fault.OperationFailed.New("The answer of the %s service is larger than the gateway reads.", s.Name).Suggest("Narrow the request or ask for fewer rows.").With("server", s.Name).Because(err)
	case errors.Is(err, mcpsession.ErrUnreadable):
		return fault.OperationFailed.New("The %s service gave an answer that is no valid answer of MCP.", s.Name).Suggest("Tell your administrator. Another call of the tool may have the same answer.").With("server", s.Name).Because(err)
	case errors.Is(err, context.DeadlineExceeded):
		return fault.Timeout.New("The %s service did not answer in time.", s.Name).With("server", s.Name).Because(err)
	case errors.Is(err, context.Canceled) && s.up.life.Err() == nil: // else Close has ended the call
		return fault.From(err)
	case errors.Is(err, mcpsession.ErrBusy):
		return fault.Busy.New("The %s service serves too many people at once.", s.Name).With("server", s.Name).Because(err)
	}
	return fault.ServiceDown.New("The %s service cannot be reached at the moment.", s.Name).With("server", s.Name).Because(err)
}

// rejection is the fault of a call that the server did not take.
func (s *server) rejection(r mcpsession.Rejected) *fault.Error {
	switch r.Status {
	case http.StatusRequestEntityTooLarge:
		return fault.ValidationError.New("The input is larger than the %s service accepts. The call was not run.", s.Name).Instruct("Send a smaller input.")
	case http.StatusTooManyRequests:
		return fault.TooManyRequests.New("The %s service got too many requests. The call was not run.", s.Name).Suggest("Wait a moment and ask for it again.")
	}
	return fault.ServiceDown.New("The %s service did not take the request.", s.Name)
}

// Why a call was not sent.
var (
	errClosed = errors.New("the program is shutting down")
	errOpen   = errors.New("the breaker is open")
)

// outcomeUnknown is the code of a confirmed call of a foreign tool whose answer
// was lost after it was sent. It is final: the call is not sent again.
var outcomeUnknown = &fault.Code{
	Name: "OUTCOME_UNKNOWN", Kind: fault.Conflict, Status: http.StatusOK,
	Meaning: "A confirmed call of a connected server's tool was sent, and its answer was lost. It is not sent again.",
	Suggest: "Check in the other system whether it was carried out before you ask for it again.",
}

// unknown is the fault of a call that may have been carried out.
func (s *server) unknown() *fault.Error {
	return outcomeUnknown.New("The call was sent to the %s service, and its answer was lost. Whether it was carried out is unknown.", s.Name).With("server", s.Name)
}

func errNoConfirmation(id string) *fault.Error {
	return fault.ConfirmationNotFound.New("Confirmation not found or expired.").With("confirmationId", id)
}
