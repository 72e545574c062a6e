package gateway

import (
	"net/http"

	"countersign.dev/internal/access"
	"countersign.dev/internal/auth"
	"countersign.dev/internal/fault"
	"countersign.dev/internal/httpx"
	"countersign.dev/internal/session"
)

// personal is a handler for a person who has proved who they are.
type personal func(w http.ResponseWriter, r *http.Request, p *access.Principal) error

// person lets a request through that proves its caller: by a bearer token, or
// by a session cookie from our own page.
func (g *Gateway) person(h personal) httpx.Handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		p, err := g.caller(w, r)
		if err != nil {
			return err
		}
		return h(w, r.WithContext(access.With(r.Context(), p)), p)
	}
}

func (g *Gateway) caller(w http.ResponseWriter, r *http.Request) (*access.Principal, error) {
	if g.o.Sessions != nil && r.Header.Get("Authorization") == "" {
		if p, ok, err := g.o.Sessions.Principal(w, r); ok {
			return p, err
		}
	}
	token, err := auth.Bearer(r)
	if err != nil {
		return nil, err
	}
	return g.o.Verify(r.Context(), token)
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
