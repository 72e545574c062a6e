package upstream

import (
	"cmp"
	"sync/atomic"
	"time"

	"countersign.dev/internal/result"
	"countersign.dev/internal/upstream/breaker"
)

// meter counts calls that were sent.
type meter struct{ calls, failures, nanos, last atomic.Int64 }

func (m *meter) count(now time.Time, took time.Duration, s breaker.Signal) {
	m.calls.Add(1)
	m.nanos.Add(int64(took))
	m.last.Store(now.UnixNano())
	if s == breaker.Faulted {
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

// EachTool reports the figures of every known tool, sorted by name.
func (u *Upstream) EachTool(report func(result.Reliability)) {
	now, at := u.registry(), u.o.Now()
	for _, name := range now.names {
		r := now.routes[name]
		f := result.Reliability{Server: r.server.Name, Tool: name, Transport: cmp.Or(r.server.Transport, "http"), Breaker: r.breaker.State(at)}
		f.Calls, f.Failures, f.Average = r.meter.read()
		if last := r.meter.last.Load(); last > 0 {
			f.LastUsed = time.Unix(0, last)
		}
		report(f)
	}
}
