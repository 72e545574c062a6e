package upstream

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"time"

	"countersign.dev/internal/admission"
	"countersign.dev/internal/audit"
	"countersign.dev/internal/fault"
	"countersign.dev/internal/result"
	"countersign.dev/internal/telemetry"
	"countersign.dev/internal/upstream/breaker"
	"countersign.dev/internal/upstream/mcpsession"
)

// call sends one call if the breaker admits it.
func (s *server) call(ctx context.Context, r route, args json.RawMessage) (result.Outcome, error) {
	probe, ok := r.breaker.Admit(s.up.o.Now())
	if !ok {
		s.observe(r, result.Failed(s.fault(errOpen)), 0)
		return result.Outcome{}, errors.Join(mcpsession.ErrNotSent, errOpen)
	}
	return s.send(ctx, r, args, probe)
}

// send sends one call within the deadline of its kind and counts how it went.
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
	if err == nil && o.Fault() != nil && o.Fault().Code == fault.UnknownTool { // our list is not the server's
		s.up.invalidate(s)
	}
	return o, err
}

// exchange passes a call to the adapter. That of an own server keeps the deadline and
// gives the slot back itself; for a foreign one a context does, and the process does other
// work meanwhile.
func (s *server) exchange(ctx context.Context, until time.Time, tool string, args json.RawMessage) (o result.Outcome, err error) {
	if s.ours != nil {
		return s.ours.CallUntil(ctx, until, tool, args)
	}
	defer func() {
		if p := recover(); p != nil { // it is counted as any failure: the breaker waits for the end of its probe
			err = fault.Panic("calling "+s.Name, p)
		}
	}()
	bounded, cancel := s.up.bounded(ctx, time.Until(until))
	defer cancel()
	defer admission.Outside(ctx)()
	return s.adapter.Call(bounded, tool, args)
}

// attempt sends a call once, and counts it.
func (s *server) attempt(caller context.Context, until time.Time, r route, args json.RawMessage, probe bool) (result.Outcome, error) {
	start := s.up.o.Now()
	o, err := s.exchange(caller, until, r.tool.Name, args)
	end := s.up.o.Now()
	took := end.Sub(start)
	s.count(caller, r, end, took, err, probe)
	seen := o
	if err != nil {
		seen = result.Failed(s.fault(err))
	}
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
	end := s.up.o.Now()
	s.count(ctx, route{server: s, breaker: s.breaker}, end, end.Sub(start), err, false)
	if err != nil {
		s.logLost(ctx, "", err, 1, false)
		lost := result.Failed(s.fault(err).Because(nil)) // the cause is in the log
		_ = s.up.record(ctx, audit.Event{Server: s.Name}, lost, false)
		return lost
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

// count passes the end of a call to breaker and meter. Only a fault of the server
// counts against it. ctx is the caller's own: when it ended first, the server is
// not at fault, nor is it when the host could not ask it, when it rejected the
// call, or when its answer is larger or other than what the host reads.
func (s *server) count(ctx context.Context, r route, now time.Time, took time.Duration, err error, probe bool) {
	sig := breaker.Answered
	switch {
	case err == nil, errors.As(err, new(mcpsession.Rejected)), errors.Is(err, mcpsession.ErrTooLarge), errors.Is(err, mcpsession.ErrUnreadable):
	case ctx.Err() != nil || errors.Is(err, mcpsession.ErrBusy) || errors.Is(err, mcpsession.ErrHost):
		sig = breaker.None
	default:
		sig = breaker.Faulted
		s.up.invalidate(s)
	}
	if state := r.breaker.State(now); r.breaker.Record(now, sig, probe) {
		s.up.o.Log.WarnContext(ctx, "a breaker changed", "server", s.Name, "tool", r.tool.Name, "from", state, "to", r.breaker.State(now))
	}
	s.meter.count(now, took, sig)
	if r.meter != nil {
		r.meter.count(now, took, sig)
	}
}
