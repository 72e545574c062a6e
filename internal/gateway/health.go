package gateway

import (
	"net/http"

	"countersign.dev/internal/fault"
	"countersign.dev/internal/httpx"
	"countersign.dev/internal/result"
)

// refuse draws a fault as an error envelope.
func (g *Gateway) refuse(w http.ResponseWriter, r *http.Request, f *fault.Error) {
	g.challenge(w, r, f)
	httpx.Raw(w, statusOf(f), result.EncodeEnvelope(result.Failed(f)))
}

// challenge tells a client without a good token where to get one.
func (g *Gateway) challenge(w http.ResponseWriter, r *http.Request, f *fault.Error) {
	if f.Kind() != fault.Unauthenticated {
		return
	}
	value := `Bearer resource_metadata="` + g.o.PublicURL + `/.well-known/oauth-protected-resource"`
	if r.Header.Get("Authorization") != "" {
		value += `, error="invalid_token"`
	}
	w.Header().Set("WWW-Authenticate", value)
}

// statusOf is the HTTP status of a request that failed as a whole. A code that
// a tool's envelope tells with 200 has the status of its kind here.
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

// metadataOf serves RFC 9728: which resource this is, and whose tokens it takes.
func (g *Gateway) metadataOf(path string) httpx.Handler {
	return func(w http.ResponseWriter, _ *http.Request) error {
		w.Header().Set("Access-Control-Allow-Origin", "*") // public by nature, read by clients in browsers
		return httpx.JSON(w, http.StatusOK, map[string]any{
			"resource": g.o.PublicURL + path, "authorization_servers": g.o.Issuers,
			"bearer_methods_supported": []string{"header"}, "resource_name": "Countersign",
		})
	}
}

func (g *Gateway) alive(w http.ResponseWriter, _ *http.Request) error {
	return httpx.JSON(w, http.StatusOK, map[string]string{"status": "alive"})
}

// ready says whether questions can be answered: the state store is there and
// the end has not come. A server that is down costs its own tools only.
func (g *Gateway) ready(w http.ResponseWriter, r *http.Request) error {
	if g.life.Err() != nil {
		return fault.ServiceDown.New("The gateway is restarting.")
	}
	if err := g.o.Redis.Ping(r.Context()); err != nil {
		return err
	}
	return httpx.JSON(w, http.StatusOK, map[string]any{"status": "ready", "servers": g.servers()})
}
