package confirm_test

import (
	"context"
	"testing"
	"time"

	"countersign.dev/internal/access"
	"countersign.dev/internal/confirm"
	"countersign.dev/internal/fault"
)

// wantShown compares what the owner sees of a change, however often they look.
func (w *harness) wantShown(id confirm.ID, want confirm.State) {
	w.t.Helper()
	answer := map[confirm.State]string{confirm.Applied: receipt}[want]
	for range 2 {
		r, err := w.service().Get(w.t.Context(), alice, "hr", id, w.domain)
		if err != nil || r.State != want || string(r.Answer) != answer {
			w.t.Errorf("shown: got %s %q, %v, want %s", r.State, r.Answer, err, want)
		}
	}
}

// wantUnread wants the fault of the receipts where they are needed and cannot be read.
func (w *harness) wantUnread(id confirm.ID) {
	w.t.Helper()
	if r, err := w.service().Get(w.t.Context(), alice, "hr", id, w.domain); !fault.Is(err, fault.DatabaseError) || r.State != "" {
		w.t.Errorf("without receipts: got %s, %v, want DATABASE_ERROR", r.State, err)
	}
}

// pass lets time pass, in Redis too.
func (w *harness) pass(d time.Duration) {
	w.time = w.time.Add(d)
	w.redis.FastForward(d)
}

// TestLostCommitIsShownAsApplied: the change was made, its answer was lost, and its receipt
// could not be read until its time was over.
func TestLostCommitIsShownAsApplied(t *testing.T) {
	for _, later := range []time.Duration{time.Second, confirm.TTL + time.Second} {
		w := newHarness(t)
		id := w.open()
		w.domain.after, w.domain.blind = fault.Timeout.New("the answer of the commit was lost"), fault.DatabaseError.New("away")
		w.wantFault(fault.Timeout)(w.approve(id))
		w.pass(later)
		w.wantUnread(id)
		w.domain.after, w.domain.blind = nil, nil
		w.wantShown(id, confirm.Applied)
		w.wantApplied(w.approve(id))
		w.wantEffects(id, 1)
		w.wantSteps("opened approved reopened settled")
	}
}

// TestFailedAttemptIsShownAsItWaits until it expires: nothing was made.
func TestFailedAttemptIsShownAsItWaits(t *testing.T) {
	w := newHarness(t)
	id := w.open()
	w.domain.before = fault.ServiceDown.New("gone")
	w.wantFault(fault.ServiceDown)(w.approve(id))
	w.wantShown(id, confirm.Pending)
	w.pass(confirm.TTL)
	w.wantShown(id, confirm.Expired)
	w.wantFault(fault.ConfirmationNotFound)(w.approve(id))
	w.wantEffects(id, 0)
	w.wantSteps("opened approved reopened refused")
}

// TestUntriedChangeIsShownWithoutReceipts: a look at it asks its store for nothing.
func TestUntriedChangeIsShownWithoutReceipts(t *testing.T) {
	w := newHarness(t)
	id, denied, applied := w.open(), w.open(), w.open()
	if _, err := w.deny(denied); err != nil {
		t.Fatal(err)
	}
	w.wantApplied(w.approve(applied))
	w.domain.blind = fault.DatabaseError.New("away")
	w.wantShown(id, confirm.Pending)
	w.pass(confirm.TTL)
	w.wantShown(id, confirm.Expired)
	w.wantShown(denied, confirm.Denied)
	w.wantShown(applied, confirm.Applied)
}

// TestCrashedAnswerIsShownAsItEnded kills the service at every place of an approval, and
// looks when it counts as abandoned: what was made is applied, what was not can be answered.
func TestCrashedAnswerIsShownAsItEnded(t *testing.T) {
	for _, later := range []time.Duration{confirm.AbandonedAfter + time.Second, confirm.TTL + time.Second, 23 * time.Hour} {
		for place, crashed := 1, true; crashed; place++ {
			w := newHarness(t)
			id := w.open()
			_, crashed = w.answerAndCrash(id, true, place)
			made := w.domain.effects(id)
			w.pass(later)
			switch {
			case made == 1:
				w.wantShown(id, confirm.Applied)
			case later < confirm.TTL:
				w.wantShown(id, confirm.Pending)
				w.wantEffects(id, 0)
				w.wantApplied(w.approve(id))
			default:
				w.wantShown(id, confirm.Expired)
				w.wantEffects(id, 0)
			}
			if t.Failed() {
				t.Fatalf("crashed at place %d, shown after %v", place, later)
			}
		}
	}
}

// lossyStore loses the reply to one acquisition, which was made.
type lossyStore struct {
	confirm.Store
	lost bool
}

func (s *lossyStore) Acquire(ctx context.Context, r confirm.Reply, o access.Owner, now time.Time) (confirm.Record, confirm.Acquisition, error) {
	record, acquired, err := s.Store.Acquire(ctx, r, o, now)
	if !s.lost {
		s.lost = true
		return confirm.Record{}, confirm.Unknown, fault.ServiceDown.New("no reply")
	}
	return record, acquired, err
}

func TestAcquisitionWithoutAReplyWaitsAgain(t *testing.T) {
	w := newHarness(t)
	id := w.open()
	service := confirm.NewService(&lossyStore{Store: w.store}, w.audit, &confirm.Options{Now: w.now})
	w.wantFault(fault.ServiceDown)(service.Answer(t.Context(), alice, reply(id, true), w.domain))
	w.wantFault(fault.ConfirmationInProgress)(service.Answer(t.Context(), alice, reply(id, true), w.domain))
	w.domain.blind = fault.DatabaseError.New("away") // receipts are not looked for yet
	w.wantShown(id, confirm.Applying)
	w.pass(confirm.AbandonedAfter + time.Second)
	w.wantUnread(id)
	w.wantUnread(id)
	w.domain.blind = nil
	w.wantShown(id, confirm.Pending)
	w.wantSteps("opened reopened")
	w.wantApplied(w.approve(id))
}

// createLost is a store whose reply to a new record is lost.
type createLost struct{ confirm.Store }

func (s createLost) Create(ctx context.Context, r confirm.Record) error {
	if err := s.Store.Create(ctx, r); err != nil {
		return err
	}
	return fault.ServiceDown.New("The reply was lost.")
}

// TestChangeWhoseAskerWasRefusedDoesNotWait: an asker who tries again would have two cards, and could have both carried out.
func TestChangeWhoseAskerWasRefusedDoesNotWait(t *testing.T) {
	w := newHarness(t)
	asked := raise
	asked.ID = confirm.NewID()
	service := confirm.NewService(createLost{w.store}, w.audit, &confirm.Options{Now: w.now})
	if _, err := service.Open(t.Context(), alice, asked); !fault.Is(err, fault.ServiceDown) {
		t.Errorf("got %v", err)
	}
	w.wantSteps("opened withdrawn")
	w.wantFault(fault.ConfirmationDenied)(w.approve(asked.ID))
	w.wantEffects(asked.ID, 0)
}

func TestAbandonedUnrepeatableChangeIsShownAsUnknown(t *testing.T) {
	w := newHarness(t)
	id, r := w.openUnrepeatable(), &foreignServer{}
	if _, acquired, err := w.store.Acquire(t.Context(), reply(id, true), alice.Owner(), w.now()); acquired != confirm.Acquired || err != nil {
		t.Fatal(acquired, err)
	}
	w.wantShown(id, confirm.Applying)
	w.pass(confirm.AbandonedAfter + time.Second)
	w.wantShown(id, confirm.OutcomeUnknown)
	w.wantUnknown(w.answer(id, true, r))
	w.wantSteps("opened unknown")
}

// TestLookAtAnAbandonedChangeLeavesAFasterAnswer: between its look for a receipt and its
// end, another replica settles the record and carries out an answer.
func TestLookAtAnAbandonedChangeLeavesAFasterAnswer(t *testing.T) {
	for want, answer := range map[confirm.State]func(*harness, confirm.ID) (confirm.Result, error){
		confirm.Applied: (*harness).approve,
		confirm.Denied:  (*harness).deny,
		confirm.Applying: func(w *harness, id confirm.ID) (confirm.Result, error) {
			_, err := w.store.Settle(t.Context(), confirm.Record{ID: id, Acquired: noon}, confirm.Pending, nil)
			if err == nil {
				_, _, err = w.store.Acquire(t.Context(), reply(id, true), alice.Owner(), w.now())
			}
			return confirm.Result{State: confirm.Applying}, err
		},
	} {
		w := newHarness(t)
		id := w.open()
		w.answerAndCrash(id, true, 2)
		w.pass(confirm.AbandonedAfter + time.Second)
		e := &racing{Executor: w.domain, then: func() {
			if v, err := answer(w, id); v.State != want || err != nil {
				t.Errorf("the answer: got %s, %v, want %s", v.State, err, want)
			}
		}}
		if r, err := w.service().Get(t.Context(), alice, "hr", id, e); r.State != want || err != nil {
			t.Errorf("shown: got %s, %v, want %s", r.State, err, want)
		}
		if got := w.state(id); got != want {
			t.Errorf("the record is %s, want %s", got, want)
		}
	}
}
