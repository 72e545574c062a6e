package upstream

import (
	"sync"
	"time"
)

// breakerFailures is how many faults open a breaker.
const breakerFailures = 5

// breakerPolicy says for how long a breaker stays open, and what one success is
// worth while it is closed.
type breakerPolicy struct {
	pause   time.Duration
	forgets bool // a success clears all faults; otherwise it takes one off
}

// The policies: our own servers come back within seconds of a restart; a
// foreign tool that fails is left alone for longer.
var (
	ownPolicy     = breakerPolicy{pause: 5 * time.Second, forgets: true}
	foreignPolicy = breakerPolicy{pause: time.Minute}
)

// breaker keeps callers from waiting for a server that does not answer. It
// counts faults of the server, never of the caller. Closed lets all calls
// through, open none, half-open one probe that decides.
type breaker struct {
	policy breakerPolicy

	mu      sync.Mutex
	faults  int
	until   time.Time // open until then; zero: closed
	probing bool
}

// signal is what one call says about its server.
type signal uint8

const (
	noSignal signal = iota // the caller left before the answer, or the host did not ask
	answered               // whatever the answer was
	faulted                // no answer
)

// admit reports whether a call may be sent, and whether it is the probe. The
// outcome of every admitted call must be recorded.
func (b *breaker) admit(now time.Time) (probe, ok bool) {
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

// record takes the signal of a call, also of one that was sent without asking.
// Only the probe's own end lets the next probe through. changed reports whether
// the breaker opened or closed.
func (b *breaker) record(now time.Time, s signal, probe bool) (changed bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	was := b.until.IsZero()
	b.probing = b.probing && !probe
	switch {
	case s == answered && (b.policy.forgets || !b.until.IsZero()):
		b.faults, b.until = 0, time.Time{}
	case s == answered:
		b.faults = max(b.faults-1, 0)
	case s == faulted:
		if b.faults++; b.faults >= breakerFailures {
			b.until = now.Add(b.policy.pause)
		}
	}
	return was != b.until.IsZero()
}

func (b *breaker) closed() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.until.IsZero()
}

// state names what the breaker does with the next call.
func (b *breaker) state(now time.Time) string {
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
