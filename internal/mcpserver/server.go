package mcpserver

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"time"

	"countersign.dev/internal/fault"
	"countersign.dev/internal/gate"
	"countersign.dev/internal/httpx"
	"countersign.dev/internal/rest"
	"countersign.dev/internal/result"
)

// New makes a server. A missing verifier or name is an error.
func New(service rest.Toolbox, o Options) (*Server, error) {
	if service == nil || o.Verify == nil || o.Name == "" {
		return nil, errors.New("an MCP server needs a service, a name and a verifier of tokens")
	}
	if o.MaxBody == 0 {
		o.MaxBody = httpx.MaxBody
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Ready == nil {
		o.Ready = func(context.Context) error { return nil }
	}
	s := &Server{service: service, opts: o, probe: httpx.Probe{Check: o.Ready}}
	s.lane = lane{mode: o.Lane, run: s.run, encode: service.Encode, links: s.links, sessions: sessions{now: time.Now, open: make(map[string]*openSession)}}
	s.errors = httpx.ErrorWriter{Write: s.writeFault, Log: o.Log, Observer: o.Observer}
	options := gate.Options{Verify: o.Verify, Watch: o.Watch, Surface: o.Surface, MaxBody: o.MaxBody, Quotas: o.Quotas, Refused: o.Refused, Scopes: o.Scopes, Origins: httpx.NewOriginPolicy(o.Resource)}
	options.Origins.Hosts, options.Origins.Origins = append(options.Origins.Hosts, o.AllowedHosts...), o.AllowedOrigins
	if o.Resource != "" {
		address, err := gate.MetadataURL(o.Resource)
		if err != nil {
			return nil, err
		}
		options.Metadata = address
	}
	s.gate = gate.New(options)
	s.face = rest.NewFace(s.gate, service)
	var err error
	if s.confirmations, err = newConfirmations(o.Show); err != nil {
		return nil, err
	}
	return s, s.mount()
}

// writeFault answers a request that failed before a tool was called.
func (s *Server) writeFault(w http.ResponseWriter, r *http.Request, f *fault.Error) {
	encode := s.service.Encode
	if rest.OfConfirmations(r.URL.Path) {
		encode = result.EncodeEnvelope
	}
	httpx.Raw(w, rest.Status(f), encode(result.Failed(f)))
}

// MCP is the /mcp endpoint alone, with its gate, to be mounted elsewhere.
func (s *Server) MCP() http.Handler { return s.errors.Handle(s.serveMCP) }

// Handler is the whole server: /mcp, the REST face and the extra routes, with
// the middleware of every request.
func (s *Server) Handler() http.Handler {
	mux := httpx.NewMux(s.errors)
	mux.HandleMethods("/mcp", Methods(), s.MCP())
	rest.Server{Name: s.opts.Name, Version: s.opts.Version, Face: s.face, Confirmations: s.opts.Confirmations, Probe: &s.probe}.Mount(mux)
	if s.opts.Resource != "" {
		about := gate.Metadata{Resource: s.opts.Resource, ResourceName: s.opts.Title, AuthorizationServers: s.opts.AuthorizationServers, Scopes: s.opts.Scopes}
		mux.HandleFunc("GET "+gate.WellKnown, about.Serve)
		mux.HandleFunc("GET "+gate.WellKnown+"/mcp", about.Serve)
	}
	if s.opts.Extra != nil {
		s.opts.Extra(&Routes{mux: mux, server: s})
	}
	return s.opts.Admission.Bracket(s.errors.Middleware(s.gate.CORS(mux)))
}

// Close ends the sessions of legacy clients, whose streams would otherwise
// outlast a shutdown. Give it to http.Server.RegisterOnShutdown.
func (s *Server) Close() {
	for session := range s.mcp.Sessions() {
		if session.ID() != "" { // the others last for one request, which may finish
			_ = session.Close()
		}
	}
	s.forgetEnded()
}
