package gate

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"countersign.dev/internal/access"
	"countersign.dev/internal/fault"
)

// principal proves the caller, and counts a request without one for its address.
func (g *Gate) principal(w http.ResponseWriter, r *http.Request) (*access.Principal, error) {
	who, err := g.prove(w, r)
	g.count(r, err)
	return who, err
}

func (g *Gate) count(r *http.Request, failed error) {
	switch {
	case failed == nil:
		g.o.Quotas.Callers().Proved(credential(r))
	case fault.From(failed).Kind() == fault.Unauthenticated:
		g.o.Quotas.Callers().Unproved(r.RemoteAddr, credential(r))
	}
}

// credential is what a request proves its caller with, unread.
func credential(r *http.Request) string {
	if given := r.Header.Values("Authorization"); len(given) > 0 {
		return strings.Join(given, "\n")
	}
	return strings.Join(r.Header.Values("Cookie"), "\n")
}

func (g *Gate) prove(w http.ResponseWriter, r *http.Request) (*access.Principal, error) {
	if g.o.Browser != nil && !ByToken(r) {
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

// Bearer returns the token of a request; ok is false when it has none, or not in its form.
func Bearer(r *http.Request) (token string, ok bool) {
	token, _, err := bearer(r)
	return token, err == nil
}

// ByToken reports whether a request has a token, in whatever form. One that has none is
// of our own page, whose caller is proved by a cookie.
func ByToken(r *http.Request) bool { return r.Header.Get("Authorization") != "" }

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
	scheme, token, _ := strings.Cut(strings.TrimSpace(given[0]), " ")
	token = strings.TrimSpace(token)
	if len(given) != 1 || !strings.EqualFold(scheme, "bearer") || token == "" || !tokenChars(token) {
		return "", `error="invalid_request"`, fault.Unauthorized.New("The Authorization header has no bearer token.")
	}
	return token, "", nil
}

// tokenChars reports whether a text has printable ASCII alone, without spaces, as
// tokens do.
func tokenChars(text string) bool {
	for i := range len(text) {
		if c := text[i]; c <= ' ' || c > '~' {
			return false
		}
	}
	return true
}

func tokenInQuery(u *url.URL) bool {
	if !strings.Contains(u.RawQuery, "token") {
		return false
	}
	q := u.Query()
	return q.Has("access_token") || q.Has("token")
}

// ChallengeScope names the scope that a token lacks when f is INSUFFICIENT_SCOPE
// (RFC 6750).
func (g *Gate) ChallengeScope(w http.ResponseWriter, f *fault.Error) {
	if f.Code == fault.InsufficientScope {
		g.challenge(w, `error="insufficient_scope", scope="confirm"`)
	}
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
	parts := make([]string, 0, 3)
	if problem != "" {
		parts = append(parts, problem)
	}
	if len(g.o.Scopes) > 0 && !strings.Contains(problem, "scope=") {
		parts = append(parts, fmt.Sprintf("scope=%q", strings.Join(g.o.Scopes, " ")))
	}
	if g.o.Metadata != "" {
		parts = append(parts, fmt.Sprintf("resource_metadata=%q", g.o.Metadata))
	}
	w.Header().Set("WWW-Authenticate", strings.TrimSpace("Bearer "+strings.Join(parts, ", ")))
}
