package conversation

import (
	"context"
	"errors"
	"time"

	"countersign.dev/internal/fault"
)

const (
	leaseTTL  = 4 * time.Second // after a crash; with lookTime, 5 s until readers learn of it
	leaseTick = time.Second     // how often a holder renews its lease and looks for a cancel

	acquireTick = 10 * time.Millisecond

	// A turn releases its lease a moment after its last event, and the next
	// question may follow that at once; one that was cancelled on another replica
	// needs longer.
	handover   = 300 * time.Millisecond
	cancelWait = leaseTick + 2*time.Second
)

// leases let one holder at a time write in a conversation, on all replicas.
type leases struct {
	keys sealedKeys
	life time.Duration // of a turn, at most: no lease is believed for longer
}

// lease is held by one turn.
type lease struct {
	conversation, holder string
	sealed               []byte // as Redis has it
}

func leaseKey(id string) string  { return "turn:" + id }
func cancelKey(id string) string { return "cancel:" + id } // names the holder that is to stop

// errLeaseLost ends a turn whose lease expired: others may have closed its
// events, or begun a turn.
var errLeaseLost = errors.New("the lease of the conversation was lost")

// acquire waits for the lease of a conversation, and returns BUSY when it stays
// held for longer than wait.
func (l leases) acquire(ctx context.Context, conversation, holder string, wait time.Duration) (lease, error) {
	again := time.NewTicker(acquireTick)
	defer again.Stop()
	for range wait / acquireTick {
		if own, done, err := l.try(ctx, conversation, holder); done || err != nil {
			return own, err
		}
		select {
		case <-again.C:
		case <-ctx.Done():
			return lease{}, ctx.Err()
		}
	}
	return lease{}, fault.Busy.New(fault.TooBusy).Suggest("This conversation still answers your last question.").After(2 * time.Second)
}

// try takes the lease unless it is held.
func (l leases) try(ctx context.Context, conversation, holder string) (own lease, done bool, err error) {
	sealed, done, err := l.keys.claim(ctx, leaseKey(conversation), holder, leaseTTL, l.life+leaseTTL)
	return lease{conversation, holder, sealed}, done, err
}

// renew returns errCancelled or errLeaseLost when the holder must stop.
func (l leases) renew(ctx context.Context, own lease) error {
	held, err := l.keys.keys.Swap(ctx, leaseKey(own.conversation), own.sealed, own.sealed, leaseTTL)
	switch {
	case err != nil:
		return nil // the store may come back; a turn notices its absence when it writes
	case !held:
		return errLeaseLost
	}
	if named, ok, err := l.keys.get(ctx, cancelKey(own.conversation)); err == nil && ok && named == own.holder {
		return errCancelled
	}
	return nil
}

// release ends the lease, unless another holder has it by now.
func (l leases) release(ctx context.Context, own lease) error {
	_, err := l.keys.remove(ctx, leaseKey(own.conversation), own.sealed)
	return err
}

// held reports whether a turn runs, on any replica.
func (l leases) held(ctx context.Context, conversation string) (bool, error) {
	_, ok, err := l.keys.get(ctx, leaseKey(conversation))
	return ok, err
}

// cancel asks the holder to stop, which it does within leaseTick. It reports
// whether there is one.
func (l leases) cancel(ctx context.Context, conversation string) (bool, error) {
	holder, ok, err := l.keys.get(ctx, leaseKey(conversation))
	if err != nil || !ok {
		return false, err
	}
	return true, l.keys.set(ctx, cancelKey(conversation), holder, leaseTTL)
}

// errCancelled ends a turn that its person cancelled.
var errCancelled = errors.New("cancelled by the person")

const (
	maxWaiting = 3 // questions that wait in a conversation behind the one that is answered
	waitTick   = 20 * time.Millisecond
	waiterTTL  = 15 * time.Second // of a place in the line, when its replica has crashed
)

// lines are lines of waiting members. Package state has them.
type lines interface {
	Enter(ctx context.Context, line, member string, limit int, ttl time.Duration) (place int, ok bool, err error)
	Place(ctx context.Context, line, member string, ttl time.Duration) (place int, ok bool, err error)
	Quit(ctx context.Context, line, member string) error
	Clear(ctx context.Context, line string) (waited int, err error)
}

// queue lets the questions of a conversation be answered one after the other, in
// the order in which they came, on all replicas.
type queue struct {
	lines  lines
	leases leases
}

func lineKey(id string) string { return "waiting:" + id }

// acquire waits for the lease of a conversation, whose holder keeps its place in the
// line: three others may wait behind it, however early they come. entered is called when the question
// has its place in the line, and waits once when that takes longer than a turn needs
// to hand it over. BUSY says that the line is full, CANCELLED that it was cleared.
func (q queue) acquire(ctx context.Context, conversation, holder string, entered, waits func()) (own lease, err error) {
	line := lineKey(conversation)
	defer func() {
		if err != nil {
			q.leave(ctx, lease{conversation: conversation, holder: holder}) // also after an entry whose answer was lost
		}
	}()
	place, there, err := q.lines.Enter(ctx, line, holder, 1+maxWaiting, waiterTTL)
	if err == nil && !there {
		err = fault.Busy.New(fault.TooBusy).Suggest("%d of your questions already wait in this conversation.", maxWaiting).After(2 * time.Second)
	}
	if err != nil {
		return lease{}, err
	}
	if entered != nil {
		entered()
	}
	tick := time.NewTicker(waitTick)
	defer tick.Stop()
	for left := int(handover / waitTick); ; left-- {
		if place == 0 {
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
			return lease{}, ctx.Err()
		}
		if place, there, err = q.lines.Place(ctx, line, holder, waiterTTL); err != nil {
			return lease{}, err
		} else if !there {
			return lease{}, errDropped()
		}
	}
}

// taken returns the lease that a question has taken, unless the line was cleared
// meanwhile: then the question is not answered.
func (q queue) taken(ctx context.Context, l lease, err error) (lease, error) {
	if err != nil {
		return l, err
	}
	there, err := q.stay(ctx, l)
	if err == nil && !there {
		err = errDropped()
	}
	if err != nil {
		_ = q.leases.release(context.WithoutCancel(ctx), l) // else it expires
		return lease{}, err
	}
	return l, nil
}

// stay renews the place of a question that is being answered. Like its lease, it is
// free soon after a crash. It reports whether the line was not cleared.
func (q queue) stay(ctx context.Context, own lease) (bool, error) {
	_, there, err := q.lines.Place(ctx, lineKey(own.conversation), own.holder, leaseTTL)
	return there, err
}

// leave gives up the place in the line. It comes before the end of the answer is
// written: a client that has seen it may ask again.
func (q queue) leave(ctx context.Context, own lease) {
	_ = q.lines.Quit(context.WithoutCancel(ctx), lineKey(own.conversation), own.holder) // else it expires
}

// keep renews the lease and the place in the line until ctx ends; then the result
// is closed. It calls stop when another replica was asked to cancel the holder, or
// when the lease has expired. While Redis cannot be reached it tries again.
func (q queue) keep(ctx context.Context, own lease, stop context.CancelCauseFunc) <-chan struct{} {
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(leaseTick)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				if err := q.leases.renew(ctx, own); err != nil {
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

// clear drops the questions that wait, and reports whether there were any.
func (q queue) clear(ctx context.Context, conversation string) (bool, error) {
	waited, err := q.lines.Clear(ctx, lineKey(conversation))
	return waited > 0, err
}
