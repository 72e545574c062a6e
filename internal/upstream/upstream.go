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
	"countersign.dev/internal/upstream/own"
)

// Defaults of a server's deadlines and answers.
const (
	DefaultTimeout      = 5 * time.Second
	DefaultWriteTimeout = 10 * time.Second
	DefaultMaxAnswer    = 8 << 20 // bytes of one answer
)

// Server is one server behind the host: one of our own at URL, or a foreign one
// that Foreign reaches.
type Server struct {
	Name         string        // of an own server also the audience of its tokens
	URL          string        // of an own server: MCP is at /mcp, confirmations are answered at /execute
	Timeout      time.Duration // of a call that reads; DefaultTimeout when zero
	WriteTimeout time.Duration // of any other call, and of an answer; DefaultWriteTimeout when zero

	// Foreign makes the adapter of a server that is not one of ours. Its tools
	// are offered as name.tool, each with a breaker of its own, and those that
	// are not read-only wait for their person in Options.Confirm. The adapter
	// calls changed when the server's tools have changed.
	Foreign func(changed func()) Adapter
}

// Records finds a confirmation, so that an answer reaches the server that owns
// it. Package state keeps them.
type Records interface {
	Get(ctx context.Context, id confirm.ID) (r confirm.Record, ok bool, err error)
}

// Options say how servers are reached. Mint is required for own servers, Confirm
// and Audit for foreign ones.
type Options struct {
	// Mint makes a token of the principal for one server and one purpose.
	Mint func(p *access.Principal, audience string, purpose access.Purpose) (string, error)
	// Records knows which server owns a confirmation. Without it every own server is asked.
	Records Records
	// Confirm keeps the confirmations of foreign tools.
	Confirm Confirmations
	// HTTP gives the transport; its other settings are not used. Nil: one of our own.
	HTTP *http.Client
	// Audit takes what no server records: calls that got no answer, and calls of foreign tools.
	Audit audit.Sink
	// MaxAnswer bounds an answer in bytes; DefaultMaxAnswer when zero.
	MaxAnswer int64
	Log       *slog.Logger
	Now       func() time.Time
}

// Upstream knows every server. It is safe for concurrent use; Close ends it.
type Upstream struct {
	o        Options
	current  atomic.Pointer[snapshot]
	updating sync.Mutex
	life     context.Context
	stop     context.CancelFunc
	closing  sync.Mutex // nothing new begins once life has ended
	work     sync.WaitGroup
}

// New makes the coordinator of the servers. No server is asked before the first
// call.
func New(servers []Server, o Options) *Upstream {
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	o.MaxAnswer = cmp.Or(o.MaxAnswer, DefaultMaxAnswer)
	if o.Now == nil {
		o.Now = time.Now
	}
	u := &Upstream{o: o}
	u.life, u.stop = context.WithCancel(context.Background())
	u.current.Store(&snapshot{lists: make(map[string]toolList)})
	transport, all := u.transport(), make([]*server, len(servers))
	for i, s := range servers {
		s.Timeout, s.WriteTimeout = cmp.Or(s.Timeout, DefaultTimeout), cmp.Or(s.WriteTimeout, DefaultWriteTimeout)
		all[i] = u.connect(s, transport)
	}
	u.update(func(next *snapshot) { next.servers = all })
	return u
}

func (u *Upstream) connect(s Server, transport http.RoundTripper) *server {
	v := &server{Server: s, up: u, breaker: breaker{policy: ownPolicy}}
	if s.Foreign != nil {
		v.adapter = s.Foreign(func() { u.invalidate(v) })
		return v
	}
	ours := own.New(own.Options{
		Name: s.Name, URL: s.URL, Timeout: s.Timeout, MaxAnswer: u.o.MaxAnswer,
		Mint: u.o.Mint, HTTP: transport, Log: u.o.Log, Now: u.o.Now,
	})
	v.adapter, v.answers = ours, ours
	return v
}

// transport is shared by all own servers.
func (u *Upstream) transport() http.RoundTripper {
	if u.o.HTTP != nil && u.o.HTTP.Transport != nil {
		return u.o.HTTP.Transport
	}
	return own.NewTransport()
}

// Close cancels what is in flight, closes every session and returns when all of
// it has ended.
func (u *Upstream) Close() {
	u.closing.Lock()
	u.stop()
	u.closing.Unlock()
	u.work.Wait()
	for _, s := range u.registry().servers {
		s.adapter.Close()
	}
}

// begin reports whether work may still start. After true the caller must call
// work.Done.
func (u *Upstream) begin() bool {
	u.closing.Lock()
	defer u.closing.Unlock()
	if u.life.Err() != nil {
		return false
	}
	u.work.Add(1)
	return true
}

// bounded returns a context that ends with the caller, at the deadline, or with
// Close.
func (u *Upstream) bounded(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithTimeout(ctx, d)
	unhook := context.AfterFunc(u.life, cancel)
	return ctx, func() { unhook(); cancel() }
}

// Call runs one tool for the principal in the context. A server that cannot be
// reached is SERVICE_UNAVAILABLE or TIMEOUT; a name that no server has is
// UNKNOWN_TOOL.
func (u *Upstream) Call(ctx context.Context, name string, args json.RawMessage) result.Outcome {
	who, err := access.From(ctx)
	if err != nil {
		return result.Failed(err)
	}
	r, err := u.find(ctx, name)
	switch {
	case err != nil:
		return result.Failed(err)
	case r.server.foreign():
		return u.callForeign(ctx, who, r, args)
	}
	o, err := r.server.call(ctx, r, args)
	if err != nil {
		return result.Failed(r.server.fault(err))
	}
	return o
}

// find fetches tool lists only when no known list has the tool.
func (u *Upstream) find(ctx context.Context, name string) (route, error) {
	if r, ok := u.registry().routes[name]; ok {
		return r, nil
	}
	down := u.refresh(ctx)
	now := u.registry()
	if r, ok := now.routes[name]; ok {
		return r, nil
	}
	for _, s := range now.servers {
		if err := down[s.Name]; err != nil { // the tool may be on a server that never answered
			return route{}, s.fault(err).With("tool", name)
		}
	}
	return route{}, fault.UnknownTool.New("No tool is called %q.", name)
}

// audit records what no server does.
func (u *Upstream) audit(ctx context.Context, e audit.Event) {
	if u.o.Audit == nil {
		return
	}
	if err := u.o.Audit.Append(context.WithoutCancel(ctx), e); err != nil {
		u.o.Log.ErrorContext(ctx, "audit could not be written", "server", e.Server, "tool", e.Tool, "error", err)
	}
}

// EachServer reports how each server is doing, in configured order: calls that
// were sent, those of them that got no answer, and the mean time of an answer.
func (u *Upstream) EachServer(report func(name string, healthy bool, calls, failures int64, average time.Duration)) {
	for _, s := range u.registry().servers {
		calls, failures, average := s.meter.read()
		report(s.Name, s.healthy(), calls, failures, average)
	}
}

var _ agent.Toolbox = (*Upstream)(nil)
