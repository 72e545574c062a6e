package gateway

import (
	"net/http"
	"net/url"
	"time"

	"countersign.dev/internal/fault"
	"countersign.dev/internal/httpx"
	"countersign.dev/internal/static"
)

// cookieShown is the id of the conversation that the page showed last: the browser
// keeps the place in an address to itself.
const cookieShown = "countersign-place"

// firstPatience bounds how long the first page waits for its answers.
const firstPatience = 400 * time.Millisecond

// firstPage serves the first page. To a browser that is signed in and opens it, its
// answers are sent with it, each as if the page had asked: they pass the same gate.
func (g *Gateway) firstPage(policy string) httpx.Handler {
	plain := page(g.web, static.Index, policy, false)
	return func(w http.ResponseWriter, r *http.Request) error {
		if _, err := r.Cookie(g.o.Sessions.Cookie()); err != nil || r.Header.Get("Sec-Fetch-Dest") != "document" {
			return plain(w, r)
		}
		w.Header().Set("Content-Security-Policy", policy)
		g.web.ServeWith(w, r, static.Ahead{API: g.whole, Paths: firstPaths(r), Patience: firstPatience})
		return nil
	}
}

func firstPaths(r *http.Request) []string {
	paths := []string{"/api/user", "/api/tools", "/api/models", "/api/confirmations", "/api/conversations"}
	if place, err := r.Cookie(cookieShown); err == nil && place.Value != "" {
		paths = append(paths, "/api/conversations/"+url.PathEscape(place.Value))
	}
	return paths
}

// page serves one file of the page; keep: browsers may keep it.
func page(files *static.Files, name, policy string, keep bool) httpx.Handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		w.Header().Set("Content-Security-Policy", policy)
		if !files.Serve(w, r, name, keep) {
			return fault.RouteNotFound.New("There is no such page.")
		}
		return nil
	}
}

// pagePolicy lets the page load and call our own origin only, forbids that text
// becomes markup or script (trusted types; the one policy that may be made names the
// address of the tabs' worker), and lets the sign-out form redirect to an issuer.
func (g *Gateway) pagePolicy() string {
	policy := "default-src 'self'; base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types countersign; form-action 'self'"
	for _, issuer := range g.o.Issuers {
		if u, err := url.Parse(issuer); err == nil && u.Host != "" {
			policy += " " + u.Scheme + "://" + u.Host
		}
	}
	return policy
}
