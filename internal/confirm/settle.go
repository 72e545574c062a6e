package confirm

import (
	"context"
	"encoding/json"
	"time"
)

// unsettled reports whether only a receipt tells what became of the change: an attempt
// to make it has ended, and the record does not say how.
func (r Record) unsettled(now time.Time) bool {
	if r.State == Pending || r.State == Expired {
		return !r.Acquired.IsZero()
	}
	return r.abandoned(now)
}

// settled returns a record after the look for its receipt. Without one, a record that a
// crash left applying waits again, or has the state unknown when it may have been sent and
// is not sent again. Nothing is applied.
func (a answering) settled(ctx context.Context, r Record) (Record, error) {
	receipt, found, err := a.find(ctx)
	switch {
	case err != nil:
		return Record{}, err
	case found:
		a.settle(ctx, r, receipt)
		r.State, r.Answer = Applied, receipt
		return r, nil
	case r.State != Applying:
		return r, nil
	}
	to, step := Pending, stepReopened
	if r.Unrepeatable {
		to, step = OutcomeUnknown, stepUnknown
	}
	moved, err := a.end(ctx, r, to, nil)
	if err != nil {
		return Record{}, err
	}
	if moved {
		a.recordPast(ctx, a.who, r, step, "")
	}
	return a.stored(ctx, a.who, a.reply.Server, a.reply.ID) // it may have expired, and another may have been faster
}

// find returns the caller's receipt, also when the caller disconnected.
func (a answering) find(ctx context.Context) (receipt json.RawMessage, found bool, err error) {
	ctx, cancel := lasting(ctx)
	defer cancel()
	return a.executor.Find(ctx, a.who.Owner(), a.reply.ID)
}

// settle makes a record Applied with the receipt that was found.
func (a answering) settle(ctx context.Context, r Record, receipt json.RawMessage) Result {
	if moved, _ := a.end(ctx, r, Applied, receipt); moved {
		a.recordPast(ctx, a.who, r, stepSettled, "success")
	}
	return Result{Applied, receipt}
}

// end moves the record to a terminal state, or back to Pending, also when the
// caller disconnected. Its error can be ignored after an apply: the record stays
// applying, and the first request after AbandonedAfter settles it.
func (a answering) end(ctx context.Context, r Record, to State, answer json.RawMessage) (moved bool, err error) {
	ctx, cancel := lasting(ctx)
	defer cancel()
	moved, err = a.store.Settle(ctx, r, to, answer)
	if moved && to != Pending { // a reopened one waits as it did before
		a.notify(ctx, r, to)
	}
	return moved, err
}
