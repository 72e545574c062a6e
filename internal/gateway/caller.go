package gateway

import (
	"net/http"

	"countersign.dev/internal/access"
	"countersign.dev/internal/fault"
	"countersign.dev/internal/httpx"
	"countersign.dev/internal/session"
)

// authenticated is a handler for an authenticated person.
type authenticated func(w http.ResponseWriter, r *http.Request, p *access.Principal) error

// person authenticates the caller of a request: by a bearer token, or by the
// session cookie of our own page.
func (g *Gateway) person(h authenticated) httpx.Handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		r, err := g.gate.Enter(w, r)
		if err != nil {
			return err
		}
		p, err := access.From(r.Context())
		if err != nil {
			return err
		}
		return h(w, r, p)
	}
}

// browser serves a page of the sign-in, so many for an address.
func (g *Gateway) browser(serve func(*session.Service, http.ResponseWriter, *http.Request) error) httpx.Handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		if g.o.Sessions == nil {
			return fault.RouteNotFound.New("Signing in by a browser is not set up here.")
		}
		if err := g.gate.Uncalled(r); err != nil {
			return err
		}
		return serve(g.o.Sessions, w, r)
	}
}
