package httpx_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/google/go-cmp/cmp"

	"countersign.dev/internal/fault"
	"countersign.dev/internal/httpx"
)

// corsHandler is a surface with one page of another origin allowed.
func corsHandler() http.Handler {
	m := httpx.NewMux(plain(io.Discard))
	m.HandleMethods("/mcp", []string{"GET", "POST", "DELETE"}, http.NotFoundHandler())
	m.HandleFunc("POST /tools/{name}", func(http.ResponseWriter, *http.Request) error { return fault.Unauthorized.New("No token.") })
	m.HandleFunc("GET /tools", func(http.ResponseWriter, *http.Request) error { return nil })
	return httpx.OriginPolicy{Origins: []string{"https://portal.example"}}.CORS(m)
}

func TestOptionsTellsWhatIsAllowed(t *testing.T) {
	for path, want := range map[string]string{"/mcp": "GET, POST, DELETE, OPTIONS", "/tools/x": "POST, OPTIONS", "/tools": "GET, HEAD, OPTIONS", "/nowhere": ""} {
		w := httptest.NewRecorder()
		corsHandler().ServeHTTP(w, httptest.NewRequest("OPTIONS", path, nil))
		status := 204
		if want == "" {
			status = 404
		}
		if w.Code != status || w.Header().Get("Allow") != want || w.Header().Get("Access-Control-Allow-Methods") != "" {
			t.Errorf("%s: got %d Allow %q, want %q", path, w.Code, w.Header().Get("Allow"), want)
		}
	}
}

// TestPagesOfAllowedOriginsMayCall: the page of another origin gets no header, and
// nothing ever allows a cookie.
func TestPagesOfAllowedOriginsMayCall(t *testing.T) {
	const asked = "Authorization, Mcp-Session-Id, mcp-param-team, Cookie, mcp-param-a:b"
	for _, c := range []struct {
		name, method, origin, wants string
		want                        map[string]string
	}{
		{"preflight", "OPTIONS", "https://portal.example", "POST", map[string]string{
			"Origin": "https://portal.example", "Methods": "POST, OPTIONS", "Headers": "authorization, mcp-session-id, mcp-param-team",
		}},
		{"a request that fails", "POST", "https://portal.example", "", map[string]string{"Origin": "https://portal.example"}},
		{"preflight of another origin", "OPTIONS", "https://evil.example", "POST", map[string]string{}},
		{"request of another origin", "POST", "https://evil.example", "", map[string]string{}},
		{"null", "OPTIONS", "null", "POST", map[string]string{}},
		{"a longer name", "OPTIONS", "https://portal.example.evil.example", "POST", map[string]string{}},
	} {
		r := httptest.NewRequest(c.method, "/tools/x", nil)
		r.Header.Set("Origin", c.origin)
		if c.wants != "" {
			r.Header.Set("Access-Control-Request-Method", c.wants)
			r.Header.Set("Access-Control-Request-Headers", asked)
		}
		w := httptest.NewRecorder()
		corsHandler().ServeHTTP(w, r)
		got := map[string]string{}
		for _, name := range []string{"Origin", "Methods", "Headers", "Credentials"} {
			if value := w.Header().Get("Access-Control-Allow-" + name); value != "" {
				got[name] = value
			}
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
		const read = "Allow, Mcp-Protocol-Version, Mcp-Session-Id, Retry-After, WWW-Authenticate, X-Request-ID"
		if exposed := w.Header().Get("Access-Control-Expose-Headers"); (exposed == read) != (c.want["Origin"] != "") {
			t.Errorf("%s: the page may read %q", c.name, exposed)
		}
		if w.Header().Get("Vary") != "Origin" {
			t.Errorf("%s: got Vary %q: a cache could give one origin's answer to another", c.name, w.Header().Get("Vary"))
		}
	}
}
