package gateway

import (
	"io/fs"
	"net/http"
	"net/url"

	"countersign.dev/internal/httpx"
	"countersign.dev/internal/session"
)

// routes is the whole API.
func (g *Gateway) routes() http.Handler {
	m := httpx.NewMux(g.surface)

	m.HandleFunc("GET /api/query", g.person(g.askByGet))
	m.HandleFunc("POST /api/query", g.person(g.askByPost))
	m.HandleFunc("GET /api/models", g.person(g.listModels))
	m.HandleFunc("GET /api/conversations", g.person(g.listConversations))
	m.HandleFunc("GET /api/conversations/{id}", g.person(g.showConversation))
	m.HandleFunc("DELETE /api/conversations/{id}", g.person(g.deleteConversation))
	m.HandleFunc("GET /api/conversations/{id}/events", g.person(g.followConversation))
	m.HandleFunc("POST /api/conversations/{id}/cancel", g.person(g.cancelTurn))

	m.Handle("POST /api/confirm/{id}", g.confirmSurface().Handle(g.person(g.confirm)))
	m.HandleFunc("GET /api/confirmations", g.person(g.listConfirmations))
	m.HandleFunc("GET /api/confirmations/{id}", g.person(g.showConfirmation))

	m.HandleFunc("GET /api/user", g.person(g.showUser))
	m.HandleFunc("GET /api/tools", g.person(g.listTools))
	m.HandleFunc("GET /api/mcp/{server}/{tool}", g.direct.Get(g.toolAt))
	m.HandleFunc("POST /api/mcp/{server}/{tool}", g.direct.Post(g.toolAt))

	m.HandleFunc("GET /login", g.browser((*session.Service).Login))
	m.HandleFunc("GET /callback", g.browser((*session.Service).Callback))
	m.HandleFunc("GET /logout", g.browser((*session.Service).Logout))
	m.HandleFunc("POST /logout", g.browser((*session.Service).Logout))

	m.HandleFunc("GET /.well-known/oauth-protected-resource", g.metadataOf(""))
	m.HandleFunc("GET /.well-known/oauth-protected-resource/mcp", g.metadataOf("/mcp"))
	m.HandleFunc("GET /healthz", g.alive)
	m.HandleFunc("GET /readyz", g.ready)

	if g.o.JWKS != nil {
		m.Handle("GET /.well-known/jwks.json", g.o.JWKS)
	}
	if g.o.MCP != nil {
		m.Handle("/mcp", g.o.MCP)
	}
	if g.o.Web != nil {
		g.serveWeb(m)
	}
	return m
}

// serveWeb gives each file of the page its own route, so that what is not a
// file stays a miss.
func (g *Gateway) serveWeb(m *httpx.Mux) {
	policy := g.pagePolicy()
	_ = fs.WalkDir(g.o.Web, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		pattern := "GET /" + name
		if name == "index.html" {
			pattern = "GET /{$}"
		}
		m.Handle(pattern, page(g.o.Web, name, policy))
		return nil
	})
}

func page(files fs.FS, name, policy string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Security-Policy", policy)
		w.Header().Set("Cache-Control", "no-cache")
		http.ServeFileFS(w, r, files, name)
	})
}

// pagePolicy lets the page load and reach what is ours, lets no text become
// markup or a script anywhere (trusted types), and lets the sign-out form lead
// on to an issuer.
func (g *Gateway) pagePolicy() string {
	policy := "default-src 'self'; base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'; form-action 'self'"
	for _, issuer := range g.o.Issuers {
		if u, err := url.Parse(issuer); err == nil && u.Host != "" {
			policy += " " + u.Scheme + "://" + u.Host
		}
	}
	return policy
}
