package web_test

import (
	"net/http"
	"strings"
	"testing"
	"time"
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
		"created": now.Format(time.RFC3339Nano), "expires": now.Add(2 * time.Minute).Format(time.RFC3339Nano),
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
	p := withCard(t, g, pending("x1"))
	p.Sees("[data-field=employeeName]", "Frank Davis")
	p.Sees("[data-field=currentSalary]", "$118,000")
	p.Sees("[data-field=change]", "+$7,000")
	p.Sees("[data-field=changePercent]", "+5.9%")
	p.Sees("[data-card-warning]", "Above the range of the grade.")
	p.Sees("[data-countdown]", "left")
	p.Shot("card")
	eval[bool](p, `(() => { const b = document.querySelector("[data-approve]"); b.click(); b.click(); return true })()`)
	p.Sees("[data-card=x1][data-card-state=approved] [data-card-note]", deleted)
	p.Shot("card-approved")
	p.Misses("[data-approve]")
	if got := g.said(); len(got) != 1 || got[0] != `POST /api/confirm/x1 {"approved":true}` {
		t.Errorf("got %q, want one approval", got)
	}
	if got := strings.Count(p.Text("#view"), deleted); got != 1 {
		t.Errorf("the receipt is shown %d times, want once", got)
	}
}

func TestDenialChangesNothing(t *testing.T) {
	g := newGateway(t)
	g.on("POST /api/confirm/{id}", g.hears(answer(http.StatusOK, object{"status": "cancelled", "message": "Action cancelled by user"})))
	p := withCard(t, g, pending("x1"))
	p.Click("[data-deny]")
	p.Sees("[data-card-state=denied]", "Denied. Nothing was changed.")
	if got := g.said(); len(got) != 1 || got[0] != `POST /api/confirm/x1 {"approved":false}` {
		t.Errorf("got %q, want one denial", got)
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
	p.Until(`/^[12]:\d\d left$/.test(document.querySelector("[data-card=x2] [data-countdown]").textContent)`)
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
