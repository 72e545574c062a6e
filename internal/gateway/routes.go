package gateway

import (
	"cmp"
	"errors"
	"log/slog"
	"net/http"
	"strings"

	"countersign.dev/internal/access"
	"countersign.dev/internal/approval"
	"countersign.dev/internal/fault"
	"countersign.dev/internal/gate"
	"countersign.dev/internal/gateway/chat"
	"countersign.dev/internal/httpx"
	"countersign.dev/internal/live"
	"countersign.dev/internal/mcpserver"
	"countersign.dev/internal/rest"
	"countersign.dev/internal/session"
	"countersign.dev/internal/static"
)

// New makes a gateway of its parts, or says that some are missing.
func New(o Options) (*Gateway, error) {
	if o.Verify == nil || o.Conversations == nil || o.Models == nil || o.Servers == nil || o.Confirmations == nil || o.PublicURL == "" {
		return nil, errors.New("a gateway needs a public address, a verifier, conversations, models, servers and confirmations")
	}
	o.PublicURL = strings.TrimSuffix(o.PublicURL, "/")
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	o.Limits.Body = cmp.Or(o.Limits.Body, 256<<10)
	g := &Gateway{o: o, probe: httpx.Probe{Check: o.ready}}
	g.errors = httpx.ErrorWriter{Write: g.writeError, Log: o.Log, Observer: o.Observer}
	g.origins = httpx.NewOriginPolicy(o.PublicURL)
	g.origins.Origins = o.Origins
	options := gate.Options{Surface: access.SurfaceAPI, Origins: g.origins, Verify: o.Verify, Metadata: o.PublicURL + gate.WellKnown, Scopes: o.Scopes, MaxBody: o.Limits.Body, Quotas: o.Quotas, Refused: o.Refused}
	if o.Sessions != nil {
		options.Browser = o.Sessions.Principal
	}
	if o.Revocations != nil {
		options.Watch = o.Revocations.Watch
	}
	if o.Tickets != nil {
		options.Ticket = o.Tickets.Redeem
	}
	g.gate = gate.New(options)
	g.tools = catalogue{o.Servers, o.Models}
	g.direct = rest.NewFace(g.gate, approval.At(o.PublicURL).Toolbox(g.tools))
	g.answers = confirmations{o.Confirmations, o.Conversations, approval.At(o.PublicURL), o.Limits.Body}
	var err error
	if o.Web != nil {
		if g.web, err = static.New(o.Web); err != nil {
			return nil, err
		}
	}
	g.live, err = live.New(live.Options{
		Conversations: o.Conversations, Right: g.gate.Live, Again: g.proveAgain, Ended: gate.Ended, Answer: g.answers.permitted, EachServer: o.Servers.EachServer,
		Connections: o.Connections, Quotas: o.Quotas, Heartbeat: o.Heartbeat, Log: o.Log,
	})
	return g, err
}

// Handler serves the whole API.
func (g *Gateway) Handler() http.Handler {
	g.whole = g.o.Admission.Bracket(g.errors.Middleware(g.origins.CORS(g.routes())))
	return g.whole
}

// routes is the whole API.
func (g *Gateway) routes() http.Handler {
	m := httpx.NewMux(g.errors)
	routeChat(m, g)
	confirmations := g.answers
	m.Handle("POST /api/confirm/{id}", g.confirmErrors().Handle(g.person(confirmations.answer)))
	m.HandleFunc("GET /api/confirmations", g.person(confirmations.list))
	m.HandleFunc("GET /api/confirmations/{id}", g.person(confirmations.show))

	if g.o.Revocations != nil {
		m.HandleFunc("POST /api/revoke", g.person(revocations{g.o.Revocations, g.o.Audit, g.o.Limits.Body, g.o.Revocable}.revoke))
	}

	if watch := g.o.Oversight; watch != nil {
		m.HandleFunc("GET /api/audit", g.person(watch.Record()))
		m.HandleFunc("GET /api/audit/verify", g.person(watch.Verification()))
		m.HandleFunc("GET /api/admin", g.person(watch.Overview()))
	}

	m.HandleFunc("GET /api/user", g.person(g.showUser))
	m.HandleFunc("GET /api/tools", g.person(g.tools.list))
	m.HandleFunc("OPTIONS /api/mcp/{server}/{tool}", g.tools.options)
	m.HandleFunc("GET /api/mcp/{server}/{tool}", g.direct.Get(g.tools.at))
	m.HandleFunc("POST /api/mcp/{server}/{tool}", g.direct.Post(g.tools.at))

	m.Handle("GET /login", g.signInErrors().Handle(g.checked(g.origins.Check, g.browser((*session.Service).Login))))
	m.Handle("GET /callback", g.signInErrors().Handle(g.checked(g.origins.CheckHost, g.browser((*session.Service).Callback))))
	m.HandleFunc("POST /logout", g.checked(g.origins.CheckHost, g.browser((*session.Service).Logout)))

	m.HandleFunc("GET /.well-known/oauth-protected-resource", g.metadataOf(""))
	m.HandleFunc("GET /.well-known/oauth-protected-resource/mcp", g.metadataOf("/mcp"))
	m.HandleFunc("GET /healthz", g.alive)
	m.HandleFunc("GET /readyz", g.ready)
	m.HandleFunc("GET /openapi.json", describe)

	if g.o.JWKS != nil {
		m.Handle("GET /.well-known/jwks.json", g.o.JWKS)
	}
	if g.o.MCP != nil {
		mcp := &g.mcp
		mcp.make, mcp.names, mcp.about = g.o.MCP, g.tools.servers, g.metadataOf
		m.HandleMethods("/mcp", mcpserver.Methods(), g.errors.Handle(mcp.serve))
		m.HandleMethods("/mcp/{server}", mcpserver.Methods(), g.errors.Handle(mcp.serve))
		m.HandleFunc("GET /.well-known/oauth-protected-resource/mcp/{server}", mcp.metadata)
	}
	if g.o.Web != nil {
		g.serveWeb(m)
	}
	return m
}

// routeChat adds what conversations are made and followed with.
func routeChat(m *httpx.Mux, g *Gateway) {
	api := chat.API{Conversations: g.o.Conversations, Gate: g.gate, Quotas: g.o.Quotas, MaxBody: g.o.Limits.Body}

	m.HandleFunc("GET /api/query", g.streaming(api.AskByGet))
	m.HandleFunc("POST /api/query", g.person(api.AskByPost))
	m.HandleFunc("GET /api/models", g.person(g.listModels))
	if g.o.Usage != nil {
		m.HandleFunc("GET /api/usage", g.person(spending{g.o.Usage, g.o.Conversations}.show))
	}
	if g.o.Prompts != nil {
		m.HandleFunc("GET /api/prompts", g.person(prompts{g.o.Prompts}.list))
		m.HandleFunc("GET /api/prompts/{server}/{prompt}", g.person(prompts{g.o.Prompts}.show))
	}
	m.HandleFunc("GET /api/conversations", g.person(api.List))
	m.HandleFunc("GET /api/conversations/{id}", g.person(api.Show))
	m.HandleFunc("PATCH /api/conversations/{id}", g.person(api.Rename))
	m.HandleFunc("DELETE /api/conversations/{id}", g.person(api.Delete))
	m.HandleFunc("GET /api/conversations/{id}/events", g.streaming(api.Follow))
	m.HandleFunc("POST /api/conversations/{id}/cancel", g.person(api.Cancel))

	m.HandleFunc("GET /ws", g.streaming(g.openSocket))
	m.HandleFunc("GET /api/events", g.streaming(g.live.Events))
	m.HandleFunc("GET /api/connections", g.person(g.live.ListConnections))
	if g.o.Tickets != nil {
		m.HandleFunc("POST /api/ticket", g.person(g.o.Tickets.Serve(gate.Bearer)))
	}
}

// serveWeb gives each file of the page its own route, and one that may be kept: every
// other path is 404.
func (g *Gateway) serveWeb(m *httpx.Mux) {
	policy := g.pagePolicy()
	for _, name := range g.web.Names() {
		pattern, handler := "GET /"+name, page(g.web, name, policy, false)
		if name == static.Index {
			pattern, handler = "GET /{$}", g.firstPage(policy)
		}
		m.HandleFunc(pattern, g.checked(g.origins.Check, handler))
		m.HandleFunc("GET "+g.web.Prefix()+name, g.checked(g.origins.Check, page(g.web, name, policy, true)))
	}
}

// checked checks the source of requests that need no caller. What is refused is
// reported, here or by the handler.
func (g *Gateway) checked(check func(*http.Request) error, h httpx.Handler) httpx.Handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		err := check(r)
		if err == nil {
			err = h(w, r)
		}
		if f := fault.From(err); err != nil && f.Code == fault.ForbiddenRequest && g.o.Refused != nil {
			g.o.Refused(r.Context(), f)
		}
		return err
	}
}
