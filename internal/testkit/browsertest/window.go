package browsertest

import (
	"context"
	"sync"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"

	"countersign.dev/internal/testkit"
)

// window is a window of the browser. Opening one costs as much as most tests do in
// it, so that one test after the other uses it.
type window struct {
	tab context.Context // ends with the window
	end func()
}

// free are the windows of the shared browser that no test uses.
var free struct {
	sync.Mutex
	windows []*window
}

// windowFor is a free window, or a new one with cookies and storage of its own.
func windowFor(t testing.TB) *window {
	t.Helper()
	free.Lock()
	defer free.Unlock()
	if last := len(free.windows) - 1; last >= 0 {
		w := free.windows[last]
		free.windows = free.windows[:last]
		return w
	}
	return open(t, chromedp.WithNewBrowserContext())
}

func open(t testing.TB, how chromedp.ContextOption) *window {
	t.Helper()
	tab, end := chromedp.NewContext(browserFor(t), how)
	if err := chromedp.Do(tab); err != nil { // else it would end with the first test in it
		t.Fatalf("opening a window: %v", err)
	}
	return &window{tab, end}
}

// forget removes what a page has stored here, where it may store anything.
const forget = `(() => { try { localStorage.clear(); sessionStorage.clear() } catch {} return true })()`

// leave makes the window a new one again, for the next test. The window of a test
// that failed is closed.
func (w *window) leave(t testing.TB) {
	if t.Failed() || !shared.kept || w.clean() != nil {
		w.end()
		return
	}
	free.Lock()
	defer free.Unlock()
	free.windows = append(free.windows, w)
}

func (w *window) clean() error {
	ctx, cancel := context.WithTimeout(w.tab, testkit.Patience)
	defer cancel()
	if _, err := chromedp.Run(ctx, chromedp.Evaluate[bool](forget)); err != nil {
		return err
	}
	if err := chromedp.Do(ctx, chromedp.Navigate("about:blank")); err != nil {
		return err
	}
	if _, err := chromedp.Call(ctx, network.ClearBrowserCookies, cdp.Empty{}); err != nil {
		return err
	}
	_, err := chromedp.Call(ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{})
	return err
}
