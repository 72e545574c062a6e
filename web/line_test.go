package web_test

import (
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"countersign.dev/internal/static"
	"countersign.dev/web"
)

// TestReloadCostsOneRoundTrip: all modules are asked for before any has come, and a
// reload asks for none of them again.
func TestReloadCostsOneRoundTrip(t *testing.T) {
	t.Parallel()
	files, err := static.New(web.Files)
	if err != nil {
		t.Fatal(err)
	}
	g, p := newGateway(t), newPage(t)
	const connections = 6 // that a browser opens to one host over HTTP/1.1
	var asked sync.WaitGroup
	var mu sync.Mutex
	var seen []string
	asked.Add(connections)
	g.on("GET /", func(w http.ResponseWriter, r *http.Request) {
		name, kept := strings.CutPrefix(r.URL.Path, files.Prefix())
		if !kept {
			w.Header().Set("Content-Security-Policy", policy)
			files.Serve(w, r, static.Index, false)
			return
		}
		mu.Lock()
		seen = append(seen, name)
		early := len(seen) <= connections
		mu.Unlock()
		if early {
			asked.Done()
		}
		asked.Wait() // a line so slow that all connections are busy before the first answer
		files.Serve(w, r, name, true)
	})
	p.Open(g.URL)
	p.Sees("#greeting", "Hello")
	late := eval[[]string](p, `(() => {
		const all = performance.getEntriesByType("resource").filter((one) => one.name.endsWith(".js"));
		const first = Math.min(...all.map((one) => one.responseEnd));
		const needed = [...document.querySelectorAll("link[rel=modulepreload]")].map((one) => one.href);
		return all.filter((one) => needed.includes(one.name) && one.startTime > first).map((one) => one.name).concat(needed.length > 20 ? [] : ["only " + needed.length + " modules are preloaded"]);
	})()`)
	if len(late) > 0 {
		t.Errorf("asked for after an answer: %v", late)
	}
	mu.Lock()
	before := len(seen)
	mu.Unlock()
	p.Reload()
	p.Sees("#greeting", "Hello")
	mu.Lock()
	defer mu.Unlock()
	again := slices.DeleteFunc(seen[before:], func(name string) bool { return name == "hub.js" }) // the browser starts that worker beside the page
	if len(again) > 0 {
		t.Errorf("a reload asked again for %v", again)
	}
}

// TestPrintIsWhole: on paper there is every row, the whole of the code and no button.
func TestPrintIsWhole(t *testing.T) {
	t.Parallel()
	g, p := newGateway(t), newPage(t)
	g.on("GET /api/tools", workTools())
	code := foundCode()
	code["data"].(object)["data"].([]object)[0]["match_snippet"] = strings.Repeat("one line of code\n", 80) + "end"
	g.on("POST /api/query", turn(listed(employees(50, "more"), object{}), code, object{"type": "text", "text": "Fifty."}, pending("x1")))
	p.Open(g.URL)
	p.ask("List all employees")
	p.Sees("[data-turn=done] [data-card=x1]", "Frank")
	p.Print()
	if got := eval[[]string](p, `[...document.querySelectorAll("button, #composer, #sidebar, input, select")].filter((n) => n.checkVisibility() && !n.closest("th, summary")).map((n) => n.outerHTML.slice(0, 120))`); len(got) > 0 {
		t.Errorf("on paper there are %q", got)
	}
	for what, script := range map[string]string{
		"the last row is outside of its parents": `(() => { const row = document.querySelector("[data-result=list_employees] tbody tr:last-child").getBoundingClientRect(); return [...document.querySelectorAll("html, body, #app, #main, #view, .scroll")].some((n) => getComputedStyle(n).overflowY !== "visible") || row.height === 0 })()`,
		"the code is cut":                        `(() => { const pre = document.querySelector("[data-place] pre"); return pre.scrollHeight > pre.clientHeight + 1 || pre.scrollWidth > pre.clientWidth + 1 })()`,
		"it is wider than the paper":             `document.documentElement.scrollWidth > innerWidth`,
	} {
		if eval[bool](p, script) {
			t.Errorf("on paper: %s", what)
		}
	}
}

// TestNotificationsAreOptIn: a request that arrives while the page is not seen is
// notified where the reader asked for it, by the name of its tool alone.
func TestNotificationsAreOptIn(t *testing.T) {
	t.Parallel()
	g, p := newGateway(t), newPage(t)
	events := make(chan object)
	g.on("GET /api/events", g.happens(events))
	g.on("GET /api/confirmations/{id}", func(w http.ResponseWriter, r *http.Request) {
		answer(http.StatusOK, waiting(r.PathValue("id")))(w, r)
	})
	arrives := func(id, count string) {
		t.Helper()
		events <- object{"type": "change", "confirmationId": id, "server": "hr", "tool": "delete_employee", "state": "pending", "expires": time.Now().Add(time.Hour).Format(time.RFC3339)}
		p.Sees("#inbox-count", count)
	}
	p.Open(g.URL)
	p.Sees("#greeting", "Hello")
	eval[bool](p, `(() => {
		window.notices = [];
		window.Notification = class { static permission = "default"; static async requestPermission() { return (this.permission = "granted"); } constructor(title, options) { notices.push(title + ": " + options.body); } };
		Object.defineProperty(document, "visibilityState", { get: () => "hidden" });
		return (location.hash = "#/approvals") !== "";
	})()`)
	p.Sees("[data-notify][aria-pressed=false]", "Notify me")
	arrives("x1", "1")
	p.Click("[data-notify]")
	p.Sees("[data-notify][aria-pressed=true]", "Notifications are on")
	arrives("x2", "2")
	p.Until(`notices.join() === "A change waits for your approval: Delete employee"`)
	p.Click("[data-notify]")
	p.Sees("[data-notify][aria-pressed=false]", "Notify me")
	arrives("x3", "3")
	if got := eval[int](p, `notices.length`); got != 1 {
		t.Errorf("%d notifications, want the one that was asked for", got)
	}
}
