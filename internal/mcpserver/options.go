package mcpserver

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"countersign.dev/internal/access"
	"countersign.dev/internal/admission"
	"countersign.dev/internal/fault"
	"countersign.dev/internal/gate"
	"countersign.dev/internal/httpx"
	"countersign.dev/internal/quota"
	"countersign.dev/internal/rest"
	"countersign.dev/internal/result"
)

// Options of a server. Name and Verify are required.
type Options struct {
	Name, Title, Version string
	Website              string // of the product
	Instructions         string // for models that connect

	// Verify proves a bearer token. Its faults are answered as they are:
	// UNAUTHENTICATED is 401, SERVICE_UNAVAILABLE (no keys to verify with) 503.
	Verify func(ctx context.Context, token string) (*access.Principal, error)

	// Watch ends streams whose caller was revoked: see [gate.Options].
	Watch func(p *access.Principal, end func(error)) (stop func())

	// Surface is where the calls that arrive here begin: see [gate.Options].
	Surface access.Surface

	// Resource is the public URL of the MCP endpoint, and AuthorizationServers
	// the issuers whose tokens it accepts. Without Resource no RFC 9728
	// metadata is served.
	Resource             string
	AuthorizationServers []string
	Scopes               []string // that clients ask an issuer for, see [gate.Options]

	AllowedHosts   []string // names that the server is published under; loopback and Resource's are implied
	AllowedOrigins []string // foreign origins whose pages may call

	MaxBody       int64                           // bytes; 0: 1 MiB
	Ready         func(ctx context.Context) error // reads some data to prove that it can; nil: always ready
	Confirmations rest.Confirmations              // serve POST /execute and GET /confirmations/{id}; nil: none
	// Show returns a confirmation of the principal in the context, for the tool
	// get_confirmation. Nil: there is no such tool.
	Show      func(ctx context.Context, id string) (result.Confirmation, error)
	Prompts   Prompts                                   // texts of other servers; nil: none
	Resources Resources                                 // what clients read by its address; nil: nothing
	Refused   func(ctx context.Context, f *fault.Error) // see [gate.Options]
	Quotas    *quota.Quotas                             // bound what one person may ask for; nil: nothing
	Admission *admission.Queue                          // decides whose request is worked on first, under Handler; nil: all at once
	Lane      Lane                                      // which calls are answered without the SDK
	Extra     func(*Routes)                             // a server's own routes
	Observer  httpx.Observer                            // counts requests; nil: none
	Log       *slog.Logger                              // nil: none
}

// Resources are addresses at which clients read what a tool returns. To read one is a
// call of that tool: the same rights, quotas and records hold.
type Resources interface {
	// Template describes the addresses. Its URI is a template of RFC 6570.
	Template() result.Resource
	// Reader is the call that reads an address; false: it is none of these.
	Reader(uri string) (tool string, args json.RawMessage, ok bool)
	// Content is what that call's answer has of the resource at an address, and the
	// address of that: another one when there is more.
	Content(uri string, answer json.RawMessage) (of, text string, err error)
	// Links are the resources that the answer of a tool names, in order.
	Links(tool string, answer json.RawMessage) []result.Resource
}

// Server is one MCP server with its REST face. It is safe for concurrent use.
type Server struct {
	service       rest.Toolbox
	opts          Options
	gate          *gate.Gate
	face          *rest.Face
	errors        httpx.ErrorWriter
	probe         httpx.Probe // of Options.Ready
	mcp           *mcp.Server
	lane          lane
	confirmations confirmations
	features      bool         // every one of the protocol: the fixture of the conformance suite has them
	modern        http.Handler // version 2026-07-28: stateless
	reporting     http.Handler // the same, for calls whose progress is reported
	legacy        http.Handler // handshake versions: sessions
}

// Routes takes a server's own routes, each with or without a token.
type Routes struct {
	mux    *httpx.Mux
	server *Server
}

// Authenticated serves a pattern to requests that pass the gate, except for the
// body; the principal is in the context.
func (r *Routes) Authenticated(pattern string, h httpx.Handler) {
	r.mux.HandleFunc(pattern, func(w http.ResponseWriter, req *http.Request) error {
		req, err := r.server.gate.Enter(w, req)
		if err != nil {
			return err
		}
		return h(w, req)
	})
}

// Public serves a pattern to any caller whose host and origin are accepted.
func (r *Routes) Public(pattern string, h httpx.Handler) {
	r.mux.HandleFunc(pattern, func(w http.ResponseWriter, req *http.Request) error {
		if err := r.server.gate.CheckSource(req); err != nil {
			return err
		}
		return h(w, req)
	})
}
