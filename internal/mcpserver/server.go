package mcpserver

import (
	"context"
	"errors"
	"log/slog"
	"net/http"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"countersign.dev/internal/access"
	"countersign.dev/internal/fault"
	"countersign.dev/internal/httpx"
	"countersign.dev/internal/result"
)

// Service is what a server offers. It is asked for each request, with the
// principal in the context.
type Service interface {
	Toolbox
	// Answer approves or denies one confirmation of the principal.
	Answer(ctx context.Context, id string, approved bool) result.Outcome
}

// Options of a server. Name and Verify are required.
type Options struct {
	Name, Title, Version string
	Instructions         string // for models that connect

	// Verify proves a bearer token. Its faults are answered as they are:
	// UNAUTHENTICATED is 401, SERVICE_UNAVAILABLE (no keys to verify with) 503.
	Verify func(ctx context.Context, token string) (*access.Principal, error)

	// Resource is the public URL of the MCP endpoint, and AuthorizationServers
	// the issuers whose tokens it accepts. Without Resource no RFC 9728
	// metadata is served.
	Resource             string
	AuthorizationServers []string

	AllowedHosts   []string // names that the server is published under; loopback and Resource's are implied
	AllowedOrigins []string // foreign origins whose pages may call

	MaxBody       int64                           // bytes; 0: 1 MiB
	Ready         func(ctx context.Context) error // proves data by reading some; nil: always ready
	Confirmations bool                            // serve POST /execute
	Extra         func(*Routes)                   // a server's own routes
	Log           *slog.Logger                    // nil: none
}

// Server is one MCP server with its REST face. It is safe for concurrent use.
type Server struct {
	service Service
	opts    Options
	gate    *Gate
	face    *Face
	errors  httpx.ErrorWriter
	mcp     *mcp.Server
	modern  http.Handler // revision 2026-07-28: stateless
	legacy  http.Handler // handshake revisions: sessions
}

// New makes a server. A missing verifier or name is an error.
func New(service Service, o Options) (*Server, error) {
	if service == nil || o.Verify == nil || o.Name == "" {
		return nil, errors.New("an MCP server needs a service, a name and a verifier of tokens")
	}
	if o.MaxBody == 0 {
		o.MaxBody = httpx.MaxBody
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	s := &Server{service: service, opts: o}
	s.errors = httpx.ErrorWriter{Write: s.writeFault, Log: o.Log}
	gate := GateOptions{Verify: o.Verify, MaxBody: o.MaxBody, Guard: &httpx.Guard{Hosts: o.AllowedHosts, Origins: o.AllowedOrigins}}
	if o.Resource != "" {
		address, resource, err := metadataURL(o.Resource)
		if err != nil {
			return nil, err
		}
		gate.Metadata, gate.Guard.Hosts = address, append([]string{resource.Host}, o.AllowedHosts...)
	}
	s.gate = NewGate(gate)
	s.face = NewFace(s.gate, service)
	s.mount()
	return s, nil
}

// writeFault answers a request that failed before a tool was called.
func (s *Server) writeFault(w http.ResponseWriter, _ *http.Request, f *fault.Error) {
	httpx.Raw(w, statusOf(f), s.service.Encode(result.Failed(f)))
}

// MCP is the /mcp endpoint alone, with its gate, to be mounted elsewhere.
func (s *Server) MCP() http.Handler { return s.errors.Handle(s.serveMCP) }

// Handler is the whole server: /mcp, the REST face and the extra routes, with
// the middleware of every request.
func (s *Server) Handler() http.Handler {
	mux := httpx.NewMux(s.errors)
	mux.Handle("/mcp", s.MCP())
	mux.HandleFunc("GET /tools", s.listREST)
	mux.HandleFunc("POST /tools/{name}", s.face.Post(func(r *http.Request) (string, error) { return r.PathValue("name"), nil }))
	if s.opts.Confirmations {
		mux.HandleFunc("POST /execute", s.executeREST)
	}
	mux.HandleFunc("GET /health", s.health)
	mux.HandleFunc("GET /ready", s.ready)
	if s.opts.Resource != "" {
		about := Metadata{Resource: s.opts.Resource, ResourceName: s.opts.Title, AuthorizationServers: s.opts.AuthorizationServers}
		mux.HandleFunc("GET "+WellKnown, about.Serve)
		mux.HandleFunc("GET "+WellKnown+"/mcp", about.Serve)
	}
	if s.opts.Extra != nil {
		s.opts.Extra(&Routes{mux: mux, server: s})
	}
	return s.errors.Middleware(mux)
}

// Close ends the sessions of legacy clients, whose streams would otherwise
// outlast a shutdown. Give it to http.Server.RegisterOnShutdown.
func (s *Server) Close() {
	for session := range s.mcp.Sessions() {
		if session.ID() != "" { // the others last for one request, which may finish
			_ = session.Close()
		}
	}
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
		if err := r.server.gate.checkSource(req); err != nil {
			return err
		}
		return h(w, req)
	})
}
