package gateway

import (
	"context"
	"io/fs"
	"log/slog"
	"net/http"
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
	surface httpx.ErrorWriter
	gate    *mcpserver.Gate
	direct  *mcpserver.Face // calls of tools without a model
}
