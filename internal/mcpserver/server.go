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

// Service is what a server offers, asked anew at every request. The principal
// is in the context.
type Service interface {
	Toolbox
	// Answer settles one confirmation of the principal.
	Answer(ctx context.Context, id string, approved bool) result.Outcome
}

// Options of a server. Name and Verify are required.
type Options struct {
	Name, Title, Version string
	Instructions         string // told to models that connect

	// Verify proves a bearer token. Its faults are answered as they are:
	// UNAUTHENTICATED is 401, SERVICE_UNAVAILABLE (no keys to verify with) 503.
	Verify func(ctx context.Context, token string) (*access.Principal, error)

	// Resource is the public URL of the MCP endpoint, and AuthorizationServers
	// the issuers whose tokens it takes. Without Resource no RFC 9728 metadata
	// is served.
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
	surface httpx.Surface
	mcp     *mcp.Server
	modern  http.Handler // revision 2026-07-28: stateless
	legacy  http.Handler // handshake revisions: sessions
}

// New makes a server. It refuses options that would leave it open or unnamed.
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
	s.surface = httpx.Surface{Write: s.drawFault, Log: o.Log}
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

// drawFault answers a request that failed before it became a call.
func (s *Server) drawFault(w http.ResponseWriter, _ *http.Request, f *fault.Error) {
	httpx.Raw(w, statusOf(f), s.service.Encode(result.Failed(f)))
}

// MCP is the /mcp endpoint alone, gate included, for those who mount it
// elsewhere.
func (s *Server) MCP() http.Handler { return s.surface.Handle(s.serveMCP) }

// Handler is the whole server: /mcp, the REST face, the extra routes, behind
// the chain that names, logs and guards requests.
func (s *Server) Handler() http.Handler {
	mux := httpx.NewMux(s.surface)
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
	return s.surface.Front(mux)
}

// Close ends the sessions of handshake clients, whose streams would otherwise
// outlast a shutdown. Give it to http.Server.RegisterOnShutdown.
func (s *Server) Close() {
	for session := range s.mcp.Sessions() {
		if session.ID() != "" { // the others live for one request that may finish
			_ = session.Close()
		}
	}
}

// Routes is where a server adds its own. Whoever adds one says whether it needs
// a token.
type Routes struct {
	mux    *httpx.Mux
	server *Server
}

// Authenticated serves a pattern to requests that pass the whole gate, body
// excepted; the principal is in the context.
func (r *Routes) Authenticated(pattern string, h httpx.Handler) {
	r.mux.HandleFunc(pattern, func(w http.ResponseWriter, req *http.Request) error {
		req, err := r.server.gate.Enter(w, req)
		if err != nil {
			return err
		}
		return h(w, req)
	})
}

// Public serves a pattern to anyone whose host and origin the gate accepts.
func (r *Routes) Public(pattern string, h httpx.Handler) {
	r.mux.HandleFunc(pattern, func(w http.ResponseWriter, req *http.Request) error {
		if err := r.server.gate.checkSource(req); err != nil {
			return err
		}
		return h(w, req)
	})
}
