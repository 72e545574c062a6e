package upstream

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"time"

	"countersign.dev/internal/result"
	"countersign.dev/internal/upstream/mcpsession"
)

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

// errRemoved is why a call was not sent: its server was taken out of the
// configuration.
var errRemoved = errors.New("the server was removed")

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
