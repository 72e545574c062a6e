// Package web is the chat page: plain files that the browser runs as they are,
// embedded in the binary. There is no build step, no framework and nothing from
// elsewhere, so the page works under `default-src 'self'` with no exception.
//
// It knows the gateway's HTTP contract and nothing of Go: no package here but
// the one variable that serves it. Start reading at store.js, which
// has what the page knows; reactive.js keeps the views (views/) in step with it.
package web

import (
	"embed"
	"io/fs"
)

//go:embed index.html app.css icon.svg *.js views/*.js
var embedded embed.FS

// Files holds the page. index.html refers to its neighbours by relative
// addresses, so the files may be served under any path that ends in a slash.
var Files fs.FS = embedded
