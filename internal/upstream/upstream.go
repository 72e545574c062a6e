// Package upstream is the host's side of MCP. It keeps one registry of the
// tools of all servers, and brings each call to the server that owns the tool,
// as the person who calls.
//
// It owns tool lists, deadlines, breakers and the answering of confirmations.
// It has no rules of who may do what: servers name the roles of their tools, and our
// own servers enforce them. It applies none of their changes, and repeats only calls
// that have no second effect.
//
// Start with [Upstream.Tools] and [Upstream.Call]. The registry is an immutable
// snapshot that updates replace. A server is reached through an [Adapter]:
// package own has the one for our own servers, package foreign the one for
// others.
//
// What an own server enforces by itself, the host enforces for a foreign one:
// roles, the confirmation of every tool that is not read-only, the record.
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

	"golang.org/x/sync/singleflight"

	"countersign.dev/internal/access"
	"countersign.dev/internal/audit"
	"countersign.dev/internal/confirm"
	"countersign.dev/internal/mcpfile"
	"countersign.dev/internal/result"
	"countersign.dev/internal/schema"
	"countersign.dev/internal/schema/envelope"
	"countersign.dev/internal/upstream/breaker"
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
	// Key says how a foreign server is reached: Replace keeps the connection of one
	// whose key stays the same. Empty: it is always connected anew.
	Key string
	// Rules say which tools of a foreign server are offered, and to whom.
	Rules     mcpfile.Rules
	Transport string // how a foreign server is reached: "http" or "stdio"; "http" when empty
}

// Entries finds confirmations, so that an answer reaches the server that owns
// one. An entry decides nothing else. Package state has them.
type Entries interface {
	Find(ctx context.Context, id confirm.ID) (e confirm.Entry, ok bool, err error)
	PendingOf(ctx context.Context, owner access.Owner) ([]confirm.Entry, error)
}

// Options say how servers are reached. Mint is required for own servers, Confirm
// and Audit for foreign ones.
type Options struct {
	// Mint makes a token of the principal for one server and one purpose.
	Mint func(p *access.Principal, audience string, purpose access.Purpose) (string, error)
	// Entries knows which server owns a confirmation. Without it every own server is asked.
	Entries Entries
	// Confirm keeps the confirmations of foreign tools, and says who may answer any.
	Confirm Confirmations
	// HTTP gives the transport; its other settings are not used. Nil: one of our own.
	HTTP *http.Client
	// Audit takes what no server records: calls that got no answer or were refused here, and
	// calls of foreign tools.
	Audit audit.Sink
	// Refusals takes of these the calls that anyone can send in any number: of unknown tools,
	// beyond a limit, and while a breaker is open. Nil: Audit.
	Refusals audit.Sink
	// FailClosed withholds what a foreign tool read, when that cannot be recorded. What our
	// own servers read they withhold themselves.
	FailClosed bool
	// Limit counts a call of a foreign tool, or returns RATE_LIMITED. Nil: no limit.
	Limit func(ctx context.Context, owner access.Owner, tool string) error
	// MaxAnswer bounds an answer in bytes; DefaultMaxAnswer when zero.
	MaxAnswer int64
	// Pins hold back foreign tools whose definitions no operator has accepted. Nil:
	// none is held back.
	Pins Pins
	// Observe counts a call that was sent, or that the breaker kept from being
	// sent; outcome as [result.Outcome.Code] has it. Nil: nothing.
	Observe func(server, tool, outcome string, took time.Duration)
	Log     *slog.Logger
	Now     func() time.Time
}

// Pins know the accepted definitions of foreign tools. Package mcplock has them.
type Pins interface {
	// Check splits a server's tools into the accepted ones and those that are held
	// back, with the reasons.
	Check(server string, tools []result.ToolInfo) (accepted []result.ToolInfo, held map[string]string)
}

// Upstream knows every server. It is safe for concurrent use; Close ends it.
type Upstream struct {
	o        Options
	current  atomic.Pointer[snapshot]
	updating sync.Mutex

	replacing sync.Mutex
	sent      sentCalls
	life      context.Context
	stop      context.CancelFunc
	closing   sync.Mutex // nothing new begins once life has ended
	work      sync.WaitGroup
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

// Confirmations keeps the pending changes of foreign tools. Package confirm has
// it.
type Confirmations interface {
	Open(ctx context.Context, p *access.Principal, r confirm.Request) (confirm.Record, error)
	Permit(ctx context.Context, p *access.Principal, id confirm.ID) error
	Get(ctx context.Context, p *access.Principal, server string, id confirm.ID, e confirm.Executor) (confirm.Record, error)
	Answer(ctx context.Context, p *access.Principal, reply confirm.Reply, e confirm.Executor) (confirm.Result, error)
}

// Adapter reaches one server over its transport. An error means that the server
// gave no answer; every answer, also a refusal, is an outcome.
type Adapter interface {
	// Tools lists all tools under the server's own names, with their roles.
	Tools(ctx context.Context) ([]result.ToolInfo, error)
	// Call runs a tool for the principal in the context and sends it at most
	// once. The error wraps mcpsession.ErrNotSent when it was not sent.
	Call(ctx context.Context, tool string, args json.RawMessage) (result.Outcome, error)
	// Close ends the adapter. Calls in flight have ended before.
	Close()
}

// answerer is an adapter whose server opens its own confirmations, applies them
// and keeps the receipts.
type answerer interface {
	Confirmation(ctx context.Context, id string) (result.Confirmation, error)
	Answer(ctx context.Context, id string, approved bool, digest string) (result.Outcome, error)
}

// discovery keeps the tool list of one foreign server up to date.
type discovery struct {
	wake  chan struct{}      // the list must be fetched
	later chan time.Duration // it must be fetched after that

	mu    sync.Mutex
	since time.Time // of the period in which changes are counted
	count int
	slow  bool // a caller has waited without success since the last answer
}

// server is one server with everything that is the same for every kind.
type server struct {
	Server
	up      *Upstream
	adapter Adapter
	answers answerer    // nil: foreign; its confirmations are kept here
	ours    *own.Server // nil: foreign
	fetches singleflight.Group
	found   *discovery       // of a foreign server
	end     func()           // ends the discovery of a foreign server
	breaker *breaker.Breaker // of our own servers; a foreign server has one for each tool
	meter   *meter           // of all its calls
}

// foreign reports whether the server is not one of ours: it knows no
// confirmations, roles or envelopes.
func (s *server) foreign() bool { return s.answers == nil }

// snapshot is the registry at one moment: servers, their tool lists, routes and
// breakers. It is never changed; an update publishes a new one, so a reader
// that loads it once sees one consistent state.
type snapshot struct {
	servers []*server           // in configured order, which decides who keeps a contested name
	lists   map[string]toolList // by server
	routes  map[string]route    // by offered name
	names   []string            // of the routes, sorted
	refused []string            // tools that were left out and for what; logged when it changes
}

// toolList is what one server last said about its tools.
type toolList struct {
	repeats   map[string]bool              // tools that may be called twice with the effect of one call
	schemas   map[string]*schema.Schema    // of the tools' inputs, by tool; those that do not compile are missing
	unchecked map[string]string            // why schemas are missing there, or incomplete
	envelopes map[string]*envelope.Foreign // of a foreign server's tools; those of which nothing can be said are missing
	held      map[string]string            // why tools are not offered: their definitions are not accepted
	tools     []result.ToolInfo            // kept while the server is down, so that its calls fail by its name
	fetched   time.Time                    // zero: must be fetched before use
	failed    error                        // of the last fetch
	retry     time.Time                    // a failed fetch is not repeated before
	version   int                          // counts invalidations: a fetch that began before one is out of date
}

// route leads from an offered tool name to its server.
type route struct {
	server  *server
	tool    result.ToolInfo  // under the server's own name for it
	schema  *schema.Schema   // of its input; nil: the server alone checks it
	breaker *breaker.Breaker // of the server, or of this tool when the server is foreign
	meter   *meter           // of its calls
	repeats bool             // a foreign tool whose call may be sent a second time

	// Of a foreign tool only.
	offeredAs string            // what follows the server's name
	rules     mcpfile.ToolRules // the operator's
	envelope  *envelope.Foreign // nil: nothing is said of them
}

// sentCalls are the confirmed calls that this process sent, for as long as their
// records can be put back into the store: foreign servers keep no receipts.
type sentCalls struct {
	mu sync.Mutex
	at map[confirm.ID]time.Time
}

func withDefaults(s Server) Server {
	s.Timeout, s.WriteTimeout = cmp.Or(s.Timeout, DefaultTimeout), cmp.Or(s.WriteTimeout, DefaultWriteTimeout)
	return s
}

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
