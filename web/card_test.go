package web_test

import (
	"encoding/json"
	"fmt"
	"net/http"
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
			"origin": object{"surface": "mcp", "tainted_by": []string{"text of ticket TICK-009", "an answer of weather.get"}},
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
	g := newGateway(t)
	answered := make(chan struct{})
	g.on("POST /api/confirm/{id}", g.hears(func(w http.ResponseWriter, r *http.Request) {
		answered <- struct{}{} // the event stream delivers the outcome before this answer
		answer(http.StatusOK, approvedEnvelope())(w, r)
	}))
	g.on("GET /api/conversations/{id}/events", func(w http.ResponseWriter, r *http.Request) {
		s := newStream(w)
		s.last = 10
		select {
		case <-answered:
			s.send(object{"type": "message", "role": "system", "content": deleted})
		case <-r.Context().Done():
		}
		g.idle(r)
	})
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
	p.Sees("[data-card-taint]", "The assistant had read text of ticket TICK-009, an answer of weather.get before it asked for this.")
	p.Misses("[data-field=reason]")
	p.Misses("[data-field=origin]")
	p.Sees("[data-countdown]", "left")
	p.Shot("card")
	eval[bool](p, `(() => { const b = document.querySelector("[data-approve]"); b.click(); b.click(); return true })()`)
	p.Sees("[data-card=x1][data-card-state=approved] [data-card-note]", deleted)
	p.Shot("card-approved")
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
	for name, text := range texts {
		field := strings.ReplaceAll(name, " ", "_")
		for place, got := range map[string]string{
			"fact":  eval[string](p, `document.querySelector("[data-card=x1] > .facts [data-field=fact_`+field+`] dd").textContent`),
			"quote": eval[string](p, `document.querySelector("[data-card=x1] > [data-quote=quote_`+field+`] blockquote").textContent`),
		} {
			if got != text {
				t.Errorf("%s, %s: got %q, want %q", name, place, got, text)
			}
		}
		p.Sees("[data-quote=quote_"+field+"] figcaption", "text of TICK-009")
	}
	for _, seen := range []string{`"_hidden": "seen"`, texts["like an id"], `"note": "seen too"`} {
		p.Sees("[data-card=x1] > [data-field=arguments] pre", seen)
	}
	if hidden := eval[int](p, `[...document.querySelectorAll("[data-card=x1] > .facts dd, [data-card=x1] blockquote")].filter((n) => !n.offsetHeight || n.scrollHeight > n.clientHeight + 2).length`); hidden != 0 {
		t.Errorf("%d texts are not shown as a whole", hidden)
	}
	if got := p.Count("[data-card=x1] [data-approve]"); got != 1 {
		t.Errorf("the card has %d buttons to approve", got)
	}
	p.Shot("card-quotes")
}

func TestDenialChangesNothing(t *testing.T) {
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
	p.Click("[data-approve]")
	p.Sees("[data-card-state=approved]", deleted)
	if got, want := g.said(), answerTo(t, card, true); len(got) != 1 || got[0] != want {
		t.Errorf("got %q, want %s", got, want)
	}
}

// A page over plain http of another machine has no crypto.subtle.
func TestPageThatCannotProveItsCardSaysSo(t *testing.T) {
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
		{"another preview", answer(409, fault("CONFIRMATION_STALE", "You were shown something else.")), "failed", "Load the page again", true},
		{"altered", answer(409, fault("CONFIRMATION_ALTERED", "The stored confirmation was altered.")), "failed", "was altered", true},
		{"store down", answer(503, fault("SERVICE_UNAVAILABLE", "Redis")), "waiting", "try again in a moment", false},
		{"session over", answer(401, fault("UNAUTHENTICATED", "No session")), "waiting", "Sign in again", false},
		{"line cut", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, "waiting", "never made twice", false},
		{"stale facts", answer(200, object{"status": "error", "code": "CONFIRMATION_STALE", "message": "The salary has changed since.", "suggestedAction": "Ask again."}), "failed", "The salary has changed since. Nothing was changed. Ask again.", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := newGateway(t)
			g.on("POST /api/confirm/{id}", c.answer)
			p := withCard(t, g, pending("x1"))
			p.Click("[data-approve]")
			p.Sees("[data-card=x1][data-card-state="+c.state+"] [data-card-note]", c.says)
			if c.closing {
				p.Misses("[data-approve]")
				return
			}
			g.on("POST /api/confirm/{id}", answer(http.StatusOK, approvedEnvelope()))
			p.Click("[data-approve]")
			p.Sees("[data-card-state=approved]", deleted)
		})
	}
}

func TestRequestThatCannotBeShownIsNamed(t *testing.T) {
	g := newGateway(t)
	g.on("GET /api/confirmations", answer(http.StatusOK, object{"confirmations": []object{}, "unavailable": []object{
		{"confirmationId": "x7", "mcpServer": "hr", "expires": time.Now().Add(time.Minute).Format(time.RFC3339), "message": "The hr service cannot be reached at the moment."},
	}}))
	p := newPage(t)
	p.Open(g.URL)
	p.Sees("[data-unshown=x7]", "A request of hr waits for you until")
	p.Sees("[data-unshown=x7]", "cannot be reached")
}

func TestApprovalUnderWayElsewhereIsFollowed(t *testing.T) {
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

func TestUnansweredCardExpires(t *testing.T) {
	g := newGateway(t)
	g.on("POST /api/confirm/{id}", g.hears(notFound))
	p := withCard(t, g, pendingFor("x1", 1500*time.Millisecond))
	p.Sees("[data-card-state=expired]", "nothing was changed")
	p.Misses("[data-approve]")
	if got := g.said(); len(got) != 0 {
		t.Errorf("an expired card sent %q", got)
	}
}

func TestReloadKeepsThePendingCard(t *testing.T) {
	g := newGateway(t)
	g.on("POST /api/confirm/{id}", answer(http.StatusOK, approvedEnvelope()))
	p := withCard(t, g, pending("x1"))
	elsewhere := waiting("x2")
	elsewhere["conversationId"] = "c2"
	g.on("GET /api/confirmations", answer(http.StatusOK, object{"confirmations": []object{waiting("x1"), elsewhere}}))
	g.on("GET /api/conversations/{id}", answer(http.StatusOK, object{"id": "c1", "messages": []object{
		{"id": "1", "role": "user", "content": "Delete employee Frank Davis"},
		{"id": "2", "role": "tool", "tool": "delete_employee", "content": quoted(pending("x1"))},
	}}))
	p.Open("about:blank")
	p.Open(g.URL + "/#/c/c1")
	p.Sees("[data-turn] [data-card=x1][data-card-state=waiting]", "Delete Frank Davis")
	p.Sees("#waiting [data-card=x2]", "Delete Frank Davis") // asked elsewhere
	p.Sees("#waiting [data-asked-in=c2][href='#/c/c2']", "the conversation it was asked in")
	p.Until(`/^[0-2]:\d\d left$/.test(document.querySelector("[data-card=x2] [data-countdown]").textContent)`)
	if got := p.Count("[data-card=x1]"); got != 1 {
		t.Errorf("the card is shown %d times, want once", got)
	}
	p.Click("[data-card=x1] [data-approve]")
	p.Sees("[data-card=x1][data-card-state=approved]", deleted)
}

func TestAddressOfARequestLeadsToItsCard(t *testing.T) {
	g, p := newGateway(t), newPage(t)
	g.on("GET /api/confirmations", answer(http.StatusOK, object{"confirmations": []object{waiting("x1"), waiting("x2")}}))
	g.on("GET /api/confirmations/{id}", answer(http.StatusOK, object{"id": "x9", "state": "applied", "receipt": approvedEnvelope()}))
	p.Open(g.URL + "/#/approve/x2")
	p.Until(`document.activeElement.dataset.card === "x2"`)
	eval[bool](p, `(location.hash = "#/approve/x9") !== ""`)
	p.Sees("[data-outcome]", deleted)
	g.on("GET /api/confirmations/{id}", notFound)
	eval[bool](p, `(location.hash = "#/approve/x8") !== ""`)
	p.Sees("#problem", "does not exist any more")
}

func TestAnswerGivenElsewhereClosesTheCard(t *testing.T) {
	g := newGateway(t)
	tell := make(chan struct{})
	g.on("GET /api/conversations/{id}/events", func(w http.ResponseWriter, r *http.Request) {
		s := newStream(w)
		select {
		case <-tell:
			s.send(object{"type": "message", "role": "system", "content": deleted, "confirmationId": "x1"})
		case <-r.Context().Done():
		}
		g.idle(r)
	})
	p := withCard(t, g, pending("x1"))
	tell <- struct{}{}
	p.Sees("[data-card-state=answered]", deleted)
	p.Misses("[data-approve]")
}
