package mcpserver

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"countersign.dev/internal/access"
	"countersign.dev/internal/fault"
	"countersign.dev/internal/httpx"
)

// Gate is what every request passes before anything is done for it, on every
// lane: host and origin, what the headers alone condemn, the bearer token, the
// body, and what the token is for.
type Gate struct {
	guard     httpx.Guard
	verify    func(ctx context.Context, token string) (*access.Principal, error)
	challenge string // the resource_metadata part of WWW-Authenticate, or empty
	maxBody   int64
}

func newGate(o Options) (*Gate, error) {
	g := &Gate{
		guard:   httpx.Guard{Hosts: o.AllowedHosts, Origins: o.AllowedOrigins},
		verify:  o.Verify,
		maxBody: o.MaxBody,
	}
	if o.Resource == "" {
		return g, nil
	}
	address, resource, err := metadataURL(o.Resource)
	if err != nil {
		return nil, err
	}
	g.guard.Hosts = append([]string{resource.Host}, o.AllowedHosts...)
	g.challenge = fmt.Sprintf("resource_metadata=%q", address)
	return g, nil
}

// use is what a request wants of the server.
type use string

const (
	listing   use = "list tools"
	calling   use = "call tools"
	executing use = "answer confirmations"
	speaking  use = "speak MCP" // lists or calls; the message tells which
)

// Enter checks everything but the body, and returns the request with its
// principal in the context. On a missing or bad token it has set the challenge.
func (g *Gate) Enter(w http.ResponseWriter, r *http.Request, u use) (*http.Request, error) {
	if err := g.guard.Check(r); err != nil {
		return nil, err
	}
	who, err := g.bearer(w, r)
	if err != nil {
		return nil, err
	}
	if err := permit(who, u); err != nil {
		return nil, err
	}
	return r.WithContext(access.With(r.Context(), who)), nil
}

// Pass is Enter for a request with a JSON body. What the headers condemn is
// refused before a token is looked at, the body is read after.
func (g *Gate) Pass(w http.ResponseWriter, r *http.Request, u use) (*http.Request, []byte, error) {
	if err := g.guard.Check(r); err != nil {
		return nil, nil, err
	}
	if err := httpx.CheckHeaders(w, r, g.maxBody); err != nil {
		return nil, nil, err
	}
	r, err := g.Enter(w, r, u)
	if err != nil {
		return nil, nil, err
	}
	body, err := httpx.ReadJSON(w, r, g.maxBody)
	return r, body, err
}

func (g *Gate) bearer(w http.ResponseWriter, r *http.Request) (*access.Principal, error) {
	given := r.Header.Values("Authorization")
	if len(given) == 0 {
		g.invite(w, "")
		return nil, fault.Unauthorized.New("A bearer token is required.")
	}
	scheme := strings.Fields(given[0])
	if len(given) != 1 || len(scheme) != 2 || !strings.EqualFold(scheme[0], "bearer") {
		g.invite(w, `error="invalid_request"`)
		return nil, fault.Unauthorized.New("The Authorization header holds no bearer token.")
	}
	who, err := g.verify(r.Context(), scheme[1])
	if err == nil && who == nil {
		err = fault.Unauthorized.New("The token names nobody.")
	}
	if err != nil && fault.From(err).Kind() == fault.Unauthenticated {
		g.invite(w, `error="invalid_token"`)
	}
	return who, err
}

// invite tells how to get a token (RFC 6750 and 9728).
func (g *Gate) invite(w http.ResponseWriter, problem string) {
	parts := make([]string, 0, 2)
	for _, p := range []string{problem, g.challenge} {
		if p != "" {
			parts = append(parts, p)
		}
	}
	w.Header().Set("WWW-Authenticate", strings.TrimSpace("Bearer "+strings.Join(parts, ", ")))
}

// permit holds an internal token to its purpose. A token of an identity issuer
// has none and may do everything its roles allow; a purpose that we do not know
// allows nothing.
func permit(who *access.Principal, u use) error {
	allowed := false
	switch who.Purpose() {
	case access.PurposeNone:
		allowed = true
	case access.PurposeCall:
		allowed = u != executing
	case access.PurposeCatalogue:
		allowed = u == listing || u == speaking
	case access.PurposeExecute:
		allowed = u == executing
	}
	if allowed {
		return nil
	}
	return fault.ForbiddenRequest.New("This token was not issued to %s.", u).Suggest("Use a token that was issued for this purpose.")
}
