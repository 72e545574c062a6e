package gateway

import (
	"net/http"

	"countersign.dev/internal/access"
	"countersign.dev/internal/fault"
	"countersign.dev/internal/httpx"
	"countersign.dev/internal/session"
)

// personal is a handler for a person who has proved who they are.
type personal func(w http.ResponseWriter, r *http.Request, p *access.Principal) error

// person lets a request through the gate: a bearer token, or the session cookie
// of our own page, proves its caller.
func (g *Gateway) person(h personal) httpx.Handler {
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

// browser serves a page of the sign-in.
func (g *Gateway) browser(serve func(*session.Service, http.ResponseWriter, *http.Request) error) httpx.Handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		if g.o.Sessions == nil {
			return fault.RouteNotFound.New("Signing in by a browser is not set up here.")
		}
		return serve(g.o.Sessions, w, r)
	}
}
