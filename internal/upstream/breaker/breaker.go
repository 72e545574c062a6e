// Package breaker keeps callers from waiting for a server that does not answer. It
// counts faults of the server, never of the caller, and knows no call.
package breaker

import (
	"sync"
	"time"
)

// Failures is how many faults open a breaker.
const Failures = 5

// Policy says for how long a breaker stays open, and what one success is
// worth while it is closed.
type Policy struct {
	Pause   time.Duration
	Forgets bool // a success clears all faults; otherwise it takes one off
}

// The policies: our own servers come back within seconds of a restart; a
// foreign tool that fails is left alone for longer.
var (
	Own     = Policy{Pause: 5 * time.Second, Forgets: true}
	Foreign = Policy{Pause: time.Minute}
)

// Breaker lets all calls through while it is closed, none while it is open, and
// half-open one probe that decides.
type Breaker struct {
	policy Policy

	mu      sync.Mutex
	faults  int
	until   time.Time // open until then; zero: closed
	probing bool
}

// New returns a closed breaker.
func New(p Policy) *Breaker { return &Breaker{policy: p} }

// Signal is what one call says about its server.
type Signal uint8

// The signals.
const (
	None     Signal = iota // the caller left before the answer, or the host did not ask
	Answered               // whatever the answer was
	Faulted                // no answer
)

// Admit reports whether a call may be sent, and whether it is the probe. The
// outcome of every admitted call must be recorded.
func (b *Breaker) Admit(now time.Time) (probe, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.until.IsZero() {
		return false, true
	}
	if now.Before(b.until) || b.probing {
		return false, false
	}
	b.probing = true
	return true, true
}

// Record takes the signal of a call, also of one that was sent without asking.
// Only the probe's own end lets the next probe through. changed reports whether
// the breaker opened or closed.
func (b *Breaker) Record(now time.Time, s Signal, probe bool) (changed bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	was := b.until.IsZero()
	b.probing = b.probing && !probe
	switch {
	case s == Answered && (b.policy.Forgets || !b.until.IsZero()):
		b.faults, b.until = 0, time.Time{}
	case s == Answered:
		b.faults = max(b.faults-1, 0)
	case s == Faulted:
		if b.faults++; b.faults >= Failures {
			b.until = now.Add(b.policy.Pause)
		}
	}
	return was != b.until.IsZero()
}

// Closed reports whether all calls are let through.
func (b *Breaker) Closed() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.until.IsZero()
}

// State names what the breaker does with the next call.
func (b *Breaker) State(now time.Time) string {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case b.until.IsZero():
		return "closed"
	case now.Before(b.until):
		return "open"
	}
	return "half-open"
}
