package browsertest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	cdplog "github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/cdproto/target"
	"github.com/chromedp/chromedp"

	"countersign.dev/internal/testkit"
)

// attention bounds one question to a page, which is asked again until the step
// ends: a page that navigates may not answer.
const attention = 10 * time.Second

// Page is one window. It records every script error, console error and violation
// of the content policy. Failed requests are not among them: a test may expect
// them, and a [Recorder] has them.
type Page struct {
	t   testing.TB
	tab context.Context // has no deadline: each step has one

	mu       sync.Mutex
	problems []string
	failed   []string // requests that failed, logged when the test fails
}

// New opens a window that holds nothing of an earlier test. Without Chromium the
// test is skipped by name, or fails where CI=true.
func New(t testing.TB) *Page {
	t.Helper()
	testkit.Alone(t) // what runs is JavaScript
	w := windowFor(t)
	return w.show(t, w.leave)
}

// NewThrough opens a window all of whose requests, to this machine too, go
// through the recorder.
func NewThrough(t testing.TB, r *Recorder) *Page {
	t.Helper()
	testkit.Alone(t)
	w := open(t, chromedp.WithNewBrowserContext(func(p *target.CreateBrowserContextParams) {
		p.ProxyServer, p.ProxyBypassList = r.proxy.URL, "<-loopback>"
	}))
	return w.show(t, func(testing.TB) { w.end() })
}

// show gives the window to a test, and to done when the test has ended.
func (w *window) show(t testing.TB, done func(testing.TB)) *Page {
	t.Helper()
	tab, unlisten := context.WithCancel(w.tab)
	p := &Page{t: t, tab: tab}
	if err := chromedp.Listen(tab, p.listen); err != nil {
		t.Fatalf("opening a window: %v", err)
	}
	t.Cleanup(func() {
		if t.Failed() {
			p.Shot("failed-" + strings.ReplaceAll(t.Name(), "/", "-"))
		}
		unlisten()
		done(t)
		p.mu.Lock()
		defer p.mu.Unlock()
		for _, problem := range p.problems {
			t.Errorf("an error in the browser: %s", problem)
		}
		if t.Failed() {
			t.Logf("requests that failed: %q", p.failed)
		}
	})
	return p
}

// step is the context of one step of a test in a window: a page, a click, a wait.
func (p *Page) step() (context.Context, context.CancelFunc) {
	return context.WithTimeout(p.tab, testkit.Patience)
}

func (p *Page) listen(event any) {
	switch e := event.(type) {
	case *runtime.EventExceptionThrown:
		p.report("exception: " + quoted(e.ExceptionDetails))
	case *runtime.EventConsoleAPICalled:
		if e.Type == runtime.ConsoleAPICalledTypeError || e.Type == runtime.ConsoleAPICalledTypeWarning {
			p.report("console: " + quoted(e.Args))
		}
	case *cdplog.EventEntryAdded:
		p.logged(e.Entry)
	}
}

func (p *Page) logged(e *cdplog.Entry) {
	switch {
	case e.Source == cdplog.EntrySourceNetwork:
		p.mu.Lock()
		defer p.mu.Unlock()
		p.failed = append(p.failed, e.URL+": "+e.Text)
	case e.Level == cdplog.EntryLevelError, e.Level == cdplog.EntryLevelWarning:
		p.report("log: " + e.Text)
	}
}

func (p *Page) report(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.problems = append(p.problems, text)
}

// Shot saves a screenshot, when WEB_SHOTS names a folder.
func (p *Page) Shot(name string) {
	dir := os.Getenv("WEB_SHOTS")
	if dir == "" {
		return
	}
	ctx, cancel := p.step()
	defer cancel()
	if png, err := chromedp.Run(ctx, chromedp.CaptureScreenshot()); err == nil {
		_ = os.WriteFile(filepath.Join(dir, name+".png"), png, 0o600)
	}
}

// Open goes to an address in a window of 1100 by 800.
func (p *Page) Open(url string) {
	p.t.Helper()
	p.run(chromedp.EmulateViewport(1100, 800), chromedp.Navigate(url))
}

// Reload loads the page again.
func (p *Page) Reload() {
	p.t.Helper()
	p.run(chromedp.Reload())
}

// Narrow emulates a phone whose screen is so many pixels wide.
func (p *Page) Narrow(width int64) {
	p.t.Helper()
	p.resize(emulation.SetDeviceMetricsOverrideParams{Width: width, Height: 740, DeviceScaleFactor: 1, Mobile: true})
}

// Window gives the window a size in CSS pixels: half of a screen's is a zoom of 200 %.
func (p *Page) Window(width, height int64) {
	p.t.Helper()
	p.resize(emulation.SetDeviceMetricsOverrideParams{Width: width, Height: height, DeviceScaleFactor: 1})
}

func (p *Page) resize(size emulation.SetDeviceMetricsOverrideParams) {
	p.t.Helper()
	ctx, cancel := p.step()
	defer cancel()
	if _, err := chromedp.Call(ctx, emulation.SetDeviceMetricsOverride, size); err != nil {
		p.t.Fatalf("resizing the window: %v", err)
	}
}

// Prefer sets a colour scheme, and reduced motion.
func (p *Page) Prefer(scheme string) {
	p.t.Helper()
	media := emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{
		{Name: "prefers-color-scheme", Value: scheme}, {Name: "prefers-reduced-motion", Value: "reduce"},
	}}
	ctx, cancel := p.step()
	defer cancel()
	if _, err := chromedp.Call(ctx, emulation.SetEmulatedMedia, media); err != nil {
		p.t.Fatalf("preferring %s: %v", scheme, err)
	}
}

// ForceColors shows the page with the colours of a reader's own, white on black.
func (p *Page) ForceColors() {
	p.t.Helper()
	media := emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "forced-colors", Value: "active"}, {Name: "prefers-color-scheme", Value: "dark"}}}
	ctx, cancel := p.step()
	defer cancel()
	if _, err := chromedp.Call(ctx, emulation.SetEmulatedMedia, media); err != nil {
		p.t.Fatalf("forcing colours: %v", err)
	}
}

// Print shows the page as it is printed, on paper of the window's width.
func (p *Page) Print() {
	p.t.Helper()
	ctx, cancel := p.step()
	defer cancel()
	if _, err := chromedp.Call(ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Media: "print"}); err != nil {
		p.t.Fatalf("printing: %v", err)
	}
}

// Press sends keys to the focused element.
func (p *Page) Press(keys string, modifiers ...chromedp.KeyOption) {
	p.t.Helper()
	p.run(chromedp.KeyEvent(keys, modifiers...))
}

func (p *Page) run(actions ...chromedp.Action[chromedp.Void]) {
	p.t.Helper()
	ctx, cancel := p.step()
	defer cancel()
	if err := chromedp.Do(ctx, actions...); err != nil {
		p.t.Fatalf("in the browser: %v", err)
	}
}

// Eval runs a script expression (a promise is awaited) and decodes what it gives.
func Eval[T any](p *Page, script string) T {
	p.t.Helper()
	ctx, cancel := p.step()
	defer cancel()
	out, err := chromedp.Run(ctx, chromedp.Evaluate[T](script, chromedp.EvalAwaitPromise))
	if err != nil {
		p.t.Fatalf("in the browser: %v", err)
	}
	return out
}

// holding answers when the condition holds. It is tested after each change of
// the document, and from time to time: focus, scrolling, the values of fields and
// media queries change without one.
const holding = `new Promise((resolve) => {
	const holds = () => { try { return Boolean(%s) } catch { return false } };
	const test = () => { if (holds()) { watch.disconnect(); clearInterval(poll); resolve(true); } };
	const watch = new MutationObserver(test);
	watch.observe(document, {subtree: true, childList: true, attributes: true, characterData: true});
	const poll = setInterval(test, 100);
	test();
})`

// Until waits until a condition holds. The page may navigate meanwhile.
func (p *Page) Until(condition string) {
	p.t.Helper()
	ctx, cancel := p.step()
	defer cancel()
	for ctx.Err() == nil {
		holds, err := wait(ctx, condition)
		if holds {
			return
		}
		if failed := new(chromedp.ExceptionError); errors.As(err, &failed) {
			p.t.Fatalf("waiting for %s: %v", condition, err) // it is no script
		} // else the page navigated, and the condition is tested on the next one
	}
	p.t.Fatalf("timed out waiting for %s\nthe page says:\n%s", condition, p.Text("body"))
}

func wait(ctx context.Context, condition string) (holds bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, attention)
	defer cancel()
	return chromedp.Run(ctx, chromedp.Evaluate[bool](fmt.Sprintf(holding, condition), chromedp.EvalAwaitPromise))
}

// Sees waits until a visible element that matches holds the text.
func (p *Page) Sees(selector, text string) {
	p.t.Helper()
	p.Until(fmt.Sprintf(`[...document.querySelectorAll(%q)].some(n => n.checkVisibility() && n.textContent.includes(%s))`, selector, quoted(text)))
}

// Misses waits until nothing visible matches.
func (p *Page) Misses(selector string) {
	p.t.Helper()
	p.Until(fmt.Sprintf(`![...document.querySelectorAll(%q)].some(n => n.checkVisibility())`, selector))
}

// Text is what people read in the first element that matches.
func (p *Page) Text(selector string) string {
	p.t.Helper()
	return Eval[string](p, fmt.Sprintf(`document.querySelector(%q)?.innerText ?? ""`, selector))
}

// Count counts the elements that match, seen or not.
func (p *Page) Count(selector string) int {
	p.t.Helper()
	return Eval[int](p, fmt.Sprintf(`document.querySelectorAll(%q).length`, selector))
}

func quoted(v any) string {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(raw)
}
