package conversation

import (
	"context"
	"errors"
	"time"

	"countersign.dev/internal/fault"
)

const (
	leaseTTL  = 15 * time.Second
	leaseTick = 2 * time.Second // how often a holder renews its lease and looks for a cancel

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
		sealed, done, err := l.keys.claim(ctx, leaseKey(conversation), holder, leaseTTL, l.life+leaseTTL)
		if done || err != nil {
			return lease{conversation, holder, sealed}, err
		}
		select {
		case <-again.C:
		case <-ctx.Done():
			return lease{}, ctx.Err()
		}
	}
	return lease{}, fault.Busy.New("This conversation still answers your last question.").After(2 * time.Second)
}

// keep renews the lease until ctx ends; then the result is closed. It calls
// stop when another replica was asked to cancel the holder, or when the lease
// has expired. While Redis cannot be reached it tries again.
func (l leases) keep(ctx context.Context, own lease, stop context.CancelCauseFunc) <-chan struct{} {
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
				if err := l.renew(ctx, own); err != nil {
					stop(err)
				}
			}
		}
	}()
	return ended
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
