package static_test

import (
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/fstest"

	"countersign.dev/internal/static"
)

var pageFiles = fstest.MapFS{
	"index.html": {Data: []byte(`<link rel="stylesheet" href="app.css">` + static.Preload + `<script type="module" src="app.js"></script><a href="/login">`)},
	"app.js":     {Data: []byte("import { a } from \"./a.js\";\nimport {\n  b,\n} from \"./views/b.js\";\nconst late = () => import(\"./views/late.js\");\n" + strings.Repeat("// words\n", 50))},
	"a.js":       {Data: []byte("export const a = 1;\n")}, "views/b.js": {Data: []byte("import { a } from \"../a.js\";\nexport const b = a;\n")}, "views/late.js": {Data: []byte("")},
	"app.css": {Data: []byte("p {}")},
}

func ask(t *testing.T, f *static.Files, name string, keep bool, header ...string) *http.Response {
	t.Helper()
	r := httptest.NewRequest(http.MethodGet, "/"+name, nil)
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	if !f.Serve(w, r, name, keep) {
		return nil
	}
	return w.Result()
}

func TestFirstPageNamesEveryModuleThatItNeeds(t *testing.T) {
	f, err := static.New(pageFiles)
	if err != nil {
		t.Fatal(err)
	}
	body, _ := io.ReadAll(ask(t, f, static.Index, false).Body)
	for _, want := range []string{`href="` + f.Prefix() + `app.css"`, `src="` + f.Prefix() + `app.js"`, `modulepreload" href="` + f.Prefix() + `a.js"`, f.Prefix() + `views/b.js"`, `href="/login"`} {
		if !strings.Contains(string(body), want) {
			t.Errorf("the page does not have %s:\n%s", want, body)
		}
	}
	if strings.Contains(string(body), "late.js") {
		t.Error("what is loaded when it is needed is asked for at the start")
	}
}

func TestFilesAreCompressedKeptAndAskedForByTag(t *testing.T) {
	f, err := static.New(pageFiles)
	if err != nil {
		t.Fatal(err)
	}
	zipped := ask(t, f, "app.js", true, "Accept-Encoding", "br, gzip")
	in, err := gzip.NewReader(zipped.Body)
	if err != nil {
		t.Fatal(err)
	}
	if body, _ := io.ReadAll(in); string(body) != string(pageFiles["app.js"].Data) {
		t.Errorf("got %q", body)
	}
	if got := zipped.Header.Get("Cache-Control"); !strings.Contains(got, "immutable") {
		t.Errorf("Cache-Control %q, want it kept", got)
	}
	tag := zipped.Header.Get("ETag")
	if again := ask(t, f, "app.js", false, "Accept-Encoding", "gzip", "If-None-Match", tag); again.StatusCode != http.StatusNotModified {
		t.Errorf("got %d for the same tag, want 304", again.StatusCode)
	}
	for name, header := range map[string][]string{"no coding": nil, "refused": {"Accept-Encoding", "gzip;q=0"}} {
		got := ask(t, f, "app.js", false, header...)
		if got.Header.Get("Content-Encoding") != "" || got.Header.Get("ETag") == tag {
			t.Errorf("%s: got it compressed, or with the tag of the other coding", name)
		}
	}
	if ask(t, f, static.Index, true) != nil || ask(t, f, "none.js", false) != nil {
		t.Error("the first page may be kept, or an unknown file was served")
	}
}
