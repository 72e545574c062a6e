package web_test

import (
	"io/fs"
	"net/http"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"countersign.dev/web"
)

func bob() object {
	return object{"userId": "u2", "username": "bob.martinez", "name": "Bob Martinez", "roles": []string{"finance-write"}}
}

// A page whose browser is signed in as someone else by now does nothing any more.
func TestPageOfAnotherPersonIsFrozen(t *testing.T) {
	t.Parallel()
	t.Run("the other tab says so", func(t *testing.T) {
		t.Parallel()
		g, p := newGateway(t), newPage(t)
		p.Open(g.URL)
		p.Sees("#user-name", "Alice Chen")
		p.Until(`(() => { new BroadcastChannel("countersign").postMessage({ person: "u2" }); return true })()`)
		p.Sees("#frozen", "shows the data of Alice Chen")
		p.Until(`document.querySelector("#frozen").matches(":modal")`)
		p.Press(kb.Escape)
		p.Sees("#frozen", "Alice Chen")
		g.on("GET /api/user", answer(http.StatusOK, bob()))
		p.Click("#frozen-reload")
		p.Sees("#user-name", "Bob Martinez")
	})
	t.Run("the other tab signs out", func(t *testing.T) {
		t.Parallel()
		g, p := newGateway(t), newPage(t)
		p.Open(g.URL)
		p.Sees("#user-name", "Alice Chen")
		p.Until(`(() => { globalThis.tab = new BroadcastChannel("countersign"); tab.onmessage = ({ data }) => (globalThis.received = data.person); return true })()`)
		p.Until(`(() => { document.getElementById("sign-out").form.onsubmit = () => false; return true })()`)
		p.Click("#sign-out")
		p.Until(`globalThis.received === ""`)
		p.Until(`(() => { tab.postMessage({ person: "" }); return true })()`)
		p.Sees("#session-ended", "Sign in again")
	})
	t.Run("the gateway says so", func(t *testing.T) {
		t.Parallel()
		g := newGateway(t)
		g.on("POST /api/confirm/{id}", func(w http.ResponseWriter, r *http.Request) {
			if got := r.Header.Get("Countersign-Person"); got != "u1" {
				t.Errorf("the approval was sent as %q, want u1", got)
			}
			answer(http.StatusConflict, object{"error": "Conflict", "code": "PERSON_CHANGED", "message": "This browser is signed in as someone else now."})(w, r)
		})
		p := withCard(t, g, pending("x1"))
		p.Click("[data-approve]")
		p.Sees("#frozen", "signed in as someone else")
	})
}

// What a person has written is not shown to the next one in the same browser, and is
// there when the first one comes back.
func TestDraftBelongsToItsPerson(t *testing.T) {
	t.Parallel()
	g, p := newGateway(t), newPage(t)
	p.Open(g.URL)
	p.ready()
	p.Click("#question")
	p.Press("Is Ben paid more?")
	p.Until(`Object.keys(sessionStorage).some((key) => key.startsWith("countersign.draft"))`)
	g.on("GET /api/user", answer(http.StatusOK, bob()))
	p.Reload()
	p.Sees("#user-name", "Bob Martinez")
	p.ready()
	if got := eval[string](p, `document.getElementById("question").value`); got != "" {
		t.Errorf("Bob's page has %q in the field", got)
	}
	g.on("GET /api/user", answer(http.StatusOK, object{"userId": "u1", "username": "alice.chen", "name": "Alice Chen"}))
	p.Reload()
	p.Sees("#user-name", "Alice Chen")
	p.Until(`document.getElementById("question").value === "Is Ben paid more?"`)
}

// The page has no list of roles: the role of any domain is named.
func TestFirstRoleIsNamed(t *testing.T) {
	t.Parallel()
	g, p := newGateway(t), newPage(t)
	g.on("GET /api/user", answer(http.StatusOK, object{"userId": "u1", "username": "alice.chen", "name": "Alice Chen", "roles": []string{"legal-write", "employee"}}))
	p.Open(g.URL)
	p.Sees("#user-role", "legal-write and 1 more")
}

func TestNameAndRoleAreVisibleOnAPhone(t *testing.T) {
	t.Parallel()
	g, p := newGateway(t), newPage(t)
	p.Open(g.URL)
	p.Narrow(360)
	p.Sees("#user-name", "Alice Chen")
	p.Sees("#user-role", "hr-write")
	p.Until(`innerWidth === 360`)
	if got := eval[float64](p, `document.getElementById("user-name").getBoundingClientRect().width`); got < 60 {
		t.Errorf("the name has %v pixels, want at least 60", got)
	}
}

// A question that did not arrive goes back to its field, also after a reload.
func TestQuestionThatWasNotSentIsKept(t *testing.T) {
	t.Parallel()
	g, p := newGateway(t), newPage(t)
	g.on("POST /api/query", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	p.Open(g.URL)
	p.ask("Is anyone there?")
	p.Until(`document.getElementById("question").value === "Is anyone there?"`)
	p.Sees("#toast", "was not sent")
	if got := p.Count("[data-turn]"); got != 0 {
		t.Errorf("got %d turns of a question that was not sent", got)
	}
	p.Reload()
	p.Until(`document.getElementById("question").value === "Is anyone there?"`)
	p.ready()
	eval[bool](p, `dispatchEvent(new Event("offline"))`)
	p.Sees("#line", "You are offline. What you ask is kept until you are back.")
	g.on("POST /api/query", g.hears(turn(object{"type": "text", "text": "Yes."})))
	eval[bool](p, `dispatchEvent(new Event("online"))`)
	p.Misses("#line")
	p.Press("\r")
	p.Sees("[data-turn=done] [data-answer]", "Yes.")
	if got := g.said(); len(got) != 1 || !strings.Contains(got[0], "Is anyone there?") {
		t.Errorf("sent %q", got)
	}
}

// After Stop nothing more is drawn, and a turn without an id is cancelled when it has one.
func TestStopIsFinal(t *testing.T) {
	t.Parallel()
	g, p := newGateway(t), newPage(t)
	asked, stopped, cancelled := make(chan struct{}), make(chan struct{}), make(chan struct{})
	g.on("POST /api/conversations/{id}/cancel", g.hears(func(w http.ResponseWriter, r *http.Request) {
		close(cancelled)
		answer(http.StatusOK, object{"cancelled": true})(w, r)
	}))
	g.on("POST /api/query", func(w http.ResponseWriter, _ *http.Request) {
		close(asked)
		s := newStream(w)
		<-stopped
		s.send(object{"type": "start", "conversationId": "c1", "model": "rehearsal"})
		s.send(object{"type": "text", "text": "I go on all the same"})
		<-cancelled
		s.done()
	})
	p.Open(g.URL)
	p.ask("Talk")
	<-asked
	p.Press(kb.Escape)
	p.Sees("[data-thinking]", "Stopping")
	close(stopped)
	p.Sees("[data-turn=done] [data-notice=stopped]", "Stopped")
	if strings.Contains(p.Text("#log"), "I go on") {
		t.Error("what came after Stop was drawn")
	}
}

func TestPageNeverScrollsAway(t *testing.T) {
	t.Parallel()
	g, p := newGateway(t), newPage(t)
	g.on("POST /api/query", turn(object{"type": "text", "text": strings.Repeat("A line.\n\n", 200)}))
	p.Open(g.URL)
	p.ask("Much")
	p.Sees("[data-turn=done] [data-answer]", "A line.")
	eval[bool](p, `(() => { scrollTo(0, 500); document.body.scrollTop = 500; document.querySelector(".prose p").scrollIntoView(); return true })()`)
	if got := eval[float64](p, `document.getElementById("top").getBoundingClientRect().top`); got != 0 {
		t.Errorf("the header is at %v, want 0", got)
	}
}

// Data shows as itself, whatever it looks like.
func TestDataShowsAsItself(t *testing.T) {
	t.Parallel()
	g, p := newGateway(t), newPage(t)
	page := employees(2, "")
	page["data"].([]object)[0]["department"] = "A|B &lt;b&gt; <i>x</i>"
	g.on("POST /api/query", turn(listed(page, nil), object{"type": "text", "text": "| A | B |\n|---|---|\n| one \\| two | &lt; |"}))
	p.Open(g.URL)
	p.ask("List")
	p.Sees("[data-turn=done] [data-field=department]", "A|B &lt;b&gt; <i>x</i>")
	if got := eval[[]string](p, `[...document.querySelectorAll(".prose td")].map((n) => n.textContent)`); len(got) != 2 || got[0] != "one | two" || got[1] != "&lt;" {
		t.Errorf("the cells are %q", got)
	}
}

// Words and numbers in German, without a sentence of English left on the first page.
func TestGermanIsSpoken(t *testing.T) {
	t.Parallel()
	g, p := newGateway(t), newPage(t)
	g.on("POST /api/query", turn(pending("x1")))
	p.Open(g.URL)
	p.Sees("#greeting", "Hello, Alice.")
	p.Until(`(() => { const s = document.getElementById("language"); s.value = "de"; s.dispatchEvent(new Event("change")); return true })()`)
	p.Sees("#greeting", "Guten Tag, Alice.")
	p.Sees("#sign-out", "Abmelden")
	p.Until(`document.documentElement.lang === "de"`)
	p.ask("Delete him")
	p.Sees("[data-card=x1]", "125.000")
	p.Sees("[data-card=x1] [data-approve]", ": Frank Davis")
	missing := module[[]string](p, "de.js", `
		const { words } = m;
		const missing = [];
		for (const file of arg) {
			const text = await (await fetch("/" + file)).text();
			for (const [, one] of text.matchAll(/\bt\(\s*"((?:[^"\\]|\\.)*)"/g)) if (!(one in words)) missing.push(file + ": " + one);
		}
		return missing`, scripts(t))
	for _, one := range missing {
		t.Errorf("no German for %s", one)
	}
}

// In German a question to begin with is shown as it is asked: in German of a model that
// reads it, in English of rehearsal, which is said; what servers say in English comes after words of the page's own.
func TestServersAreAnsweredForInGerman(t *testing.T) {
	t.Parallel()
	for model, asked := range map[string]string{"rehearsal": "List all employees", "careful": "Zeige alle Mitarbeiter"} {
		g, p := newGateway(t), newPage(t)
		list := tools()[0]
		list["fields"] = object{"ask": "List all employees"}
		list["description"] = "Show one employee's record. More."
		g.on("GET /api/tools", answer(http.StatusOK, object{"tools": []object{list}, "servers": []object{}, "model": model}))
		g.on("POST /api/query", g.hears(turn(
			object{"type": "tool", "state": "complete", "tool": "list_employees", "server": "hr", "message": "List employees: 3 rows", "data": employees(3, "next"), "args": object{}},
			object{"type": "truncation", "tool": "list_employees", "hint": "Showing 3 of 3+ employees."},
			object{"type": "tool", "state": "complete", "tool": "update_salary", "server": "hr", "data": object{"status": "error", "code": "INSUFFICIENT_PERMISSIONS", "message": "Not open to you."}},
			object{"type": "error", "error": "It took too long.", "code": "TIMEOUT"})))
		p.Open(g.URL + "/icon.svg")
		eval[bool](p, `localStorage.setItem("countersign.language", "de") ?? true`)
		p.Open(g.URL)
		p.Sees("[data-suggestion]", asked)
		if got := p.Count("#english:not([hidden])") == 1; got != (model == "rehearsal") {
			t.Errorf("%s: the page says that English is needed: %t", model, got)
		}
		p.Click("#everything summary")
		p.Sees("#all-tools", "Zeigt die Daten eines Mitarbeiters.")
		p.Click("[data-suggestion]")
		p.Sees("[data-tool=list_employees] .tool-words", "Mitarbeiter: 3 Zeilen")
		p.Until(`document.querySelector("[data-notice=truncation]").textContent === "3 Zeilen gezeigt. Das Ergebnis ist unvollständig."`)
		p.Sees("[data-refusal]", "Ihre Rollen erlauben das nicht. Not open to you.")
		p.Sees("[data-error=TIMEOUT]", "Das hat zu lange gedauert. It took too long.")
		if got := g.said(); len(got) != 1 || !strings.Contains(got[0], asked) {
			t.Errorf("%s was asked %q, want %q", model, got, asked)
		}
	}
}

// scripts are the files of the page's own code.
func scripts(t *testing.T) (names []string) {
	t.Helper()
	for _, pattern := range []string{"*.js", "views/*.js"} {
		found, err := fs.Glob(web.Files, pattern)
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, found...)
	}
	return names
}

// A text of a connected server comes into the question box as it is written, and
// nothing is asked with it.
func TestTextsOfServersComeIntoTheQuestionBox(t *testing.T) {
	t.Parallel()
	g, p := newGateway(t), newPage(t)
	g.on("GET /api/prompts", answer(http.StatusOK, object{"prompts": []object{{"server": "notes", "name": "greet", "title": "Say <b>hello</b>"}}}))
	g.on("GET /api/prompts/{server}/{prompt}", func(w http.ResponseWriter, r *http.Request) {
		answer(http.StatusOK, object{"text": r.PathValue("server") + " says <i>hello</i>", "untrusted": true})(w, r)
	})
	g.on("POST /api/query", func(http.ResponseWriter, *http.Request) { t.Error("a question was asked") })
	p.Open(g.URL)
	p.ready()
	p.Press("k", chromedp.KeyModifiers(chromedp.ModifierCtrl))
	p.Sees("#palette [role=option]", "Text of notes: Say <b>hello</b>") // keys go to the palette once it is drawn
	p.Press("hello")
	p.Sees("#palette [aria-selected=true]", "Text of notes: Say <b>hello</b>")
	p.Press("\r")
	p.Until(`document.getElementById("question").value === "notes says <i>hello</i>"`)
}

// Chosen in a conversation, it comes into the box of a new one, and is not lost on the way.
func TestTextChosenInAConversationBeginsANewOne(t *testing.T) {
	t.Parallel()
	g, p := newGateway(t), newPage(t)
	g.on("GET /api/prompts", answer(http.StatusOK, object{"prompts": []object{{"server": "notes", "name": "greet", "title": "Greet"}}}))
	g.on("GET /api/prompts/{server}/{prompt}", answer(http.StatusOK, object{"text": "hello"}))
	g.on("GET /api/conversations/{id}", answer(http.StatusOK, object{"id": "c7", "messages": []object{{"id": "1", "role": "user", "content": "Before"}}}))
	p.Open(g.URL + "/#/c/c7")
	p.Sees("[data-question]", "Before")
	p.ready()
	p.Press("k", chromedp.KeyModifiers(chromedp.ModifierCtrl))
	p.Sees("#palette [role=option]", "Text of notes: Greet")
	p.Press("greet")
	p.Sees("#palette [aria-selected=true]", "Text of notes: Greet")
	p.Press("\r")
	p.Until(`location.hash === "#/" && document.getElementById("question").value === "hello" && !document.querySelector("[data-question]")`)
}

// A text with blanks asks for them in the page's own fields: what is required must be
// there, what is empty is not sent, and closing it writes nothing.
func TestBlanksOfATextAreFilledInThePage(t *testing.T) {
	t.Parallel()
	g, p := newGateway(t), newPage(t)
	g.on("GET /api/prompts", answer(http.StatusOK, object{"prompts": []object{{"server": "notes", "name": "letter", "title": "A letter", "arguments": []object{
		{"name": "to", "description": "To whom it <b>goes</b>", "required": true}, {"name": "cc"}, {"name": "about", "required": true},
	}}}}))
	asked := make(chan string, 10)
	g.on("GET /api/prompts/{server}/{prompt}", func(w http.ResponseWriter, r *http.Request) {
		asked <- r.URL.RawQuery
		answer(http.StatusOK, object{"text": "Dear " + r.URL.Query().Get("to")})(w, r)
	})
	p.Open(g.URL)
	eval[bool](p, `(window.prompt = () => { throw new Error("the browser was asked") }, true)`)
	blanks := func() {
		t.Helper()
		p.ready()
		p.Press("k", chromedp.KeyModifiers(chromedp.ModifierCtrl))
		p.Sees("#palette [role=option]", "New conversation")
		p.Press("letter")
		p.Sees("#palette [aria-selected=true]", "A letter")
		p.Press("\r")
		p.Sees("#palette [data-blanks] label", "to")
	}
	blanks()
	p.Sees("#palette .hint", "To whom it <b>goes</b>")
	p.Press("\u001b")
	p.Misses("#palette")
	blanks()
	p.Press("Ann & Bob\r")
	p.Until(`document.querySelector("#palette [name=about]").matches(":invalid:focus")`) // the first that lacks, and the form is still there
	p.Press("the sea\r")
	p.Until(`document.getElementById("question").value === "Dear Ann & Bob"`)
	p.Misses("#palette")
	if got := <-asked; got != "to=Ann+%26+Bob&about=the+sea" || len(asked) != 0 {
		t.Errorf("asked for %q and %d more", got, len(asked))
	}
}

// What is typed before the field of Ctrl+K has loaded belongs to it.
func TestKeysBeforeThePaletteHasLoadedAreItsOwn(t *testing.T) {
	t.Parallel()
	g, p := newGateway(t), newPage(t)
	asked, typed := make(chan struct{}), make(chan struct{})
	files := g.route("GET /")
	g.on("GET /", func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/palette.js") {
			close(asked)
			select {
			case <-typed:
			case <-g.end:
			}
		}
		files(w, r)
	})
	g.on("GET /api/conversations", answer(http.StatusOK, object{"conversations": []object{{"id": "c7", "title": "Budget of Sales"}}}))
	p.Open(g.URL)
	p.Sees("[data-conversation=c7]", "Budget")
	p.ready()
	p.Press("k", chromedp.KeyModifiers(chromedp.ModifierCtrl))
	<-asked
	p.Press("budges" + kb.Backspace + "t")
	close(typed)
	p.Sees("#palette [aria-selected=true]", "Budget of Sales")
	p.Until(`document.querySelector("#palette input").value === "budget" && document.getElementById("question").value === ""`)
}

// Ctrl+K leads to a conversation; the arrow up brings the last question back.
func TestKeysLeadEverywhere(t *testing.T) {
	t.Parallel()
	g, p := newGateway(t), newPage(t)
	g.on("GET /api/conversations", answer(http.StatusOK, object{"conversations": []object{{"id": "c7", "title": "Budget of <b>Sales</b>"}}}))
	g.on("GET /api/conversations/{id}", answer(http.StatusOK, object{"id": "c7", "messages": []object{{"id": "1", "role": "user", "content": "How much?"}, {"id": "2", "role": "assistant", "content": "Much."}}}))
	p.Open(g.URL)
	p.Sees("[data-conversation=c7]", "Budget")
	p.ready()
	p.Press("k", chromedp.KeyModifiers(chromedp.ModifierCtrl))
	p.Sees("#palette [role=option]", "Who works here?")
	p.Press("budget")
	p.Sees("#palette [aria-selected=true]", "Budget of <b>Sales</b>")
	p.Until(`document.querySelectorAll("#palette [role=option]").length === 1`)
	p.Press("\r")
	p.Sees("[data-answer]", "Much.")
	p.Until(`!document.getElementById("palette") && document.activeElement.id === "question"`)
	p.Press(kb.ArrowUp)
	p.Until(`document.getElementById("question").value === "How much?"`)
	p.Click("#new") // where nothing was asked yet
	p.Until(`document.activeElement.id === "question" && document.getElementById("question").value === "" && !document.querySelector("[data-turn]")`)
	p.Press(kb.ArrowUp)
	p.Until(`document.getElementById("question").value === "How much?"`)
}
