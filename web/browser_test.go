package web_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	cdplog "github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// patience bounds one test in the browser.
const patience = 40 * time.Second

// chrome is the one browser of this test binary; TestMain starts and ends it.
// It is nil where no Chromium is installed.
var chrome context.Context

func TestMain(m *testing.M) { os.Exit(withBrowser(m)) }

func withBrowser(m *testing.M) int {
	program := chromium()
	if program == "" {
		return m.Run()
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(program), chromedp.NoSandbox, chromedp.DisableGPU,
		chromedp.Flag("disable-background-networking", true))
	alloc, end := chromedp.NewExecAllocator(context.Background(), options...)
	defer end()
	ctx, cancel := chromedp.NewContext(alloc)
	defer cancel()
	if err := chromedp.Do(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "starting chromium:", err)
		return 1
	}
	chrome = ctx
	return m.Run()
}

func chromium() string {
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	return ""
}

// page is one window, signed in to nothing else, that notes every complaint of
// the browser: script errors, console errors and broken content policy.
type page struct {
	t   *testing.T
	ctx context.Context

	mu         sync.Mutex
	complaints []string
}

func newPage(t *testing.T) *page {
	t.Helper()
	if chrome == nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("chromium is not installed, and CI must not skip the browser tests")
		}
		t.Skip("chromium is not installed")
	}
	tab, endTab := chromedp.NewContext(chrome, chromedp.WithNewBrowserContext())
	p := &page{t: t}
	if err := chromedp.Listen(tab, p.listen); err != nil {
		t.Fatalf("opening a window: %v", err)
	}
	ctx, cancel := context.WithTimeout(tab, patience)
	p.ctx = ctx
	t.Cleanup(func() {
		p.keepShot()
		cancel()
		endTab()
		p.mu.Lock()
		defer p.mu.Unlock()
		for _, complaint := range p.complaints {
			t.Errorf("the browser complained: %s", complaint)
		}
	})
	return p
}

func (p *page) listen(event any) {
	switch e := event.(type) {
	case *runtime.EventExceptionThrown:
		p.complain("exception: " + quoted(e.ExceptionDetails))
	case *runtime.EventConsoleAPICalled:
		if e.Type == runtime.ConsoleAPICalledTypeError || e.Type == runtime.ConsoleAPICalledTypeWarning {
			p.complain("console: " + quoted(e.Args))
		}
	case *cdplog.EventEntryAdded:
		// An answer of 4xx or 5xx that a test scripts is no fault of the page.
		if e.Entry.Source != cdplog.EntrySourceNetwork && (e.Entry.Level == cdplog.EntryLevelError || e.Entry.Level == cdplog.EntryLevelWarning) {
			p.complain("log: " + e.Entry.Text)
		}
	}
}

func (p *page) complain(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.complaints = append(p.complaints, text)
}

// keepShot writes a picture of a failed test to WEB_SHOTS, when that is set.
func (p *page) keepShot() {
	if dir := os.Getenv("WEB_SHOTS"); dir != "" && p.t.Failed() {
		p.shot(dir + "/failed-" + strings.ReplaceAll(p.t.Name(), "/", "-") + ".png")
	}
}

func (p *page) shot(file string) {
	if png, err := chromedp.Run(p.ctx, chromedp.CaptureScreenshot()); err == nil {
		_ = os.WriteFile(file, png, 0o600)
	}
}

func (p *page) run(actions ...chromedp.Action[chromedp.Void]) {
	p.t.Helper()
	if err := chromedp.Do(p.ctx, actions...); err != nil {
		p.t.Fatalf("in the browser: %v", err)
	}
}

func (p *page) open(url string) {
	p.t.Helper()
	p.run(chromedp.EmulateViewport(1100, 800), chromedp.Navigate(url))
}

func (p *page) narrow(width int64) {
	p.t.Helper()
	size := emulation.SetDeviceMetricsOverrideParams{Width: width, Height: 740, DeviceScaleFactor: 1, Mobile: true}
	if _, err := chromedp.Call(p.ctx, emulation.SetDeviceMetricsOverride, size); err != nil {
		p.t.Fatalf("resizing the window: %v", err)
	}
}

// prefer sets a colour scheme, and that motion is unwanted.
func (p *page) prefer(scheme string) {
	p.t.Helper()
	media := emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{
		{Name: "prefers-color-scheme", Value: scheme}, {Name: "prefers-reduced-motion", Value: "reduce"},
	}}
	if _, err := chromedp.Call(p.ctx, emulation.SetEmulatedMedia, media); err != nil {
		p.t.Fatalf("preferring %s: %v", scheme, err)
	}
}

// eval runs a script expression (a promise is awaited) and decodes what it gives.
func eval[T any](p *page, script string) T {
	p.t.Helper()
	out, err := chromedp.Run(p.ctx, chromedp.Evaluate[T](script, chromedp.EvalAwaitPromise))
	if err != nil {
		p.t.Fatalf("in the browser: %v", err)
	}
	return out
}

// until waits, told by the page's own mutations, until a condition holds.
func (p *page) until(condition string) {
	p.t.Helper()
	const script = `new Promise((resolve, reject) => {
		const holds = () => { try { return Boolean(%s) } catch { return false } };
		if (holds()) return resolve(true);
		const watch = new MutationObserver(() => { if (holds()) { watch.disconnect(); resolve(true); } });
		watch.observe(document, {subtree: true, childList: true, attributes: true, characterData: true});
		setTimeout(() => resolve(holds()), 10000);
	})`
	for {
		holds, err := chromedp.Run(p.ctx, chromedp.Evaluate[bool](fmt.Sprintf(script, condition), chromedp.EvalAwaitPromise))
		switch {
		case holds:
			return
		case err == nil:
			p.t.Fatalf("waited in vain for %s\nthe page says:\n%s", condition, p.text("body"))
		case p.ctx.Err() != nil:
			p.t.Fatalf("waiting for %s: %v", condition, err)
		} // else the page went elsewhere meanwhile, and is asked again there
	}
}

// sees waits until a visible element that matches holds the text.
func (p *page) sees(selector, text string) {
	p.t.Helper()
	p.until(fmt.Sprintf(`[...document.querySelectorAll(%q)].some(n => n.checkVisibility() && n.textContent.includes(%s))`, selector, quoted(text)))
}

// misses waits until nothing visible matches.
func (p *page) misses(selector string) {
	p.t.Helper()
	p.until(fmt.Sprintf(`![...document.querySelectorAll(%q)].some(n => n.checkVisibility())`, selector))
}

func (p *page) text(selector string) string {
	p.t.Helper()
	return eval[string](p, fmt.Sprintf(`document.querySelector(%q)?.innerText ?? ""`, selector))
}

func (p *page) count(selector string) int {
	p.t.Helper()
	return eval[int](p, fmt.Sprintf(`document.querySelectorAll(%q).length`, selector))
}

func (p *page) click(selector string) {
	p.t.Helper()
	p.run(chromedp.Click(chromedp.CSS(selector), chromedp.NodeVisible))
}

func (p *page) press(keys string, modifiers ...chromedp.KeyOption) {
	p.t.Helper()
	p.run(chromedp.KeyEvent(keys, modifiers...))
}

// ask types a question and sends it with Enter.
func (p *page) ask(question string) {
	p.t.Helper()
	p.until(`document.activeElement?.id === "question"`)
	p.press(question)
	p.press("\r")
}

// module runs the body of an async function over the exports of a module.
func module[T any](p *page, file, body string, arg any) T {
	p.t.Helper()
	return eval[T](p, fmt.Sprintf(`import("/%s").then(async (m) => { const arg = %s; %s })`, file, quoted(arg), body))
}

func quoted(v any) string {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(raw)
}
