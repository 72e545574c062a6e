// Package static serves the files of a web page so that a reload costs one round
// trip: each file has a second address that carries the digest of all files and may be
// kept for a year, the first page names only those and asks for all modules at once,
// and everything is compressed once, when the program starts. What the page asks for
// first may come with it.
//
// It knows no page of ours: files, markers in one of them, and a handler that answers. Start with [New].
package static

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"net/http"
	"path"
	"regexp"
	"slices"
	"strings"
)

// Preload is replaced in index.html by a modulepreload link for each module that the
// page's script needs to start.
const Preload = "<!-- modulepreload -->"

// Index is the first page, and Script the module that it starts with.
const (
	Index  = "index.html"
	Script = "app.js"
)

const forever = "public, max-age=31536000, immutable"

// Files are the files of a page. They are safe for concurrent use.
type Files struct {
	version string // digest of all files
	files   map[string]file
}

type file struct {
	kind    string // content type
	tag     string // of both encodings
	plain   []byte
	zipped  []byte // nil: it would not be smaller
	address bool   // false for the first page, which has no address that is kept
}

// New reads and compresses the files.
func New(source fs.FS) (*Files, error) {
	f := &Files{files: map[string]file{}}
	contents := map[string][]byte{}
	sum := sha256.New()
	err := fs.WalkDir(source, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		contents[name], err = fs.ReadFile(source, name)
		fmt.Fprintf(sum, "%s %d\n", name, len(contents[name]))
		sum.Write(contents[name])
		return err
	})
	if err != nil {
		return nil, err
	}
	f.version = hex.EncodeToString(sum.Sum(nil))[:16]
	if page, ok := contents[Index]; ok {
		contents[Index] = f.versioned(page, contents)
	}
	for name, content := range contents {
		f.files[name] = newFile(name, content)
	}
	return f, nil
}

// kinds are the types of a page's files. Package mime would read the tables of the
// machine, which are large and may say something else.
var kinds = map[string]string{
	".html": "text/html; charset=utf-8",
	".css":  "text/css; charset=utf-8",
	".js":   "text/javascript; charset=utf-8",
	".svg":  "image/svg+xml",
}

func newFile(name string, content []byte) file {
	sum := sha256.Sum256(content)
	made := file{kind: cmp.Or(kinds[path.Ext(name)], "application/octet-stream"), tag: hex.EncodeToString(sum[:8]), plain: content, address: name != Index}
	var zipped bytes.Buffer
	w, _ := gzip.NewWriterLevel(&zipped, gzip.BestCompression)
	_, _ = w.Write(content)
	_ = w.Close()
	if zipped.Len() < len(content) {
		made.zipped = zipped.Bytes()
	}
	return made
}

// Names lists the files in order.
func (f *Files) Names() []string {
	names := make([]string, 0, len(f.files))
	for name := range f.files {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// Prefix is the folder of the addresses that may be kept: "/v/…/".
func (f *Files) Prefix() string { return "/v/" + f.version + "/" }

// Serve answers a request for a file, compressed where the client takes that. With
// keep it may be kept for a year, else it is asked for again by its tag.
func (f *Files) Serve(w http.ResponseWriter, r *http.Request, name string, keep bool) bool {
	served, ok := f.files[name]
	if !ok || keep && !served.address {
		return false
	}
	h := w.Header()
	h.Set("Content-Type", served.kind)
	h.Set("Vary", "Accept-Encoding")
	h.Set("Cache-Control", "no-cache")
	if keep {
		h.Set("Cache-Control", forever)
	}
	body, tag := served.plain, served.tag
	if served.zipped != nil && acceptsGzip(r) {
		h.Set("Content-Encoding", "gzip")
		body, tag = served.zipped, served.tag+"-gz"
	}
	h.Set("ETag", `"`+tag+`"`)
	if strings.Contains(r.Header.Get("If-None-Match"), `"`+tag+`"`) {
		w.WriteHeader(http.StatusNotModified)
		return true
	}
	h.Set("Content-Length", fmt.Sprint(len(body)))
	w.WriteHeader(http.StatusOK)
	if r.Method != http.MethodHead {
		_, _ = w.Write(body)
	}
	return true
}

// acceptsGzip reports whether a request takes gzip. "gzip;q=0" does not.
func acceptsGzip(r *http.Request) bool {
	for _, one := range strings.Split(r.Header.Get("Accept-Encoding"), ",") {
		coding, weight, _ := strings.Cut(strings.TrimSpace(one), ";")
		if strings.TrimSpace(coding) == "gzip" {
			return !strings.HasPrefix(strings.ReplaceAll(weight, " ", ""), "q=0")
		}
	}
	return false
}

// ours matches what the first page refers to by a relative address.
var ours = regexp.MustCompile(`(href|src)="([a-z0-9]+\.(?:js|css|svg))"`)

func (f *Files) versioned(page []byte, contents map[string][]byte) []byte {
	var links strings.Builder
	for _, name := range modules(contents, Script) {
		fmt.Fprintf(&links, "<link rel=\"modulepreload\" href=\"%s%s\">\n  ", f.Prefix(), name)
	}
	text := strings.Replace(string(page), Preload, strings.TrimSpace(links.String()), 1)
	return []byte(ours.ReplaceAllString(text, `$1="`+f.Prefix()+`$2"`))
}

// imports matches a static import: what is imported when it is needed is not loaded
// at the start.
var imports = regexp.MustCompile(`(?m)^(?:import|export)\b[^"]*?\bfrom "(\.{1,2}/[^"]+)";`)

// modules lists a module and what it imports, however deep, in order.
func modules(contents map[string][]byte, name string) []string {
	found := map[string]bool{}
	var walk func(name string)
	walk = func(name string) {
		content, ok := contents[name]
		if !ok || found[name] {
			return
		}
		found[name] = true
		for _, m := range imports.FindAllSubmatch(content, -1) {
			walk(path.Join(path.Dir(name), string(m[1])))
		}
	}
	walk(name)
	names := make([]string, 0, len(found))
	for name := range found {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
