package gateway

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"countersign.dev/internal/access"
	"countersign.dev/internal/agent"
	"countersign.dev/internal/confirm"
	"countersign.dev/internal/conversation"
	"countersign.dev/internal/httpx"
	"countersign.dev/internal/mcpserver"
	"countersign.dev/internal/result"
	"countersign.dev/internal/session"
)

// Servers is what the gateway needs of the servers behind it. Package upstream
// has it.
type Servers interface {
	agent.Toolbox
	// EachServer reports the state of each server.
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

// Confirmations shows people their own confirmations. Package confirm has it.
type Confirmations interface {
	Get(ctx context.Context, p *access.Principal, id confirm.ID) (confirm.Record, error)
	PendingOf(ctx context.Context, p *access.Principal) ([]confirm.Record, error)
}

// Limits bound a request. Zero fields take the default.
type Limits struct {
	Body int64 // bytes of a request's body; 256 KiB
}

// Options are the gateway's parts. PublicURL, Verify, Conversations, Models,
// Servers and Confirmations are required.
type Options struct {
	PublicURL string   // the address that people and clients know, without a path
	Issuers   []string // identity issuers whose tokens are accepted, for clients that look for one

	Verify   func(ctx context.Context, token string) (*access.Principal, error)
	Sessions *session.Service // nil: bearer tokens only

	Conversations *conversation.Service
	Models        Models
	Servers       Servers // with the approval page: see WithApproval
	Confirmations Confirmations

	Web  fs.FS        // the chat page; nil: none
	MCP  http.Handler // serves /mcp; nil: none
	JWKS http.Handler // serves the keys of internal tokens; nil: none

	Limits Limits
	Log    *slog.Logger
}

// Gateway is the host's API.
type Gateway struct {
	o       Options
	surface httpx.Surface
	gate    *mcpserver.Gate
	direct  *mcpserver.Face // calls of tools without a model
}

// New makes a gateway of its parts, or says that some are missing.
func New(o Options) (*Gateway, error) {
	if o.Verify == nil || o.Conversations == nil || o.Models == nil || o.Servers == nil || o.Confirmations == nil || o.PublicURL == "" {
		return nil, errors.New("a gateway needs a public address, a verifier, conversations, models, servers and confirmations")
	}
	o.PublicURL = strings.TrimSuffix(o.PublicURL, "/")
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	o.Limits.Body = cmp.Or(o.Limits.Body, 256<<10)
	g := &Gateway{o: o}
	g.surface = httpx.Surface{Write: g.refuse, Log: o.Log}
	gate := mcpserver.GateOptions{Verify: o.Verify, Metadata: o.PublicURL + mcpserver.WellKnown, MaxBody: o.Limits.Body}
	if o.Sessions != nil {
		gate.Browser = o.Sessions.Principal
	}
	g.gate = mcpserver.NewGate(gate)
	g.direct = mcpserver.NewFace(g.gate, catalogue{o.Servers})
	return g, nil
}

// Handler serves the whole API.
func (g *Gateway) Handler() http.Handler { return g.surface.Front(g.routes()) }
