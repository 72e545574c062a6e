package upstream

import (
	"maps"
	"reflect"
	"slices"
)

// Foreign is the foreign servers of a host, to be replaced while it runs.
type Foreign struct{ *Upstream }

// Replace replaces all foreign servers by these. One whose name and Key stay the
// same keeps its connection, its calls and its tools, under its new rules. Calls of
// a removed one may finish; new ones are refused.
func (u Foreign) Replace(servers []Server) {
	u.replacing.Lock()
	defer u.replacing.Unlock()
	if u.life.Err() != nil {
		return
	}
	var all, fresh, gone []*server
	before := map[string]*server{}
	for _, s := range u.registry().servers {
		if !s.foreign() {
			all = append(all, s)
			continue
		}
		before[s.Name], gone = s, append(gone, s)
	}
	for _, s := range servers {
		old, known := before[s.Name]
		if known && old.Key == s.Key && s.Key != "" {
			all, gone = append(all, under(old, s)), slices.DeleteFunc(gone, func(g *server) bool { return g == old })
			continue
		}
		made := u.connect(withDefaults(s), nil)
		all, fresh = append(all, made), append(fresh, made)
	}
	u.update(func(next *snapshot) {
		next.servers = all
		for _, s := range gone {
			delete(next.lists, s.Name)
		}
		next.route()
	})
	for _, s := range fresh {
		follow(s)
	}
	for _, s := range gone {
		drain(s)
	}
}

// under is the server with other rules and the same connection.
func under(s *server, next Server) *server {
	next = withDefaults(next)
	if reflect.DeepEqual(s.Rules, next.Rules) && s.Timeout == next.Timeout {
		return s
	}
	return &server{Server: next, up: s.up, adapter: s.adapter, found: s.found, end: s.end, breaker: s.breaker, meter: s.meter}
}

// drain ends a server that no snapshot has any more, after its calls.
func drain(s *server) {
	s.end()
	if !s.up.begin() {
		s.adapter.Close()
		return
	}
	go func() {
		defer s.up.work.Done()
		s.adapter.Close()
	}()
}

// Recheck fetches the tools of every foreign server again: what an operator
// accepted may have changed.
func (u Foreign) Recheck() {
	for _, s := range u.registry().servers {
		if s.foreign() {
			u.invalidate(s)
			s.found.awake()
		}
	}
}

// EachHeld reports the tools of foreign servers that are held back, by server.
func (u Foreign) EachHeld(report func(server string, held map[string]string)) {
	now := u.registry()
	for _, s := range now.servers {
		if held := now.lists[s.Name].held; len(held) > 0 {
			report(s.Name, maps.Clone(held))
		}
	}
}
