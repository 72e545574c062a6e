package web_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"countersign.dev/internal/testkit/browsertest"
	"countersign.dev/web"
)

// BenchmarkLongAnswer: how long is the longest task of the page while an answer of
// 10,000 tokens (about 40 KB) streams in pieces of 40 characters? The floor is the
// same stream, read and thrown away.
func BenchmarkLongAnswer(b *testing.B) {
	text := strings.Repeat("The quick brown fox jumps over the lazy dog, and **counts** `foxes`.\n\n- one fox\n- two foxes\n\n", 420)
	g := newGateway(b)
	g.on("POST /api/query", func(w http.ResponseWriter, _ *http.Request) {
		s := begun(w)
		for at := 0; at < len(text); at += 40 {
			s.send(object{"type": "text", "text": text[at:min(at+40, len(text))]})
		}
		s.done()
	})
	const watch = `(() => { globalThis.tasks = []; globalThis.settled = () => new Promise((done) => setTimeout(done, 300)); // tasks are reported after they have ended
		 new PerformanceObserver((list) => list.getEntries().forEach((e) => tasks.push([Math.round(e.startTime), Math.round(e.duration)]))).observe({ entryTypes: ["longtask"] }); return true })()`
	for b.Loop() {
		p := browsertest.New(b)
		p.Open(g.URL)
		p.Until(`document.activeElement?.id === "question"`)
		browsertest.Eval[bool](p, watch)
		p.Press("Much\r")
		p.Until(`document.querySelector("[data-turn=done]")`)
		longest := browsertest.Eval[float64](p, `(async () => { await settled(); return Math.max(0, ...tasks.map((one) => one[1])) })()`)
		floor := browsertest.Eval[float64](p, `(async () => { tasks.length = 0; const r = (await fetch("/api/query", {method: "POST", body: "{}"})).body.getReader(); while (!(await r.read()).done); await settled(); return Math.max(0, ...tasks.map((one) => one[1])) })()`)
		b.ReportMetric(longest, "ms-longest-task")
		b.ReportMetric(floor, "ms-floor")
	}
}

// BenchmarkReloadOnSlowLine: when is an open conversation drawn, on a line that takes 400 ms
// each way and back? The floor is the same page whose answers do not come with it.
func BenchmarkReloadOnSlowLine(b *testing.B) {
	for b.Loop() {
		for unit, paths := range map[string]bool{"ms-drawn": true, "ms-floor": false} {
			g := newGateway(b)
			g.serveGiven(paths)
			g.on("GET /api/conversations/{id}", answer(http.StatusOK, object{"id": "c1", "messages": []object{{"id": "1", "role": "user", "content": "Before"}, {"id": "2", "role": "assistant", "content": strings.Repeat("The largest text of the page. ", 20)}}}))
			near := g.Config.Handler
			slow := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				select {
				case <-time.After(400 * time.Millisecond):
					near.ServeHTTP(w, r)
				case <-r.Context().Done():
				}
			})
			far := httptest.NewServer(slow)
			b.Cleanup(func() { _ = far.Config.Close() })
			p := browsertest.New(b)
			p.Open(far.URL + "/#/c/c1")
			p.Sees("[data-answer]", "largest")
			p.Reload()
			p.Sees("[data-answer]", "largest")
			b.ReportMetric(browsertest.Eval[float64](p, `new Promise((done) => new PerformanceObserver((list) => done(list.getEntries().at(-1).startTime)).observe({ type: "largest-contentful-paint", buffered: true }))`), unit)
		}
	}
}

// BenchmarkPageWeight: how many bytes does the first visit load, compressed as the
// gateway does, and how many are loaded when a view is opened?
func BenchmarkPageWeight(b *testing.B) {
	for b.Loop() {
		var plain, zipped int
		_ = fs.WalkDir(web.Files, ".", func(name string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			text, _ := fs.ReadFile(web.Files, name)
			var out bytes.Buffer
			w, _ := gzip.NewWriterLevel(&out, gzip.BestCompression)
			_, _ = w.Write(text)
			_ = w.Close()
			plain, zipped = plain+len(text), zipped+out.Len()
			if os.Getenv("WEB_WEIGHTS") != "" {
				fmt.Println(name, len(text), out.Len())
			}
			return nil
		})
		b.ReportMetric(float64(plain), "bytes")
		b.ReportMetric(float64(zipped), "bytes-gzip")
	}
}
