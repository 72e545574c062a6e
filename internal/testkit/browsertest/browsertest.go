// Package browsertest drives a real Chromium for tests: each window starts
// without a session, waits on changes of the page, and fails its test on an error
// in the browser's console. Only tests import it.
//
// It knows no page of ours. Start with [Main] in a TestMain and [New] in a test.
package browsertest

import (
	"context"
	"os/exec"
	"sync"
	"testing"

	"github.com/chromedp/chromedp"

	"countersign.dev/internal/testkit"
)

// shared is the browser for the windows of all tests, from the first one on.
var shared struct {
	sync.Once
	kept    bool // Main ends it
	browser context.Context
	end     func()
	err     error
}

// Main runs tests with one browser for all of them, where one is installed, and
// returns the exit code.
func Main(m interface{ Run() int }) int {
	shared.kept = true
	code := m.Run()
	if shared.end != nil {
		shared.end()
	}
	return code
}

func chromium() string {
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	return ""
}

func start(program string) (browser context.Context, end func(), err error) {
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(program), chromedp.NoSandbox, chromedp.DisableGPU,
		chromedp.WSURLReadTimeout(2*testkit.Patience), // the first start on a machine reads all of Chromium from its disk
		chromedp.Flag("disable-background-networking", true),
		chromedp.Flag("disable-features", "Translate,BlinkGenPropertyTrees,BackForwardCache,SpareRendererForSitePerProcess"), // a page that was left is gone
		chromedp.Flag("force-prefers-reduced-motion", true),                                                                  // each frame that moves is drawn by the processor
		chromedp.Flag("host-resolver-rules", "MAP * ~NOTFOUND , EXCLUDE localhost , EXCLUDE 127.0.0.1"))                      // no request leaves this machine
	alloc, endAlloc := chromedp.NewExecAllocator(context.Background(), options...)
	ctx, endBrowser := chromedp.NewContext(alloc)
	end = func() { endBrowser(); endAlloc() }
	if err := chromedp.Do(ctx); err != nil {
		end()
		return nil, nil, err
	}
	return ctx, end, nil
}

// browserFor is the shared browser, or one of the test's own.
func browserFor(t testing.TB) context.Context {
	t.Helper()
	program := chromium()
	if program == "" {
		testkit.Missing(t, "chromium")
	}
	if !shared.kept {
		browser, end, err := start(program)
		if err != nil {
			t.Fatalf("starting chromium: %v", err)
		}
		t.Cleanup(end)
		return browser
	}
	shared.Do(func() { shared.browser, shared.end, shared.err = start(program) })
	if shared.err != nil {
		t.Fatalf("starting chromium: %v", shared.err)
	}
	return shared.browser
}
