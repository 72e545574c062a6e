package web_test

import (
	"net/http"
	"testing"
	"time"
)

func TestReloadKeepsThePendingCard(t *testing.T) {
	t.Parallel()
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
	p.Misses("[data-card=x2]") // asked elsewhere
	p.Sees("#strip", "1 request waits for your approval")
	p.Sees("#inbox-count", "2")
	p.Until(`document.title === "(2) Countersign"`)
	if got := p.Count("[data-card=x1]"); got != 1 {
		t.Errorf("the card is shown %d times, want once", got)
	}
	p.Click("#strip a")
	p.Sees("[data-inbox] [data-card=x2]", "Delete Frank Davis")
	p.Sees("[data-inbox] [data-asked-in=c2][href='#/c/c2']", "the conversation it was asked in")
	p.Until(`/^[0-2]:\d\d left$/.test(document.querySelector("[data-card=x2] [data-countdown]").textContent)`)
	p.Misses("#strip")
	p.Shot("inbox")
	eval[bool](p, `(location.hash = "#/c/c1") !== ""`)
	p.Click("[data-card=x1] [data-approve]")
	p.Sees("[data-card=x1][data-card-state=approved]", deleted)
}

func TestAddressOfARequestLeadsToItsCard(t *testing.T) {
	t.Parallel()
	g, p := newGateway(t), newPage(t)
	g.on("GET /api/confirmations", answer(http.StatusOK, object{"confirmations": []object{waiting("x1"), waiting("x2")}}))
	g.on("GET /api/confirmations/{id}", func(w http.ResponseWriter, r *http.Request) {
		if r.PathValue("id") == "x2" {
			answer(http.StatusOK, waiting("x2"))(w, r)
			return
		}
		answer(http.StatusOK, object{"id": "x9", "state": "applied", "receipt": approvedEnvelope()})(w, r)
	})
	p.Open(g.URL + "/#/approve/x2")
	p.Until(`document.activeElement.dataset.card === "x2"`)
	eval[bool](p, `(location.hash = "#/approve/x9") !== ""`)
	p.Sees("[data-card=x9][data-card-state=approved] [data-card-note]", deleted)
	g.on("GET /api/confirmations/{id}", notFound)
	eval[bool](p, `(location.hash = "#/approve/x8") !== ""`)
	p.Sees("[data-card=x8][data-card-state=gone]", "no longer waiting")
	eval[bool](p, `(location.hash = "#/nowhere") !== ""`)
	p.Sees("[data-not-found]", "There is no such page.")
}

// Of another person's request there is the refusal, and no card of nothing.
func TestAddressOfAnothersRequestShowsNoCard(t *testing.T) {
	t.Parallel()
	g, p := newGateway(t), newPage(t)
	g.on("GET /api/confirmations/{id}", answer(http.StatusForbidden, object{"error": "Forbidden", "message": "You can only see your own confirmations", "code": "USER_MISMATCH"}))
	p.Open(g.URL + "/#/approve/x9")
	p.Sees("[data-refused]", "You can only see your own confirmations")
	p.Misses("[data-card]")
	p.Sees("#page a", "All that waits for you")
}

func TestAnswerGivenElsewhereClosesTheCard(t *testing.T) {
	t.Parallel()
	g := newGateway(t)
	events := make(chan object)
	g.on("GET /api/events", g.happens(events))
	g.on("GET /api/confirmations/{id}", answer(http.StatusOK, object{"confirmationId": "x1", "state": "applied", "receipt": approvedEnvelope(), "answered": "2026-11-20T09:30:00Z"}))
	p := withCard(t, g, pending("x1"))
	events <- object{"type": "change", "confirmationId": "x1", "server": "hr", "tool": "delete_employee", "state": "applied"}
	p.Sees("[data-card-state=approved] [data-card-note]", deleted)
	p.Sees("[data-card=x1] [data-card-receipt] time", "Nov 20, 2026")
	p.Misses("[data-approve]")
}

// A request that an MCP client makes shows at once, counted, and is answered there.
func TestRequestFromElsewhereReachesTheInbox(t *testing.T) {
	t.Parallel()
	g, p := newGateway(t), newPage(t)
	events := make(chan object)
	g.on("GET /api/events", g.happens(events))
	g.on("GET /api/confirmations/{id}", answer(http.StatusOK, waiting("x5")))
	g.on("POST /api/confirm/{id}", g.hears(answer(http.StatusOK, approvedEnvelope())))
	p.Open(g.URL)
	p.Sees("#greeting", "Hello")
	events <- object{"type": "change", "confirmationId": "x5", "server": "hr", "tool": "delete_employee", "state": "pending", "expires": time.Now().Add(time.Hour).Format(time.RFC3339)}
	p.Sees("#inbox-count", "1")
	p.Until(`document.title === "(1) Countersign"`)
	p.Click("#inbox")
	p.Click("[data-inbox] [data-card=x5] [data-approve]")
	p.Sees("[data-receipts] [data-card=x5][data-card-state=approved] [data-card-note]", deleted)
	p.Until(`document.title === "Countersign"`)
	p.Misses("#inbox-count")
}

// What an agent, a terminal or a program asked for waits in the inbox, each with where it was
// asked for; in a conversation it is one strip.
func TestInboxNamesWhereARequestWasAskedFor(t *testing.T) {
	t.Parallel()
	g, p := newGateway(t), newPage(t)
	g.on("POST /api/confirm/{id}", g.hears(answer(http.StatusOK, approvedEnvelope())))
	surfaces := map[string]string{"terminal": "Asked for in a chat of a terminal or another program", "mcp": "Asked for by an MCP client", "api": "Asked for by a direct call of the API", "server": "Asked for at the server itself, not through the gateway"}
	list, terminal := []object{}, object{}
	for surface := range surfaces {
		one := waiting("x-" + surface)
		one["confirmationData"].(object)["origin"] = object{"surface": surface}
		list = append(list, one)
		if surface == "terminal" {
			terminal = one
		}
	}
	g.on("GET /api/confirmations", answer(http.StatusOK, object{"confirmations": list}))
	p.Open(g.URL)
	p.Sees("#strip", "4 requests wait for your approval")
	p.Misses("#log [data-card]")
	p.Click("#strip a")
	for surface, says := range surfaces {
		p.Sees("[data-inbox] [data-card=x-"+surface+"] [data-card-origin]", says)
	}
	p.Misses("[data-inbox] [data-asked-in]") // none was asked for in a conversation that the page has
	eval[bool](p, `(document.querySelector("[data-card=x-terminal]").scrollIntoView({ block: "end" }), true)`)
	p.Until(`document.querySelector("[data-card=x-terminal] [data-approve]").ariaDisabled !== "true"`)
	p.Click("[data-card=x-terminal] [data-approve]")
	p.Sees("[data-receipts] [data-card=x-terminal][data-card-state=approved] [data-card-note]", deleted)
	p.Sees("#inbox-count", "3")
	if got, want := g.said(), answerTo(t, terminal, true); len(got) != 1 || got[0] != want {
		t.Errorf("got %q, want %s", got, want)
	}
}

// A receipt is there after a reload, with who, when and the id of the audit.
func TestReceiptsOutliveAReload(t *testing.T) {
	t.Parallel()
	for state, says := range map[string]string{"applied": deleted, "denied": "Nothing was changed", "expired": "Time is up"} {
		t.Run(state, func(t *testing.T) {
			t.Parallel()
			g, p := newGateway(t), newPage(t)
			old := pendingFor("x1", -time.Minute)
			g.on("GET /api/conversations/{id}", answer(http.StatusOK, object{"id": "c1", "messages": []object{
				{"id": "1", "role": "user", "content": "Delete him"}, {"id": "2", "role": "tool", "tool": "delete_employee", "content": quoted(old)}, {"id": "3", "role": "system", "content": deleted},
			}}))
			record := object{"confirmationId": "x1", "state": state, "answered": "2026-11-20T09:30:00Z"}
			if state == "applied" {
				record["receipt"] = approvedEnvelope()
			}
			if state != "expired" {
				g.on("GET /api/confirmations/{id}", answer(http.StatusOK, record))
			}
			p.Open(g.URL + "/#/c/c1")
			p.Sees("[data-card=x1] [data-card-note]", says)
			p.Sees("[data-card=x1] [data-card-receipt]", "Audit id x1")
			p.Sees("[data-card=x1] [data-card-message]", "Delete Frank Davis")
			p.Misses("[data-approve]")
			if state == "applied" && p.Count("[data-outcome]:not([hidden])") != 0 {
				t.Error("the outcome is shown twice")
			}
		})
	}
}

// Of a request that expired unanswered the inbox has what was asked, of whom, until when
// and its id, also where no conversation has it.
func TestExpiredRequestIsWholeInTheInbox(t *testing.T) {
	t.Parallel()
	g, p := newGateway(t), newPage(t)
	events := make(chan object, 1)
	g.on("GET /api/events", g.happens(events))
	record := waiting("x1")
	record["state"], record["expires"] = "expired", "2026-11-20T09:30:00Z"
	g.on("GET /api/confirmations/{id}", answer(http.StatusOK, record))
	events <- object{"type": "change", "state": "pending", "confirmationId": "x1", "server": "hr", "tool": "delete_employee", "expires": "2026-11-20T09:30:00Z"}
	p.Open(g.URL + "/#/approvals")
	p.Sees("[data-receipts] [data-card=x1][data-card-state=expired] [data-card-message]", "Delete Frank Davis")
	p.Sees("[data-card=x1] [data-card-note]", "Time is up")
	p.Sees("[data-card=x1] [data-card-receipt]", "It waited for Alice Chen (alice.chen) · ")
	p.Sees("[data-card=x1] [data-card-receipt] time", "2026")
	p.Sees("[data-card=x1] [data-card-receipt]", "Audit id x1")
	p.Misses("[data-approve]")
}
