// Package deadline bounds a call by a context that costs nothing until something waits
// for its end.
package deadline

import (
	"context"
	"sync"
	"time"
)

// Context is what context.WithTimeout makes, but its timer starts when something first
// waits for its end. Until then Err compares the time: a call that waits for nothing is
// mostly over before anything asks.
type Context struct {
	context.Context           // that it ends with
	alone           bool      // it has the values alone
	at              time.Time // zero when it is alone

	mu     sync.Mutex
	timed  context.Context // with the timer; nil: nothing waits for it, and it has not ended
	cancel context.CancelFunc
	over   bool
}

// Start makes a zero Context one that ends after limit, or with ctx. End it.
func (d *Context) Start(ctx context.Context, limit time.Duration) {
	d.Context, d.at = ctx, time.Now().Add(limit)
	if earlier, ok := ctx.Deadline(); ok && earlier.Before(d.at) {
		d.at = earlier
	}
}

// Detach makes a zero Context one with the values of ctx, which nothing but End ends.
func (d *Context) Detach(ctx context.Context) { d.Context, d.alone = ctx, true }

// Deadline implements context.Context.
func (d *Context) Deadline() (at time.Time, ok bool) { return d.at, !d.alone }

// Done implements context.Context.
func (d *Context) Done() <-chan struct{} {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.timer().Done()
}

// Err implements context.Context.
func (d *Context) Err() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.timed == nil && !d.over && (d.alone || d.Context.Err() == nil && time.Now().Before(d.at)) {
		return nil
	}
	return d.timer().Err() // which stays what it is
}

// Value implements context.Context. A context that is made from this one finds the one
// with the timer, which ends it without a goroutine.
func (d *Context) Value(key any) any {
	d.mu.Lock()
	ctx := d.timed
	d.mu.Unlock()
	if ctx == nil {
		ctx = d.Context
	}
	return ctx.Value(key)
}

// timer is the context with the timer. The lock is held.
func (d *Context) timer() context.Context {
	if d.timed == nil {
		if d.alone {
			d.timed, d.cancel = context.WithCancel(context.WithoutCancel(d.Context))
		} else {
			d.timed, d.cancel = context.WithDeadline(d.Context, d.at)
		}
		if d.over {
			d.cancel()
		}
	}
	return d.timed
}

// End ends it, as the function does that context.WithTimeout returns.
func (d *Context) End() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.over = true; d.cancel != nil {
		d.cancel()
	}
}
