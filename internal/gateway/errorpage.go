package gateway

import (
	"html/template"
	"net/http"
	"strings"

	"countersign.dev/internal/fault"
)

// wantsPage reports whether the client is a browser that shows the answer as a page.
func wantsPage(r *http.Request) bool {
	return r.Method == http.MethodGet && strings.Contains(r.Header.Get("Accept"), "text/html")
}

// writePage writes a fault as a page.
func writePage(w http.ResponseWriter, f *fault.Error, status int, title string) {
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", "default-src 'none'; style-src 'self'; base-uri 'none'; frame-ancestors 'none'; form-action 'none'")
	h.Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	message, advice := f.ForPeople()
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
