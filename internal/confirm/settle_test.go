package confirm_test

import (
	"testing"
	"time"

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
