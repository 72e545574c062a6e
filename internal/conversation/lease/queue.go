package lease

import (
	"context"
	"time"

	"countersign.dev/internal/fault"
)

const (
	maxWaiting = 3 // questions that wait in a conversation behind the one that is answered
	waitTick   = 20 * time.Millisecond
	handover   = 300 * time.Millisecond // a turn releases its lease so soon after its last event; the next question may follow that at once
	waiterTTL  = 15 * time.Second       // of a place in the line, when its replica has crashed
)

// Lines are lines of waiting members. Package state has them.
type Lines interface {
	Enter(ctx context.Context, line, member string, limit int, ttl time.Duration) (position int, ok bool, err error)
	Position(ctx context.Context, line, member string, ttl time.Duration) (position int, ok bool, err error)
	Quit(ctx context.Context, line, member string) error
	Clear(ctx context.Context, line string) (waited int, err error)
}

// Queue lets the questions of a conversation be answered one after the other, in
// the order in which they came, on all replicas.
type Queue struct {
	lines  Lines
	leases Leases
}

// NewQueue returns a queue over those lines and leases.
func NewQueue(lines Lines, leases Leases) Queue { return Queue{lines, leases} }

func lineKey(id string) string { return "waiting:" + id }

// Acquire waits for the lease of a conversation, whose holder keeps its place in the
// line: three others may wait behind it, however early they come. entered is called when the question
// has its place in the line, and waits once when that takes longer than a turn needs
// to hand it over. BUSY says that the line is full, CANCELLED that it was cleared.
func (q Queue) Acquire(ctx context.Context, conversation, holder string, entered, waits func()) (own Lease, err error) {
	line := lineKey(conversation)
	defer func() {
		if err != nil {
			q.Leave(ctx, Lease{conversation: conversation, holder: holder}) // also after an entry whose answer was lost
		}
	}()
	position, there, err := q.lines.Enter(ctx, line, holder, 1+maxWaiting, waiterTTL)
	if err == nil && !there {
		err = fault.Busy.New(fault.TooBusy).Suggest("%d of your questions already wait in this conversation.", maxWaiting).After(2 * time.Second)
	}
	if err != nil {
		return Lease{}, err
	}
	if entered != nil {
		entered()
	}
	tick := time.NewTicker(waitTick)
	defer tick.Stop()
	for left := int(handover / waitTick); ; left-- {
		if position == 0 {
			if l, done, err := q.leases.try(ctx, conversation, holder); done || err != nil {
				return q.taken(ctx, l, err)
			}
		}
		if left == 0 && waits != nil {
			waits()
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return Lease{}, ctx.Err()
		}
		if position, there, err = q.lines.Position(ctx, line, holder, waiterTTL); err != nil {
			return Lease{}, err
		} else if !there {
			return Lease{}, errDropped()
		}
	}
}

// taken returns the lease that a question has taken, unless the line was cleared
// meanwhile: then the question is not answered.
func (q Queue) taken(ctx context.Context, l Lease, err error) (Lease, error) {
	if err != nil {
		return l, err
	}
	there, err := q.stay(ctx, l)
	if err == nil && !there {
		err = errDropped()
	}
	if err != nil {
		_ = q.leases.Release(context.WithoutCancel(ctx), l) // else it expires
		return Lease{}, err
	}
	return l, nil
}

// stay renews the position of a question that is being answered; like its lease it expires
// soon after a crash. It returns false when the line was cleared.
func (q Queue) stay(ctx context.Context, own Lease) (bool, error) {
	_, there, err := q.lines.Position(ctx, lineKey(own.conversation), own.holder, ttl)
	return there, err
}

// Leave gives up the position in the line, before the end of the answer is written: a
// client that has read that end may ask again.
func (q Queue) Leave(ctx context.Context, own Lease) {
	_ = q.lines.Quit(context.WithoutCancel(ctx), lineKey(own.conversation), own.holder) // else it expires
}

// Keep renews the lease and the place in the line until ctx ends; then the result
// is closed. It calls stop when another replica was asked to cancel the holder, or
// when the lease has expired. While Redis cannot be reached it tries again.
func (q Queue) Keep(ctx context.Context, own Lease, stop context.CancelCauseFunc) <-chan struct{} {
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		renewal := time.NewTicker(tick)
		defer renewal.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-renewal.C:
				if err := q.leases.Renew(ctx, own); err != nil {
					stop(err)
				}
				_, _ = q.stay(ctx, own) // a cleared line has no places
			}
		}
	}()
	return ended
}

func errDropped() error {
	return fault.Cancelled.New("Your waiting question was dropped.").Suggest("Ask it again if you still want an answer.")
}

// Clear drops the questions that wait, and reports whether there were any.
func (q Queue) Clear(ctx context.Context, conversation string) (bool, error) {
	waited, err := q.lines.Clear(ctx, lineKey(conversation))
	return waited > 0, err
}
