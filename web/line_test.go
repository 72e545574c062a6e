package web_test

import (
	"net/http"
	"net/http/httptest"
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
	for _, later := range []string{"views/approvals.js", "views/usage.js", "views/record.js", "views/admin.js", "views/palette.js", "de.js", "de-data.js", "de-tools.js"} {
		if slices.Contains(seen, later) {
			t.Errorf("%s was loaded before it was opened", later)
		}
	}
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

// TestReloadOfOnesOwnPageIsOneRequest: what it shows comes with the page, and every file
// is in the browser's cache, so that a reload costs one round trip on any line.
func TestReloadOfOnesOwnPageIsOneRequest(t *testing.T) {
	t.Parallel()
	g, p := newGateway(t), newPage(t)
	g.serveGiven(true)
	text := "Yes. </script><script>alert(1)</script> <!-- \u2028"
	g.on("GET /api/conversations/{id}", answer(http.StatusOK, object{"id": "c1", "messages": []object{{"id": "1", "role": "user", "content": "Before"}, {"id": "2", "role": "assistant", "content": text}}}))
	g.on("GET /api/confirmations", answer(http.StatusOK, object{"confirmations": []object{waiting("x2")}}))
	p.Open(g.URL + "/#/c/c1")
	p.Sees("[data-answer]", "</script>")
	p.Reload()
	p.Sees("[data-answer]", "</script>")
	p.Sees("#user-name", "Alice Chen")
	p.Sees("#inbox-count", "1")
	p.Sees("[data-card=x2], #strip", "waits for your approval")
	p.Until(`/^[0-2]:\d\d left$/.test(document.querySelector("[data-countdown]")?.textContent ?? "2:00 left")`)
	const beside = `["/hub.js", "/api/events"]` // the browser starts that worker beside the page, and what it hears changes what is there
	asked := eval[[]string](p, `performance.getEntriesByType("resource").filter((one) => one.transferSize > 0 && !`+beside+`.some((end) => new URL(one.name).pathname.endsWith(end))).map((one) => one.name)`)
	if len(asked) > 0 {
		t.Errorf("a reload asked for %v beside the page", asked)
	}
	p.Misses("script[data-given]")
}

// What does not come with the page in time is asked for by it, all of it at once: on a slow
// line that costs one round trip more.
func TestReloadAsksForAllAtOnce(t *testing.T) {
	t.Parallel()
	g, p := newGateway(t), newPage(t)
	g.on("GET /api/conversations/{id}", answer(http.StatusOK, object{"id": "c1", "messages": []object{{"id": "1", "role": "user", "content": "Before"}, {"id": "2", "role": "assistant", "content": "Yes."}}}))
	p.Open(g.URL + "/#/c/c1")
	p.Sees("[data-answer]", "Yes.")
	wanted := []string{"GET /api/user", "GET /api/tools", "GET /api/models", "GET /api/confirmations", "GET /api/conversations", "GET /api/conversations/{id}"}
	var asked sync.WaitGroup
	asked.Add(len(wanted))
	all := make(chan struct{})
	for _, pattern := range wanted {
		first, give := new(sync.Once), g.route(pattern)
		g.on(pattern, func(w http.ResponseWriter, r *http.Request) {
			first.Do(asked.Done)
			select {
			case <-all:
				give(w, r)
			case <-g.end:
			}
		})
	}
	go func() { asked.Wait(); close(all) }()
	p.Reload()
	p.Sees("[data-answer]", "Yes.")
}

// What was asked for ahead in the name of who was here before is thrown away.
func TestReloadAsSomeoneElseAsksAgain(t *testing.T) {
	t.Parallel()
	g, p := newGateway(t), newPage(t)
	p.Open(g.URL)
	p.Sees("#user-name", "Alice Chen")
	p.Sees("[data-suggestion]", "Who works here?")
	g.on("GET /api/user", answer(http.StatusOK, bob()))
	user := make(chan struct{})
	list := g.route("GET /api/tools")
	g.on("GET /api/tools", func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Countersign-Person") == "u1" {
			<-user
			answer(http.StatusConflict, object{"code": "PERSON_CHANGED", "message": "Someone else is signed in."})(w, r)
			return
		}
		close(user) // after the page knows who is signed in
		list(w, r)
	})
	p.Reload()
	p.Sees("#user-name", "Bob Martinez")
	p.Sees("[data-suggestion]", "Who works here?")
	eval[bool](p, `(async () => { for (let i = 0; i < 3; i++) await (await fetch("/api/user")).text(); return true })()`) // the refusal arrives before these
	p.Misses("#frozen")
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
	p.Click("[data-tool=list_employees] summary")
	p.Misses("[data-result=list_employees] tbody")
	eval[bool](p, `dispatchEvent(new Event("beforeprint"))`) // the browser's, before it draws the paper
	p.Print()
	p.Sees("[data-result=list_employees] tbody", "Person 50")
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

// TestEveryFileHasItsType: browsers run no script and apply no style of another type.
func TestEveryFileHasItsType(t *testing.T) {
	t.Parallel()
	files, err := static.New(web.Files)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files.Names() {
		w := httptest.NewRecorder()
		files.Serve(w, httptest.NewRequest(http.MethodGet, "/", nil), name, false)
		if kind := w.Header().Get("Content-Type"); !strings.HasPrefix(kind, "text/") && !strings.HasPrefix(kind, "image/") {
			t.Errorf("%s is of type %q", name, kind)
		}
	}
}
