package confirm_test

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"countersign.dev/internal/audit"
	"countersign.dev/internal/confirm"
	"countersign.dev/internal/fault"
)

// written is what someone who can write to Redis finds and changes there.
func (w *harness) written(id confirm.ID) string {
	w.t.Helper()
	text, err := w.redis.Get("pending:" + string(id))
	if err != nil {
		w.t.Fatal(err)
	}
	return text
}

func (w *harness) rewrite(id confirm.ID, text string) {
	w.t.Helper()
	if err := w.redis.Set("pending:"+string(id), text); err != nil { // without a TTL
		w.t.Fatal(err)
	}
}

func TestAlteredConfirmationIsRefusedAndAudited(t *testing.T) {
	w := newHarness(t)
	id, other := w.open(), w.open()
	w.rewrite(id, w.written(other))
	w.wantFault(fault.ConfirmationAltered)(w.approve(id))
	w.wantFault(fault.ConfirmationAltered)(w.deny(id))
	if e := w.audit.last(); e.Kind != audit.Denial || e.Step != "refused" || e.Outcome != "CONFIRMATION_ALTERED" || e.Confirmation != string(id) {
		t.Errorf("event: got %+v, want the refusal", e)
	}
	if _, err := w.service().Get(t.Context(), alice, "hr", id, w.domain); !fault.Is(err, fault.ConfirmationAltered) {
		t.Errorf("Get: got %v, want CONFIRMATION_ALTERED", err)
	}
	w.wantEffects(id, 0)
	w.wantApplied(w.approve(other)) // it was not touched
	w.wantEffects(other, 1)
}

// TestReceiptOutlivesAnAlteredRecord: the store of the change knows better than
// Redis.
func TestReceiptOutlivesAnAlteredRecord(t *testing.T) {
	w := newHarness(t)
	id := w.open()
	w.wantApplied(w.approve(id))
	w.rewrite(id, "{}")
	w.wantApplied(w.approve(id))
	w.wantApplied(w.deny(id))
	w.wantEffects(id, 1)
}

// TestOldRecordPutBackHasNoSecondEffect plays back every state that a record was
// in before it was applied.
func TestOldRecordPutBackHasNoSecondEffect(t *testing.T) {
	for _, late := range []time.Duration{0, confirm.AbandonedAfter + time.Second, confirm.TTL} {
		w := newHarness(t)
		id := w.open()
		states := []string{w.written(id)}
		if _, _, err := w.store.Acquire(t.Context(), reply(id, true), alice.Owner(), noon); err != nil {
			t.Fatal(err)
		}
		states = append(states, w.written(id))
		w.rewrite(id, states[0])
		w.wantApplied(w.approve(id))
		w.time = noon.Add(late)
		for _, old := range states {
			w.rewrite(id, old)
			w.wantApplied(w.approve(id))
			w.rewrite(id, old)
			w.wantApplied(w.deny(id))
		}
		w.wantEffects(id, 1)
	}
}

func TestRecordPutBackAfterItsTimeIsNotApplied(t *testing.T) {
	w := newHarness(t)
	id := w.open()
	pending := w.written(id)
	w.time = noon.Add(confirm.TTL)
	w.rewrite(id, pending)
	w.wantFault(fault.ConfirmationNotFound)(w.approve(id))
	w.wantEffects(id, 0)
}

func TestWrongServerAndOtherPreviewConsumeNothing(t *testing.T) {
	w := newHarness(t)
	id := w.open()
	r, err := w.service().Get(t.Context(), alice, "hr", id, w.domain)
	if err != nil {
		t.Fatal(err)
	}
	shown, err := r.Pending().Digest()
	if err != nil || shown != r.Data["digest"] {
		t.Fatalf("digest: got %s, %v, want %s", shown, err, r.Data["digest"])
	}
	answer := func(server, digest string, approved bool) (confirm.Result, error) {
		return w.service().Answer(t.Context(), alice, confirm.Reply{ID: id, Server: server, Approved: approved, Digest: digest}, w.domain)
	}
	for _, approved := range []bool{true, false} {
		w.wantFault(fault.ConfirmationNotFound)(answer("sales", shown, approved))
		w.wantFault(fault.ConfirmationOther)(answer("hr", "0"+shown[1:]+"x", approved))
	}
	if s := w.state(id); s != confirm.Pending {
		t.Errorf("state: got %s, want it pending", s)
	}
	w.wantApplied(answer("hr", shown, true))
	w.wantEffects(id, 1)
	w.wantSteps("opened refused refused refused refused approved applied")
}

// meanwhile is an executor during whose work something else happens.
type meanwhile struct {
	confirm.Executor
	happens func()
}

func (m meanwhile) Apply(ctx context.Context, r confirm.Record) (json.RawMessage, error) {
	m.happens()
	return m.Executor.Apply(ctx, r)
}

// TestClocksApartHaveNoSecondEffect: a replica whose clock differs may take a change that
// another one is making for an abandoned one, or for one whose time is over. It is made once,
// and both give its receipt.
func TestClocksApartHaveNoSecondEffect(t *testing.T) {
	for _, apart := range []time.Duration{-24 * time.Hour, -time.Minute, 20 * time.Second, time.Minute, confirm.TTL, 24 * time.Hour} {
		w := newHarness(t)
		other := confirm.NewService(w.store, w.audit, &confirm.Options{Now: func() time.Time { return noon.Add(apart) }})
		id := w.open()
		slow := meanwhile{w.domain, func() { _, _ = other.Answer(t.Context(), alice, reply(id, true), w.domain) }}
		w.wantApplied(w.service().Answer(t.Context(), alice, reply(id, true), slow))
		for _, service := range []*confirm.Service{w.service(), other} {
			for _, approved := range []bool{true, false} {
				w.wantApplied(service.Answer(t.Context(), alice, reply(id, approved), w.domain))
			}
		}
		w.wantEffects(id, 1)

		once := raise
		once.Unrepeatable = true
		r, err := w.service().Open(t.Context(), alice, once)
		if err != nil {
			t.Fatal(err)
		}
		server := &foreignServer{answers: make([]error, 3)}
		slow = meanwhile{server, func() { _, _ = other.Answer(t.Context(), alice, reply(r.ID, true), server) }}
		w.wantApplied(w.service().Answer(t.Context(), alice, reply(r.ID, true), slow))
		_, _ = other.Answer(t.Context(), alice, reply(r.ID, true), server)
		if server.received != 1 {
			t.Errorf("clocks %v apart: it was sent %d times", apart, server.received)
		}
	}
}

// TestTimeIsOverByTheClockOfWhoIsAsked: a record that was put back can be answered while the
// clock of a replica says so, and by no other.
func TestTimeIsOverByTheClockOfWhoIsAsked(t *testing.T) {
	w := newHarness(t)
	id := w.open()
	w.rewrite(id, w.written(id)) // without a TTL
	w.time = noon.Add(confirm.TTL)
	w.wantFault(fault.ConfirmationNotFound)(w.approve(id))
	behind := confirm.NewService(w.store, w.audit, &confirm.Options{Now: func() time.Time { return w.time.Add(-time.Second) }})
	w.wantApplied(behind.Answer(t.Context(), alice, reply(id, true), w.domain))
	w.wantApplied(w.approve(id))
	w.wantEffects(id, 1)
}

// stalled is an audit that takes its time for an approval.
type stalled struct {
	audit.Sink
	meanwhile func()
}

func (s stalled) Append(ctx context.Context, e audit.Event) error {
	err := s.Sink.Append(ctx, e)
	if e.Step == "approved" {
		s.meanwhile()
	}
	return err
}

// TestApprovalThatIsRecordedTooLateAppliesNothing: by then it counts as abandoned, and its person
// may have denied it.
func TestApprovalThatIsRecordedTooLateAppliesNothing(t *testing.T) {
	w := newHarness(t)
	id := w.open()
	slow := stalled{w.audit, func() {
		w.time = w.time.Add(confirm.AbandonedAfter + time.Second)
		if v, err := w.deny(id); err != nil || v.State != confirm.Denied {
			t.Errorf("a denial: got %s, %v", v.State, err)
		}
	}}
	w.wantFault(fault.ServiceDown)(confirm.NewService(w.store, slow, &confirm.Options{Now: w.now}).Answer(t.Context(), alice, reply(id, true), w.domain))
	w.wantEffects(id, 0)
	w.wantFault(fault.ConfirmationDenied)(w.approve(id))
}

// TestChangeMadeAlthoughItWasDeniedIsNotCalledDenied: a replica whose clock is a minute ahead takes it for
// abandoned while it is made.
func TestChangeMadeAlthoughItWasDeniedIsNotCalledDenied(t *testing.T) {
	w := newHarness(t)
	id := w.open()
	ahead := confirm.NewService(w.store, w.audit, &confirm.Options{Now: func() time.Time { return w.now().Add(time.Minute) }})
	slow := meanwhile{w.domain, func() {
		if v, err := ahead.Answer(t.Context(), alice, reply(id, false), w.domain); err != nil || v.State != confirm.Denied {
			t.Errorf("a denial: got %s, %v", v.State, err)
		}
	}}
	w.wantApplied(w.service().Answer(t.Context(), alice, reply(id, true), slow))
	for _, answer := range []func(confirm.ID) (confirm.Result, error){w.approve, w.deny} {
		w.wantApplied(answer(id))
	}
}
