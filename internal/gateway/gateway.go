package gateway

import (
	"context"
	"io/fs"
	"log/slog"
	"net/http"
	"time"

	"countersign.dev/internal/access"
	"countersign.dev/internal/admission"
	"countersign.dev/internal/audit"
	"countersign.dev/internal/conversation"
	"countersign.dev/internal/fault"
	"countersign.dev/internal/gate"
	"countersign.dev/internal/httpx"
	"countersign.dev/internal/live"
	"countersign.dev/internal/oversight"
	"countersign.dev/internal/quota"
	"countersign.dev/internal/rest"
	"countersign.dev/internal/session"
	"countersign.dev/internal/static"
	"countersign.dev/internal/usage"
)

// Revocations end tokens everywhere. Package revocation has it.
type Revocations interface {
	// RevokeToken ends a token by its jti; an empty issuer means any.
	RevokeToken(ctx context.Context, issuer, id string) error
	// RevokePerson ends the tokens that a person has.
	RevokePerson(ctx context.Context, o access.Owner) error
	// Watch calls end when the principal's token no longer counts.
	Watch(p *access.Principal, end func(error)) (stop func())
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
	Scopes    []string // that such a client asks them for
	Origins   []string // foreign origins whose pages may call with a bearer token, as browsers write them

	Verify   func(ctx context.Context, token string) (*access.Principal, error)
	Ready    func(ctx context.Context) error // reports whether tokens can be verified; nil: always
	Sessions *session.Service                // nil: bearer tokens only
	Roles    []access.Role                   // the widest first, as which a person's are listed; others follow by their names

	Revocations Revocations // nil: nothing is revoked, and no stream ends before its token
	Revocable   []string    // issuers whose people can be revoked; empty: those of any
	Audit       audit.Sink  // of revocations; nil: nothing is recorded

	Oversight *oversight.Service // what auditors read; nil: nothing

	Conversations *conversation.Service
	Models        Models
	Usage         *usage.Service // nil: nothing is counted
	Prompts       Prompts        // of connected servers; nil: none
	Servers       Servers        // with the approval page: see WithApproval
	Confirmations Confirmations

	Web fs.FS // the chat page; nil: none
	// MCP makes what serves the tools of a server at /mcp/{server}, or those of all
	// servers at /mcp for an empty name; nil: there is no such address.
	MCP  func(server string) (Endpoint, error)
	JWKS http.Handler // serves the keys of internal tokens; nil: none

	// Refused is called for requests without a proved caller or of a foreign page; see gate.Options.
	Refused func(ctx context.Context, f *fault.Error)

	Connections *live.Connections // lists open WebSockets; nil: there is no list
	Tickets     *session.Tickets  // for streams of clients that cannot send headers; nil: none
	Heartbeat   time.Duration     // between two pings of a WebSocket; 0: 30 s

	Limits   Limits
	Quotas   *quota.Quotas  // bound what one person may ask for; nil: nothing
	Observer httpx.Observer // counts requests; nil: none
	Log      *slog.Logger

	Admission *admission.Queue // decides whose request is worked on first; nil: all at once
}

// Gateway is the host's API.
type Gateway struct {
	o       Options
	errors  httpx.ErrorWriter
	origins *httpx.OriginPolicy
	gate    *gate.Gate
	probe   httpx.Probe // whether questions can be answered
	tools   catalogue
	direct  *rest.Face   // calls of tools without a model
	live    *live.Server // WebSockets, and the streams of persons
	mcp     endpoints
	answers confirmations
	web     *static.Files // the chat page; nil: none
	whole   http.Handler  // the whole API, for what the first page is given
}

// Drain ends every live connection and every MCP session and waits for the
// connections, but no longer than ctx. Shut the conversations down before.
func (g *Gateway) Drain(ctx context.Context) error {
	g.mcp.close()
	return g.live.Drain(ctx)
}
