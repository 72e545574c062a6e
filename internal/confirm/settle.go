package confirm

import (
	"context"
	"encoding/json"
	"time"

	"countersign.dev/internal/access"
)

// Get returns a server's confirmation of p, in whatever state. One that does not
// exist or is another server's is CONFIRMATION_NOT_FOUND, another person's
// USER_MISMATCH until it expires, an altered one CONFIRMATION_ALTERED. When an attempt to
// make the change has ended and the record does not say how, the receipts of e do, and the
// record is settled; their fault is returned when they cannot be read. Nothing is applied.
func (s *Service) Get(ctx context.Context, p *access.Principal, server string, id ID, e Executor) (Record, error) {
	r, err := s.stored(ctx, p, server, id)
	if err != nil || !r.unsettled(s.o.Now()) {
		return r, err
	}
	return settling{s, p, server, id, e}.settled(access.With(ctx, p), r)
}

// settling finds out how the attempts at one confirmation of a person ended.
type settling struct {
	*Service
	who      *access.Principal
	server   string
	id       ID
	executor Executor
}

// unsettled reports whether only a receipt tells if the change was made: an attempt has
// ended, and the record does not say how.
func (r Record) unsettled(now time.Time) bool {
	if r.State == Pending || r.State == Expired {
		return !r.Acquired.IsZero()
	}
	return r.abandoned(now)
}

// settled returns a record after the look for its receipt. Without one, a record that a
// crash left applying waits again, or has the state unknown when it may have been sent and
// is not sent again. Nothing is applied.
func (s settling) settled(ctx context.Context, r Record) (Record, error) {
	receipt, found, err := s.find(ctx)
	switch {
	case err != nil:
		return Record{}, err
	case found:
		s.settle(ctx, r, receipt)
		r.State, r.Answer = Applied, receipt
		return r, nil
	case r.State != Applying:
		return r, nil
	}
	to, step := Pending, stepReopened
	if r.Unrepeatable {
		to, step = OutcomeUnknown, stepUnknown
	}
	moved, err := s.end(ctx, r, to, nil)
	if err != nil {
		return Record{}, err
	}
	if moved {
		s.recordPast(ctx, s.who, r, step, "")
	}
	return s.stored(ctx, s.who, s.server, s.id) // it may have expired, and another may have been faster
}

// find returns the caller's receipt, also when the caller disconnected.
func (s settling) find(ctx context.Context) (receipt json.RawMessage, found bool, err error) {
	ctx, cancel := lasting(ctx)
	defer cancel()
	return s.executor.Find(ctx, s.who.Owner(), s.id)
}

// settle makes a record Applied with the receipt that was found.
func (s settling) settle(ctx context.Context, r Record, receipt json.RawMessage) {
	if moved, _ := s.end(ctx, r, Applied, receipt); moved {
		s.recordPast(ctx, s.who, r, stepSettled, "success")
	}
}

// end moves the record to a terminal state, or back to Pending, also when the
// caller disconnected. Its error can be ignored after an apply: the record stays
// applying, and the first request after AbandonedAfter settles it.
func (s settling) end(ctx context.Context, r Record, to State, answer json.RawMessage) (moved bool, err error) {
	ctx, cancel := lasting(ctx)
	defer cancel()
	moved, err = s.store.Settle(ctx, r, to, answer)
	if moved && to != Pending { // a reopened one waits as it did before
		s.notify(ctx, r, to)
	}
	return moved, err
}
