package gateway

import (
	"net/http"

	"countersign.dev/internal/fault"
	"countersign.dev/internal/gate"
	"countersign.dev/internal/httpx"
	"countersign.dev/internal/result"
)

// writeError writes a fault as an error envelope, to our own page, which sends no
// token, in the words of people. A path that does not exist is a page for browsers.
func (g *Gateway) writeError(w http.ResponseWriter, r *http.Request, f *fault.Error) {
	if f.Code == fault.RouteNotFound && wantsPage(r) {
		writePage(w, f, statusOf(f), "Page not found")
		return
	}
	g.challenge(w, f)
	envelope := result.EncodeEnvelope(result.Failed(f))
	if _, err := r.Cookie(g.o.Sessions.Cookie()); err == nil && !gate.ByToken(r) {
		envelope = result.ForPeople(envelope)
	}
	httpx.Raw(w, statusOf(f), envelope)
}

// signInErrors writes why a sign-in failed as a page for browsers, and as an
// envelope for anything else.
func (g *Gateway) signInErrors() httpx.ErrorWriter {
	return httpx.ErrorWriter{Log: g.o.Log, Observer: g.o.Observer, Write: func(w http.ResponseWriter, r *http.Request, f *fault.Error) {
		if !wantsPage(r) {
			g.writeError(w, r, f)
			return
		}
		writePage(w, f, statusOf(f), "Sign-in failed")
	}}
}

// challenge names the metadata with which a client gets a token, or the scope
// that its token lacks.
func (g *Gateway) challenge(w http.ResponseWriter, f *fault.Error) {
	if f.Kind() == fault.Unauthenticated {
		g.gate.Challenge(w)
	}
	g.gate.ChallengeScope(w, f)
}

// statusOf is the HTTP status of a request that failed as a whole. A code whose
// envelope has status 200 as a tool's result has the status of its kind here.
func statusOf(f *fault.Error) int {
	if f.Code.Status != http.StatusOK {
		return f.Code.Status
	}
	return statuses[f.Kind()]
}

var statuses = map[fault.Kind]int{
	fault.Internal: http.StatusInternalServerError, fault.Invalid: http.StatusBadRequest,
	fault.Unauthenticated: http.StatusUnauthorized, fault.Forbidden: http.StatusForbidden,
	fault.NotFound: http.StatusNotFound, fault.Conflict: http.StatusConflict, fault.Expired: http.StatusNotFound,
	fault.RateLimited: http.StatusTooManyRequests, fault.Unavailable: http.StatusServiceUnavailable,
}
