package gateway

import (
	"context"
	"net/http"

	"countersign.dev/internal/gate"
	"countersign.dev/internal/httpx"
)

// metadataOf serves the RFC 9728 metadata of one of our paths.
func (g *Gateway) metadataOf(path string) httpx.Handler {
	return gate.Metadata{Resource: g.o.PublicURL + path, ResourceName: "Countersign", AuthorizationServers: g.o.Issuers, Scopes: g.o.Scopes}.Serve
}

func (g *Gateway) alive(w http.ResponseWriter, _ *http.Request) error {
	return httpx.JSON(w, http.StatusOK, map[string]string{"status": "alive"})
}

// ready reports whether callers can be checked, and questions answered.
func (o *Options) ready(ctx context.Context) error {
	if o.Ready != nil {
		if err := o.Ready(ctx); err != nil {
			return err
		}
	}
	return o.Conversations.Ready(ctx)
}

// ready reports whether questions can be answered, as yes or no, from a check at
// most 5 s old. An auditor also gets the state of each server. A server that is
// down makes only its own tools unavailable.
func (g *Gateway) ready(w http.ResponseWriter, r *http.Request) error {
	return g.gate.Ready(w, r, &g.probe, "The gateway cannot answer questions at the moment.", func() map[string]any {
		return map[string]any{"servers": g.tools.states()}
	})
}
