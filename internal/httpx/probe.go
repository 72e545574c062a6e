package httpx

import (
	"context"
	"sync"
	"time"
)

// How long the result of a probe is reused, and how long one check may take.
const (
	probeLife    = 5 * time.Second
	probeTimeout = 5 * time.Second
)

// Probe is a check of a store that any caller may ask for: however many do, one
// check runs at a time, and at most one in 5 s. The zero value with a Check is
// ready for use.
type Probe struct {
	Check func(ctx context.Context) error

	mu      sync.Mutex
	at      time.Time     // of the last check
	last    error         // its result
	running chan struct{} // closed at the end of the check under way; nil: none
}

// Ask returns the result of a check that is at most 5 s old, or the error of ctx
// when that ends first. fresh is true for the one caller who ran it, so that a
// failure is logged once.
func (p *Probe) Ask(ctx context.Context) (fresh bool, err error) {
	p.mu.Lock()
	if !p.at.IsZero() && time.Since(p.at) < probeLife {
		defer p.mu.Unlock()
		return false, p.last
	}
	if p.running == nil {
		p.running = make(chan struct{})
		p.mu.Unlock()
		return true, p.check(ctx)
	}
	running := p.running
	p.mu.Unlock()
	select {
	case <-ctx.Done():
		return false, ctx.Err()
	case <-running:
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return false, p.last
}

// check runs Check. Its result is everyone's, so a caller who leaves does not
// end it.
func (p *Probe) check(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), probeTimeout)
	defer cancel()
	err := p.Check(ctx)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.at, p.last = time.Now(), err
	close(p.running)
	p.running = nil
	return err
}
