package browsertest

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

func TestMain(m *testing.M) { os.Exit(Main(m)) }

// serve opens a page that counts in `hits` the clicks that reach #go, and in
// `misses` the mouse events that reach anything else.
func serve(t *testing.T, body string) *Page {
	t.Helper()
	p := New(t)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		if r.URL.Path != "/" {
			fmt.Fprint(w, "<!doctype html><title>other</title>")
			return
		}
		fmt.Fprintf(w, `<!doctype html><title>page</title><link rel=icon href=data:,><script>
			let hits = 0, misses = 0;
			const repeat = (times, ms, each, last = () => {}) => { let n = 0; const timer = setInterval(() => { each(n++); if (n === times) { clearInterval(timer); last(); } }, ms); };
			for (const type of ["mousedown", "mouseup", "click"]) addEventListener(type, (e) => { if (!e.target.closest?.("#go")) misses++; });
			addEventListener("click", (e) => { if (e.target.closest?.("#go")) hits++; });
		</script><body style="margin:0">%s`, body)
	}))
	t.Cleanup(s.Close)
	p.Open(s.URL)
	return p
}

const button = `<button id=go style="position:absolute;left:20px;top:20px;width:80px;height:30px">Go</button>`

func TestClickReachesItsElementOnce(t *testing.T) {
	for name, body := range map[string]string{
		"at rest":          button,
		"moves":            button + `<script>repeat(60, 8, (n) => (go.style.left = 20 + 13 * n + "px"))</script>`,
		"moves by itself":  `<style>@keyframes m { to { left: 700px } } #go { animation: m .5s linear forwards }</style>` + button,
		"moves when hit":   button + `<script>let jumps = 3; addEventListener("mousedown", () => { if (jumps-- > 0) go.style.left = go.offsetLeft + 150 + "px"; })</script>`,
		"leaves when hit":  button + `<script>let jumps = 3; addEventListener("pointerdown", () => { if (jumps-- > 0) go.style.left = go.offsetLeft + 150 + "px"; }, true)</script>`,
		"covered":          button + `<div id=cover style="position:fixed;inset:0;background:#0001"></div><script>repeat(50, 8, () => {}, () => cover.remove())</script>`,
		"not enabled":      button + `<script>go.disabled = true; repeat(50, 8, () => {}, () => (go.disabled = false))</script>`,
		"not yet for all":  button + `<script>go.ariaDisabled = "true"; repeat(50, 8, () => {}, () => (go.ariaDisabled = null))</script>`,
		"not there":        `<script>repeat(50, 8, () => {}, () => document.body.insertAdjacentHTML("beforeend", '` + button + `'))</script>`,
		"not visible":      strings.Replace(button, "style=\"", "style=\"visibility:hidden;", 1) + `<script>repeat(50, 8, () => {}, () => (go.style.visibility = "visible"))</script>`,
		"the second is":    `<button id=other hidden class=b>no</button>` + button,
		"far below":        `<div style="height:5000px"></div>` + strings.Replace(button, "top:20px", "top:4000px", 1),
		"far in a box":     `<div style="height:200px;overflow:auto;position:relative"><div style="height:5000px"></div>` + strings.Replace(button, "top:20px", "top:4000px", 1) + `</div>`,
		"larger than all":  `<button id=go style="width:3000px;height:3000px">Go</button>`,
		"text in a button": strings.Replace(button, ">Go<", "><span style=\"display:block\">Go</span><", 1),
		"over two lines":   `<div style="width:200px">some words that come first <a id=go href="#x">and here is a link over two lines</a></div>`,
		"its label":        `<label style="position:absolute;left:0;top:0;width:300px;height:60px" for=go id=go-label>Go</label><input id=go type=checkbox>`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel() // windows in the background have to be as good
			p := serve(t, body)
			p.Click("#go, .b")
			p.Until(`hits > 0`)
			if got := Eval[[]int](p, `[hits, document.getElementById("go-label") ? 0 : misses]`); got[0] != 1 || got[1] != 0 {
				t.Errorf("%d clicks reached it and %d events something else, want 1 and 0", got[0], got[1])
			}
		})
	}
}

func TestClickThatNavigatesIsDone(t *testing.T) {
	for range 5 {
		p := serve(t, `<a href=/other>away</a>`)
		p.Click("a")
		p.Until(`document.title === "other"`)
	}
}

func TestClickSaysWhatPreventsIt(t *testing.T) {
	for want, body := range map[string]string{
		"nothing visible matches": ``,
		"it is disabled":          `<button id=go disabled>Go</button>`,
		`<div id="cover"`:         button + `<div id=cover style="position:fixed;inset:0"></div>`,
		"it moves":                button + `<script>(function on(n) { go.style.left = n % 700 + "px"; requestAnimationFrame(() => on(n + 3)); })(0)</script>`,
	} {
		p := serve(t, body)
		ctx, cancel := p.step()
		defer cancel()
		_, err := attempt(ctx, "#go")
		for ctx.Err() == nil && (err == nil || !strings.Contains(err.Error(), want)) {
			_, err = attempt(ctx, "#go") // what moves may rest for the time of a look on a busy machine
		}
		if ctx.Err() != nil {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}

func TestUntilNoticesWhatChangesNoDocument(t *testing.T) {
	for name, c := range map[string]struct{ body, condition string }{
		"a value":     {`<input id=field><script>repeat(30, 10, () => {}, () => (field.value = "typed"))</script>`, `field.value === "typed"`},
		"the focus":   {`<input id=field><script>repeat(30, 10, () => {}, () => field.focus())</script>`, `document.activeElement.id === "field"`},
		"scrolling":   {`<div style="height:9000px"></div><script>repeat(30, 10, () => {}, () => scrollTo(0, 500))</script>`, `scrollY === 500`},
		"a variable":  {`<script>repeat(30, 10, () => {}, () => (globalThis.done = true))</script>`, `done`},
		"an address":  {`<script>repeat(30, 10, () => {}, () => (location.hash = "#x"))</script>`, `location.hash === "#x"`},
		"a next page": {`<script>repeat(30, 10, () => {}, () => (location.href = "/other"))</script>`, `document.title === "other"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			serve(t, c.body).Until(c.condition)
		})
	}
}

// A window that a test has left keeps nothing for the next one.
func TestUsedWindowIsANewOne(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, "<!doctype html><title>page</title><link rel=icon href=data:,>")
	}))
	t.Cleanup(s.Close)
	const marks = `[document.cookie, localStorage.mark ?? "", sessionStorage.mark ?? "", matchMedia("(prefers-color-scheme: dark)").matches].join()`
	w := open(t, chromedp.WithNewBrowserContext())
	used := w.show(t, func(testing.TB) {})
	used.Open(s.URL)
	used.Prefer("dark")
	const left = "mark=1,1,1,true"
	if got := Eval[string](used, `localStorage.mark = sessionStorage.mark = 1, document.cookie = "mark=1", `+marks); got != left {
		t.Fatalf("got %s, want %s", got, left)
	}
	if err := w.clean(); err != nil {
		t.Fatal(err)
	}
	next := w.show(t, func(testing.TB) { w.end() })
	next.Open(s.URL)
	if got := Eval[string](next, marks); got != ",,,false" {
		t.Errorf("the next test finds %s", got)
	}
}

func TestEachWindowHasTheFocus(t *testing.T) {
	const body = `<input id=field><script>let events = 0; field.addEventListener("focus", () => events++)</script>`
	windows := []*Page{serve(t, body), serve(t, body), serve(t, body), serve(t, body)}
	for _, p := range windows {
		p.Click("#field")
	}
	for _, p := range windows {
		p.Until(`document.hasFocus() && events === 1`)
	}
}
