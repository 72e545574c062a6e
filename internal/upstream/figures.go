package upstream

import (
	"cmp"
	"time"

	"countersign.dev/internal/result"
	"countersign.dev/internal/upstream/breaker"
)

// EachTool reports the figures of every known tool, sorted by name.
func (u *Upstream) EachTool(report func(result.Reliability)) {
	now, at := u.registry(), u.o.Now()
	for _, name := range now.names {
		r := now.routes[name]
		f := result.Reliability{Server: r.server.Name, Tool: name, Kind: r.tool.Kind, Transport: cmp.Or(r.server.Transport, "http"), Breaker: r.breaker.State(at)}
		f.Calls, f.Failures, f.Average = r.meter.read()
		if last := r.meter.last.Load(); last > 0 {
			f.LastUsed = time.Unix(0, last)
		}
		report(f)
	}
}

// EachServer reports the figures of each server, in configured order: calls that
// were sent, those of them that got no answer, and the mean time of an answer.
func (u *Upstream) EachServer(report func(name string, healthy bool, calls, failures int64, average time.Duration)) {
	for _, s := range u.registry().servers {
		calls, failures, average := s.meter.read()
		report(s.Name, s.healthy(), calls, failures, average)
	}
}

// EachBreaker reports how many breakers of each server are open: of our own
// servers there is one each, of a foreign one for each tool.
func (u *Upstream) EachBreaker(report func(server string, open int)) {
	now := u.registry()
	open := make(map[*breaker.Breaker]string, len(now.servers))
	for _, s := range now.servers {
		if !s.breaker.Closed() {
			open[s.breaker] = s.Name
		}
	}
	for _, r := range now.routes {
		if !r.breaker.Closed() {
			open[r.breaker] = r.server.Name
		}
	}
	counts := make(map[string]int, len(now.servers))
	for _, server := range open {
		counts[server]++
	}
	for _, s := range now.servers {
		report(s.Name, counts[s.Name])
	}
}

func (s *server) healthy() bool {
	return s.breaker.Closed() && s.up.registry().lists[s.Name].failed == nil
}
