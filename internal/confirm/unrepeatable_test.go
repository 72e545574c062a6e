package confirm_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"time"

	"countersign.dev/internal/access"
	"countersign.dev/internal/confirm"
	"countersign.dev/internal/fault"
)

// foreignServer keeps no receipts. It counts the changes that reached it.
type foreignServer struct {
	received int
	answers  []error // one for each apply
}

func (r *foreignServer) Apply(context.Context, confirm.Record) (json.RawMessage, error) {
	err := r.answers[0]
	r.answers = r.answers[1:]
	if !errors.Is(err, confirm.ErrNotSent) {
		r.received++
	}
	return json.RawMessage(receipt), err
}

func (*foreignServer) Find(context.Context, access.Owner, confirm.ID) (json.RawMessage, bool, error) {
	return nil, false, nil
}

func (w *harness) openUnrepeatable() confirm.ID {
	w.t.Helper()
	request := raise
	request.Unrepeatable = true
	r, err := w.service().Open(w.t.Context(), alice, request)
	if err != nil {
		w.t.Fatal(err)
	}
	return r.ID
}

func (w *harness) answer(id confirm.ID, approved bool, e confirm.Executor) (confirm.Result, error) {
	return w.service().Answer(w.t.Context(), alice, reply(id, approved), e)
}

func (w *harness) wantUnknown(v confirm.Result, err error) {
	w.t.Helper()
	if err != nil || v.State != confirm.OutcomeUnknown || v.Answer != nil {
		w.t.Errorf("got %s %s, %v, want the state unknown", v.State, v.Answer, err)
	}
}

func TestLostAnswerOfAnUnrepeatableChangeIsFinal(t *testing.T) {
	w := newHarness(t)
	id, r := w.openUnrepeatable(), &foreignServer{answers: []error{fault.Timeout.New("no answer"), nil, nil}}
	w.wantUnknown(w.answer(id, true, r))
	w.wantUnknown(w.answer(id, true, r))
	w.wantUnknown(w.answer(id, false, r)) // a denial cannot promise that nothing happened
	w.time = w.time.Add(time.Hour)
	w.wantUnknown(w.answer(id, true, r))
	if r.received != 1 || w.state(id) != confirm.OutcomeUnknown {
		t.Errorf("sent %d times, state %s, want once and unknown", r.received, w.state(id))
	}
	w.wantSteps("opened approved unknown")
}

func TestCrashWhileAnUnrepeatableChangeIsSentIsUnknown(t *testing.T) {
	w := newHarness(t)
	id, r := w.openUnrepeatable(), &foreignServer{answers: []error{nil}}
	if _, acquired, err := w.store.Acquire(t.Context(), reply(id, true), alice.Owner(), w.now()); acquired != confirm.Acquired || err != nil {
		t.Fatal(acquired, err)
	}
	w.wantFault(fault.ConfirmationInProgress)(w.answer(id, true, r))
	w.time = w.time.Add(confirm.AbandonedAfter + time.Second)
	w.wantUnknown(w.answer(id, false, r))
	if r.received != 0 {
		t.Errorf("sent %d times after the crash, want not again", r.received)
	}
}

func TestUnrepeatableChangeThatWasNotSentMayBeTriedAgain(t *testing.T) {
	w := newHarness(t)
	down := errors.Join(confirm.ErrNotSent, fault.ServiceDown.New("the server is down"))
	id, r := w.openUnrepeatable(), &foreignServer{answers: []error{down, nil}}
	w.wantFault(fault.ServiceDown)(w.answer(id, true, r))
	w.wantApplied(w.answer(id, true, r))
	if r.received != 1 {
		t.Errorf("sent %d times, want once", r.received)
	}
}

func TestRefusedUnrepeatableChangeFails(t *testing.T) {
	w := newHarness(t)
	id, r := w.openUnrepeatable(), &foreignServer{answers: []error{fmt.Errorf("the system: %w", fault.ValidationError.New("no such desk"))}}
	if v, err := w.answer(id, true, r); err != nil || v.State != confirm.Failed {
		t.Errorf("got %s, %v, want failed", v.State, err)
	}
}

// patientServer notes how long it was given.
type patientServer struct {
	foreignServer
	given time.Duration
}

func (p *patientServer) Apply(ctx context.Context, r confirm.Record) (json.RawMessage, error) {
	deadline, _ := ctx.Deadline()
	p.given = time.Until(deadline)
	return p.foreignServer.Apply(ctx, r)
}

// TestAPatientChangeHasItsTime: a change whose server may take a minute is given it,
// and its acquisition is not abandoned before.
func TestAPatientChangeHasItsTime(t *testing.T) {
	w := newHarness(t)
	request := raise
	request.Unrepeatable, request.Patience = true, time.Minute
	r, err := w.service().Open(t.Context(), alice, request)
	if err != nil {
		t.Fatal(err)
	}
	began := w.time
	if _, acquired, err := w.store.Acquire(t.Context(), reply(r.ID, true), alice.Owner(), w.now()); acquired != confirm.Acquired || err != nil {
		t.Fatal(acquired, err)
	}
	w.time = began.Add(time.Minute)
	w.wantFault(fault.ConfirmationInProgress)(w.answer(r.ID, true, &foreignServer{}))
	w.time = began.Add(time.Minute + 6*time.Second)
	w.wantUnknown(w.answer(r.ID, true, &foreignServer{}))

	w.time = began
	if r, err = w.service().Open(t.Context(), alice, request); err != nil {
		t.Fatal(err)
	}
	server := &patientServer{foreignServer: foreignServer{answers: []error{nil}}}
	if _, err := w.answer(r.ID, true, server); err != nil || server.given < 50*time.Second {
		t.Errorf("got %s for the change, %v, want a minute", server.given, err)
	}
}
