package upstream

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"strconv"
	"time"

	"golang.org/x/sync/singleflight"

	"countersign.dev/internal/admission"
	"countersign.dev/internal/audit"
	"countersign.dev/internal/fault"
	"countersign.dev/internal/result"
	"countersign.dev/internal/telemetry"
	"countersign.dev/internal/upstream/breaker"
	"countersign.dev/internal/upstream/mcpsession"
)

func (s *server) healthy() bool {
	return s.breaker.Closed() && s.up.registry().lists[s.Name].failed == nil
}

// refresh makes the server's tool list usable, or says why it is not. A list
// that is only a little old is used at once and fetched in the background.
func (s *server) refresh(ctx context.Context) error {
	list := s.up.registry().lists[s.Name]
	fetch, background, failed := list.need(s.up.o.Now())
	if !fetch || failed != nil {
		return failed
	}
	fetched := s.fetching(ctx, list.version)
	if background {
		return nil
	}
	defer admission.Outside(ctx)()
	if s.foreign() {
		return s.awaitShortly(ctx, list)
	}
	select {
	case r := <-fetched:
		return r.Err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// fetching joins the fetch of a version of the list, or begins it. A fetch that
// began before an invalidation is not joined.
func (s *server) fetching(ctx context.Context, version int) <-chan singleflight.Result {
	return s.fetches.DoChan(strconv.Itoa(version), func() (any, error) { return nil, s.fetch(ctx, version) })
}

// fetch asks the server for all its tools. It outlives the caller that began
// it, because others wait for the same answer.
func (s *server) fetch(ctx context.Context, version int) error {
	if !s.up.begin() {
		return errClosed
	}
	defer s.up.work.Done()
	timeout := s.Timeout
	if s.foreign() {
		timeout = discoveryTimeout
	}
	ctx, cancel := s.up.bounded(context.WithoutCancel(ctx), timeout)
	defer cancel()
	tools, err := s.adapter.Tools(ctx)
	if s.foreign() && err == nil {
		s.found.setSlow(false)
	}
	s.up.keep(s, version, tools, err)
	if err != nil {
		s.up.o.Log.WarnContext(ctx, "tool list could not be fetched", "server", s.Name, "error", err)
	}
	return err
}

// call sends one call if the breaker admits it.
func (s *server) call(ctx context.Context, r route, args json.RawMessage) (result.Outcome, error) {
	probe, ok := r.breaker.Admit(s.up.o.Now())
	if !ok {
		s.observe(r, result.Failed(s.fault(errOpen)), 0)
		return result.Outcome{}, errors.Join(mcpsession.ErrNotSent, errOpen)
	}
	return s.send(ctx, r, args, probe)
}

// send sends one call within the deadline of its kind and records how it went.
// It does not ask the breaker; probe says that the breaker sent it as one.
func (s *server) send(ctx context.Context, r route, args json.RawMessage, probe bool) (result.Outcome, error) {
	if !s.up.begin() {
		return result.Outcome{}, errors.Join(mcpsession.ErrNotSent, errClosed)
	}
	defer s.up.work.Done()
	until := time.Now().Add(s.deadline(r))
	o, err := s.attempt(ctx, until, r, args, probe)
	again := err != nil && !probe && ctx.Err() == nil && time.Now().Before(until) && s.retries(r, err)
	if err != nil {
		s.logLost(ctx, r.tool.Name, err, 1, again)
	}
	if again && pause(s.up.bounded(ctx, time.Until(until))) {
		if o, err = s.attempt(ctx, until, r, args, false); err != nil {
			s.logLost(ctx, r.tool.Name, err, 2, false)
		}
	}
	if err != nil {
		s.auditLost(ctx, r.tool.Name, err)
		return o, err
	}
	if o.Fault() != nil && o.Fault().Code == fault.UnknownTool { // our list is not the server's
		s.up.invalidate(s)
	}
	return o, err
}

// exchange passes a call to the adapter. That of an own server keeps the deadline and
// gives the slot back itself; for a foreign one a context does, and the process does other
// work meanwhile.
func (s *server) exchange(ctx context.Context, until time.Time, tool string, args json.RawMessage) (result.Outcome, error) {
	if s.ours != nil {
		return s.ours.CallUntil(ctx, until, tool, args)
	}
	bounded, cancel := s.up.bounded(ctx, time.Until(until))
	defer cancel()
	defer admission.Outside(ctx)()
	return s.adapter.Call(bounded, tool, args)
}

// attempt sends a call once, and counts it.
func (s *server) attempt(caller context.Context, until time.Time, r route, args json.RawMessage, probe bool) (result.Outcome, error) {
	start := s.up.o.Now()
	o, err := s.exchange(caller, until, r.tool.Name, args)
	s.record(caller, r, start, err, probe)
	seen := o
	if err != nil {
		seen = result.Failed(s.fault(err))
	}
	took := s.up.o.Now().Sub(start)
	s.observe(r, seen, took)
	if s.up.o.Log.Enabled(caller, slog.LevelDebug) {
		s.up.o.Log.DebugContext(telemetry.WithStep(caller, telemetry.Step{Component: "upstream", Action: "call"}), "call ended", "server", s.Name, "tool", r.tool.Name,
			"arguments_sha256", telemetry.Digest(string(args)), "outcome", seen.Code(), "rows", seen.Rows(), "duration_ms", took.Milliseconds())
	}
	return o, err
}

func (s *server) observe(r route, o result.Outcome, took time.Duration) {
	if s.up.o.Observe != nil {
		s.up.o.Observe(s.Name, r.tool.Name, o.Code(), took)
	}
}

// answer forwards a person's answer to the server. It does not ask the breaker:
// the person waits for the outcome.
func (s *server) answer(ctx context.Context, id string, approved bool, digest string) result.Outcome {
	if !s.up.begin() {
		return result.Failed(s.fault(errClosed))
	}
	defer s.up.work.Done()
	start := s.up.o.Now()
	bounded, cancel := s.up.bounded(ctx, s.WriteTimeout)
	defer cancel()
	o, err := s.answers.Answer(bounded, id, approved, digest)
	s.record(ctx, route{server: s, breaker: s.breaker}, start, err, false)
	if err != nil {
		s.logLost(ctx, "", err, 1, false)
		s.auditLost(ctx, "", err)
		return result.Failed(s.fault(err))
	}
	return o
}

// deadline is that of one call with its retry: the tool's own, else that of its
// kind.
func (s *server) deadline(r route) time.Duration {
	if own := r.rules.Timeout; own > 0 {
		return own
	}
	if r.tool.Kind == result.Read || r.tool.Kind == result.List {
		return s.Timeout
	}
	return s.WriteTimeout
}

// record passes the end of a call to breaker and meter. Only a fault of the server
// counts against it. ctx is the caller's own: when it ended first, the server is
// not at fault, nor is it when the host could not ask it, when it rejected the
// call, or when it answered more than the host reads.
func (s *server) record(ctx context.Context, r route, start time.Time, err error, probe bool) {
	now, sig := s.up.o.Now(), breaker.Answered
	switch {
	case err == nil, errors.As(err, new(mcpsession.Rejected)), errors.Is(err, mcpsession.ErrTooLarge):
	case ctx.Err() != nil || errors.Is(err, mcpsession.ErrBusy) || errors.Is(err, mcpsession.ErrHost):
		sig = breaker.None
	default:
		sig = breaker.Faulted
		s.up.invalidate(s)
	}
	if state := r.breaker.State(now); r.breaker.Record(now, sig, probe) {
		s.up.o.Log.WarnContext(ctx, "a breaker changed", "server", s.Name, "tool", r.tool.Name, "from", state, "to", r.breaker.State(now))
	}
	s.meter.count(now, now.Sub(start), sig)
	if r.meter != nil {
		r.meter.count(now, now.Sub(start), sig)
	}
}

// auditLost records a call that got no answer: no server has a record of its
// outcome.
func (s *server) auditLost(ctx context.Context, tool string, err error) {
	_ = s.up.audit(ctx, audit.Event{Kind: audit.Outcome, Server: s.Name, Tool: tool, Outcome: s.fault(err).Code.Name})
}

// Why a call was not sent.
var (
	errClosed = errors.New("the program is shutting down")
	errOpen   = errors.New("the breaker is open")
)

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
		return fault.ValidationError.New("The input is larger than the %s service accepts.", s.Name).Instruct("Send a smaller input.")
	case http.StatusTooManyRequests:
		return fault.TooManyRequests.New("The %s service got too many of your requests.", s.Name)
	}
	return fault.ServiceDown.New("The %s service did not take the request.", s.Name)
}
