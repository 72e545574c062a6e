package web_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/chromedp/chromedp/kb"
)

// The focus never falls to the body: what takes away its own button hands it on.
func TestFocusNeverFallsToTheBody(t *testing.T) {
	t.Parallel()
	g, p := newGateway(t), newPage(t)
	events := make(chan object)
	g.on("GET /api/events", g.happens(events))
	g.on("GET /api/user", answer(http.StatusOK, auditor()))
	g.on("GET /api/conversations", answer(http.StatusOK, object{"conversations": []object{{"id": "c7", "title": "Budget"}}}))
	g.on("GET /api/confirmations", answer(http.StatusOK, object{"confirmations": []object{waiting("x1")}}))
	g.on("POST /api/confirm/{id}", answer(http.StatusOK, object{"status": "cancelled", "message": "Action cancelled by user"}))
	g.on("GET /api/audit", func(w http.ResponseWriter, r *http.Request) {
		page := object{"events": []object{{"seq": 3, "time": time.Now().Format(time.RFC3339), "kind": "denial"}}}
		if r.URL.RawQuery == "" {
			page["next"] = 3
		}
		answer(http.StatusOK, page)(w, r)
	})
	g.on("POST /api/mcp/{server}/{tool}", answer(http.StatusOK, employees(2, "")))
	g.on("POST /api/query", turn(object{"type": "error", "error": "No.", "code": "TIMEOUT"}))
	p.Open(g.URL)
	p.ready()
	press := func(selector, then, lands string) {
		t.Helper()
		p.Sees(selector, "")
		eval[bool](p, `(document.querySelector(`+"`"+selector+"`"+`).focus(), document.activeElement.matches(`+"`"+selector+"`"+`))`)
		p.Press("\r")
		p.Until(then)
		p.Until(`document.activeElement.matches(` + "`" + lands + "`" + `)`)
	}
	press("[data-suggestion]", `document.querySelector("[data-retry]:not(:disabled)")`, "#question")
	g.on("POST /api/query", turn(listed(employees(9, "more"), object{}), object{"type": "text", "text": "Nine."}))
	press("[data-retry]", `document.querySelectorAll("[data-turn=done]").length === 2`, "#question")
	eval[bool](p, `(() => { const f = document.querySelector("[data-filter]"); f.value = "Person 9"; f.dispatchEvent(new Event("input", {bubbles: true})); return true })()`)
	press("[data-next-page]", `document.querySelector("[data-row-count]").textContent === "11 rows, complete"`, ".scroll")
	p.stopWaiting()
	press("[data-conversation=c7] [data-delete]", `document.querySelector("[data-undo]")`, "#new")
	press("[data-undo]", `document.getElementById("toast").hidden`, "#question")
	eval[bool](p, `(location.hash = "#/approvals") !== ""`)
	p.Until(`document.querySelector("[data-approve]").ariaDisabled !== "true"`)
	press("[data-deny]", `document.querySelector("[data-receipts] [data-card=x1]")`, "[data-receipts] [data-card=x1]")
	eval[bool](p, `(location.hash = "#/audit") !== ""`)
	press("[data-more-events]", `document.querySelector("[data-more-events]").hidden`, "#page-title")
	p.Press(kb.Tab)
	if eval[bool](p, `document.activeElement === document.body`) {
		t.Error("the next Tab starts at the beginning")
	}
}
