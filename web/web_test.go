package web_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

func TestSignedOutReaderIsShownTheWayIn(t *testing.T) {
	t.Parallel()
	g, p := newGateway(t), newPage(t)
	g.on("GET /api/user", answer(http.StatusUnauthorized, object{"status": "error", "code": "UNAUTHENTICATED", "message": "No caller is signed in."}))
	p.Open(g.URL)
	p.Sees("#sign-in", "Sign in")
	p.Misses("#app")
	p.Looks("signed-out")
	p.Click("#sign-in")
	p.Until(`location.pathname === "/login"`)
}

func TestEmptyPageOffersWhatTheToolsCanDo(t *testing.T) {
	t.Parallel()
	g, p := newGateway(t), newPage(t)
	g.on("POST /api/query", g.hears(turn(object{"type": "text", "text": "Here they are."})))
	p.Open(g.URL)
	p.Sees("[data-suggestion=list_employees]", "Who works here?")
	p.Sees("#model", "not an AI model")
	p.Misses("#welcome") // it says that an AI answers
	p.Looks("empty")

	if got := p.Count("[data-suggestion]"); got != 1 {
		t.Errorf("got %d suggestions, want no deletion and no tool without a question", got)
	}
	p.Click("[data-suggestion=list_employees]")
	p.Sees("[data-answer]", "Here they are.")
	if got := g.said(); len(got) != 1 || !strings.Contains(got[0], `"Who works here?"`) {
		t.Errorf("got %q, want one question", got)
	}
}

// TestFirstSuggestionsAreLists: a list has something to look at, and every server gets its turn
// before one gets a second.
func TestFirstSuggestionsAreLists(t *testing.T) {
	t.Parallel()
	g, p := newGateway(t), newPage(t)
	p.Open(g.URL)
	var tools []object
	for _, one := range []string{"hr read get_me", "hr list people", "hr list reviews", "hr write fire", "tasks list tasks", "tasks read usage", "sales list deals", "sales list customers"} {
		about := strings.Fields(one)
		tools = append(tools, object{"server": about[0], "kind": about[1], "name": about[2], "fields": object{"ask": "What about " + about[2] + "?"}})
	}
	got := module[[]string](p, "views/suggestions.js", `return m.pick(arg).map((tool) => tool.name)`, tools)
	if want := []string{"people", "tasks", "deals", "reviews", "customers", "get_me"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// A person without tools, as an auditor is, reads why nothing is offered.
func TestPageOfAPersonWithoutToolsSaysSo(t *testing.T) {
	t.Parallel()
	g, p := newGateway(t), newPage(t)
	g.on("GET /api/tools", answer(http.StatusOK, object{"tools": []object{}, "servers": []object{}, "model": "careful"}))
	p.Open(g.URL)
	p.Sees("#no-tools", "Your roles open none of the company's data to you here")
	p.Sees("#welcome", "I'm an AI assistant")
	p.Misses("#suggest, #everything")
}

func TestAnswerStreamsIn(t *testing.T) {
	t.Parallel()
	g, p := newGateway(t), newPage(t)
	next := make(chan struct{})
	g.on("POST /api/query", func(w http.ResponseWriter, r *http.Request) {
		s := begun(w)
		s.send(object{"type": "tool", "state": "processing", "tool": "list_employees", "server": "hr", "message": "Looking for people", "callId": "c1"})
		<-next
		s.send(object{"type": "tool", "state": "processing", "tool": "list_employees", "server": "hr", "message": "Read 3 of 5", "callId": "c1"})
		<-next
		s.send(object{"type": "tool", "state": "complete", "tool": "list_employees", "server": "hr", "message": "Found people", "callId": "c1", "data": object{"status": "success", "data": []object{}}})
		s.send(object{"type": "text", "text": "There are **fi"})
		<-next
		s.send(object{"type": "text", "text": "ve** of them."})
		s.done()
	})
	p.Open(g.URL)
	p.ask("Who is there?")
	p.Sees("[data-question]", "Who is there?")
	if got := eval[string](p, `document.getElementById("question").value`); got != "" {
		t.Errorf("the sent question left %q in its field", got)
	}
	p.Sees("[data-tool-state=processing]", "Looking for people")
	p.Sees("#stop", "")
	next <- struct{}{}
	p.Sees("[data-tool-state=processing]", "Read 3 of 5")
	next <- struct{}{}
	p.Sees("[data-tool-state=complete]", "Found people")
	p.Misses("[data-tool-state=processing]")
	p.Sees("[data-answer]", "There are **fi")
	next <- struct{}{}
	p.Sees("[data-answer] strong", "five")
	p.Until(`/\b\d+ ms/.test(document.querySelector("[data-turn=done] [data-how]").textContent)`)
	p.Sees("[data-turn=done] [data-model=rehearsal]", "not an AI model")
	p.Sees("#model", "not an AI model")
	p.Until(`document.getElementById("announcer").textContent.includes("of them.")`)
	p.Until(`location.hash === "#/c/c1"`)
}

func TestNoticesTellWhatIsMissing(t *testing.T) {
	t.Parallel()
	g, p := newGateway(t), newPage(t)
	g.on("POST /api/query", turn(
		object{"type": "service_unavailable", "warnings": []object{{"server": "finance", "code": "TIMEOUT", "message": "Finance did not answer."}}},
		object{"type": "truncation", "tool": "list_employees", "hint": "Showing 50 of 50+ employees."},
		object{"type": "text", "text": "These are some."},
		object{"type": "text", "text": "The list is incomplete.", "source": "gateway"},
	))
	p.Open(g.URL)
	p.ask("List all")
	p.Sees("[data-notice=unavailable]", "Finance did not answer.")
	p.Sees("[data-notice=truncation]", "Showing 50 of 50+ employees.")
	p.Sees("[data-text=gateway]", "The list is incomplete.")
	p.Sees("[data-text=model]", "These are some.")
}

func TestErrorOffersToAskAgain(t *testing.T) {
	t.Parallel()
	g, p := newGateway(t), newPage(t)
	g.on("POST /api/query", turn(object{"type": "error", "error": "The model did not answer.", "code": "TIMEOUT"}))
	p.Open(g.URL)
	p.ask("Anyone?")
	p.Sees("[data-error=TIMEOUT]", "The model did not answer.")

	g.on("POST /api/query", answer(http.StatusTooManyRequests, object{"status": "error", "code": "RATE_LIMITED", "message": "Too many questions.", "suggestedAction": "Wait a minute."}))
	p.Click("[data-retry]")
	p.Sees("[data-error=RATE_LIMITED]", "Too many questions. Wait a minute.")

	g.on("POST /api/query", turn(object{"type": "text", "text": "Here I am."}))
	p.Click("[data-error=RATE_LIMITED] [data-retry]")
	p.Sees("[data-answer]", "Here I am.")
	if got := p.Count("[data-question]"); got != 3 {
		t.Errorf("got %d questions, want 3", got)
	}
}

func TestEndedSessionKeepsTheQuestion(t *testing.T) {
	t.Parallel()
	g, p := newGateway(t), newPage(t)
	g.on("GET /login", redirect("/"))
	g.on("POST /api/query", answer(http.StatusUnauthorized, object{"status": "error", "code": "UNAUTHENTICATED", "message": "A bearer token is required.", "suggestedAction": "Send a valid bearer token."}))
	p.Open(g.URL)
	p.ask("Am I here?")
	p.Sees("[data-error=UNAUTHENTICATED]", "Your session has ended.")
	if text := p.Text("[data-error=UNAUTHENTICATED]"); strings.Contains(text, "bearer") {
		t.Errorf("the page says %q", text)
	}
	p.Sees("#session-ended", "Sign in again")
	p.Click("#session-ended a") // over the issuer's page and back
	p.Until(`document.getElementById("session-ended").hidden && document.getElementById("question").value === "Am I here?"`)

	g.on("GET /api/conversations/{id}", answer(http.StatusOK, object{"id": "c7", "messages": []object{{"id": "1", "role": "user", "content": "Before"}}}))
	p.Open("about:blank")
	p.Open(g.URL + "/#/c/c7")
	p.Sees("[data-question]", "Before")
	p.ask("And in here?")
	p.Click("#session-ended a")
	p.Until(`location.hash === "#/c/c7" && document.getElementById("session-ended").hidden && document.getElementById("question").value === "And in here?"`)

	p.ready()
	p.Press("\r")
	p.Until(`!document.getElementById("session-ended").hidden`)
	g.on("GET /api/user", answer(http.StatusOK, bob()))
	p.Click("#session-ended a") // another person signs in there
	p.Until(`document.getElementById("user-name").textContent === "Bob Martinez" && location.hash !== "#/c/c7" && document.getElementById("question").value === ""`)
}

func TestQuestionIsCountedInCharacters(t *testing.T) {
	t.Parallel()
	g, p := newGateway(t), newPage(t)
	p.Open(g.URL)
	p.ready()
	fill := func(count int) {
		t.Helper()
		module[bool](p, "dom.js", `const f = document.getElementById("question"); f.value = "𝒶".repeat(arg); f.dispatchEvent(new Event("input")); return true`, count)
	}
	fill(2048)
	p.Sees("#counter[data-over=false]", "2,048 / 2,048")
	p.Until(`!document.getElementById("send").disabled`)
	fill(2049)
	p.Sees("#counter[data-over=true]", "2,049")
	p.Until(`document.getElementById("send").disabled`)
	p.Press("\r")
	if got := p.Count("[data-turn]"); got != 0 {
		t.Error("a question that is too long was sent")
	}
}

func TestKeyboardAloneIsEnough(t *testing.T) {
	t.Parallel()
	g, p := newGateway(t), newPage(t)
	g.on("POST /api/query", g.hears(turn(pending("k1"))))
	g.on("POST /api/confirm/{id}", g.hears(answer(http.StatusOK, object{"status": "cancelled", "message": "Action cancelled by user"})))
	p.Open(g.URL)
	p.ready()
	p.Press("first line")
	p.Press("\r", chromedp.KeyModifiers(chromedp.ModifierShift))
	p.Press("second line")
	if got := eval[string](p, `document.activeElement.value`); got != "first line\nsecond line" {
		t.Errorf("Shift+Enter gave %q", got)
	}
	p.Press("\r")
	p.Sees("[data-card=k1]", "Frank Davis")
	if got := eval[string](p, `document.activeElement.id`); got != "question" {
		t.Errorf("the card took the focus: %s", got)
	}
	for range 12 { // Shift+Tab walks back from the question to the card
		p.Press(kb.Tab, chromedp.KeyModifiers(chromedp.ModifierShift))
		if eval[bool](p, `document.activeElement.matches("[data-deny]")`) {
			break
		}
	}
	if outline := eval[string](p, `getComputedStyle(document.activeElement).outlineStyle`); outline != "solid" {
		t.Errorf("the focus cannot be seen: %s", outline)
	}
	p.Press(" ")
	p.Sees("[data-card-state=denied]", "Nothing was changed")
	p.Until(`document.activeElement.matches("[data-card]")`)
	p.Press(kb.Escape)
	p.Until(`document.activeElement.id === "question"`)
}

func TestSignOut(t *testing.T) {
	t.Parallel()
	g, p := newGateway(t), newPage(t)
	g.on("POST /logout", g.hears(func(w http.ResponseWriter, r *http.Request) {
		g.on("GET /api/user", answer(http.StatusUnauthorized, object{"error": "Unauthorized"}))
		g.on("GET /api/tools", func(http.ResponseWriter, *http.Request) { t.Error("asked in the name of who signed out") })
		redirect("/")(w, r)
	}))
	p.Open(g.URL)
	p.Sees("#user-name", "Alice Chen")
	p.Click("#sign-out")
	p.Sees("#sign-in", "Sign in")
}

// A conversation that could not be opened once is opened by the next click on it.
func TestConversationIsOpenedAgainAfterAFailure(t *testing.T) {
	t.Parallel()
	g, p := newGateway(t), newPage(t)
	g.on("GET /api/conversations", answer(http.StatusOK, object{"conversations": []object{{"id": "c1", "title": "Who is on my team?"}}}))
	g.on("GET /api/conversations/{id}", answer(http.StatusServiceUnavailable, object{"error": "Redis", "message": "The store of conversations cannot be reached."}))
	p.Open(g.URL + "/#/c/c1")
	p.Sees("#problem", "It could not be opened.")
	g.on("GET /api/conversations/{id}", answer(http.StatusOK, object{"id": "c1", "messages": []object{{"id": "1", "role": "user", "content": "Who is on my team?"}}}))
	p.Click("[data-conversation=c1] [data-open]")
	p.Sees("[data-question]", "Who is on my team?")
	p.Misses("#problem:not([hidden])")
}

// What was deleted just before signing out is deleted: with the session ended it cannot be.
func TestSignOutDeletesWhatWasDeleted(t *testing.T) {
	t.Parallel()
	g, p := newGateway(t), newPage(t)
	g.on("GET /api/conversations", answer(http.StatusOK, object{"conversations": []object{{"id": "c1", "title": "Who is on my team?"}}}))
	g.on("DELETE /api/conversations/{id}", g.hears(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) }))
	g.on("POST /logout", g.hears(func(w http.ResponseWriter, r *http.Request) {
		g.on("GET /api/user", answer(http.StatusUnauthorized, object{"error": "Unauthorized"}))
		redirect("/")(w, r)
	}))
	p.Open(g.URL)
	p.Click("[data-conversation=c1] [data-delete]")
	p.Misses("[data-conversation=c1]")
	p.Click("#sign-out")
	p.Sees("#sign-in", "Sign in")
	if got := g.said(); len(got) != 2 || !strings.HasPrefix(got[0], "DELETE /api/conversations/c1") || !strings.HasPrefix(got[1], "POST /logout") {
		t.Errorf("got %q", got)
	}
}

func TestConversationsAreListedOpenedAndDeleted(t *testing.T) {
	t.Parallel()
	g, p := newGateway(t), newPage(t)
	list := object{"conversations": []object{{"id": "c1", "title": "Who is on my team?"}, {"id": "c2", "title": "<b>Budget</b>"}}}
	g.on("GET /api/conversations", answer(http.StatusOK, list))
	g.on("GET /api/conversations/{id}", answer(http.StatusOK, object{"id": "c1", "messages": []object{
		{"id": "1", "role": "user", "content": "Who is on my team?"},
		{"id": "2", "role": "tool", "tool": "list_employees", "server": "hr", "args": object{"department": "Sales"}, "model": "rehearsal", "content": quoted(employees(2, "cursor"))},
		{"id": "2b", "role": "tool", "tool": "list_old", "content": quoted(employees(2, "cursor"))},
		{"id": "3", "role": "assistant", "model": "rehearsal", "content": "Two *people*."},
		{"id": "4", "role": "system", "content": "Employee Frank Davis has been deleted."},
	}, "model": "rehearsal"}))
	g.on("POST /api/mcp/{server}/{tool}", g.hears(answer(http.StatusOK, employees(1, ""))))
	g.on("DELETE /api/conversations/{id}", g.hears(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) }))
	p.Open(g.URL)
	p.Sees("[data-conversation=c2]", "<b>Budget</b>")
	p.Click("[data-conversation=c1] [data-open]")
	p.Sees("[data-question]", "Who is on my team?")
	p.Sees("[data-answer] em", "people")
	p.Sees("[data-result=list_employees] tbody", "Person 1")
	p.Sees("[data-answer] [data-result=list_old] [data-row-count]", "2 rows shown of more") // how it was asked was not stored
	p.Misses("[data-result=list_old] [data-next-page]")
	p.Sees("[data-notice=truncation][data-tool=list_employees]", "Results are incomplete")
	p.Sees("[data-notice=truncation][data-tool=list_old]", "Results are incomplete")
	p.Sees("#model", "not an AI model")
	p.Sees("[data-turn] [data-model=rehearsal]", "not an AI model")
	p.Click("[data-result=list_employees] [data-next-page]")
	p.Sees("[data-result=list_employees] [data-row-count]", "3 rows, complete")
	p.Sees("[data-notice=completed][data-tool=list_employees]", "All 3 rows are loaded")
	p.Sees("[data-outcome]", "Employee Frank Davis has been deleted.")
	p.Sees("[data-open][aria-current=page]", "Who is on my team?")

	p.stopWaiting()
	p.Click("[data-conversation=c1] [data-delete]")
	p.Misses("[data-conversation=c1]")
	p.Sees("#greeting", "Hello, Alice.")
	p.Click("[data-undo]")
	p.Sees("[data-conversation=c1]", "Who is on my team?")
	p.Click("[data-conversation=c1] [data-delete]")
	p.Misses("[data-conversation=c1]")
	p.Open("about:blank") // what can still be undone is done when the page is left
	g.waits(func(said []string) bool { return len(said) == 2 })
	want := []string{`POST /api/mcp/hr/list_employees {"department":"Sales","cursor":"cursor"}`, "DELETE /api/conversations/c1 "}
	if got := g.said(); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestNarrowWindowDoesNotScrollSideways(t *testing.T) {
	t.Parallel()
	g, p := newGateway(t), newPage(t)
	g.on("POST /api/query", turn(
		object{"type": "tool", "state": "complete", "tool": "list_employees", "server": "hr", "message": "Listed employees", "data": employees(12, "next")},
		object{"type": "text", "text": "| a | b |\n|---|---|\n| " + strings.Repeat("wide ", 40) + " | x |\n\n" + strings.Repeat("unbroken", 60) + "\n\n```\n" + strings.Repeat("code ", 60) + "\n```"},
		pending("n1"),
	))
	p.Open(g.URL)
	p.Narrow(360)
	fits := func(when string) {
		t.Helper()
		if got := eval[int](p, `Math.max(document.documentElement.scrollWidth, document.getElementById("view").scrollWidth)`); got > 360 {
			t.Errorf("%s: the page is %d pixels wide, want at most 360", when, got)
		}
	}
	p.Sees("#greeting", "Hello")
	p.Shot("narrow-empty")
	fits("empty")
	p.Sees("[data-suggestion]", "Who works here?") // it moves the field that is clicked next
	p.Click("#question")
	p.ask("List all employees")
	p.Sees("[data-turn=done] [data-card=n1]", "Frank")
	p.Looks("narrow-card")
	fits("answered")
	p.Click("#menu")
	p.Sees("#new", "New conversation")
	fits("with the conversations open")
}

// Text must stand out from its ground by the 4.5 to 1 that people with weak
// sight need, in both colour schemes; and nothing spins where motion is unwanted.
func TestBothColourSchemesAreReadable(t *testing.T) {
	t.Parallel()
	const weak = `(() => {
		const parse = (c) => { const [r, g, b, a = 1] = c.match(/[\d.]+/g).map(Number); return {r, g, b, a}; };
		const light = ({r, g, b}) => [r, g, b].map((v) => (v /= 255) <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4).reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
		const ground = (n) => { for (; n; n = n.parentElement) { const c = parse(getComputedStyle(n).backgroundColor); if (c.a === 1) return c; } return {r: 255, g: 255, b: 255}; };
		const found = [];
		const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
		for (let n; (n = texts.nextNode()); ) {
			const e = n.parentElement;
			if (!n.data.trim() || !e.checkVisibility() || e.closest(":disabled, .visually-hidden")) continue;
			const [a, b] = [light(parse(getComputedStyle(e).color)), light(ground(e))];
			const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
			if (ratio < 4.5) found.push(n.data.trim() + " " + ratio.toFixed(2));
		}
		return found;
	})()`
	for _, scheme := range []string{"light", "dark"} {
		t.Run(scheme, func(t *testing.T) {
			t.Parallel()
			g, p := newGateway(t), newPage(t)
			p.Prefer(scheme)
			g.on("POST /api/query", turn(
				object{"type": "tool", "state": "complete", "tool": "list_employees", "server": "hr", "message": "Listed employees", "data": employees(3, "next")},
				object{"type": "truncation", "tool": "list_employees", "hint": "Showing 3 of 3+ employees."},
				object{"type": "text", "text": "See [the **handbook**](https://example.com) and `code`."},
				object{"type": "error", "error": "Something failed.", "code": "TIMEOUT"},
				pending("x1"),
			))
			p.Open(g.URL)
			p.Sees("#suggestions", "Who works here?")
			for _, got := range eval[[]string](p, weak) {
				t.Errorf("empty: too weak: %s", got)
			}
			p.ask("Show me everything")
			p.Sees("[data-turn=done] [data-card=x1]", "Frank")
			p.Looks("scheme-" + scheme)
			for _, got := range eval[[]string](p, weak) {
				t.Errorf("answered: too weak: %s", got)
			}
			if got := eval[string](p, `getComputedStyle(document.querySelector(".dots")).animationName`); got != "none" {
				t.Errorf("it moves (%s) where motion is unwanted", got)
			}
		})
	}
}

// A refusal that the answer repeats is said once; advice that it does not repeat stays.
func TestRefusalIsSaidOnce(t *testing.T) {
	t.Parallel()
	g, p := newGateway(t), newPage(t)
	refused := object{"type": "tool", "state": "complete", "tool": "delete_employee", "server": "hr", "message": "Delete employee", "data": object{"status": "error", "code": "INVALID_INPUT", "message": "She has reports.", "suggestedAction": "Move them first."}}
	p.Open(g.URL)
	for text, want := range map[string]string{"That is not possible: She has reports.": "Move them first.", "No.": "She has reports. Move them first.", "She has reports. Move them first.": ""} {
		g.on("POST /api/query", turn(refused, object{"type": "text", "text": text}))
		p.Click("#new")
		p.ask("Delete her")
		p.Sees("[data-turn=done] [data-text]", text)
		if got := eval[string](p, `document.querySelector("[data-refusal]").innerText.trim()`); got != want {
			t.Errorf("beside %q the refusal says %q, want %q", text, got, want)
		}
	}
}

// A guess of the model that a later call of the same tool made good is a step without
// words; the refusal of another tool stays.
func TestMendedGuessesSayNothing(t *testing.T) {
	t.Parallel()
	g, p := newGateway(t), newPage(t)
	event := func(id, tool string, data object) object {
		return object{"type": "tool", "state": "complete", "tool": tool, "server": "tasks", "callId": id, "message": tool, "data": data}
	}
	wrong := object{"status": "error", "code": "INVALID_INPUT", "message": "The workspace cannot be used."}
	rows := object{"status": "success", "data": []object{{"title": "One"}, {"title": "Two"}}, "metadata": object{"returnedCount": 2}}
	g.on("POST /api/query", turn(event("1", "list_tasks", wrong), event("2", "list_projects", wrong), event("3", "list_tasks", rows), object{"type": "text", "text": "Two tasks."}))
	p.Open(g.URL)
	p.ask("What is due?")
	p.Sees("[data-turn=done] [data-text]", "Two tasks.")
	got := eval[[]string](p, `[...document.querySelectorAll("[data-refusal]")].map((n) => n.innerText.trim())`)
	if want := []string{"", "The workspace cannot be used."}; !slices.Equal(got, want) {
		t.Errorf("the refused steps say %q, want %q", got, want)
	}
}

// Who signs out asks for nothing more: what was planned to be read again is dropped.
func TestNothingIsAskedForAfterSigningOut(t *testing.T) {
	t.Parallel()
	g, p := newGateway(t), newPage(t)
	g.on("GET /api/conversations/{id}", answer(http.StatusOK, object{"id": "c1", "messages": []object{{"id": "1", "role": "user", "content": "How much?"}, {"id": "2", "role": "assistant", "content": "Much."}}}))
	p.Open(g.URL + "/#/c/c1")
	p.Sees("[data-answer]", "Much.")
	for _, leave := range []bool{false, true} {
		asked := module[int](p, "store.js", `
			const fetched = globalThis.fetch;
			let count = 0;
			globalThis.fetch = (path, ...rest) => (count += String(path).includes("/api/conversations/c1") ? 1 : 0, fetched(path, ...rest));
			const { outcomes } = await import("/change.js");
			outcomes.dispatchEvent(new CustomEvent("outcome", { detail: "c1" }));
			if (arg) m.leave();
			await new Promise((done) => setTimeout(done, 70)); // after what was planned before, which timers keep in order
			globalThis.fetch = fetched;
			return count`, leave)
		if (asked == 0) != leave {
			t.Errorf("signed out %v: the conversation was asked for %d times", leave, asked)
		}
	}
}
