package gateway

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"time"

	"countersign.dev/internal/access"
	"countersign.dev/internal/agent"
	"countersign.dev/internal/audit"
	"countersign.dev/internal/confirm"
	"countersign.dev/internal/fault"
	"countersign.dev/internal/httpx"
	"countersign.dev/internal/mcpserver"
	"countersign.dev/internal/result"
	"countersign.dev/internal/session"
)

// Servers is what the gateway needs of the servers behind it. Package upstream
// is it.
type Servers interface {
	agent.Toolbox
	// EachServer reports how each server is doing.
	EachServer(report func(name string, healthy bool, calls, failures int64, average time.Duration))
	// Execute answers a confirmation at the server that owns it, or asks each
	// when server is empty.
	Execute(ctx context.Context, server, id string, approved bool) result.Outcome
}

// Models are the models that conversations can choose from. Package llm has them.
type Models interface {
	// Choose returns the model of that name, or the default when it is empty.
	Choose(name string) (agent.Choice, error)
	List() []agent.Choice
}

// Desk shows people their own confirmations. Package confirm has it.
type Desk interface {
	Get(ctx context.Context, p *access.Principal, id confirm.ID) (confirm.Record, error)
	PendingOf(ctx context.Context, p *access.Principal) ([]confirm.Record, error)
}

// Limits bound what one person can ask for. Zero fields take the default.
type Limits struct {
	Turns    int           // turns of one person at a time, on this replica; 4
	TurnTime time.Duration // of one turn; 3 minutes
	Answer   time.Duration // of one answer of a model that has no timeout of its own; 1 minute
	Body     int64         // bytes of a request's body; 256 KiB
	Rows     int           // rows of a tool's answer on a stream; 50
	Data     int           // bytes of a tool's answer on a stream; 64 KiB
	History  int           // tokens of messages in one request to a model that has no budget of its own; 8,192
}

// Options are the gateway's parts. Verify, Models, Servers, Desk and Redis are
// required.
type Options struct {
	PublicURL string   // the address that people and clients know, without a path
	Issuers   []string // identity issuers whose tokens are taken, for clients that look for one

	Verify   func(ctx context.Context, token string) (*access.Principal, error)
	Sessions *session.Service // nil: bearer tokens only

	Models  Models
	System  string // a company's own words to the model
	Servers Servers
	Desk    Desk
	Redis   Redis
	Audit   audit.Sink // nil: nothing is recorded

	Web  fs.FS        // the chat page; nil: none
	MCP  http.Handler // serves /mcp; nil: none
	JWKS http.Handler // serves the keys of internal tokens; nil: none

	Limits Limits
	Log    *slog.Logger
	Now    func() time.Time
}

// Gateway is the host. Shutdown ends it.
type Gateway struct {
	o       Options
	surface httpx.Surface
	gate    *mcpserver.Gate
	direct  *mcpserver.Face // calls of tools without a model
	archive archive
	life    context.Context
	end     context.CancelCauseFunc

	mu      sync.Mutex
	busy    map[access.Owner]int // turns under way
	running map[string]*turn     // by conversation
	work    sync.WaitGroup       // turns
}

// Codes lists the fault codes that only the gateway raises.
func Codes() []*fault.Code { return []*fault.Code{conversationNotFound, eventsGone} }

// errShutdown is why everything ends when the program does.
var errShutdown = errors.New("the gateway is about to end")

// New makes a gateway of its parts, or says which are missing.
func New(o Options) (*Gateway, error) {
	if o.Verify == nil || o.Models == nil || o.Servers == nil || o.Desk == nil || o.Redis == nil || o.PublicURL == "" {
		return nil, errors.New("a gateway needs a public address, a verifier, models, servers, a desk and Redis")
	}
	o.fill()
	g := &Gateway{
		o: o, archive: archive{redis: o.Redis, now: o.Now},
		busy: make(map[access.Owner]int), running: make(map[string]*turn),
	}
	g.surface = httpx.Surface{Write: g.refuse, Log: o.Log}
	gate := mcpserver.GateOptions{Verify: o.Verify, Metadata: o.PublicURL + mcpserver.WellKnown, MaxBody: o.Limits.Body}
	if o.Sessions != nil {
		gate.Browser = o.Sessions.Principal
	}
	g.gate = mcpserver.NewGate(gate)
	g.direct = mcpserver.NewFace(g.gate, catalogue{o.Servers})
	g.life, g.end = context.WithCancelCause(context.Background())
	return g, nil
}

func (o *Options) fill() {
	o.PublicURL = strings.TrimSuffix(o.PublicURL, "/")
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	if o.Now == nil {
		o.Now = time.Now
	}
	o.Servers = approvable{o.Servers, o.PublicURL}
	l := &o.Limits
	l.Turns, l.Body = cmp.Or(l.Turns, 4), cmp.Or(l.Body, 256<<10)
	l.TurnTime, l.Answer = cmp.Or(l.TurnTime, 3*time.Minute), cmp.Or(l.Answer, time.Minute)
	l.Rows, l.Data, l.History = cmp.Or(l.Rows, 50), cmp.Or(l.Data, 64<<10), cmp.Or(l.History, 8192)
}

// Handler serves the whole API.
func (g *Gateway) Handler() http.Handler { return g.surface.Front(g.routes()) }

// Shutdown ends every turn and every stream, each with a word to who listens,
// and waits for the turns, but no longer than ctx.
func (g *Gateway) Shutdown(ctx context.Context) error {
	g.mu.Lock()
	g.end(errShutdown)
	g.mu.Unlock()
	ended := make(chan struct{})
	go func() { defer close(ended); g.work.Wait() }()
	select {
	case <-ended:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
