package httpx_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"countersign.dev/internal/fault"
	"countersign.dev/internal/httpx"
	"countersign.dev/internal/telemetry"
	"countersign.dev/internal/testkit"
)

// plain writes an error as its code and message.
func plain(log io.Writer) httpx.ErrorWriter {
	return httpx.ErrorWriter{
		Log: slog.New(telemetry.Handler{Handler: slog.NewJSONHandler(log, nil)}),
		Write: func(w http.ResponseWriter, _ *http.Request, f *fault.Error) {
			_ = httpx.JSON(w, f.Code.Status, map[string]string{"code": f.Code.Name, "message": f.Message})
		},
	}
}

func codeOf(t *testing.T, w *httptest.ResponseRecorder) string {
	t.Helper()
	var answer struct{ Code string }
	if err := json.Unmarshal(w.Body.Bytes(), &answer); err != nil {
		t.Fatalf("got %q, want JSON: %v", w.Body, err)
	}
	return answer.Code
}

func TestRequestGetsAnID(t *testing.T) {
	const trace = "4bf92f3577b34da6a3ce929d0e0e4736"
	for _, c := range []struct{ name, id, traceparent, wantID, wantTrace string }{
		{"accepted", "a.b-C_9", "00-" + trace + "-00f067aa0ba902b7-01", "a.b-C_9", trace},
		{"line break", "a\nb", "", "", ""},
		{"too long", strings.Repeat("x", 65), "nonsense", "", ""},
		{"missing", "", "00-00000000000000000000000000000000-00f067aa0ba902b7-01", "", ""},
		{"reserved version", "", "ff-" + trace + "-00f067aa0ba902b7-01", "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			var seen telemetry.Request
			h := plain(io.Discard).Middleware(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
				seen = telemetry.RequestOf(r.Context())
			}))
			r := httptest.NewRequest("GET", "/", nil)
			r.Header["X-Request-Id"] = []string{c.id}
			r.Header.Set("Traceparent", c.traceparent)
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			if c.wantID != "" && seen.ID != c.wantID || seen.ID == "" || seen.ID != w.Header().Get("X-Request-ID") {
				t.Errorf("got id %q echoed as %q, want %q", seen.ID, w.Header().Get("X-Request-ID"), c.wantID)
			}
			if c.wantID == "" && seen.ID == c.id {
				t.Errorf("got the caller's id %q, want a fresh one", seen.ID)
			}
			if seen.Trace != c.wantTrace {
				t.Errorf("got trace %q, want %q", seen.Trace, c.wantTrace)
			}
		})
	}
}

func TestPanicShowsAReferenceAndLogsTheRest(t *testing.T) {
	var log bytes.Buffer
	h := plain(&log).Middleware(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic("salary is 95000") }))
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest("GET", "/x?token=secret", nil))
	if w.Code != http.StatusInternalServerError || codeOf(t, w) != "INTERNAL_ERROR" {
		t.Errorf("got %d %s, want 500 INTERNAL_ERROR", w.Code, w.Body)
	}
	if strings.Contains(w.Body.String(), "salary") {
		t.Errorf("got %s, want nothing internal", w.Body)
	}
	if !strings.Contains(log.String(), "salary is 95000") || !strings.Contains(log.String(), `"fault_id"`) {
		t.Errorf("got log %s, want the panic and its id", &log)
	}
	if strings.Contains(log.String(), "secret") {
		t.Errorf("got log %s, want no query string", &log)
	}
}

// A request that its client gave up is no failure of ours and no refusal.
func TestCancelledRequestIsOneQuietLine(t *testing.T) {
	var log bytes.Buffer
	m := httpx.NewMux(plain(&log))
	m.HandleFunc("GET /slow", func(_ http.ResponseWriter, r *http.Request) error { return r.Context().Err() })
	gone, leave := context.WithCancel(t.Context())
	leave()
	m.ServeHTTP(httptest.NewRecorder(), httptest.NewRequestWithContext(gone, "GET", "/slow", nil))
	if got := log.String(); strings.Count(got, "\n") != 1 || !strings.Contains(got, `"level":"INFO"`) || !strings.Contains(got, "request cancelled") {
		t.Errorf("got logged: %s", got)
	}
}

func TestUnknownRoutesAreFaults(t *testing.T) {
	m := httpx.NewMux(plain(io.Discard))
	nothing := func(http.ResponseWriter, *http.Request) error { return nil }
	m.HandleFunc("POST /tools/{name}", nothing)
	m.HandleFunc("GET /tools", nothing)
	for _, c := range []struct {
		method, path, code, allow string
		status                    int
	}{
		{"GET", "/nowhere", "ROUTE_NOT_FOUND", "", 404},
		{"GET", "/", "ROUTE_NOT_FOUND", "", 404},
		{"GET", "/tools/x", "METHOD_NOT_ALLOWED", "POST", 405},
		{"DELETE", "/tools", "METHOD_NOT_ALLOWED", "GET, HEAD", 405},
		{"BREW<script>", "/tools", "METHOD_NOT_ALLOWED", "GET, HEAD", 405},
	} {
		w := httptest.NewRecorder()
		r := httptest.NewRequest("GET", c.path, nil)
		r.Method = c.method
		m.ServeHTTP(w, r)
		if w.Code != c.status || codeOf(t, w) != c.code || w.Header().Get("Allow") != c.allow {
			t.Errorf("%s %s: got %d %s Allow %q, want %d %s %q", c.method, c.path, w.Code, w.Body, w.Header().Get("Allow"), c.status, c.code, c.allow)
		}
		if strings.Contains(w.Body.String(), "script") {
			t.Errorf("got %s, want the strange method not repeated", w.Body)
		}
	}
}

func TestErrorAfterAStreamBeganIsNotWritten(t *testing.T) {
	h := plain(io.Discard).Handle(func(w http.ResponseWriter, _ *http.Request) error {
		_, _ = io.WriteString(w, "begun")
		return errors.New("broken")
	})
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest("GET", "/", nil))
	if w.Body.String() != "begun" {
		t.Errorf("got %q, want only what had begun", w.Body)
	}
}

func TestRetryAfterIsRoundedUp(t *testing.T) {
	h := plain(io.Discard).Handle(func(http.ResponseWriter, *http.Request) error {
		return fault.TooManyRequests.New("Slow down.").After(1200 * time.Millisecond)
	})
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest("GET", "/", nil))
	if got := w.Header().Get("Retry-After"); w.Code != 429 || got != "2" {
		t.Errorf("got %d Retry-After %q, want 429 and 2", w.Code, got)
	}
}

func TestGuardChecksHostAndOrigin(t *testing.T) {
	g := httpx.OriginPolicy{Hosts: []string{"mcp.example.com", "other.example.com:8443"}, Origins: []string{"https://app.example.com"}}
	for _, c := range []struct {
		host    string
		origins []string
		ok      bool
	}{
		{"localhost:3101", nil, true},
		{"127.0.0.1:3101", nil, true},
		{"[::1]:3101", nil, true},
		{"MCP.example.com", nil, true},
		{"mcp.example.com:9", nil, true},
		{"other.example.com:8443", nil, true},
		{"other.example.com:1", nil, false},
		{"evil.example.com", nil, false},
		{"localhost.evil.com", nil, false},
		{"mcp.example.com.evil.com", nil, false},
		{"", nil, false},
		{"localhost:3101", []string{"http://localhost:3101"}, true},
		{"localhost:3101", []string{"http://localhost:3000"}, false},
		{"localhost:3101", []string{"http://evil.com"}, false},
		{"localhost:3101", []string{"null"}, false},
		{"localhost:3101", []string{""}, false},
		{"localhost:3101", []string{"http://localhost:3101", "http://localhost:3101"}, false},
		{"localhost:3101", []string{"http://localhost:3101/x"}, false},
		{"localhost:3101", []string{"http://evil@localhost:3101"}, false},
		{"localhost:3101", []string{"file://localhost:3101"}, false},
		{"mcp.example.com", []string{"https://app.example.com"}, true},
	} {
		r := httptest.NewRequest("GET", "/", nil)
		r.Host = c.host
		if c.origins != nil {
			r.Header["Origin"] = c.origins
		}
		err := g.Check(r)
		if (err == nil) != c.ok {
			t.Errorf("host %q origins %q: got %v, want ok %v", c.host, c.origins, err, c.ok)
		}
		if err != nil && !fault.Is(err, fault.ForbiddenRequest) {
			t.Errorf("got %v, want FORBIDDEN", err)
		}
	}
}

func TestOnlyOurOwnPageIsSameOrigin(t *testing.T) {
	g := httpx.NewOriginPolicy("https://mcp.example.com/")
	for _, c := range []struct {
		site    string
		origins []string
		ok      bool
	}{
		{"same-origin", nil, true},
		{"same-site", nil, false},
		{"cross-site", []string{"https://mcp.example.com"}, false},
		{"none", nil, false},
		{"", nil, false},
		{"", []string{"https://mcp.example.com"}, true},
		{"", []string{"http://localhost:3100"}, true},
		{"", []string{"https://mcp.example.com", "https://evil.com"}, false},
		{"", []string{"https://evil.com"}, false},
		{"", []string{""}, false},
	} {
		r := httptest.NewRequest("GET", "/", nil)
		r.Host = "localhost:3100" // a proxy may change it
		r.Header.Set("Sec-Fetch-Site", c.site)
		r.Header["Origin"] = c.origins
		if err := g.SameOrigin(r); (err == nil) != c.ok {
			t.Errorf("site %q origins %q: got %v, want ok %v", c.site, c.origins, err, c.ok)
		}
	}
}

func TestPortInUseIsOneSentence(t *testing.T) {
	l, err := httpx.Listen(context.Background(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, err = httpx.Listen(context.Background(), l.Addr().String())
	if err == nil || !strings.Contains(err.Error(), "is already in use: stop the program") {
		t.Errorf("got %v, want one sentence about the port", err)
	}
}

func TestServeFinishesRequestsInFlight(t *testing.T) {
	entered, release := make(chan struct{}), make(chan struct{})
	h := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		close(entered)
		<-release
		_, _ = io.WriteString(w, "done")
	})
	l, err := httpx.Listen(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	s := httpx.NewServer(h, slog.New(slog.DiscardHandler))
	s.RegisterOnShutdown(func() { close(release) }) // the request ends only after the shutdown began
	go func() { ended <- httpx.Serve(ctx, s, l, testkit.Patience) }()
	answer := make(chan string, 1)
	go func() {
		resp, err := http.Get("http://" + l.Addr().String())
		if err != nil {
			answer <- err.Error()
			return
		}
		defer resp.Body.Close()
		b, _ := io.ReadAll(resp.Body)
		answer <- string(b)
	}()
	<-entered
	stop()
	if got := <-answer; got != "done" {
		t.Errorf("got %q, want done", got)
	}
	if err := <-ended; err != nil {
		t.Errorf("got %v, want a clean end", err)
	}
}

// TestALineNamesTheCodeOnce: the error beside the code is the cause, or the message.
func TestALineNamesTheCodeOnce(t *testing.T) {
	for _, f := range []*fault.Error{
		fault.OperationFailed.New("The chart cannot be drawn."),
		fault.Unauthorized.New("Sign in.").Because(fault.Unauthorized.New("The token is too old.")),
	} {
		var log strings.Builder
		plain(&log).LogCause(t.Context(), f)
		if strings.Count(log.String(), f.Code.Name) != 1 || strings.Contains(log.String(), "null") {
			t.Errorf("got %s, want the code once and what went wrong", &log)
		}
	}
}

// TestPathOfManyMethodsIsFound: by a POST at once, with its pattern as any other, and
// with the values of its wildcards, whatever the path spells.
func TestPathOfManyMethodsIsFound(t *testing.T) {
	mux := httpx.NewMux(plain(io.Discard))
	show := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = fmt.Fprintf(w, "%s %s %s", r.Method, r.Pattern, r.PathValue("server"))
	})
	mux.HandleMethods("/mcp", []string{"GET", "POST"}, show)
	mux.HandleMethods("/mcp/{server}", []string{"GET", "POST"}, show)
	for request, want := range map[string]string{
		"POST /mcp": "POST /mcp ", "GET /mcp": "GET /mcp ", "POST /%6dcp": "POST /mcp ", "POST /mcp/hr": "POST /mcp/{server} hr", "POST /mcp/%7Bserver%7D": "POST /mcp/{server} {server}",
	} {
		method, path, _ := strings.Cut(request, " ")
		w := httptest.NewRecorder()
		if mux.ServeHTTP(w, httptest.NewRequest(method, path, nil)); w.Body.String() != want {
			t.Errorf("%s: got %q, want %q", request, w.Body, want)
		}
	}
}
