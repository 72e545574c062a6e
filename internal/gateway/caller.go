package gateway

import (
	"net/http"
	"slices"

	"countersign.dev/internal/access"
	"countersign.dev/internal/fault"
	"countersign.dev/internal/gateway/chat"
	"countersign.dev/internal/httpx"
	"countersign.dev/internal/session"
)

// authenticated is a handler for an authenticated person.
type authenticated func(w http.ResponseWriter, r *http.Request, p *access.Principal) error

// person authenticates the caller of a request: by a bearer token, or by the
// session cookie of our own page.
func (g *Gateway) person(h authenticated) httpx.Handler { return g.entered(g.gate.Enter, h) }

func (g *Gateway) entered(enter func(http.ResponseWriter, *http.Request) (*http.Request, error), h authenticated) httpx.Handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		r, err := enter(w, r)
		if err != nil {
			return err
		}
		p, err := access.From(r.Context())
		if err != nil {
			return err
		}
		if err := samePerson(r, p); err != nil {
			return err
		}
		return h(w, r, p)
	}
}

// headerPerson names the person whose page a request comes from, by their id.
const headerPerson = "Countersign-Person"

// samePerson refuses a request of a page that shows another person's data: the
// browser was signed in as someone else in another tab.
func samePerson(r *http.Request, p *access.Principal) error {
	if shown := r.Header.Get(headerPerson); shown != "" && shown != p.Subject() {
		return fault.PersonChanged.New("This page is another person's: this browser is signed in as someone else now.")
	}
	return nil
}

// streaming is person for streams, whose clients may prove their caller by a ticket.
func (g *Gateway) streaming(h authenticated) httpx.Handler {
	return g.entered(g.gate.EnterStream, h)
}

// browser serves a page of the sign-in, at a limited rate for each address.
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

// openSocket serves a WebSocket. Its questions have the surface of its caller.
func (g *Gateway) openSocket(w http.ResponseWriter, r *http.Request, p *access.Principal) error {
	return g.live.Chat(w, r, p.WithSurface(chat.SurfaceOf(r)))
}

// proveAgain proves the caller of a WebSocket again when their token has expired.
func (g *Gateway) proveAgain(r *http.Request) (*access.Principal, error) {
	p, err := g.gate.ProveAgain(r)
	if err != nil {
		return nil, err
	}
	return p.WithSurface(chat.SurfaceOf(r)), nil
}

// showUser returns the caller as the gateway knows them.
func (g *Gateway) showUser(w http.ResponseWriter, _ *http.Request, p *access.Principal) error {
	roles := append([]string{}, p.Roles()...)
	slices.SortStableFunc(roles, func(a, b string) int { return g.rank(a) - g.rank(b) })
	return httpx.JSON(w, http.StatusOK, map[string]any{
		"userId": p.Subject(), "issuer": p.Owner().Issuer, "username": p.Username(), "email": p.Email(), "name": p.Name(), "roles": roles,
	})
}

// rank is the place of a role among ours; others come last.
func (g *Gateway) rank(role string) int {
	if i := slices.Index(g.o.Roles, access.Role(role)); i >= 0 {
		return i
	}
	return len(g.o.Roles)
}
