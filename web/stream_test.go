package web_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"
)

// sendsTheRest answers who has had two events of a turn with its second half.
func (g *gateway) sendsTheRest(t *testing.T) {
	t.Helper()
	g.on("GET /api/conversations/{id}/events", func(w http.ResponseWriter, r *http.Request) {
		if got := r.Header.Get("Last-Event-ID"); got != "2" {
			t.Errorf("resumed after %q, want 2", got)
		}
		s := newStream(w)
		s.last = 2
		s.send(object{"type": "text", "text": " and the second."})
		s.done()
		g.idle(r)
	})
}

func TestLostStreamIsResumedWithoutRepetition(t *testing.T) {
	t.Parallel()
	g, p := newGateway(t), newPage(t)
	cut := make(chan struct{})
	g.on("POST /api/query", func(w http.ResponseWriter, _ *http.Request) {
		s := begun(w)
		s.send(object{"type": "text", "text": "The first half"})
		<-cut
		panic(http.ErrAbortHandler) // the connection breaks
	})
	g.sendsTheRest(t)
	p.Open(g.URL)
	p.ask("Tell me")
	p.Sees("[data-answer]", "The first half")
	close(cut)
	p.Sees("[data-turn=done] [data-answer]", "The first half and the second.")
	p.Misses("[data-error]")
}

// A gateway that restarts ends its streams with events that are in no log.
func TestTurnOutlivesItsGateway(t *testing.T) {
	t.Parallel()
	g, p := newGateway(t), newPage(t)
	g.on("POST /api/query", func(w http.ResponseWriter, _ *http.Request) {
		s := begun(w)
		s.send(object{"type": "text", "text": "The first half"})
		s.write("data: {\"type\":\"error\",\"error\":\"The system is currently undergoing maintenance. Some features may be unavailable.\",\"code\":\"SERVICE_UNAVAILABLE\"}\n\ndata: [DONE]\n\n")
	})
	g.sendsTheRest(t)
	p.Open(g.URL)
	p.ask("Tell me")
	p.Sees("[data-turn=done] [data-answer]", "The first half and the second.")
	p.Misses("[data-error]")
}

func TestReloadFindsTheRunningTurn(t *testing.T) {
	t.Parallel()
	g, p := newGateway(t), newPage(t)
	g.on("GET /api/conversations/{id}", answer(http.StatusOK, object{
		"id": "c1", "running": true, "lastEventId": "0-0", "messages": []object{{"id": "1", "role": "user", "content": "Tell me"}},
	}))
	g.on("GET /api/conversations/{id}/events", func(w http.ResponseWriter, r *http.Request) {
		if got := r.Header.Get("Last-Event-ID"); got != "0-0" {
			t.Errorf("resumed after %q, want 0-0", got)
		}
		s := begun(w)
		s.send(object{"type": "text", "text": "Everything."})
		s.done()
		g.idle(r)
	})
	p.Open(g.URL + "/#/c/c1")
	p.Sees("[data-turn=done] [data-answer]", "Everything.")
	if got := p.Count("[data-turn]"); got != 1 {
		t.Errorf("the answer is shown in %d turns, want only that of its question", got)
	}
}

// A quick person asks while the conversation is still being opened.
func TestQuestionIsAskedBelowWhatWasSaidBefore(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"/#/c/c1", "/"} {
		g, p := newGateway(t), newPage(t)
		opened := make(chan struct{})
		g.on("GET /api/confirmations", func(w http.ResponseWriter, r *http.Request) {
			<-opened
			answer(http.StatusOK, object{"confirmations": []object{}})(w, r)
		})
		g.on("GET /api/conversations/{id}", answer(http.StatusOK, object{"id": "c1", "messages": []object{{"id": "1", "role": "user", "content": "Before"}}}))
		p.Open(g.URL + path)
		p.Click("#question")
		p.ask("Now")
		p.Sees("#stop", "") // it is on its way, and no second one is sent
		close(opened)
		p.Sees("[data-turn=done] [data-answer]", "Hello.")
		want := "Now"
		if path != "/" {
			want = "Before, Now"
		}
		if got := eval[string](p, `[...document.querySelectorAll("[data-question]")].map(n => n.lastChild.data).join(", ")`); got != want {
			t.Errorf("%s: the questions are %q, want %q", path, got, want)
		}
		p.Misses("#greeting")
	}
}

func TestEventStreamIsReopened(t *testing.T) {
	t.Parallel()
	g, p := newGateway(t), newPage(t)
	opened := make(chan struct{}, 100)
	g.on("GET /api/events", func(w http.ResponseWriter, _ *http.Request) {
		opened <- struct{}{}
		http.Error(w, "not now", http.StatusBadGateway)
	})
	p.Open(g.URL)
	<-opened
	p.Sees("#line", "Reconnecting")
	events := make(chan object, 1)
	events <- object{"type": "server", "server": "finance", "healthy": false}
	g.on("GET /api/events", g.happens(events))
	p.Misses("#line")
	p.Sees("#servers-down", "finance")
}

// What is asked on another device shows without a reload, and a server that is back.
func TestWhatHappensElsewhereShows(t *testing.T) {
	t.Parallel()
	g, p := newGateway(t), newPage(t)
	events := make(chan object)
	g.on("GET /api/events", g.happens(events))
	g.on("GET /api/conversations/{id}", answer(http.StatusOK, object{"id": "c1", "messages": []object{{"id": "1", "role": "user", "content": "Before"}, {"id": "2", "role": "assistant", "content": "Yes."}}}))
	p.Open(g.URL + "/#/c/c1")
	p.Sees("[data-answer]", "Yes.")
	events <- object{"type": "server", "server": "hr", "healthy": false}
	p.Sees("#servers-down", "hr")
	events <- object{"type": "server", "server": "hr", "healthy": true}
	p.Misses("#servers-down")

	g.on("GET /api/conversations/{id}", answer(http.StatusOK, object{"id": "c1", "running": true, "lastEventId": "4-0", "messages": []object{
		{"id": "1", "role": "user", "content": "Before"}, {"id": "2", "role": "assistant", "content": "Yes."}, {"id": "3", "role": "user", "content": "On the phone"}}}))
	g.on("GET /api/conversations/{id}/events", func(w http.ResponseWriter, r *http.Request) {
		if got := r.Header.Get("Last-Event-ID"); got != "4-0" {
			t.Errorf("followed after %q, want 4-0", got)
		}
		s := begun(w)
		s.send(object{"type": "text", "text": "Answered there."})
		s.done()
		g.idle(r)
	})
	g.on("GET /api/conversations", answer(http.StatusOK, object{"conversations": []object{{"id": "c9", "title": "Asked elsewhere"}}}))
	events <- object{"type": "conversation", "conversationId": "c9", "title": "Asked elsewhere"}
	events <- object{"type": "turn", "conversationId": "c1", "state": "running"}
	p.Sees("[data-question]", "On the phone")
	p.Sees("[data-turn=done] [data-answer]", "Answered there.")
	p.Sees("[data-conversation=c9]", "Asked elsewhere")
	if got := p.Count("[data-turn]"); got != 2 {
		t.Errorf("got %d turns, want 2", got)
	}
}

// Two tabs of a person share one stream.
func TestTabsShareOneStream(t *testing.T) {
	t.Parallel()
	g, p := newGateway(t), newPage(t)
	opened := make(chan struct{}, 10)
	events := make(chan object)
	g.on("GET /api/events", func(w http.ResponseWriter, r *http.Request) {
		opened <- struct{}{}
		g.happens(events)(w, r)
	})
	p.Open(g.URL)
	<-opened
	events <- object{"type": "server", "server": "hr", "healthy": false}
	p.Sees("#servers-down", "hr")
	// A second tab is a second port of the worker; what was before it came reaches it, too.
	module[bool](p, "events.js", `globalThis.received = []; m.personEvents("u1", { onEvent: (e) => received.push(e.data.server + e.data.healthy), onState: () => {} }); return true`, nil)
	p.Until(`received.includes("hrfalse")`)
	events <- object{"type": "server", "server": "hr", "healthy": true}
	p.Misses("#servers-down")
	p.Until(`received.includes("hrtrue")`)
	if len(opened) != 0 {
		t.Error("the second tab opened a stream of its own")
	}
}

// A tab that comes after the end of a session, with a new one, hears nothing of that end.
func TestNewTabDoesNotHearOfAnEndedSession(t *testing.T) {
	t.Parallel()
	g, p := newGateway(t), newPage(t)
	g.on("GET /api/events", answer(http.StatusUnauthorized, object{"error": "Unauthorized"}))
	p.Open(g.URL)
	p.Sees("#session-ended", "Sign in again")
	g.on("GET /api/events", g.happens(make(chan object)))
	module[bool](p, "events.js", `globalThis.states = []; m.personEvents("u1", { onEvent: () => {}, onState: (state) => states.push(state) }); return true`, nil)
	p.Until(`states.includes("open")`)
	if got := eval[string](p, `states.join(" ")`); strings.Contains(got, "gone") {
		t.Errorf("the new tab hears %q", got)
	}
}

func TestStopEndsTheTurn(t *testing.T) {
	t.Parallel()
	g, p := newGateway(t), newPage(t)
	cancelled := make(chan struct{})
	g.on("POST /api/conversations/{id}/cancel", g.hears(func(w http.ResponseWriter, r *http.Request) {
		cancelled <- struct{}{} // the end arrives before this answer
		answer(http.StatusOK, object{"cancelled": true})(w, r)
	}))
	g.on("POST /api/query", func(w http.ResponseWriter, r *http.Request) {
		s := begun(w)
		s.send(object{"type": "text", "text": "I begin"})
		<-cancelled
		s.done()
	})
	p.Open(g.URL)
	p.ask("Talk")
	p.Sees("[data-answer]", "I begin")
	p.Press(kb.Escape)
	p.Sees("[data-notice=stopped]", "Stopped")
	p.Misses("#stop")
	if got := g.said(); len(got) != 1 || !strings.HasPrefix(got[0], "POST /api/conversations/c1/cancel") {
		t.Errorf("got %q, want the cancellation", got)
	}

	g.on("POST /api/conversations/{id}/cancel", answer(http.StatusOK, object{"cancelled": true}))
	g.on("POST /api/query", func(w http.ResponseWriter, r *http.Request) {
		begun(w).send(object{"type": "text", "text": "I do not listen"})
		g.idle(r)
	})
	p.ask("Talk again")
	p.Sees("[data-answer]", "I do not listen")
	p.Press(kb.Escape)
	p.Sees("[data-thinking]", "Stopping")
	p.Press(kb.Escape) // not waiting for the end
	p.Misses("#stop")

	g.on("POST /api/query", turn(object{"type": "text", "text": "Something else."}))
	p.ask("And now?")
	p.Sees("[data-turn=done] [data-answer]", "Something else.")

	g.on("POST /api/query", turn(object{"type": "text", "text": "I was stopped elsewhere"}, object{"type": "stop", "reason": "cancelled"}))
	p.ask("And then?")
	p.Sees("[data-turn=done]:last-child [data-notice=stopped]", "Stopped")
}

// What was stopped says so after a reload, also where nothing of the answer was there yet.
func TestStoppedAnswerStaysStopped(t *testing.T) {
	g, p := newGateway(t), newPage(t)
	stopped := []object{{"kind": "stopped", "text": "Stopped. What you see may be incomplete."}}
	g.on("GET /api/conversations", answer(http.StatusOK, object{"conversations": []object{{"id": "c1", "title": "Talk"}}}))
	g.on("GET /api/conversations/{id}", answer(http.StatusOK, object{"id": "c1", "title": "Talk", "messages": []object{
		{"id": "1", "role": "user", "content": "Talk"},
		{"id": "2", "role": "assistant", "content": "I begin", "notes": stopped},
		{"id": "3", "role": "user", "content": "Talk again"},
		{"id": "4", "role": "assistant", "content": "", "notes": stopped},
		{"id": "5", "role": "user", "content": "And now?"},
		{"id": "6", "role": "assistant", "content": "Something else."},
	}}))
	p.Open(g.URL + "/#/c/c1")
	p.Sees("[data-turn]:last-child", "Something else.")
	p.Sees("[data-turn]:first-child [data-text=model]", "I begin")
	p.Sees("[data-turn]:first-child [data-notice=stopped]", "Stopped. What you see may be incomplete.")
	p.Sees("[data-turn]:nth-child(2) [data-notice=stopped]", "Stopped")
	p.Misses("[data-turn]:last-child [data-notice]")
	p.Misses("[data-note]")
}

// An answer that a server was not asked for, and one that broke off, say so after a reload.
func TestAnswerThatIsNotWholeStaysSo(t *testing.T) {
	t.Parallel()
	g, p := newGateway(t), newPage(t)
	note := func(kind, text string) []object { return []object{{"kind": kind, "text": text}} }
	g.on("GET /api/conversations", answer(http.StatusOK, object{"conversations": []object{{"id": "c1", "title": "Talk"}}}))
	g.on("GET /api/conversations/{id}", answer(http.StatusOK, object{"id": "c1", "title": "Talk", "messages": []object{
		{"id": "1", "role": "user", "content": "Tickets and invoices"},
		{"id": "2", "role": "assistant", "content": "There are 4 open tickets.", "notes": note("unavailable", "finance: It could not be asked.")},
		{"id": "3", "role": "user", "content": "Overdue?"},
		{"id": "4", "role": "assistant", "content": "Overdue are: Acme,", "notes": note("broken", "The model's answer broke off. Ask again.")},
	}}))
	p.Open(g.URL + "/#/c/c1")
	p.Sees("[data-turn]:first-child [data-text=model]", "There are 4 open tickets.")
	p.Sees("[data-turn]:first-child [data-notice=unavailable]", "finance: It could not be asked.")
	p.Sees("[data-turn]:last-child [data-text=model]", "Overdue are: Acme,")
	p.Sees("[data-turn]:last-child [data-error]", "The model's answer broke off. Ask again.")
	p.Misses("[data-note]")
}

// What broke off is said in the reader's language after a reload, too, because its code is kept.
func TestAnswerThatBrokeOffIsInTheReadersLanguage(t *testing.T) {
	t.Parallel()
	g, p := newGateway(t), newPage(t)
	g.on("GET /api/conversations", answer(http.StatusOK, object{"conversations": []object{{"id": "c1", "title": "Talk"}}}))
	g.on("GET /api/conversations/{id}", answer(http.StatusOK, object{"id": "c1", "title": "Talk", "messages": []object{
		{"id": "1", "role": "user", "content": "Overdue?"},
		{"id": "2", "role": "assistant", "content": "Overdue are: Acme,", "notes": []object{{"kind": "broken", "text": "It took too long.", "code": "TIMEOUT"}}},
	}}))
	p.Open(g.URL + "/icon.svg")
	eval[bool](p, `localStorage.setItem("countersign.language", "de") ?? true`)
	p.Open(g.URL + "/#/c/c1")
	p.Sees("[data-turn] [data-error]", "Das hat zu lange gedauert.")
}

// A stream that is being opened for the first time is no line that was lost.
func TestOpeningIsNoLostLine(t *testing.T) {
	t.Parallel()
	g, p := newGateway(t), newPage(t)
	asked := make(chan struct{}, 1)
	g.on("GET /api/events", func(_ http.ResponseWriter, r *http.Request) {
		asked <- struct{}{}
		g.idle(r)
	})
	p.Open(g.URL)
	p.Sees("#greeting", "Hello")
	<-asked
	if eval[bool](p, `new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(document.body.innerText.includes("Connection lost")))))`) {
		t.Error("the page says that the connection is lost")
	}
}

// A connection that closes late ends no turn but its own.
func TestNextTurnOutlivesTheLastConnection(t *testing.T) {
	t.Parallel()
	g, p := newGateway(t), newPage(t)
	late := make(chan struct{})
	g.on("POST /api/query", func(w http.ResponseWriter, _ *http.Request) {
		s := begun(w)
		s.send(object{"type": "text", "text": "One."})
		s.done()
		<-late
	})
	p.Open(g.URL)
	p.ask("The first")
	p.Sees("[data-turn=done] [data-answer]", "One.")
	g.on("POST /api/query", func(w http.ResponseWriter, r *http.Request) {
		begun(w).send(object{"type": "text", "text": "Two"})
		g.idle(r)
	})
	p.ask("The second")
	p.Sees("[data-answer]", "Two")
	close(late)
	eval[bool](p, `(async () => { for (let i = 0; i < 5; i++) await (await fetch("/api/user")).text(); return true })()`) // the end arrives before these
	p.Press(kb.Escape)
	p.Sees("[data-thinking]", "Stopping")
}

// Who has scrolled up is led back to the end, and follows from there.
func TestButtonLeadsToTheEnd(t *testing.T) {
	t.Parallel()
	g, p := newGateway(t), newPage(t)
	more, end := make(chan struct{}), make(chan struct{})
	g.on("POST /api/query", func(w http.ResponseWriter, r *http.Request) {
		s := begun(w)
		s.send(object{"type": "text", "text": strings.Repeat("Words.\n\n", 200)})
		<-more
		s.send(object{"type": "text", "text": strings.Repeat("More words.\n\n", 200)})
		<-end
		s.send(object{"type": "text", "text": strings.Repeat("Last words.\n\n", 200)})
		s.done()
	})
	const atEnd = `(() => { const v = document.getElementById("view"); return v.scrollHeight - v.scrollTop - v.clientHeight < 2 })()`
	p.Open(g.URL)
	p.ask("Much")
	p.Sees("[data-answer]", "Words.")
	p.Until(atEnd)
	p.Misses("#to-end")
	eval[bool](p, `(document.getElementById("view").scrollTop = 10, true)`)
	p.Sees("#to-end", "To the end")
	close(more)
	p.Sees("[data-answer]", "More words.")
	if eval[float64](p, `document.getElementById("view").scrollTop`) != 10 {
		t.Error("the page moved under its reader")
	}
	p.Click("#to-end")
	p.Until(atEnd)
	p.Misses("#to-end")
	p.Until(`document.activeElement.id === "question"`)
	close(end)
	p.Sees("[data-turn=done] [data-answer]", "Last words.")
	p.Until(atEnd)
	p.Misses("#to-end")
	eval[bool](p, `(document.getElementById("view").scrollTop = 10, true)`)
	p.Sees("#to-end", "To the end")
	eval[bool](p, `(location.hash = "#/usage") !== ""`)
	p.Sees("#page-title", "")
	p.Misses("#to-end")
}
