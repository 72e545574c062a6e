package web_test

import (
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// The list of conversations is grouped by date, searched by title, and renamed in place.
func TestConversationsAreGroupedSearchedAndRenamed(t *testing.T) {
	t.Parallel()
	g, p := newGateway(t), newPage(t)
	old := func(id, title string, days int) object {
		return object{"id": id, "title": title, "updated": time.Now().AddDate(0, 0, -days).Format(time.RFC3339)}
	}
	g.on("GET /api/conversations", answer(http.StatusOK, object{"conversations": []object{old("c1", "Budgets", 0), old("c2", "Ünal's deals", 1), old("c3", "Tickets", 3), old("c4", "Leave", 4), old("c5", "Reviews", 20), old("c6", "Invoices", 100)}}))
	g.on("PATCH /api/conversations/{id}", g.hears(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) }))
	p.Open(g.URL)
	p.Sees("[data-conversation=c6]", "Invoices")
	lines := `[...document.querySelectorAll("#conversations > li")].map((n) => n.classList.contains("group") ? n.textContent + ":" : n.dataset.conversation).join(" ")`
	if got, want := eval[string](p, lines), "Today: c1 Yesterday: c2 The last 7 days: c3 c4 The last 30 days: c5 Older: c6"; got != want {
		t.Errorf("the list is %q, want %q", got, want)
	}
	search := func(words string) {
		t.Helper()
		module[bool](p, "dom.js", `const f = m.at("search"); f.value = arg; return f.dispatchEvent(new Event("input"))`, words)
	}
	search("üNAL")
	p.Until(lines + ` === "Yesterday: c2"`)
	search("nothing like it")
	p.Sees("#conversations-note", "No conversation has that in its title.")
	search("")
	p.Until(`document.querySelectorAll("[data-conversation]").length === 6`)
	p.Click("[data-conversation=c3] [data-rename]")
	p.Until(`document.activeElement.matches("[data-name-field]") && document.activeElement.value === "Tickets"`)
	p.Press("<i>Open</i>\r")
	p.Sees("[data-conversation=c3] [data-open]", "<i>Open</i>")
	p.Until(`document.activeElement.matches("[data-conversation=c3] [data-open]")`)
	if got, want := g.said(), []string{`PATCH /api/conversations/c3 {"title":"\u003ci\u003eOpen\u003c/i\u003e"}`, `PATCH /api/conversations/c3 {"title":"<i>Open</i>"}`}; len(got) != 1 || !slices.Contains(want, got[0]) {
		t.Errorf("sent %q", got)
	}
}

// A question is edited and asked again; it and the answer say when they were, and are
// copied.
func TestTurnIsEditedTimedAndCopied(t *testing.T) {
	t.Parallel()
	g, p := newGateway(t), newPage(t)
	g.on("POST /api/query", g.hears(turn(object{"type": "text", "text": "**Two** people."})))
	p.Open(g.URL)
	eval[bool](p, `(globalThis.copied = [], Object.defineProperty(navigator, "clipboard", { value: { writeText: async (text) => void copied.push(text) } }), true)`)
	p.ask("Who?")
	p.Sees("[data-turn=done] [data-answer]", "Two people.")
	for _, place := range []string{".asked", ".answer-foot"} {
		said := eval[string](p, `document.querySelector("[data-turn] `+place+` time").dateTime`)
		if at, err := time.Parse(time.RFC3339, said); err != nil || time.Since(at) > time.Hour || time.Since(at) < -time.Minute {
			t.Errorf("%s says %q", place, said)
		}
	}
	p.Click("[data-copy-answer]")
	p.Sees("#toast", "The answer was copied.")
	p.Click(".asked [data-edit] + button")
	p.Sees("#toast", "The question was copied.")
	if got := eval[[]string](p, `copied`); !slices.Equal(got, []string{"**Two** people.", "Who?"}) {
		t.Errorf("copied %q", got)
	}
	p.Click("[data-edit]")
	p.Until(`document.activeElement.id === "question" && document.activeElement.value === "Who?"`)
	p.Press(" And where?\r")
	p.Sees("[data-turn=done]:nth-child(2) [data-question]", "Who? And where?")
	if got := g.said(); len(got) != 2 || !strings.Contains(got[1], `"Who? And where?"`) {
		t.Errorf("asked %q", got)
	}
}

// A copied answer says that it is wrong, or not all: it is what is sent on.
func TestCopiedAnswerSaysWhatItLacks(t *testing.T) {
	t.Parallel()
	g, p := newGateway(t), newPage(t)
	g.on("POST /api/query", turn(object{"type": "text", "text": "Sarah earns $999,000."},
		object{"type": "service_unavailable", "warnings": []object{{"server": "finance", "message": "It could not be asked."}}},
		object{"type": "note", "kind": "invented", "text": "This is in no result: $999,000."}, object{"type": "error", "code": "TIMEOUT", "error": "It took too long."}))
	p.Open(g.URL)
	eval[bool](p, `(globalThis.copied = [], Object.defineProperty(navigator, "clipboard", { value: { writeText: async (text) => void copied.push(text) } }), true)`)
	p.ask("Who?")
	p.Sees("[data-turn=done] [data-answer]", "Sarah earns")
	p.Click("[data-copy-answer]")
	p.Sees("#toast", "The answer was copied.")
	want := "Sarah earns $999,000.\n\nfinance: It could not be asked.\n\nCountersign adds: This is in no result: $999,000.\n\nIt took too long."
	if got := eval[[]string](p, `copied`); !slices.Equal(got, []string{want}) {
		t.Errorf("copied %q, want %q", got, want)
	}
}

// The look that was chosen stays, whatever the system has.
func TestThemeIsKept(t *testing.T) {
	t.Parallel()
	g, p := newGateway(t), newPage(t)
	p.Prefer("light")
	p.Open(g.URL)
	paper := func() string { return eval[string](p, `getComputedStyle(document.body).backgroundColor`) }
	light := paper()
	p.Until(`(() => { const s = document.getElementById("theme"); s.value = "dark"; return s.dispatchEvent(new Event("change")) })()`)
	dark := paper()
	p.Reload()
	p.Sees("#greeting", "Hello")
	if got := paper(); dark == light || got != dark {
		t.Errorf("the page is %s, was %s, and %s before", got, dark, light)
	}
}

// The first Tab offers the way past everything to the question; the page has its
// landmarks and one heading of the first rank.
func TestSkipLinkAndLandmarks(t *testing.T) {
	t.Parallel()
	g, p := newGateway(t), newPage(t)
	g.on("GET /api/conversations/{id}", answer(http.StatusOK, object{"id": "c7", "messages": []object{{"id": "1", "role": "user", "content": "Before"}}}))
	p.Open(g.URL)
	p.ready()
	skip := func(lands string) {
		t.Helper()
		before := eval[string](p, `(document.querySelector("a[href], button, input, select, textarea").focus(), document.activeElement.id + location.hash)`)
		p.Until(`document.activeElement.id === "skip" && document.activeElement.getBoundingClientRect().left >= 0`)
		p.Press("\r")
		p.Until(`document.activeElement.id === ` + quoted(lands))
		if after := eval[string](p, `"skip" + location.hash`); after != before {
			t.Errorf("it led from %s to %s", before, after)
		}
	}
	skip("question")
	if got := eval[[]int](p, `["header", "nav[aria-label]", "main", "h1"].map((one) => [...document.querySelectorAll(one)].filter((n) => n.checkVisibility()).length)`); !slices.Equal(got, []int{1, 1, 1, 1}) {
		t.Errorf("headers, navigations, mains, first headings: %v, want one of each", got)
	}
	eval[bool](p, `(location.hash = "#/c/c7") !== ""`)
	p.Sees("[data-question]", "Before")
	skip("question")
	eval[bool](p, `(location.hash = "#/usage") !== ""`)
	p.Sees("#page-title", "Your use")
	skip("page-title")
}

// With a reader's own colours, charts are drawn in them, and what has the focus shows.
func TestForcedColoursReachCharts(t *testing.T) {
	t.Parallel()
	g, p := newGateway(t), newPage(t)
	page := employees(6, "")
	for i, row := range page["data"].([]object) {
		row["department"] = []string{"Sales", "Support"}[i%2]
	}
	g.on("POST /api/query", turn(listed(page, object{}), object{"type": "text", "text": "Six."}))
	p.Open(g.URL)
	p.ForceColors()
	p.ask("List employees")
	p.Click("[data-view=chart]")
	p.Sees("[data-chart] svg", "Sales")
	p.Shot("forced")
	for _, part := range []string{"rect", "text"} {
		got := eval[[]string](p, `(() => { const text = Object.assign(document.body.appendChild(document.createElement("i")), { style: "color: CanvasText" }); const both = [getComputedStyle(text).color, getComputedStyle(document.querySelector("[data-chart] `+part+`")).fill]; text.remove(); return both })()`)
		if got[0] != got[1] {
			t.Errorf("the chart's %s is %s, want %s", part, got[1], got[0])
		}
	}
	if eval[bool](p, `(() => { const [one, other] = ["true", "false"].map((on) => getComputedStyle(document.querySelector("[data-view][aria-pressed=" + on + "]")).backgroundColor); return one === other })()`) {
		t.Error("the view that is shown looks like the others")
	}
	p.Click("#question")
	if got := eval[string](p, `getComputedStyle(document.getElementById("box")).outlineStyle`); got != "solid" {
		t.Errorf("the question's field has an outline that is %s", got)
	}
}

// A view of a version that is no longer served says so.
func TestViewThatIsGoneSaysSo(t *testing.T) {
	t.Parallel()
	g, p := newGateway(t), newPage(t)
	files := g.route("GET /")
	g.on("GET /", func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/usage.js") {
			http.NotFound(w, r)
			return
		}
		files(w, r)
	})
	p.Open(g.URL)
	p.ready()
	eval[bool](p, `(location.hash = "#/usage") !== ""`)
	p.Sees("[data-outdated]", "This view could not be loaded.")
	p.Sees("[data-outdated] button", "Load it again")
}

// What fails before the dictionary has come is translated all the same.
func TestErrorBeforeTheDictionaryIsTranslated(t *testing.T) {
	t.Parallel()
	g, p := newGateway(t), newPage(t)
	var once sync.Once
	failed, files := make(chan struct{}), g.route("GET /")
	g.on("GET /", func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/de.js") {
			<-failed
		}
		files(w, r)
	})
	g.on("GET /api/user", func(http.ResponseWriter, *http.Request) {
		once.Do(func() { close(failed) })
		panic(http.ErrAbortHandler)
	})
	p.Open(g.URL + "/icon.svg")
	eval[bool](p, `localStorage.setItem("countersign.language", "de") ?? true`)
	p.Open(g.URL)
	p.Sees("#starting-retry", "")
	p.Sees("body", "Das Gateway ist nicht zu erreichen.")
}

// A place that has nothing says what would be there, and why there is none.
func TestEmptyPlacesSayWhatFillsThem(t *testing.T) {
	t.Parallel()
	g, p := newGateway(t), newPage(t)
	g.on("GET /api/user", answer(http.StatusOK, auditor()))
	g.on("GET /api/usage", answer(http.StatusOK, object{"days": []object{}, "conversations": []object{}}))
	g.on("GET /api/audit", answer(http.StatusOK, object{"events": []object{}}))
	g.on("GET /api/admin", answer(http.StatusOK, object{"servers": []object{}, "held": []object{}, "people": []object{}, "expired": []object{}, "tools": []object{{"name": "list_budgets", "server": "finance", "kind": "list", "roles": []string{"finance-read"}}}}))
	p.Open(g.URL)
	p.Sees("#greeting", "Hello")
	for place, says := range map[string][]string{
		"usage":     {"rehearsal uses none"},
		"approvals": {"waits five minutes for your answer"},
		"audit":     {"No event fits all of these conditions."},
		"admin":     {"servers have none", "no answer within five minutes is listed here", "rehearsal uses none"},
	} {
		eval[bool](p, `(location.hash = "#/`+place+`") !== ""`)
		for _, words := range says {
			p.Sees(".page-view", words)
		}
	}
}
