package upstream

import (
	"context"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"golang.org/x/sync/singleflight"

	"countersign.dev/internal/access"
)

// session is one MCP session of one person with one server.
type session struct {
	*mcp.ClientSession
	owner access.Owner
	users int       // calls under way
	used  time.Time // last given back
	dead  bool      // no longer in the pool; the last user closes it
}

// sessions keeps at most one session per person. What a person may do does not
// hang on the session: every request carries a token of its own call.
type sessions struct {
	up      *Upstream
	connect func(context.Context) (*mcp.ClientSession, error)
	flight  singleflight.Group
	mu      sync.Mutex
	open    map[access.Owner]*session
	closing sync.WaitGroup
}

func newSessions(u *Upstream, connect func(context.Context) (*mcp.ClientSession, error)) *sessions {
	return &sessions{up: u, connect: connect, open: make(map[access.Owner]*session)}
}

// take gives the person's session, opening it if need be; many at once open
// one. fresh says that it was opened for this very call. Give it back.
func (s *sessions) take(ctx context.Context) (got *session, fresh bool, err error) {
	p, err := access.From(ctx)
	if err != nil {
		return nil, false, err
	}
	for {
		if held := s.hold(p.Owner()); held != nil {
			return held, fresh, nil
		}
		opened := s.flight.DoChan(p.Owner().String(), func() (any, error) { return nil, s.add(ctx, p.Owner()) })
		select {
		case r := <-opened:
			if r.Err != nil {
				return nil, true, r.Err
			}
			fresh = true
		case <-ctx.Done():
			return nil, true, ctx.Err()
		}
	}
}

func (s *sessions) hold(o access.Owner) *session {
	s.mu.Lock()
	defer s.mu.Unlock()
	held := s.open[o]
	if held != nil {
		held.users++
	}
	return held
}

// add opens a session and makes room for it.
func (s *sessions) add(ctx context.Context, o access.Owner) error {
	if !s.up.begin() {
		return errClosed
	}
	defer s.up.work.Done()
	client, err := s.connect(ctx)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.open) >= maxSessions && !s.evict() {
		s.shut(&session{ClientSession: client})
		return errBusy
	}
	s.open[o] = &session{ClientSession: client, owner: o, used: s.up.o.Now()}
	return nil
}

// evict drops the session that was unused for longest, if one is unused.
func (s *sessions) evict() bool {
	var oldest *session
	for _, c := range s.open {
		if c.users == 0 && (oldest == nil || c.used.Before(oldest.used)) {
			oldest = c
		}
	}
	if oldest == nil {
		return false
	}
	s.drop(oldest)
	return true
}

// give takes a session back. One that does not work any more leaves the pool.
func (s *sessions) give(c *session, works bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c.users--
	c.used = s.up.o.Now()
	switch {
	case c.dead && c.users == 0:
		s.shut(c)
	case !works && !c.dead:
		s.drop(c)
	}
}

// drop takes a session out of the pool and closes it when nobody uses it. The
// lock is held.
func (s *sessions) drop(c *session) {
	c.dead = true
	delete(s.open, c.owner)
	if c.users == 0 {
		s.shut(c)
	}
}

// shut closes a session aside: a server that is gone may take its time.
func (s *sessions) shut(c *session) {
	s.closing.Go(func() { _ = c.Close() })
}

func (s *sessions) closeIdle(since time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.open {
		if c.users == 0 && c.used.Before(since) {
			s.drop(c)
		}
	}
}

// closeAll closes every session and waits. Calls under way have been cancelled.
func (s *sessions) closeAll() {
	s.mu.Lock()
	for _, c := range s.open {
		s.drop(c)
	}
	s.mu.Unlock()
	s.closing.Wait()
}

func (s *sessions) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.open)
}
