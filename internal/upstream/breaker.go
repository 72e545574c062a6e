package upstream

import (
	"sync"
	"sync/atomic"
	"time"
)

// A breaker opens after so many failures in a row, for so long.
const (
	breakerFailures = 5
	breakerPause    = 5 * time.Second
)

// breaker keeps callers from waiting for a server that does not answer: closed
// lets all calls through, open none, half-open one probe that decides.
type breaker struct {
	mu       sync.Mutex
	failures int
	until    time.Time // open until then; zero: closed
	probing  bool
}

// verdict is what a call tells about its server.
type verdict uint8

const (
	unjudged verdict = iota // nothing: the caller left before the answer
	there                   // it answered, whatever it said
	failing                 // it did not answer
)

// admit reports whether a call may be sent. Every admitted call is judged.
func (b *breaker) admit(now time.Time) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.until.IsZero() {
		return true
	}
	if now.Before(b.until) || b.probing {
		return false
	}
	b.probing = true
	return true
}

func (b *breaker) judge(now time.Time, v verdict) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.probing = false
	switch v {
	case there:
		b.failures, b.until = 0, time.Time{}
	case failing:
		if b.failures++; b.failures >= breakerFailures {
			b.until = now.Add(breakerPause)
		}
	}
}

func (b *breaker) closed() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.until.IsZero()
}

// meter counts calls that were sent.
type meter struct{ calls, failures, nanos atomic.Int64 }

func (m *meter) count(took time.Duration, v verdict) {
	m.calls.Add(1)
	m.nanos.Add(int64(took))
	if v == failing {
		m.failures.Add(1)
	}
}

func (m *meter) read() (calls, failures int64, average time.Duration) {
	calls, failures = m.calls.Load(), m.failures.Load()
	if calls > 0 {
		average = time.Duration(m.nanos.Load() / calls)
	}
	return calls, failures, average
}
