package web_test

import (
	"encoding/json"
	"fmt"
	"os"
	"testing"

	"countersign.dev/internal/testkit"
	"countersign.dev/internal/testkit/browsertest"
)

func TestMain(m *testing.M) { os.Exit(browsertest.Main(m)) }

// page is one window on the chat page.
type page struct{ *browsertest.Page }

func newPage(t *testing.T) *page {
	t.Helper()
	p := &page{browsertest.New(t)}
	testkit.Ran("Chromium")
	return p
}

func eval[T any](p *page, script string) T { return browsertest.Eval[T](p.Page, script) }

// ready waits until the conversation is open and nothing is being answered.
func (p *page) ready() {
	p.Until(`document.activeElement?.id === "question" && document.getElementById("composer").dataset.running === "false"`)
}

// ask types a question and sends it with Enter.
func (p *page) ask(question string) {
	p.ready()
	p.Press(question)
	p.Until(fmt.Sprintf(`document.getElementById("question").value === %s`, quoted(question)))
	p.Press("\r")
}

// stopWaiting keeps what the page plans for seconds from now from happening: a slow
// test must still find what a reader sees for a moment.
func (p *page) stopWaiting() {
	eval[bool](p, `(() => { const plan = setTimeout; globalThis.setTimeout = (run, ms = 0, ...rest) => (ms >= 5000 ? 0 : plan(run, ms, ...rest)); return true })()`)
}

// module runs the body of an async function over the exports of a module.
func module[T any](p *page, file, body string, arg any) T {
	return eval[T](p, fmt.Sprintf(`import("/%s").then(async (m) => { const arg = %s; %s })`, file, quoted(arg), body))
}

func quoted(v any) string {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(raw)
}
