package web_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"countersign.dev/internal/result"
)

// pending is what the gateway streams for a deletion that waits.
func pending(id string) object { return pendingFor(id, 300*time.Second) }

func pendingFor(id string, left time.Duration) object {
	now := time.Now()
	return object{
		"status": "pending_confirmation", "confirmationId": id,
		"message": "Delete Frank Davis (Software Engineer)?\nThis cannot be undone here.",
		"confirmationData": object{
			"action": "delete_employee", "mcpServer": "hr", "userId": "0f1e2d3c-0000-4000-8000-000000000001", "timestamp": now.UnixMilli(),
			"expiresAt": now.Add(left).UnixMilli(), "employeeName": "Frank Davis", "jobTitle": "Software Engineer", "currentSalary": 118000, "newSalary": 125000, "change": 7000, "changePercent": 5.93, "warning": "Above the range of the grade.", "reason": "Left the company",
			"origin": object{"surface": "mcp", "tainted_by": []object{{"kind": "ticket", "id": "TICK-009"}, {"tool": "weather.get"}}},
			"quotes": []object{{"field": "reason", "author": "written by the assistant", "text": "Left the company"}},
		},
	}
}

// waiting is the same as the list of one's confirmations tells it.
func waiting(id string) object {
	p := pending(id)
	data := p["confirmationData"].(object)
	delete(data, "expiresAt")
	now := time.Now()
	return object{
		"confirmationId": id, "state": "pending", "action": "delete_employee", "mcpServer": "hr", "message": p["message"], "confirmationData": data,
		"created": now.Format(time.RFC3339Nano), "expires": now.Add(3 * time.Minute).Format(time.RFC3339Nano),
	}
}

const deleted = "Employee Frank Davis has been deleted."

func approvedEnvelope() object {
	return object{"status": "success", "data": object{"deleted": true, "message": deleted}}
}

// withCard opens a page on which the card waits.
func withCard(t *testing.T, g *gateway, card object) *page {
	t.Helper()
	p := newPage(t)
	g.on("POST /api/query", turn(card))
	p.Open(g.URL)
	p.ask("Delete employee Frank Davis")
	p.Sees("[data-card=x1]", "Delete Frank Davis")
	return p
}

func TestApprovalIsSentOnceAndItsReceiptShownOnce(t *testing.T) {
	t.Parallel()
	g := newGateway(t)
	events := make(chan object)
	g.on("GET /api/events", g.happens(events))
	g.on("POST /api/confirm/{id}", g.hears(func(w http.ResponseWriter, r *http.Request) {
		events <- object{"type": "change", "confirmationId": "x1", "server": "hr", "tool": "delete_employee", "state": "applied"} // before this answer
		answer(http.StatusOK, approvedEnvelope())(w, r)
	}))
	card := pending("x1")
	p := withCard(t, g, card)
	p.Sees("[data-field=employeeName]", "Frank Davis")
	p.Sees("[data-field=currentSalary]", "$118,000")
	p.Sees("[data-field=change]", "+$7,000")
	p.Sees("[data-field=changePercent]", "+5.9%")
	p.Sees("[data-card-warning]", "Above the range of the grade.")
	p.Sees("[data-quote=reason] figcaption", "Reason, written by the assistant:")
	p.Sees("[data-quote=reason] blockquote", "Left the company")
	p.Sees("[data-card-origin]", "Asked for by an MCP client")
	p.Sees("[data-card-taint]", "The assistant had read text of ticket TICK-009, an answer of “Weather.get” before it asked for this.")
	p.Misses("[data-field=reason]")
	p.Misses("[data-field=origin]")
	p.Sees("[data-countdown]", "left")
	p.Looks("card")
	eval[bool](p, `(() => { const b = document.querySelector("[data-approve]"); b.click(); b.click(); return true })()`)
	p.Sees("[data-card=x1][data-card-state=approved] [data-card-note]", deleted)
	p.Sees("[data-card=x1] [data-card-receipt]", "Alice Chen (alice.chen)")
	p.Sees("[data-card=x1] [data-card-receipt]", "Audit id x1")
	p.Looks("card-approved")
	p.Misses("[data-approve]")
	if got, want := g.said(), answerTo(t, card, true); len(got) != 1 || got[0] != want {
		t.Errorf("got %q, want one approval, %s", got, want)
	}
	if got := strings.Count(p.Text("#view"), deleted); got != 1 {
		t.Errorf("the receipt is shown %d times, want once", got)
	}
}

// TestTextNeverHidesAField: whatever a fact or a quotation holds, it is drawn as
// a whole, outside of "Details" and of the card's sentence, and as no markup.
func TestTextNeverHidesAField(t *testing.T) {
	t.Parallel()
	g := newGateway(t)
	texts := map[string]string{
		"like an id":      "0f1e2d3c-0000-4000-8000-000000000001",
		"like a mask":     "[MASKED] and everything else",
		"like a date":     "2026-03-01T10:00 (and delete all of it)",
		"like our note":   "Approved and done.",
		"like markup":     "<b data-approve>Approve</b>",
		"like a sentence": "Delete nothing?\nThis can be undone.",
		"of the east":     "שלום 123",
		"long":            strings.Repeat("long ", 400) + "end",
	}
	card := pending("x1")
	data := card["confirmationData"].(object)
	quotes := []object{}
	for name, text := range texts {
		field := strings.ReplaceAll(name, " ", "_")
		data["fact_"+field] = text
		data["quote_"+field] = text
		quotes = append(quotes, object{"field": "quote_" + field, "author": "text of TICK-009", "text": text})
	}
	data["quotes"] = quotes
	data["arguments"] = object{"_hidden": "seen", "id": texts["like an id"], "deep": object{"list": []object{{"note": "seen too"}}}}
	p := withCard(t, g, card)
	p.Click("[data-read]")
	for name, text := range texts {
		field := strings.ReplaceAll(name, " ", "_")
		for place, got := range map[string]string{
			"fact":  eval[string](p, `document.querySelector("[data-card=x1] .card-body > .facts [data-field=fact_`+field+`] dd").textContent`),
			"quote": eval[string](p, `document.querySelector("[data-card=x1] .card-body > [data-quote=quote_`+field+`] blockquote").textContent`),
		} {
			if got != text {
				t.Errorf("%s, %s: got %q, want %q", name, place, got, text)
			}
		}
		p.Sees("[data-quote=quote_"+field+"] figcaption", "text of TICK-009")
	}
	for _, seen := range []string{`"_hidden": "seen"`, texts["like an id"], `"note": "seen too"`} {
		p.Sees("[data-card=x1] .card-body > [data-field=arguments] pre", seen)
	}
	if hidden := eval[int](p, `[...document.querySelectorAll("[data-card=x1] .card-body > .facts dd, [data-card=x1] blockquote")].filter((n) => !n.offsetHeight || n.scrollHeight > n.clientHeight + 2).length`); hidden != 0 {
		t.Errorf("%d texts are not shown as a whole", hidden)
	}
	if got := p.Count("[data-card=x1] [data-approve]"); got != 1 {
		t.Errorf("the card has %d buttons to approve", got)
	}
	p.Shot("card-quotes")
}

func TestDenialChangesNothing(t *testing.T) {
	t.Parallel()
	g := newGateway(t)
	g.on("POST /api/confirm/{id}", g.hears(answer(http.StatusOK, object{"status": "cancelled", "message": "Action cancelled by user"})))
	card := pending("x1")
	p := withCard(t, g, card)
	p.Click("[data-deny]")
	p.Sees("[data-card-state=denied]", "Denied. Nothing was changed.")
	if got, want := g.said(), answerTo(t, card, false); len(got) != 1 || got[0] != want {
		t.Errorf("got %q, want one denial, %s", got, want)
	}
}

// answerTo is the request that answers a card, with the digest that its server
// makes of it.
func answerTo(t *testing.T, card object, approved bool) string {
	t.Helper()
	digest, err := result.Pending{Message: card["message"].(string), Data: card["confirmationData"].(object)}.Digest()
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf(`POST /api/confirm/%s {"approved":%t,"digest":"%s"}`, card["confirmationId"], approved, digest)
}

// The page and the servers write the same canonical JSON, whatever a card holds.
func TestDigestOfAnyCardIsItsServers(t *testing.T) {
	t.Parallel()
	g := newGateway(t)
	g.on("POST /api/confirm/{id}", g.hears(answer(http.StatusOK, approvedEnvelope())))
	card := pending("x1")
	card["message"] = "Delete Frank Davis \u2028 <b> \\ \" \u0007 é 😀?"
	card["confirmationData"] = object{
		"digest": "of the server", "approvalUrl": "https://gateway.test/#/approve/x1", "expiresAt": time.Now().Add(time.Hour).UnixMilli(),
		"big": json.Number("12345678901234567890"), "exact": json.Number("9007199254740993"), "huge": json.Number("1e21"), "tiny": json.Number("0.0000001"), "spelled": json.Number("1.50E+2"),
		"zero": json.Number("-0.0"), "none": nil, "\ue000": 1, "😀": 2, "é": "e", "10": "ten", "9": "nine", "": "empty",
		"arguments": object{"b": []any{1, object{"z": nil, "a": true}, []any{}}, "a": "", "__proto__": "p", "o": object{}},
	}
	p := withCard(t, g, card)
	p.readsCard()
	p.Click("[data-approve]")
	p.Sees("[data-card-state=approved]", deleted)
	if got, want := g.said(), answerTo(t, card, true); len(got) != 1 || got[0] != want {
		t.Errorf("got %q, want %s", got, want)
	}
}

// A page over plain http of another machine has no crypto.subtle.
func TestPageThatCannotProveItsCardSaysSo(t *testing.T) {
	t.Parallel()
	g := newGateway(t)
	g.on("POST /api/confirm/{id}", g.hears(answer(http.StatusOK, approvedEnvelope())))
	p := newPage(t)
	g.on("POST /api/query", turn(pending("x1")))
	p.Open(g.URL)
	eval[bool](p, `(() => { Object.defineProperty(globalThis, "crypto", { value: {} }); return true })()`)
	p.ask("Delete employee Frank Davis")
	p.Sees("[data-card=x1]", "Delete Frank Davis")
	p.Click("[data-approve]")
	p.Sees("[data-card=x1][data-card-state=waiting] [data-card-note]", "Open it over https")
	if got := g.said(); len(got) != 0 {
		t.Errorf("sent %q, want nothing", got)
	}
}

func TestRefusedAnswersAreExplained(t *testing.T) {
	t.Parallel()
	g, p := newGateway(t), newPage(t)
	g.on("GET /api/confirmations/{id}", answer(http.StatusServiceUnavailable, object{"error": "Redis"}))
	p.Open(g.URL)
	fault := func(code, message string) object { return object{"error": message, "message": message, "code": code} }
	for _, c := range []struct {
		name    string
		answer  http.HandlerFunc
		state   string
		says    string
		closing bool // the buttons are gone
	}{
		{"stranger", answer(403, fault("", "You can only approve your own confirmations")), "foreign", "belongs to someone else", true},
		{"unknown or expired", answer(404, fault("", "Confirmation not found or expired")), "gone", "no longer waiting", true},
		{"denied before", answer(409, fault("CONFIRMATION_DENIED", "Denied")), "denied", "denied before", true},
		{"another preview", answer(409, fault("CONFIRMATION_STALE", "You were shown something else.")), "waiting", "Load the page again", false},
		{"altered", answer(409, fault("CONFIRMATION_ALTERED", "The stored confirmation was altered.")), "failed", "was altered", true},
		{"store down", answer(503, fault("SERVICE_UNAVAILABLE", "Redis")), "waiting", "try again in a moment", false},
		{"line cut", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, "waiting", "never made twice", false},
		{"lost answer", answer(200, object{"status": "error", "code": "OUTCOME_UNKNOWN", "message": "Its answer was lost.", "suggestedAction": "Check first."}), "unknown", "Its answer was lost. Check first.", true},
		{"failed elsewhere", answer(200, object{"status": "error", "code": "TOOL_FAILED", "message": "No such note.", "suggestedAction": "Check first."}), "unknown", "No such note. Check first.", true},
		{"stale facts", answer(200, object{"status": "error", "code": "CONFIRMATION_STALE", "message": "The salary has changed since. Nothing was changed.", "suggestedAction": "Ask again."}), "failed", "The salary has changed since. Nothing was changed. Ask again.", true},
		{"session over", answer(401, fault("UNAUTHENTICATED", "No session")), "waiting", "Sign in again", false}, // the last: nothing more can be asked
	} {
		id := strings.ReplaceAll(c.name, " ", "-")
		card := "[data-card=" + id + "]"
		g.on("POST /api/query", turn(pending(id)))
		g.on("POST /api/confirm/{id}", c.answer)
		p.Click("#question")
		p.ask("Delete employee Frank Davis")
		p.Click(card + " [data-approve]")
		p.Sees(card+"[data-card-state="+c.state+"] [data-card-note]", c.says)
		if c.closing {
			p.Misses(card + " [data-approve]")
			continue
		}
		g.on("POST /api/confirm/{id}", answer(http.StatusOK, approvedEnvelope()))
		p.resting()
		if eval[bool](p, `document.querySelector("`+card+` [data-read]").checkVisibility()`) {
			p.Click(card + " [data-read]") // with its note it is too high
		}
		p.Click(card + " [data-approve]")
		p.Sees(card+"[data-card-state=approved]", deleted)
	}
}

// A request that is not what its card shows was not answered: it waits on, here and in
// the counts, and is drawn as its server has it.
func TestRequestThatIsNotWhatWasShownWaitsOn(t *testing.T) {
	t.Parallel()
	g := newGateway(t)
	g.on("POST /api/confirm/{id}", answer(http.StatusConflict, object{"error": "Conflict", "message": "You were shown something else.", "code": "CONFIRMATION_STALE"}))
	other := waiting("x1")
	other["message"] = "Delete Eve Thompson?"
	g.on("GET /api/confirmations/{id}", answer(http.StatusOK, other))
	p := withCard(t, g, pending("x1"))
	p.Click("[data-approve]")
	p.Sees("[data-card=x1][data-card-state=waiting] [data-card-note]", "read it again before you answer")
	p.Sees("[data-card=x1] [data-card-message]", "Delete Eve Thompson?")
	p.Sees("#inbox-count", "1")
	p.Misses("[data-card=x1] [data-card-receipt]")
	g.on("POST /api/confirm/{id}", g.hears(answer(http.StatusOK, approvedEnvelope())))
	p.resting()
	if eval[bool](p, `document.querySelector("[data-read]").checkVisibility()`) {
		p.readsCard()
	}
	p.Click("[data-card=x1] [data-approve]")
	p.Sees("[data-card=x1][data-card-state=approved]", deleted)
	if got, want := g.said(), answerTo(t, other, true); len(got) != 1 || got[0] != want {
		t.Errorf("got %q, want %s", got, want)
	}
}

func TestRequestThatCannotBeShownIsNamed(t *testing.T) {
	t.Parallel()
	g := newGateway(t)
	g.on("GET /api/confirmations", answer(http.StatusOK, object{"confirmations": []object{}, "unavailable": []object{
		{"confirmationId": "x7", "mcpServer": "hr", "expires": time.Now().Add(time.Hour).Format(time.RFC3339), "message": "The hr service cannot be reached at the moment."},
	}}))
	p := newPage(t)
	p.Open(g.URL + "/#/approvals")
	p.Sees("#inbox-count", "1")
	p.Sees("[data-unshown=x7]", "A request of hr waits for you until")
	p.Sees("[data-unshown=x7]", "cannot be reached")
}

// What could not be read is not said to be nothing.
func TestUnreadInboxSaysSo(t *testing.T) {
	t.Parallel()
	g := newGateway(t)
	g.on("GET /api/confirmations", answer(http.StatusServiceUnavailable, object{"error": "Redis", "message": "The store cannot be reached."}))
	p := newPage(t)
	p.Open(g.URL + "/#/approvals")
	p.Sees("[data-changes-problem]", "What waits for your approval could not be read.")
	p.Misses("section .lead:not([hidden])")
	g.on("GET /api/confirmations", answer(http.StatusOK, object{"confirmations": []object{}}))
	eval[bool](p, `dispatchEvent(new Event("online"))`)
	p.Sees("section .lead:not([hidden])", "Nothing waits for you.")
	p.Misses("[data-changes-problem]:not([hidden])")
}

func TestApprovalUnderWayElsewhereIsFollowed(t *testing.T) {
	t.Parallel()
	g := newGateway(t)
	g.on("POST /api/confirm/{id}", answer(http.StatusConflict, object{"error": "Conflict", "message": "In progress", "code": "CONFIRMATION_IN_PROGRESS"}))
	g.on("GET /api/confirmations/{id}", answer(http.StatusOK, object{"id": "x1", "state": "applying"}))
	p := withCard(t, g, pending("x1"))
	p.Click("[data-approve]")
	p.Sees("[data-card-state=busy]", "being carried out right now")
	p.Click("[data-check-again]")
	p.Sees("[data-card-note]", "still being carried out")
	g.on("GET /api/confirmations/{id}", answer(http.StatusOK, object{"id": "x1", "state": "applied", "receipt": approvedEnvelope()}))
	p.Click("[data-check-again]")
	p.Sees("[data-card-state=approved]", deleted)
}

// What a tool declares as a detail of its preview is under "Details"; no name alone puts it there.
func TestDeclaredDetailsAreNoFacts(t *testing.T) {
	t.Parallel()
	g := newGateway(t)
	g.on("GET /api/tools", answer(http.StatusOK, object{"servers": []object{}, "tools": []object{
		{"name": "delete_employee", "kind": "write", "server": "hr", "fields": object{"preview": object{"recordId": object{"show": "detail"}}}},
	}}))
	card := pending("x1")
	data := card["confirmationData"].(object)
	data["recordId"], data["employeeId"] = "r-1", "e-1"
	p := withCard(t, g, card)
	p.Until(`document.querySelector("[data-card=x1] .card-body > .facts [data-field=employeeId]")?.textContent.includes("e-1")`)
	p.Misses("[data-card=x1] [data-field=recordId]")
	p.Until(`document.querySelector("[data-card=x1] .technical").textContent.includes("r-1")`)
}

// A request that was first seen while another answer was being carried out has a clock,
// and waits no longer than its time when it waits again.
func TestCardOpenedWhileApplyingExpires(t *testing.T) {
	t.Parallel()
	g, p := newGateway(t), newPage(t)
	record := waiting("x1")
	record["state"] = "applying"
	record["expires"] = time.Now().Add(3 * time.Second).Format(time.RFC3339Nano)
	g.on("GET /api/confirmations/{id}", answer(http.StatusOK, record))
	p.Open(g.URL + "/#/approve/x1")
	p.Sees("[data-card-state=busy]", "still being carried out")
	p.Until(`/^0:0[01] left$/.test(document.querySelector("[data-countdown]").textContent)`)
	record["state"] = "pending"
	expired := maps.Clone(record)
	expired["state"] = "expired"
	reads := 0
	g.on("GET /api/confirmations/{id}", func(w http.ResponseWriter, r *http.Request) {
		if reads++; reads > 1 {
			record = expired
		}
		answer(http.StatusOK, record)(w, r)
	})
	p.Click("[data-check-again]")
	p.Sees("[data-card-state=expired]", "nothing was changed")
	p.Misses("[data-approve]")
}

func TestUnansweredCardExpires(t *testing.T) {
	t.Parallel()
	g := newGateway(t)
	g.on("POST /api/confirm/{id}", g.hears(notFound))
	g.on("GET /api/confirmations/{id}", answer(http.StatusOK, object{"confirmationId": "x1", "state": "expired"}))
	p := withCard(t, g, pendingFor("x1", 1500*time.Millisecond))
	p.Sees("[data-card-state=expired]", "nothing was changed")
	p.Misses("[data-approve]")
	if got := g.said(); len(got) != 0 {
		t.Errorf("an expired card sent %q", got)
	}
}

// That time is up does not say whether an approval whose answer was lost made the change: its
// server does, and what it cannot say now is not said.
func TestTriedCardIsNotSaidToBeUnchanged(t *testing.T) {
	t.Parallel()
	g := newGateway(t)
	away := answer(http.StatusServiceUnavailable, object{"error": "away", "message": "The database cannot be reached."})
	g.on("POST /api/confirm/{id}", away)
	g.on("GET /api/confirmations/{id}", away)
	p := withCard(t, g, pendingFor("x1", 2500*time.Millisecond))
	p.Click("[data-approve]")
	p.Sees("[data-card-state=expired] [data-card-note]", "could not be read")
	if got := p.Text("[data-card-note]"); strings.Contains(got, "nothing was changed") {
		t.Errorf("the card says %q of a change that may have been made", got)
	}
	p.Click("[data-check-again]")
	p.Sees("[data-card-note]", "The database cannot be reached.")
	g.on("GET /api/confirmations/{id}", answer(http.StatusOK, object{"confirmationId": "x1", "state": "applied", "receipt": approvedEnvelope()}))
	p.Click("[data-check-again]")
	p.Sees("[data-card-state=approved] [data-card-note]", deleted)
	p.Misses("[data-check-again]:not([hidden])")
}

// What another answer left behind waits again, and is answered on the card.
func TestAbandonedAnswerIsGivenAgain(t *testing.T) {
	t.Parallel()
	g := newGateway(t)
	g.on("POST /api/confirm/{id}", answer(http.StatusConflict, object{"error": "Conflict", "message": "In progress", "code": "CONFIRMATION_IN_PROGRESS"}))
	card := pending("x1")
	p := withCard(t, g, card)
	p.Click("[data-approve]")
	p.Sees("[data-card-state=busy]", "being carried out right now")
	g.on("GET /api/confirmations", answer(http.StatusOK, object{"confirmations": []object{{"confirmationId": "x1", "state": "pending", "message": card["message"], "confirmationData": card["confirmationData"]}}}))
	g.on("POST /api/confirm/{id}", answer(http.StatusOK, approvedEnvelope()))
	eval[bool](p, `dispatchEvent(new Event("online"))`)
	p.Sees("[data-card-state=waiting] [data-card-note]", "waiting again")
	p.Click("[data-approve]")
	p.Sees("[data-card-state=approved]", deleted)
}

// The button names the act; deletions look like what they are.
func TestButtonNamesTheAct(t *testing.T) {
	t.Parallel()
	g := newGateway(t)
	p := withCard(t, g, pending("x1"))
	p.Sees("[data-approve].deletes", "Delete employee Frank Davis")
	if got := eval[[]string](p, `[getComputedStyle(document.querySelector("[data-card]")).borderInlineStartColor, getComputedStyle(document.querySelector("[data-card] header .icon")).color, getComputedStyle(document.querySelector("[data-approve]")).backgroundColor]`); got[0] != got[2] || got[1] != got[2] {
		t.Errorf("edge, sign and button of a deletion are %q, want one colour", got)
	}
	got := module[[]string](p, "views/card.js", `
		const act = (tool, confirmationData) => m.actOf(tool, { confirmationData });
		return [act("delete_employee", { employeeName: "Frank Davis" }), act("update_salary", { employeeName: "Marcus", newSalary: 1, oldSalary: 2 }),
			act("delete_employee", { employeeName: "x".repeat(90) }), act("close_ticket", { ticketNumber: "TICK-1" }),
			act("delete_employee", { employeeName: "Frank Davis", currentSalary: 1, newSalary: 2 })]`, nil)
	want := []string{"Delete employee Frank Davis", "Lower Marcus to $1", "Delete employee", "Close ticket TICK-1", "Delete employee Frank Davis"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// A connected server's tool has a name without its server in a request; people read its
// title there, too, and no line says that a change waits when it does no more.
func TestToolsAreCalledByTheirTitles(t *testing.T) {
	t.Parallel()
	g := newGateway(t)
	g.on("GET /api/tools", answer(http.StatusOK, object{"tools": []object{{"name": "harbour.move_ship", "title": "Bring a ship in", "kind": "write", "server": "harbour"}}, "servers": []object{}}))
	g.on("POST /api/confirm/{id}", g.hears(answer(http.StatusOK, approvedEnvelope())))
	card := pending("x1")
	card["confirmationData"] = object{"action": "move_ship", "mcpServer": "harbour", "arguments": object{"berth": 4}, "expiresAt": time.Now().Add(5 * time.Minute).UnixMilli()}
	p := newPage(t)
	g.on("POST /api/query", turn(
		object{"type": "tool", "state": "processing", "tool": "harbour.move_ship", "server": "harbour", "callId": "1", "message": "harbour.move ship…"},
		object{"type": "tool", "state": "complete", "tool": "harbour.move_ship", "server": "harbour", "callId": "1", "message": "harbour.move ship waits for your approval"}, card))
	p.Open(g.URL)
	p.ask("Move it")
	p.Until(`document.querySelector("[data-card] h3").textContent === "Bring a ship in"`)
	p.Until(`document.querySelector("[data-approve]").textContent === "Bring a ship in"`)
	p.Click("[data-approve]")
	p.Sees("[data-card-state=approved]", "")
	if got := p.Text(".tool-words"); got != "Bring a ship in" {
		t.Errorf("the call says %q, want its title", got)
	}
	read := module[[]string](p, "views/card.js", `return arg.map(m.nameOfSource)`, []any{object{"tool": "harbour.move_ship"}, object{"kind": "ticket", "id": "TICK-009"}, object{"kind": "deal", "id": "65a2d0000000000000000001", "name": "Acme Renewal"},
		object{"kind": "review", "id": "f1000000-0000-0000-0000-000000000057", "about": "Margaret Scott"}, object{"more": 3}, "text of ticket TICK-006"})
	if want := []string{"an answer of “Bring a ship in”", "text of ticket TICK-009", "text of deal “Acme Renewal”", "text of review about “Margaret Scott”", "3 more texts", "text of ticket TICK-006"}; !slices.Equal(read, want) {
		t.Errorf("what was read is called %q, want %q", read, want)
	}
}

// A foreign tool whose answer was lost is neither done nor not done.
func TestUnknownOutcomeIsSaidHonestly(t *testing.T) {
	t.Parallel()
	g := newGateway(t)
	g.on("POST /api/confirm/{id}", answer(http.StatusConflict, object{"error": "Conflict", "message": "In progress", "code": "CONFIRMATION_IN_PROGRESS"}))
	g.on("GET /api/confirmations/{id}", answer(http.StatusOK, object{"confirmationId": "x1", "state": "unknown"}))
	p := withCard(t, g, pending("x1"))
	p.Click("[data-approve]")
	p.Click("[data-check-again]")
	p.Sees("[data-card-state=unknown] [data-card-note]", "may have happened, or not")
	p.Misses("[data-approve]")
}

// Characters that cannot be seen are drawn as their codes.
func TestUnseenCharactersShow(t *testing.T) {
	t.Parallel()
	g := newGateway(t)
	card := pending("x1")
	card["confirmationData"].(object)["employeeName"] = "Frank\u202e sivaD\u200b"
	p := withCard(t, g, card)
	p.Sees("[data-field=employeeName] bdi .unseen", "U+202E")
	p.Sees("[data-field=employeeName] bdi", "U+200B")
}

// The events of a day begin with each request's opening, whose time is up long ago. Its
// answer, which comes after, is its end: in the inbox after a reload, and on a card
// whose time was just up by this window's clock.
func TestAnswerCountsAndNotTheClock(t *testing.T) {
	t.Parallel()
	for name, opened := range map[string]time.Time{"before the page": time.Now().Add(-time.Hour), "while it is open": time.Now().Add(2 * time.Second)} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g, p := newGateway(t), newPage(t)
			events := make(chan object, 2)
			g.on("GET /api/events", g.happens(events))
			record := waiting("x1")
			record["expires"] = opened.Format(time.RFC3339Nano)
			g.on("GET /api/confirmations/{id}", answer(http.StatusOK, record))
			events <- object{"type": "change", "state": "pending", "confirmationId": "x1", "server": "hr", "tool": "delete_employee", "expires": opened.Format(time.RFC3339Nano)}
			p.Open(g.URL + "/#/approvals")
			p.Sees("[data-receipts] [data-card=x1][data-card-state=expired]", "Time is up")
			p.Sees("[data-receipts] [data-card=x1] [data-card-message]", "Frank Davis")
			record = object{"confirmationId": "x1", "state": "applied", "answered": "2026-11-20T09:30:00Z", "message": "Delete Frank Davis?", "confirmationData": record["confirmationData"], "receipt": approvedEnvelope()}
			g.on("GET /api/confirmations/{id}", answer(http.StatusOK, record))
			events <- object{"type": "change", "state": "applied", "confirmationId": "x1", "server": "hr", "tool": "delete_employee"}
			p.Sees("[data-receipts] [data-card=x1][data-card-state=approved] [data-card-note]", deleted)
		})
	}
}
