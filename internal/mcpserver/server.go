package mcpserver

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"countersign.dev/internal/access"
	"countersign.dev/internal/fault"
	"countersign.dev/internal/httpx"
	"countersign.dev/internal/result"
)

// New makes a server. A missing verifier or name is an error.
func New(service Toolbox, o Options) (*Server, error) {
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
	s.lane = lane{mode: o.Lane, run: s.run, encode: service.Encode, sessions: sessions{now: time.Now, open: make(map[string]*openSession)}}
	s.errors = httpx.ErrorWriter{Write: s.writeFault, Log: o.Log, Observer: o.Observer}
	gate := GateOptions{Verify: o.Verify, Watch: o.Watch, Surface: o.Surface, MaxBody: o.MaxBody, Quotas: o.Quotas, Refused: o.Refused, Scopes: o.Scopes, Guard: httpx.NewGuard(o.Resource)}
	gate.Guard.Hosts, gate.Guard.Origins = append(gate.Guard.Hosts, o.AllowedHosts...), o.AllowedOrigins
	if o.Resource != "" {
		address, err := MetadataURL(o.Resource)
		if err != nil {
			return nil, err
		}
		gate.Metadata = address
	}
	s.gate = NewGate(gate)
	s.face = NewFace(s.gate, service)
	return s, s.mount()
}

// writeFault answers a request that failed before a tool was called.
func (s *Server) writeFault(w http.ResponseWriter, _ *http.Request, f *fault.Error) {
	httpx.Raw(w, statusOf(f), s.service.Encode(result.Failed(f)))
}

// Methods are those of the MCP endpoint.
func Methods() []string { return []string{http.MethodGet, http.MethodPost, http.MethodDelete} }

// MCP is the /mcp endpoint alone, with its gate, to be mounted elsewhere.
func (s *Server) MCP() http.Handler { return s.errors.Handle(s.serveMCP) }

// Handler is the whole server: /mcp, the REST face and the extra routes, with
// the middleware of every request.
func (s *Server) Handler() http.Handler {
	mux := httpx.NewMux(s.errors)
	mux.HandleMethods("/mcp", Methods(), s.MCP())
	mux.HandleFunc("GET /tools", s.listREST)
	mux.HandleFunc("POST /tools/{name}", s.face.Post(func(r *http.Request) (string, error) { return r.PathValue("name"), nil }))
	if s.opts.Confirmations != nil {
		mux.HandleFunc("POST /execute", s.executeREST)
		mux.HandleFunc("GET /confirmations/{id}", s.confirmationREST)
	}
	mux.HandleFunc("GET /health", s.health)
	mux.HandleFunc("GET /ready", s.ready)
	if s.opts.Resource != "" {
		about := Metadata{Resource: s.opts.Resource, ResourceName: s.opts.Title, AuthorizationServers: s.opts.AuthorizationServers, Scopes: s.opts.Scopes}
		mux.HandleFunc("GET "+WellKnown, about.Serve)
		mux.HandleFunc("GET "+WellKnown+"/mcp", about.Serve)
	}
	if s.opts.Extra != nil {
		s.opts.Extra(&Routes{mux: mux, server: s})
	}
	return s.opts.Admission.Bracket(s.errors.Middleware(s.gate.o.Guard.CORS(mux)))
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

// Stdio is a server for one client at a pair of streams. Its person is that of Token,
// which is proved again with each message: a session does not outlive its token.
type Stdio struct {
	Server *Server
	Token  string
}

// unclosed is an output that belongs to somebody else.
type unclosed struct{ io.Writer }

func (unclosed) Close() error { return nil }

// Serve answers messages, one a line, until in ends.
func (c Stdio) Serve(ctx context.Context, in io.Reader, out io.Writer) error {
	if _, err := c.person(ctx); err != nil {
		return err
	}
	c.Server.mcp.AddReceivingMiddleware(c.asPerson)
	return c.Server.mcp.Run(ctx, &mcp.IOTransport{Reader: io.NopCloser(in), Writer: unclosed{out}, MaxLineLength: int(c.Server.opts.MaxBody)})
}

// asPerson puts the caller where the gate puts that of a request over HTTP.
func (c Stdio) asPerson(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		var extra **mcp.RequestExtra
		switch req := req.(type) {
		case *mcp.ListToolsRequest:
			extra = &req.Extra
		case *mcp.CallToolRequest:
			extra = &req.Extra
		default:
			return next(ctx, method, req)
		}
		who, err := c.person(ctx)
		if err != nil {
			return nil, c.Server.protocolError(ctx, err)
		}
		*extra = &mcp.RequestExtra{TokenInfo: &auth.TokenInfo{Extra: map[string]any{callerKey: caller{who: who, cancelled: new(atomic.Bool)}}}}
		return next(ctx, method, req)
	}
}

// person proves the token, and counts a message for its person.
func (c Stdio) person(ctx context.Context) (*access.Principal, error) {
	who, err := c.Server.opts.Verify(ctx, c.Token)
	switch {
	case err != nil:
		return nil, err
	case who == nil || who.Purpose() != access.PurposeNone:
		return nil, fault.Unauthorized.New("The token is not that of a person.")
	}
	if c.Server.opts.Surface != "" {
		who = who.WithSurface(c.Server.opts.Surface)
	}
	return who, c.Server.opts.Quotas.Request(ctx, who.Owner(), 0)
}
