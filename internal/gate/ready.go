package gate

import (
	"maps"
	"net/http"

	"countersign.dev/internal/access"
	"countersign.dev/internal/fault"
	"countersign.dev/internal/httpx"
)

// auditor reports whether a request carries an auditor's token. It writes
// nothing, so that any other request can be answered as one without a token.
func (g *Gate) auditor(r *http.Request) bool {
	token, _, err := bearer(r)
	if err != nil || g.CheckSource(r) != nil {
		return false
	}
	who, err := g.o.Verify(r.Context(), token)
	g.count(r, err)
	return err == nil && who.HasAny(access.Auditor) && Permit(who, Listing) == nil
}

// Ready answers whether work can be done, as yes or no from a result of the probe
// that is at most 5 s old; failing is the sentence of a no. An auditor also gets
// the details.
func (g *Gate) Ready(w http.ResponseWriter, r *http.Request, probe *httpx.Probe, failing string, details func() map[string]any) error {
	fresh, err := probe.Ask(r.Context())
	switch {
	case err != nil && fresh:
		return fault.ServiceDown.New("%s", failing).Because(err)
	case err != nil:
		return fault.ServiceDown.New("%s", failing)
	}
	status := map[string]any{"status": "ready"}
	if g.auditor(r) {
		maps.Copy(status, details())
	}
	return httpx.JSON(w, http.StatusOK, status)
}
