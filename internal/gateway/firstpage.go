package gateway

import (
	"net/http"
	"net/url"
	"time"

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
