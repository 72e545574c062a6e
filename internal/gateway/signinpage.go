package gateway

import (
	"html/template"
	"net/http"
	"strings"

	"countersign.dev/internal/fault"
	"countersign.dev/internal/httpx"
)

// signInErrors writes why a sign-in failed as a page for browsers, and as an
// envelope for anything else.
func (g *Gateway) signInErrors() httpx.ErrorWriter {
	return httpx.ErrorWriter{Log: g.o.Log, Observer: g.o.Observer, Write: func(w http.ResponseWriter, r *http.Request, f *fault.Error) {
		if !wantsPage(r) {
			g.writeError(w, r, f)
			return
		}
		writePage(w, f, "Sign-in failed")
	}}
}

// wantsPage reports whether a browser shows the answer to a person.
func wantsPage(r *http.Request) bool {
	return r.Method == http.MethodGet && strings.Contains(r.Header.Get("Accept"), "text/html")
}

// writePage writes a fault as a page.
func writePage(w http.ResponseWriter, f *fault.Error, title string) {
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", "default-src 'none'; style-src 'self'; base-uri 'none'; frame-ancestors 'none'; form-action 'none'")
	h.Set("Cache-Control", "no-store")
	w.WriteHeader(statusOf(f))
	message, advice := fault.ForPeople(f.Code.Name, f.Message, f.SuggestedAction)
	_ = errorPage.Execute(w, map[string]string{"Title": title, "Message": message, "Advice": advice}) // the client has disconnected
}

var errorPage = template.Must(template.New("error").Parse(`<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{{.Title}}</title>
<link rel="stylesheet" href="/app.css">
<main class="middle">
<h1>{{.Message}}</h1>
<p class="lead">{{.Advice}}</p>
<a class="button" href="/">Back to the first page</a>
</main>
</html>
`))
