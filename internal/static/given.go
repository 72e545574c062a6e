package static

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"net/http"
	"net/url"
	"sync"
	"time"
)

// Given is replaced in index.html by the answers that the page would ask for.
const Given = "<!-- given -->"

// Ahead is what the first page will ask for as soon as it runs. Its answers are
// sent with it, so that they cost no round trip of their own.
type Ahead struct {
	API      http.Handler  // answers a request as if the page had sent it
	Paths    []string      // the first says who is asking; without it nothing is asked
	Patience time.Duration // what is not answered by then is left to the page
}

const maxGiven = 1 << 20 // bytes of one answer; a larger one is left to the page

// ServeWith answers a request for the first page by the page with its answers: as
// blocks of data, which are no script, each with its address. The page is one
// person's then, and kept nowhere.
func (f *Files) ServeWith(w http.ResponseWriter, r *http.Request, a Ahead) bool {
	page := f.files[Index]
	head, tail, found := bytes.Cut(page.plain, []byte(Given))
	if !found || r.Method != http.MethodGet {
		return f.Serve(w, r, Index, false)
	}
	h := w.Header()
	h.Set("Content-Type", page.kind)
	h.Set("Vary", "Accept-Encoding, Cookie")
	h.Set("Cache-Control", "no-store")
	out, flush, end := io.Writer(w), func() {}, func() {}
	if acceptsGzip(r) {
		h.Set("Content-Encoding", "gzip")
		zipped := gzip.NewWriter(w)
		out, flush, end = zipped, func() { _ = zipped.Flush() }, func() { _ = zipped.Close() }
	}
	defer end()
	_, _ = out.Write(head)
	flush()
	_ = http.NewResponseController(w).Flush() // the browser asks for the page's files meanwhile
	a.write(out, r)
	_, _ = out.Write(tail)
	return true
}

func (a Ahead) write(out io.Writer, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), a.Patience)
	defer cancel()
	answers := make([][]byte, len(a.Paths))
	if len(a.Paths) > 0 {
		answers[0] = a.ask(ctx, r, a.Paths[0])
	}
	if len(a.Paths) == 0 || answers[0] == nil {
		return
	}
	var asked sync.WaitGroup
	for i, path := range a.Paths[1:] {
		asked.Go(func() { answers[i+1] = a.ask(ctx, r, path) })
	}
	asked.Wait()
	for i, answer := range answers {
		if answer != nil {
			_, _ = fmt.Fprintf(out, "<script type=\"application/json\" data-given=\"%s\" data-now=\"%d\">%s</script>\n", html.EscapeString(a.Paths[i]), time.Now().UnixMilli(), answer)
		}
	}
}

// ask returns the answer to a path as JSON that ends no element of HTML; nil when
// there is none in time.
func (a Ahead) ask(ctx context.Context, r *http.Request, path string) []byte {
	at, err := url.Parse(path)
	if err != nil {
		return nil
	}
	asked := r.Clone(ctx)
	asked.URL, asked.RequestURI = at, path
	asked.Header = http.Header{"Accept": {"application/json"}, "Sec-Fetch-Site": {"same-origin"}} // only our own page reads what comes
	for _, name := range []string{"Cookie", "User-Agent", "Traceparent"} {
		if values := r.Header.Values(name); len(values) > 0 {
			asked.Header[name] = values
		}
	}
	kept := &kept{header: http.Header{}}
	kept.serve(a.API, asked)
	if kept.status != http.StatusOK || kept.body.Len() > maxGiven || ctx.Err() != nil || !json.Valid(kept.body.Bytes()) {
		return nil
	}
	var safe bytes.Buffer
	json.HTMLEscape(&safe, bytes.TrimSpace(kept.body.Bytes()))
	return safe.Bytes()
}

// kept is an answer that goes into the page.
type kept struct {
	header http.Header
	status int
	body   bytes.Buffer
}

// serve keeps what a handler answers. One that gives up by a panic has answered nothing.
func (k *kept) serve(h http.Handler, r *http.Request) {
	defer func() {
		if recover() != nil {
			k.status = 0
		}
	}()
	h.ServeHTTP(k, r)
}

// Header implements http.ResponseWriter.
func (k *kept) Header() http.Header { return k.header }

// WriteHeader implements http.ResponseWriter.
func (k *kept) WriteHeader(status int) {
	if k.status == 0 {
		k.status = status
	}
}

// Write implements http.ResponseWriter.
func (k *kept) Write(b []byte) (int, error) {
	k.WriteHeader(http.StatusOK)
	return k.body.Write(b)
}
