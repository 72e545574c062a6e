// Package mcpsession keeps MCP sessions with one server open between calls, and
// tells what happened to a call that failed: whether it may have reached the
// server, and whether the server itself answered.
//
// It serves both kinds of servers. Which session a caller uses (one per
// principal, or one for all) is the key that the adapter gives to [Pool.Call].
package mcpsession

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"golang.org/x/sync/singleflight"
)

// Defaults of a pool.
const (
	DefaultMax  = 1000            // sessions open at a time
	DefaultIdle = 5 * time.Minute // after which an unused session is closed
	sweepPeriod = time.Minute
)

// Why no session could be given.
var (
	ErrBusy   = errors.New("every session is in use")
	ErrClosed = errors.New("the session pool is closed")
)

// Options of a pool. Client and Connect are required.
type Options struct {
	Client *Client
	// Connect opens a session for the caller in the context. The session may
	// outlive that context.
	Connect func(ctx context.Context) (*mcp.ClientSession, error)
	// Waiting is called before a call waits for its session to open, and back after
	// it. Nil: nothing.
	Waiting func(ctx context.Context) (back func())
	// Ended is called after a session has ended that the pool did not close. Only
	// sessions without traces are watched. Nil: nothing.
	Ended  func()
	Traced bool             // the transport sends through RoundTrip; otherwise every call counts as sent
	Max    int              // DefaultMax when zero
	Idle   time.Duration    // DefaultIdle when zero
	Now    func() time.Time // time.Now when nil
}

// session is one open MCP session of a pool.
type session struct {
	*mcp.ClientSession
	key   string
	users int       // calls in flight
	used  time.Time // last released
	gone  bool      // removed from the pool; the last user closes it
}

// Pool keeps at most one session per key. It is safe for concurrent use; Close
// ends it.
type Pool struct {
	o      Options
	flight singleflight.Group

	mu       sync.Mutex
	open     map[string]*session
	closed   bool
	opening  sync.WaitGroup
	closing  sync.WaitGroup
	stop     chan struct{}
	sweeping sync.WaitGroup
}

// NewPool makes a pool and starts closing idle sessions.
func NewPool(o Options) *Pool {
	if o.Max == 0 {
		o.Max = DefaultMax
	}
	if o.Idle == 0 {
		o.Idle = DefaultIdle
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Waiting == nil {
		o.Waiting = func(context.Context) func() { return func() {} }
	}
	p := &Pool{o: o, open: make(map[string]*session), stop: make(chan struct{})}
	p.sweeping.Go(p.sweep)
	return p
}

// acquire returns the session of a key, opening it if need be; concurrent
// callers open one. fresh means that it was opened for this call. The caller
// must release it.
func (p *Pool) acquire(ctx context.Context, key string) (s *session, fresh bool, err error) {
	for {
		if s := p.reserve(key); s != nil {
			return s, fresh, nil
		}
		if err := p.opened(ctx, key); err != nil {
			return nil, true, err
		}
		fresh = true
	}
}

// opened waits until the session of a key is open.
func (p *Pool) opened(ctx context.Context, key string) error {
	defer p.o.Waiting(ctx)()
	opened := p.flight.DoChan(key, func() (any, error) { return nil, p.add(ctx, key) })
	select {
	case r := <-opened:
		return r.Err
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (p *Pool) reserve(key string) *session {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := p.open[key]
	if s != nil {
		s.users++
	}
	return s
}

// add opens a session, and closes an idle one when the pool is full.
func (p *Pool) add(ctx context.Context, key string) error {
	if !p.begin() {
		return ErrClosed
	}
	defer p.opening.Done()
	if p.isOpen(key) { // since the caller looked
		return nil
	}
	client, err := p.o.Connect(ctx)
	if err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.open) >= p.o.Max && !p.evict() {
		p.shut(&session{ClientSession: client})
		return ErrBusy
	}
	p.open[key] = &session{ClientSession: client, key: key, used: p.o.Now()}
	if !p.o.Traced {
		p.watch(p.open[key])
	}
	return nil
}

func (p *Pool) isOpen(key string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.open[key] != nil
}

// begin counts a session that is being opened, unless the pool is closed.
func (p *Pool) begin() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return false
	}
	p.opening.Add(1)
	return true
}

// evict removes the session that was unused for longest, if one is unused. The
// lock is held.
func (p *Pool) evict() bool {
	var oldest *session
	for _, s := range p.open {
		if s.users == 0 && (oldest == nil || s.used.Before(oldest.used)) {
			oldest = s
		}
	}
	if oldest == nil {
		return false
	}
	p.remove(oldest)
	return true
}

// release returns a session. One that no longer works leaves the pool.
func (p *Pool) release(s *session, works bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	s.users--
	s.used = p.o.Now()
	switch {
	case s.gone && s.users == 0:
		p.shut(s)
	case !works && !s.gone:
		p.remove(s)
	}
}

// remove takes a session out of the pool and closes it when it has no user. The
// lock is held.
func (p *Pool) remove(s *session) {
	s.gone = true
	delete(p.open, s.key)
	if s.users == 0 {
		p.shut(s)
	}
}

// watch removes a session whose server has ended, so that no call is
// sent to it that cannot arrive: without a trace it would count as sent. The lock is held.
func (p *Pool) watch(s *session) {
	p.closing.Go(func() {
		_ = s.Wait()
		p.mu.Lock()
		defer p.mu.Unlock()
		if s.gone { // closed by the pool
			return
		}
		p.remove(s)
		if p.o.Ended != nil {
			p.closing.Go(p.o.Ended)
		}
	})
}

// shut closes a session in the background: an unreachable server takes time.
func (p *Pool) shut(s *session) {
	p.closing.Go(func() { _ = s.Close() })
}

// sweep closes idle sessions until Close.
func (p *Pool) sweep() {
	tick := time.NewTicker(sweepPeriod)
	defer tick.Stop()
	for {
		select {
		case <-p.stop:
			return
		case <-tick.C:
			p.closeIdle()
		}
	}
}

func (p *Pool) closeIdle() {
	p.mu.Lock()
	defer p.mu.Unlock()
	since := p.o.Now().Add(-p.o.Idle)
	for _, s := range p.open {
		if s.users == 0 && s.used.Before(since) {
			p.remove(s)
		}
	}
}

// Close closes every session and returns when all are closed. Calls in flight
// must have been cancelled.
func (p *Pool) Close() {
	p.mu.Lock()
	if !p.closed {
		p.closed = true
		close(p.stop)
	}
	p.mu.Unlock()
	p.opening.Wait()
	p.mu.Lock()
	for _, s := range p.open {
		p.remove(s)
	}
	p.mu.Unlock()
	p.closing.Wait()
	p.sweeping.Wait()
}
