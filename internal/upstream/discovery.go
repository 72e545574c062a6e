package upstream

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"reflect"
	"slices"
	"sync"
	"time"

	"countersign.dev/internal/result"
	"countersign.dev/internal/upstream/mcpsession"
)

// Foreign servers are asked for their tools in the background, so that none holds
// up a caller for longer than discoveryWait, once.
const (
	discoveryTimeout = 30 * time.Second // of one fetch; a first start may install a program
	discoveryWait    = time.Second      // of a caller, for a server that never answered slowly before
	discoveryRetry   = time.Minute      // at most between two fetches that fail; they begin with listRetry

	changesBurst  = 5                // changes of its tools that a server may announce
	changesPeriod = 10 * time.Second // in this time; more are followed at its end
)

// errDiscovering is why the tools of a server are not known yet.
var errDiscovering = errors.New("it has not said yet which tools it has")

func newDiscovery() *discovery {
	return &discovery{wake: make(chan struct{}, 1), later: make(chan time.Duration, 1)}
}

// change counts a change that the server announced, and reports whether it is
// followed now. If not, it is followed when the period ends.
func (d *discovery) change(now time.Time) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if now.Sub(d.since) >= changesPeriod {
		d.since, d.count = now, 0
	}
	if d.count++; d.count <= changesBurst {
		return true
	}
	select {
	case d.later <- changesPeriod - now.Sub(d.since):
	default: // it is planned already
	}
	return false
}

// awake wakes the goroutine that fetches the list.
func (d *discovery) awake() {
	select {
	case d.wake <- struct{}{}:
	default:
	}
}

func (d *discovery) isSlow() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.slow
}

func (d *discovery) setSlow(slow bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.slow = slow
}

// discover runs until the server is removed or the host closes: it fetches the list
// at once, when it changes, and again when that fails.
func (s *server) discover(ctx context.Context) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	changed := false
	for retry := listRetry; ; {
		select {
		case <-ctx.Done():
			return
		case d := <-s.found.later:
			changed = true
			timer.Reset(d)
			continue
		case <-s.found.wake:
		case <-timer.C:
			if changed {
				changed = false
				s.up.invalidate(s)
			}
		}
		if err := s.refreshNow(ctx); err == nil || ctx.Err() != nil {
			retry = listRetry
			continue
		}
		timer.Reset(retry)
		retry = min(2*retry, discoveryRetry)
	}
}

// refreshNow fetches the list if it must be fetched, and waits for it.
func (s *server) refreshNow(ctx context.Context) error {
	list := s.up.registry().lists[s.Name]
	if fetch, _, _ := list.need(s.up.o.Now()); !fetch && list.failed == nil {
		return nil
	}
	select {
	case r := <-s.fetching(ctx, list.version):
		return r.Err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// awaitShortly waits for a fetch for discoveryWait at most, once.
func (s *server) awaitShortly(ctx context.Context, list toolList) error {
	fetched := s.fetching(ctx, list.version)
	if !s.found.isSlow() {
		timer := time.NewTimer(discoveryWait)
		defer timer.Stop()
		select {
		case r := <-fetched:
			return r.Err
		case <-ctx.Done():
			return ctx.Err()
		case <-timer.C:
			s.found.setSlow(true)
		}
	}
	if list.tools == nil {
		return errDiscovering
	}
	return nil // with the list that is known
}

// follow keeps the list of a foreign server up to date until the server is removed
// or the host closes.
func follow(s *server) {
	if !s.foreign() || !s.up.begin() {
		return
	}
	ctx, end := context.WithCancel(s.up.life)
	s.end = end
	go func() {
		defer s.up.work.Done()
		s.discover(ctx)
	}()
}

// announced follows a change of a foreign server's tools, unless it announces too
// many.
func (s *server) announced() {
	if s.found.change(s.up.o.Now()) {
		s.up.invalidate(s)
		s.found.awake()
	}
}

// ---- reloading

// errRemoved is why a call was not sent: its server was taken out of the
// configuration.
var errRemoved = errors.New("the server was removed")

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
	return &server{Server: next, up: s.up, adapter: s.adapter, found: s.found, end: s.end, meter: s.meter}
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

// counted is an adapter that knows its calls in flight, so that closing it waits
// for them.
type counted struct {
	Adapter
	mu     sync.Mutex
	closed bool
	calls  sync.WaitGroup
}

func (c *counted) begin() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.closed {
		c.calls.Add(1)
	}
	return !c.closed
}

// Tools implements Adapter.
func (c *counted) Tools(ctx context.Context) ([]result.ToolInfo, error) {
	if !c.begin() {
		return nil, errRemoved
	}
	defer c.calls.Done()
	return c.Adapter.Tools(ctx)
}

// Call implements Adapter.
func (c *counted) Call(ctx context.Context, tool string, args json.RawMessage) (result.Outcome, error) {
	if !c.begin() {
		return result.Outcome{}, errors.Join(mcpsession.ErrNotSent, errRemoved)
	}
	defer c.calls.Done()
	return c.Adapter.Call(ctx, tool, args)
}

// Close implements Adapter: it waits for the calls in flight.
func (c *counted) Close() {
	c.mu.Lock()
	c.closed = true
	c.mu.Unlock()
	c.calls.Wait()
	c.Adapter.Close()
}
