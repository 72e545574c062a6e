package mcpserver

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"countersign.dev/internal/access"
	"countersign.dev/internal/fault"
	"countersign.dev/internal/httpx"
)

// GateOptions say what a gate lets through. Verify is required.
type GateOptions struct {
	// Verify proves a bearer token. Its faults are answered as they are:
	// UNAUTHENTICATED is 401, SERVICE_UNAVAILABLE (no keys to verify with) 503.
	Verify func(ctx context.Context, token string) (*access.Principal, error)

	// Browser proves the caller of a request of our own page by its cookie. ok
	// is false when the request has none. It is not asked when the request has
	// an Authorization header. Nil: bearer tokens only.
	Browser func(w http.ResponseWriter, r *http.Request) (p *access.Principal, ok bool, err error)

	Guard    *httpx.Guard // checks host and origin; nil: any
	Metadata string       // URL of the RFC 9728 document that a challenge names; may be empty
	MaxBody  int64        // bytes; 0: httpx.MaxBody
}

// Gate is what every request passes before anything is done for it, on every
// surface: host and origin, headers, the caller, the body, and the purpose of
// the token.
type Gate struct{ o GateOptions }

// NewGate makes a gate.
func NewGate(o GateOptions) *Gate {
	if o.MaxBody == 0 {
		o.MaxBody = httpx.MaxBody
	}
	return &Gate{o}
}

// use is what a request needs a token for.
type use string

const (
	listing   use = "list tools"
	calling   use = "call tools"
	executing use = "answer confirmations"
	anyMCP    use = "use MCP" // lists or calls; the message says which
)

// Enter checks everything but the body, and returns the request with its
// principal in the context. When the caller is not proved it has set the
// challenge.
func (g *Gate) Enter(w http.ResponseWriter, r *http.Request) (*http.Request, error) {
	return g.enter(w, r, calling)
}

func (g *Gate) enter(w http.ResponseWriter, r *http.Request, u use) (*http.Request, error) {
	if err := g.checkSource(r); err != nil {
		return nil, err
	}
	return g.authenticate(w, r, u)
}

// authenticate proves the caller and checks the purpose of the token.
func (g *Gate) authenticate(w http.ResponseWriter, r *http.Request, u use) (*http.Request, error) {
	who, err := g.principal(w, r)
	if err != nil {
		return nil, err
	}
	if err := permit(who, u); err != nil {
		return nil, err
	}
	return r.WithContext(access.With(r.Context(), who)), nil
}

// read is enter for a request with a JSON body. What the headers rule out is
// rejected before a token is looked at; the body is read after it.
func (g *Gate) read(w http.ResponseWriter, r *http.Request, u use) (*http.Request, []byte, error) {
	if err := g.checkSource(r); err != nil {
		return nil, nil, err
	}
	if err := httpx.CheckHeaders(w, r, g.o.MaxBody); err != nil {
		return nil, nil, err
	}
	r, err := g.authenticate(w, r, u)
	if err != nil {
		return nil, nil, err
	}
	body, err := httpx.ReadJSON(w, r, g.o.MaxBody)
	return r, body, err
}

// checkSource checks the host and origin of a request.
func (g *Gate) checkSource(r *http.Request) error {
	if g.o.Guard == nil {
		return nil
	}
	return g.o.Guard.Check(r)
}

func (g *Gate) principal(w http.ResponseWriter, r *http.Request) (*access.Principal, error) {
	if g.o.Browser != nil && r.Header.Get("Authorization") == "" {
		if who, ok, err := g.o.Browser(w, r); ok {
			return who, g.challenged(w, err, "")
		}
	}
	token, problem, err := bearer(r)
	if err != nil {
		return nil, g.challenged(w, err, problem)
	}
	who, err := g.o.Verify(r.Context(), token)
	if err == nil && who == nil {
		err = fault.Unauthorized.New("The token has no principal.")
	}
	return who, g.challenged(w, err, `error="invalid_token"`)
}

// bearer reads the token of a request. A token in the address is rejected,
// where logs and histories would keep it.
func bearer(r *http.Request) (token, problem string, err error) {
	given := r.Header.Values("Authorization")
	switch {
	case tokenInQuery(r.URL):
		return "", `error="invalid_request"`, fault.Unauthorized.New("A token must not be in the address. Send it in the Authorization header.")
	case len(given) == 0:
		return "", "", fault.Unauthorized.New("A bearer token is required.")
	}
	words := strings.Fields(given[0])
	if len(given) != 1 || len(words) != 2 || !strings.EqualFold(words[0], "bearer") {
		return "", `error="invalid_request"`, fault.Unauthorized.New("The Authorization header has no bearer token.")
	}
	return words[1], "", nil
}

func tokenInQuery(u *url.URL) bool {
	if !strings.Contains(u.RawQuery, "token") {
		return false
	}
	q := u.Query()
	return q.Has("access_token") || q.Has("token")
}

// challenged sets the challenge when err is UNAUTHENTICATED, and returns err.
func (g *Gate) challenged(w http.ResponseWriter, err error, problem string) error {
	if err != nil && fault.From(err).Kind() == fault.Unauthenticated {
		g.challenge(w, problem)
	}
	return err
}

// Challenge names the place where a client gets a token (RFC 6750 and 9728).
// The gate does it by itself for the requests that it rejects.
func (g *Gate) Challenge(w http.ResponseWriter) {
	if w.Header().Get("WWW-Authenticate") == "" {
		g.challenge(w, "")
	}
}

func (g *Gate) challenge(w http.ResponseWriter, problem string) {
	parts := make([]string, 0, 2)
	if problem != "" {
		parts = append(parts, problem)
	}
	if g.o.Metadata != "" {
		parts = append(parts, fmt.Sprintf("resource_metadata=%q", g.o.Metadata))
	}
	w.Header().Set("WWW-Authenticate", strings.TrimSpace("Bearer "+strings.Join(parts, ", ")))
}

// permit restricts an internal token to its purpose. A token of an identity
// issuer has none and may do everything that its roles allow; a purpose that is
// not known allows nothing.
func permit(who *access.Principal, u use) error {
	allowed := false
	switch who.Purpose() {
	case access.PurposeNone:
		allowed = true
	case access.PurposeCall:
		allowed = u != executing
	case access.PurposeCatalogue:
		allowed = u == listing || u == anyMCP
	case access.PurposeExecute:
		allowed = u == executing
	}
	if allowed {
		return nil
	}
	return fault.ForbiddenRequest.New("This token was not issued to %s.", u).Suggest("Use a token that was issued for this purpose.")
}
