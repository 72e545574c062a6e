package upstream

import (
	"cmp"
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"countersign.dev/internal/access"
	"countersign.dev/internal/agent"
	"countersign.dev/internal/audit"
	"countersign.dev/internal/confirm"
	"countersign.dev/internal/fault"
	"countersign.dev/internal/result"
)

// Defaults of a server's deadlines and of what is kept.
const (
	DefaultTimeout      = 5 * time.Second
	DefaultWriteTimeout = 10 * time.Second
	DefaultMaxAnswer    = 8 << 20 // bytes of one answer
	maxSessions         = 1000    // per server
	idleSession         = 5 * time.Minute
	janitorPeriod       = time.Minute
)

// Server is one of our own servers.
type Server struct {
	Name         string        // also the audience of its tokens
	URL          string        // base address: MCP is at /mcp, confirmations are answered at /execute
	Timeout      time.Duration // of a call that reads; DefaultTimeout when zero
	WriteTimeout time.Duration // of any other call, and of an answer; DefaultWriteTimeout when zero
}

// Records finds a confirmation, so that an answer reaches the server that owns
// it. Package state keeps them.
type Records interface {
	Get(ctx context.Context, id confirm.ID) (r confirm.Record, ok bool, err error)
}

// Options say how servers are reached. Mint is required.
type Options struct {
	// Mint makes a token of the principal for one server and one purpose.
	Mint func(p *access.Principal, audience string, purpose access.Purpose) (string, error)
	// Records tells which server owns a confirmation. Without it every own server is asked.
	Records Records
	// HTTP gives the transport; its other settings are not used. Nil: one of our own.
	HTTP *http.Client
	// Audit takes one event for each call that got no answer: no server wrote it down. Nil: none.
	Audit audit.Sink
	// MaxAnswer bounds an answer in bytes; DefaultMaxAnswer when zero.
	MaxAnswer int64
	Log       *slog.Logger
	Now       func() time.Time
}

// Upstream knows every server. It is safe for concurrent use; Close ends it.
type Upstream struct {
	o         Options
	peers     []*peer // in configured order, which decides who keeps a contested name
	merging   sync.Mutex
	directory atomic.Pointer[directory]
	life      context.Context
	stop      context.CancelFunc
	closing   sync.Mutex // nothing new begins once life has ended
	work      sync.WaitGroup
}

// New makes the coordinator of the servers and starts its janitor. No server is
// asked before the first call.
func New(servers []Server, o Options) *Upstream {
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	o.MaxAnswer = cmp.Or(o.MaxAnswer, DefaultMaxAnswer)
	if o.Now == nil {
		o.Now = time.Now
	}
	u := &Upstream{o: o}
	u.life, u.stop = context.WithCancel(context.Background())
	u.directory.Store(&directory{})
	transport := transportOf(o.HTTP)
	for _, s := range servers {
		s.Timeout, s.WriteTimeout = cmp.Or(s.Timeout, DefaultTimeout), cmp.Or(s.WriteTimeout, DefaultWriteTimeout)
		u.peers = append(u.peers, newPeer(u, s, newOwn(u, s, transport)))
	}
	u.work.Go(u.sweep)
	return u
}

// Close ends what is under way, closes every session and returns when all of it
// has ended.
func (u *Upstream) Close() {
	u.closing.Lock()
	u.stop()
	u.closing.Unlock()
	u.work.Wait()
	for _, p := range u.peers {
		p.remote.close()
	}
}

// begin reports whether work may still start; who gets true calls work.Done.
func (u *Upstream) begin() bool {
	u.closing.Lock()
	defer u.closing.Unlock()
	if u.life.Err() != nil {
		return false
	}
	u.work.Add(1)
	return true
}

// Call runs one tool for the principal in the context. A server that cannot be
// reached is SERVICE_UNAVAILABLE or TIMEOUT; nobody's tool is UNKNOWN_TOOL.
func (u *Upstream) Call(ctx context.Context, name string, args json.RawMessage) result.Outcome {
	if _, err := access.From(ctx); err != nil {
		return result.Failed(err)
	}
	r, err := u.find(ctx, name)
	if err != nil {
		return result.Failed(err)
	}
	return r.peer.call(ctx, r.tool, args)
}

// find asks the servers only when no catalogue that we heard has the tool.
func (u *Upstream) find(ctx context.Context, name string) (route, error) {
	if r, ok := u.directory.Load().routes[name]; ok {
		return r, nil
	}
	down := u.refresh(ctx)
	if r, ok := u.directory.Load().routes[name]; ok {
		return r, nil
	}
	if len(down) > 0 { // it may live on a server that we never heard
		first := u.peers[firstDown(u.peers, down)]
		return route{}, first.fault(down[first.Name]).With("tool", name)
	}
	return route{}, fault.UnknownTool.New("No tool is called %q.", name)
}

func firstDown(peers []*peer, down map[string]error) int {
	for i, p := range peers {
		if down[p.Name] != nil {
			return i
		}
	}
	return 0
}

// Servers lists the names of the servers in configured order.
func (u *Upstream) Servers() []string {
	names := make([]string, len(u.peers))
	for i, p := range u.peers {
		names[i] = p.Name
	}
	return names
}

// EachServer reports how each server is doing, in configured order: calls that
// were sent, those of them that got no answer, and the mean time of an answer.
func (u *Upstream) EachServer(report func(name string, healthy bool, calls, failures int64, average time.Duration)) {
	for _, p := range u.peers {
		calls, failures, average := p.meter.read()
		report(p.Name, p.healthy(), calls, failures, average)
	}
}

// sweep closes sessions that nobody uses, until Close.
func (u *Upstream) sweep() {
	tick := time.NewTicker(janitorPeriod)
	defer tick.Stop()
	for {
		select {
		case <-u.life.Done():
			return
		case <-tick.C:
			for _, p := range u.peers {
				p.remote.tidy(u.o.Now().Add(-idleSession))
			}
		}
	}
}

var _ agent.Toolbox = (*Upstream)(nil)
