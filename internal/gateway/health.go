package gateway

import (
	"net/http"

	"countersign.dev/internal/fault"
	"countersign.dev/internal/httpx"
	"countersign.dev/internal/mcpserver"
	"countersign.dev/internal/result"
)

// refuse draws a fault as an error envelope.
func (g *Gateway) refuse(w http.ResponseWriter, _ *http.Request, f *fault.Error) {
	g.challenge(w, f)
	httpx.Raw(w, statusOf(f), result.EncodeEnvelope(result.Failed(f)))
}

// challenge names the place where a client gets a token.
func (g *Gateway) challenge(w http.ResponseWriter, f *fault.Error) {
	if f.Kind() == fault.Unauthenticated {
		g.gate.Challenge(w)
	}
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

// metadataOf serves the RFC 9728 document of a path of ours.
func (g *Gateway) metadataOf(path string) httpx.Handler {
	return mcpserver.Metadata{Resource: g.o.PublicURL + path, ResourceName: "Countersign", AuthorizationServers: g.o.Issuers}.Serve
}

func (g *Gateway) alive(w http.ResponseWriter, _ *http.Request) error {
	return httpx.JSON(w, http.StatusOK, map[string]string{"status": "alive"})
}

// ready says whether questions can be answered. A server that is down costs its
// own tools only.
func (g *Gateway) ready(w http.ResponseWriter, r *http.Request) error {
	if err := g.o.Conversations.Ready(r.Context()); err != nil {
		return err
	}
	return httpx.JSON(w, http.StatusOK, map[string]any{"status": "ready", "servers": g.servers()})
}
