package web_test

import (
	"net/http"
	"testing"
)

// TestWaitForWhatWasAskedForAheadEnds: a reload asks for the conversation before it is known how long its reader waits.
func TestWaitForWhatWasAskedForAheadEnds(t *testing.T) {
	g, p := newGateway(t), newPage(t)
	g.on("GET /api/conversations/{id}", func(w http.ResponseWriter, r *http.Request) {
		if r.PathValue("id") == "slow" {
			<-r.Context().Done()
		}
		answer(http.StatusOK, object{"ok": true})(w, r)
	})
	p.Open(g.URL)
	got := module[string](p, "api.js", `
		m.ahead("", ["/api/conversations/slow", "/api/conversations/fine"]);
		const fine = await m.get("/api/conversations/fine", { signal: AbortSignal.timeout(60_000) });
		const slow = await m.get("/api/conversations/slow", { signal: AbortSignal.timeout(1) }).catch((fault) => fault.code);
		const left = new AbortController();
		m.ahead("", ["/api/conversations/slow"]);
		const leaving = m.get("/api/conversations/slow", { signal: left.signal }).catch((cause) => cause.name);
		left.abort();
		return [fine.ok, slow, await leaving].join(" ");`, nil)
	if got != "true UNREACHABLE AbortError" {
		t.Errorf("got %s", got)
	}
}
