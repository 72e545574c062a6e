// Package lease lets one turn at a time answer in a conversation, on all replicas:
// the lease that its holder renews, and the queue of the questions that wait for it.
// It does not know what a turn does. Start with Queue.
package lease

import (
	"context"
	"errors"
	"time"

	"countersign.dev/internal/conversation/sealed"
	"countersign.dev/internal/fault"
)

const (
	ttl  = 4 * time.Second // after a crash; half a second more until readers learn of it
	tick = time.Second     // how often a holder renews its lease and looks for a cancel

	acquireTick = 10 * time.Millisecond

	// CancelWait is how long a turn that was cancelled, on whatever replica, needs
	// to release its lease.
	CancelWait = tick + 2*time.Second
)

// Leases let one holder at a time write in a conversation, on all replicas.
type Leases struct {
	keys sealed.Keys
	life time.Duration
}

// New keeps leases under sealed keys. No lease counts for longer than life, the
// longest time that a turn takes.
func New(keys sealed.Keys, life time.Duration) Leases { return Leases{keys, life} }

// Lease is held by one turn.
type Lease struct {
	conversation, holder string
	sealed               []byte // as Redis has it
}

// Key is where the lease of a conversation is kept.
func Key(conversation string) string { return "turn:" + conversation }

// CancelKey is the key that names the holder which must stop.
func CancelKey(conversation string) string { return "cancel:" + conversation }

// The reasons to stop a holder. One whose lease was lost must not write any more:
// others may have closed its events, or begun a turn.
var (
	ErrLost      = errors.New("the lease of the conversation was lost")
	ErrCancelled = errors.New("cancelled by the person")
)

// Acquire waits for the lease of a conversation, and returns BUSY when it stays
// held for longer than wait.
func (l Leases) Acquire(ctx context.Context, conversation, holder string, wait time.Duration) (Lease, error) {
	again := time.NewTicker(acquireTick)
	defer again.Stop()
	for range wait / acquireTick {
		if own, done, err := l.try(ctx, conversation, holder); done || err != nil {
			return own, err
		}
		select {
		case <-again.C:
		case <-ctx.Done():
			return Lease{}, ctx.Err()
		}
	}
	return Lease{}, fault.Busy.New(fault.TooBusy).Suggest("This conversation still answers your last question.").After(2 * time.Second)
}

// try takes the lease unless it is held.
func (l Leases) try(ctx context.Context, conversation, holder string) (own Lease, done bool, err error) {
	sealed, done, err := l.keys.SetNew(ctx, Key(conversation), holder, ttl, l.life+ttl)
	return Lease{conversation, holder, sealed}, done, err
}

// Renew returns ErrCancelled or ErrLost when the holder must stop.
func (l Leases) Renew(ctx context.Context, own Lease) error {
	held, err := l.keys.Store.Swap(ctx, Key(own.conversation), own.sealed, own.sealed, ttl)
	switch {
	case err != nil:
		return nil // the store may come back; a turn fails when it writes without it
	case !held:
		return ErrLost
	}
	if named, ok, err := l.keys.Get(ctx, CancelKey(own.conversation)); err == nil && ok && named == own.holder {
		return ErrCancelled
	}
	return nil
}

// Release ends the lease, unless another holder has it by now.
func (l Leases) Release(ctx context.Context, own Lease) error {
	_, err := l.keys.Remove(ctx, Key(own.conversation), own.sealed)
	return err
}

// Held reports whether a turn runs, on any replica.
func (l Leases) Held(ctx context.Context, conversation string) (bool, error) {
	_, ok, err := l.keys.Get(ctx, Key(conversation))
	return ok, err
}

// Cancel asks the holder to stop, which it does within tick. It reports
// whether there is one.
func (l Leases) Cancel(ctx context.Context, conversation string) (bool, error) {
	holder, ok, err := l.keys.Get(ctx, Key(conversation))
	if err != nil || !ok {
		return false, err
	}
	return true, l.keys.Set(ctx, CancelKey(conversation), holder, ttl)
}
