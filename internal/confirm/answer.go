package confirm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"countersign.dev/internal/access"
	"countersign.dev/internal/fault"
	"countersign.dev/internal/result"
)

// Result is the result of an answer: Applied with the receipt, Failed with the
// encoded error, Denied or OutcomeUnknown without bytes.
type Result struct {
	State  State
	Answer json.RawMessage
}

// Outcome is what the one who answered gets, the stored bytes as decode reads them. It is
// not for OutcomeUnknown, of which the room that sent the change knows more.
func (r Result) Outcome(id ID, decode func(json.RawMessage) (result.Outcome, error)) result.Outcome {
	if r.State == Denied {
		return result.Cancelled("Action cancelled by user")
	}
	o, err := decode(r.Answer)
	if err != nil {
		return result.Failed(fmt.Errorf("the stored answer of confirmation %s: %w", id, err))
	}
	return o
}

// Answer approves or denies a confirmation of p, who needs the right to: see
// [Service.Permit]. An approval is carried out by
// e at most once; every later answer returns the same bytes. A receipt that
// e.Find returns overrides the record, because it outlives the store.
//
// A fault of kind Unavailable or Internal without a receipt is returned, and the
// confirmation is pending again until it expires. The other faults are
// CONFIRMATION_NOT_FOUND, USER_MISMATCH, CONFIRMATION_IN_PROGRESS,
// CONFIRMATION_DENIED, CONFIRMATION_STALE when the reply names the digest of
// another preview, CONFIRMATION_ALTERED when the record does not open, and
// SERVICE_UNAVAILABLE when the store or the audit cannot be used.
func (s *Service) Answer(ctx context.Context, p *access.Principal, reply Reply, e Executor) (Result, error) {
	if !idShape.MatchString(string(reply.ID)) {
		return Result{}, notFound()
	}
	if err := s.Permit(ctx, p, reply.ID); err != nil {
		return Result{}, err
	}
	a := answering{settling{s, p, reply.Server, reply.ID, e}, reply}
	return a.run(access.With(ctx, p))
}

// answering is one answer in progress.
type answering struct {
	settling
	reply Reply
}

func (a answering) run(ctx context.Context) (Result, error) {
	r, acquired, err := a.acquire(ctx)
	if fault.Is(err, fault.ConfirmationAltered) {
		return a.without(ctx, fault.From(err))
	}
	if err != nil {
		return Result{}, err
	}
	switch acquired {
	case Acquired:
		return a.acquired(ctx, r)
	case Abandoned:
		return a.abandoned(ctx, r)
	case Busy:
		return a.busy(ctx, r)
	case Ended:
		return a.ended(ctx, r)
	case Foreign:
		return Result{}, a.refuse(ctx, a.who, a.reply.ID, fault.UserMismatch.New("You can only approve your own confirmations"))
	case Other:
		return Result{}, a.refuse(ctx, a.who, a.reply.ID, fault.ConfirmationOther.New("You were shown something else than what waits for your answer. Nothing was changed."))
	}
	return a.without(ctx, notFound())
}

// acquire acquires the record for an approval, or denies it.
func (a answering) acquire(ctx context.Context) (Record, Acquisition, error) {
	for {
		if !a.reply.Approved {
			r, found, err := a.tried(ctx)
			if found || err != nil {
				return r, Ended, err
			}
			a.reply.tried = r.Acquired
		}
		if r, acquired, err := a.store.Acquire(ctx, a.reply, a.who.Owner(), a.o.Now()); acquired != Tried {
			return r, acquired, err
		}
	}
}

// tried looks for the receipt of an earlier attempt before a denial: a change
// that was made must not be reported as denied, also when its record was put back
// to what it was before. A record that was never acquired can be denied while the
// receipts cannot be read.
func (a answering) tried(ctx context.Context) (r Record, found bool, err error) {
	before, ok, err := a.store.Get(ctx, a.reply.Server, a.reply.ID)
	if err != nil || !ok || before.State != Pending || before.Owner != a.who.Owner() {
		return Record{}, false, err // no receipt is looked for
	}
	r, err = a.settled(ctx, before)
	if before.Acquired.IsZero() {
		err = nil
	}
	return r, r.State == Applied, err
}

func (a answering) acquired(ctx context.Context, r Record) (Result, error) {
	if a.reply.Approved {
		return a.apply(ctx, r)
	}
	// The record is denied already, and a denial changes nothing: it holds also when it
	// cannot be recorded. To refuse it would leave its person with a change that waits.
	a.recordPast(ctx, a.who, r, stepDenied, "cancelled")
	a.notify(ctx, r, Denied)
	return Result{State: Denied}, nil
}

// apply carries the change out. A caller that disconnects can cancel the change
// itself, but not the recording of its result.
func (a answering) apply(ctx context.Context, r Record) (Result, error) {
	if err := a.record(ctx, a.who, r, stepApproved, ""); err != nil {
		_, _ = a.end(ctx, r, Pending, nil)
		return Result{}, err
	}
	left := r.applyLimit() - a.o.Now().Sub(r.Acquired)
	if left <= 0 { // it counts as abandoned soon, and may have been denied since
		return a.failed(ctx, r, nil, fault.ServiceDown.New("The approval could not be recorded in time. Nothing was changed."))
	}
	bounded, cancel := context.WithTimeout(ctx, left)
	defer cancel()
	answer, err := a.executor.Apply(bounded, r)
	switch f := fault.From(err); {
	case err == nil:
	case r.Unrepeatable && passing(f) && !errors.Is(err, ErrNotSent):
		return a.lost(ctx, r)
	default:
		return a.failed(ctx, r, answer, f)
	}
	a.recordPast(ctx, a.who, r, stepApplied, "success")
	_, _ = a.end(ctx, r, Applied, answer)
	return Result{Applied, answer}, nil
}

// failed decides what a fault means. A receipt overrides any fault: the change
// was made, here or under an earlier acquisition, and its answer was lost.
func (a answering) failed(ctx context.Context, r Record, answer json.RawMessage, why *fault.Error) (Result, error) {
	receipt, found, err := a.find(ctx)
	if found {
		a.settle(ctx, r, receipt)
		return Result{Applied, receipt}, nil
	}
	if err != nil && why.Code == fault.OperationFailed {
		why = fault.From(err) // without the receipt, it is not known that nothing was changed
	}
	if err != nil || passing(why) {
		a.recordPast(ctx, a.who, r, stepReopened, why.Code.Name)
		_, _ = a.end(ctx, r, Pending, nil)
		return Result{}, why
	}
	a.recordPast(ctx, a.who, r, stepFailed, why.Code.Name)
	_, _ = a.end(ctx, r, Failed, answer)
	return Result{Failed, answer}, nil
}

// lost ends a change that may have been sent and of which no receipt is kept.
// The state is final: sending it again could make the change twice.
func (a answering) lost(ctx context.Context, r Record) (Result, error) {
	a.recordPast(ctx, a.who, r, stepUnknown, "")
	_, _ = a.end(ctx, r, OutcomeUnknown, nil)
	return Result{State: OutcomeUnknown}, nil
}

// passing reports whether a retry can have another result.
func passing(f *fault.Error) bool {
	return f.Kind() == fault.Unavailable || f.Kind() == fault.Internal
}

// abandoned settles a record that a crash left applying. When nothing had been
// changed yet, it answers again.
func (a answering) abandoned(ctx context.Context, r Record) (Result, error) {
	r, err := a.settled(ctx, r)
	if err != nil || r.State == Applied {
		return Result{r.State, r.Answer}, err
	}
	return a.run(ctx) // ends: the next acquisition is not abandoned before AbandonedAfter
}

// busy looks for the receipt first: the other caller may have crashed after the
// change.
func (a answering) busy(ctx context.Context, r Record) (Result, error) {
	receipt, found, err := a.find(ctx)
	if err != nil {
		return Result{}, err
	}
	if !found {
		return Result{}, fault.ConfirmationInProgress.New("Another answer to this confirmation is being carried out.")
	}
	a.settle(ctx, r, receipt)
	return Result{Applied, receipt}, nil
}

// ended repeats the terminal state. A denial of an applied change returns the
// receipt. So does a change that was made although it was denied, by a replica whose
// clock is further behind than an acquisition allows.
func (a answering) ended(ctx context.Context, r Record) (Result, error) {
	if r.State == Denied {
		return a.without(ctx, fault.ConfirmationDenied.New("This confirmation was denied before."))
	}
	return Result{r.State, r.Answer}, nil
}

// without answers when there is no usable record: the store lost it, never had it, or it
// was altered. A receipt of the change is still the answer.
func (a answering) without(ctx context.Context, why *fault.Error) (Result, error) {
	receipt, found, err := a.find(ctx)
	if err != nil {
		return Result{}, err
	}
	if !found {
		return Result{}, a.refuse(ctx, a.who, a.reply.ID, why)
	}
	return Result{Applied, receipt}, nil
}
