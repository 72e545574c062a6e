package upstream

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"time"

	"countersign.dev/internal/admission"
	"countersign.dev/internal/audit"
	"countersign.dev/internal/fault"
	"countersign.dev/internal/result"
	"countersign.dev/internal/upstream/mcpsession"
)

func (s *server) healthy() bool {
	return s.breaker.closed() && s.up.registry().lists[s.Name].failed == nil
}

// refresh makes the server's tool list usable, or says why it is not. A list
// that is only a little old is used at once and fetched in the background.
func (s *server) refresh(ctx context.Context) error {
	list := s.up.registry().lists[s.Name]
	fetch, background, failed := list.need(s.up.o.Now())
	if !fetch || failed != nil {
		return failed
	}
	// A fetch that began before an invalidation is not joined.
	key := strconv.Itoa(list.version)
	fetched := s.fetches.DoChan(key, func() (any, error) { return nil, s.fetch(ctx, list.version) })
	if background {
		return nil
	}
	defer admission.Outside(ctx)()
	select {
	case r := <-fetched:
		return r.Err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// fetch asks the server for all its tools. It outlives the caller that began
// it, because others wait for the same answer.
func (s *server) fetch(ctx context.Context, version int) error {
	if !s.up.begin() {
		return errClosed
	}
	defer s.up.work.Done()
	ctx, cancel := s.up.bounded(context.WithoutCancel(ctx), s.Timeout)
	defer cancel()
	tools, err := s.adapter.Tools(ctx)
	s.up.keep(s, version, tools, err)
	if err != nil {
		s.up.o.Log.WarnContext(ctx, "tool list could not be fetched", "server", s.Name, "error", err)
	}
	return err
}

// call sends one call if the breaker admits it.
func (s *server) call(ctx context.Context, r route, args json.RawMessage) (result.Outcome, error) {
	probe, ok := r.breaker.admit(s.up.o.Now())
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
	start := s.up.o.Now()
	bounded, cancel := s.up.bounded(ctx, s.deadline(r.tool.Kind))
	defer cancel()
	o, err := s.adapter.Call(bounded, r.tool.Name, args)
	s.record(ctx, r.breaker, start, err, probe)
	if err != nil {
		s.auditLost(ctx, r.tool.Name, err)
		s.observe(r, result.Failed(s.fault(err)), s.up.o.Now().Sub(start))
		return o, err
	}
	s.observe(r, o, s.up.o.Now().Sub(start))
	if o.Fault() != nil && o.Fault().Code == fault.UnknownTool { // our list is not the server's
		s.up.invalidate(s)
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
	s.record(ctx, &s.breaker, start, err, false)
	if err != nil {
		s.auditLost(ctx, "", err)
		return result.Failed(s.fault(err))
	}
	return o
}

func (s *server) deadline(k result.Kind) time.Duration {
	if k == result.Read || k == result.List {
		return s.Timeout
	}
	return s.WriteTimeout
}

// record passes the end of a call to breaker and meter. Only a fault of the server
// counts against it. ctx is the caller's own: when it ended first, the server is
// not at fault, nor is it when the host could not ask it, when it rejected the
// call, or when it answered more than the host reads.
func (s *server) record(ctx context.Context, b *breaker, start time.Time, err error, probe bool) {
	now, sig := s.up.o.Now(), answered
	switch {
	case err == nil, errors.As(err, new(mcpsession.Rejected)), errors.Is(err, mcpsession.ErrTooLarge):
	case ctx.Err() != nil || errors.Is(err, mcpsession.ErrBusy) || errors.Is(err, mcpsession.ErrHost):
		sig = noSignal
	default:
		sig = faulted
		s.up.invalidate(s)
	}
	b.record(now, sig, probe)
	s.meter.count(now.Sub(start), sig)
}

// auditLost records a call that got no answer: no server has a record of its
// outcome.
func (s *server) auditLost(ctx context.Context, tool string, err error) {
	f := s.fault(err)
	if f.Code == fault.Cancelled {
		s.up.o.Log.InfoContext(ctx, "call cancelled", "server", s.Name, "tool", tool)
	} else {
		s.up.o.Log.WarnContext(ctx, "call got no answer", "server", s.Name, "tool", tool, "error", err)
	}
	s.up.audit(ctx, audit.Event{Kind: audit.Outcome, Server: s.Name, Tool: tool, Outcome: f.Code.Name})
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
		return fault.ValidationError.New("The input is larger than the %s service accepts.", s.Name).Suggest("Send a smaller input.")
	case http.StatusTooManyRequests:
		return fault.TooManyRequests.New("The %s service got too many of your requests.", s.Name)
	}
	return fault.ServiceDown.New("The %s service did not take the request.", s.Name)
}
