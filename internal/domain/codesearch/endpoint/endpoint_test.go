package endpoint_test

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
	"regexp"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"countersign.dev/internal/access"
	"countersign.dev/internal/domain/codesearch/endpoint"
	"countersign.dev/internal/fault"
	"countersign.dev/internal/httpx"
	"countersign.dev/internal/strictjson"
	"countersign.dev/internal/telemetry"
)

// bench is a handler with what it was asked.
type bench struct {
	options endpoint.Options
	asked   struct {
		who   endpoint.Caller
		query string
		limit int
		calls int
	}
	clock time.Time
	log   bytes.Buffer
}

func newBench() *bench {
	b := &bench{clock: time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)}
	b.options = endpoint.Options{
		Search: func(_ context.Context, who endpoint.Caller, query string, limit int) (endpoint.Answer, error) {
			b.asked.who, b.asked.query, b.asked.limit = who, query, limit
			b.asked.calls++
			return endpoint.Answer{Results: []string{"a place"}, N: 1}, nil
		},
		Enter: func(_ http.ResponseWriter, r *http.Request) (*http.Request, error) {
			switch r.Header.Get("Authorization") {
			case "":
				return r, nil
			case "Bearer good":
				return r.WithContext(access.With(r.Context(), access.NewPrincipal(access.Claims{Issuer: "https://issuer", Subject: "nina", Roles: []string{"employee"}}))), nil
			case "Bearer outage":
				return nil, fault.ServiceDown.New("The keys cannot be reached.")
			case "Bearer purpose":
				return nil, fault.ForbiddenRequest.New("This token was not issued to call tools.")
			case "Bearer much":
				return nil, fault.TooManyRequests.New("too many").After(time.Second)
			}
			return nil, fault.Unauthorized.New("The token is not valid.")
		},
		Services:  func() (map[string]string, bool) { return map[string]string{"index": "ready"}, true },
		CheckHost: httpx.NewOriginPolicy("https://code.example.com").CheckHost, Loopback: true,
		Log: slog.New(telemetry.Handler{Handler: slog.NewJSONHandler(&b.log, nil)}), Now: func() time.Time { return b.clock },
	}
	return b
}

// send sends a request and returns the answer. change may be nil.
func (b *bench) send(method, path, body string, change func(*http.Request)) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, "http://localhost:3106"+path, strings.NewReader(body))
	r.RemoteAddr = "127.0.0.1:40000"
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("X-MCP-Version", "2")
	if change != nil {
		change(r)
	}
	w := httptest.NewRecorder()
	endpoint.New(b.options).ServeHTTP(w, r)
	return w
}

func (b *bench) search(body string) *httptest.ResponseRecorder {
	return b.send(http.MethodPost, "/mcp/search", body, nil)
}

// wantError checks that an answer is document 004's error and nothing else.
func wantError(t *testing.T, w *httptest.ResponseRecorder, status int, code, message string) {
	t.Helper()
	var got struct {
		Error struct {
			Code    string `json:"code"`
			Message string `json:"message"`
			Retry   int    `json:"retry_after"`
		} `json:"error"`
	}
	d := json.NewDecoder(w.Body)
	d.DisallowUnknownFields()
	if err := d.Decode(&got); err != nil {
		t.Fatalf("status %d: %v", w.Code, err)
	}
	if w.Code != status || got.Error.Code != code || message != "" && got.Error.Message != message {
		t.Errorf("got %d %s %q, want %d %s %q", w.Code, got.Error.Code, got.Error.Message, status, code, message)
	}
	if w.Header().Get("Content-Type") != "application/json" || w.Header().Get("X-MCP-Version") != "2" || w.Header().Get("X-Request-ID") == "" || w.Header().Get("Access-Control-Allow-Origin") != "*" {
		t.Errorf("an error lacks headers: %v", w.Header())
	}
}

const (
	textQuery  = "Query field is required and must be a string"
	textShort  = "Query must be at least 3 characters"
	textLong   = "Query must be at most 500 characters"
	textNumber = "Limit must be an integer"
	textRange  = "Limit must be between 1 and 20"
	textJSON   = "Request body must be valid JSON"
	textType   = "Content-Type must be application/json"
	textSize   = "Request payload must be less than 1KB"
)

func TestBodiesAreValidatedInOrder(t *testing.T) {
	for body, want := range map[string]string{
		``:                                  "MALFORMED_JSON " + textJSON,
		`{"query":`:                         "MALFORMED_JSON " + textJSON,
		`[]`:                                "MALFORMED_JSON " + textJSON,
		`null`:                              "MALFORMED_JSON " + textJSON,
		`"test"`:                            "MALFORMED_JSON " + textJSON,
		`{"query":"test"} {}`:               "MALFORMED_JSON " + textJSON,
		`{"query":"test","query":"other"}`:  "MALFORMED_JSON " + textJSON,
		"{\"query\":\"te\xffst\"}":          "MALFORMED_JSON " + textJSON,
		`{}`:                                "INVALID_QUERY " + textQuery,
		`{"limit":5}`:                       "INVALID_QUERY " + textQuery,
		`{"query":null}`:                    "INVALID_QUERY " + textQuery,
		`{"query":12345}`:                   "INVALID_QUERY " + textQuery,
		`{"query":["test"]}`:                "INVALID_QUERY " + textQuery,
		`{"query":""}`:                      "INVALID_QUERY " + textQuery,
		`{"Query":"test"}`:                  "INVALID_QUERY " + textQuery,
		`{"query":"ab"}`:                    "INVALID_QUERY " + textShort,
		`{"query":"   "}`:                   "INVALID_QUERY " + textShort,
		`{"query":"  ab  "}`:                "INVALID_QUERY " + textShort,
		`{"query":"\ufeffab\u00a0"}`:        "INVALID_QUERY " + textShort,
		`{"query":"ab","limit":99}`:         "INVALID_QUERY " + textShort,
		query(strings.Repeat("a", 501)):     "INVALID_QUERY " + textLong,
		query(strings.Repeat("é", 501)):     "INVALID_QUERY " + textLong,
		`{"query":"test","limit":null}`:     "INVALID_LIMIT " + textNumber,
		`{"query":"test","limit":"5"}`:      "INVALID_LIMIT " + textNumber,
		`{"query":"test","limit":1.5}`:      "INVALID_LIMIT " + textNumber,
		`{"query":"test","limit":[5]}`:      "INVALID_LIMIT " + textNumber,
		`{"query":"test","limit":true}`:     "INVALID_LIMIT " + textNumber,
		`{"query":"test","limit":0}`:        "INVALID_LIMIT " + textRange,
		`{"query":"test","limit":-1}`:       "INVALID_LIMIT " + textRange,
		`{"query":"test","limit":21}`:       "INVALID_LIMIT " + textRange,
		`{"query":"test","limit":1e300}`:    "INVALID_LIMIT " + textRange,
		`{"query":"test"}`:                  "test 5",
		`{"query":"  test  "}`:              "test 5",
		`{"query":"abc"}`:                   "abc 5",
		`{"query":"äöü"}`:                   "äöü 5",
		`{"query":"test","limit":1}`:        "test 1",
		`{"query":"test","limit":5.0}`:      "test 5",
		`{"query":"test","limit":1e1}`:      "test 10",
		`{"query":"test","limit":20}`:       "test 20",
		`{"query":"test","more":[1,{}]}`:    "test 5",
		query(strings.Repeat("a", 500)):     strings.Repeat("a", 500) + " 5",
		query(strings.Repeat("é", 500)):     strings.Repeat("é", 500) + " 5",
		padded(`{"query":"test"}`, 1024):    "test 5",
		padded(`{"query":"test"}`, 1025):    "PAYLOAD_TOO_LARGE " + textSize,
		padded(`{"query":"ab"`, 1025):       "PAYLOAD_TOO_LARGE " + textSize,
		padded(`{"query":"test"}`, 100_000): "PAYLOAD_TOO_LARGE " + textSize,
	} {
		t.Run(body[:min(len(body), 40)], func(t *testing.T) {
			b := newBench()
			w := b.search(body)
			code, message, _ := strings.Cut(want, " ")
			if code != strings.ToUpper(code) || code == "" {
				if got := fmt.Sprintf("%s %d", b.asked.query, b.asked.limit); w.Code != 200 || got != want {
					t.Errorf("got %d, asked for %q, want %q", w.Code, got, want)
				}
				return
			}
			wantError(t, w, http.StatusBadRequest, code, message)
			if b.asked.calls != 0 {
				t.Error("an invalid request was searched")
			}
		})
	}
}

func query(text string) string { return `{"query":"` + text + `"}` }

// padded adds spaces up to a size.
func padded(body string, size int) string { return body + strings.Repeat(" ", size-len(body)) }

// TestSizeIsEnforcedOnTheReader: a body without a length cannot pass.
func TestSizeIsEnforcedOnTheReader(t *testing.T) {
	w := newBench().send(http.MethodPost, "/mcp/search", "", func(r *http.Request) {
		r.Body, r.ContentLength = io.NopCloser(strings.NewReader(padded(`{"query":"test"}`, 1025))), -1
	})
	wantError(t, w, 400, "PAYLOAD_TOO_LARGE", textSize)
}

func TestContentTypeIsJSON(t *testing.T) {
	for media, good := range map[string]bool{
		"": false, "text/plain": false, "application/jsonx": false, "application/x-www-form-urlencoded": false,
		"application/json": true, "application/json; charset=utf-8": true, "Application/JSON": true,
	} {
		w := newBench().send(http.MethodPost, "/mcp/search", `{"query":"ab"}`, func(r *http.Request) {
			r.Header.Del("Content-Type")
			if media != "" {
				r.Header.Set("Content-Type", media)
			}
		})
		if good {
			wantError(t, w, 400, "INVALID_QUERY", textShort)
		} else {
			wantError(t, w, 400, "INVALID_CONTENT_TYPE", textType)
		}
	}
}

func TestAnswerOfASearch(t *testing.T) {
	b := newBench()
	search := b.options.Search
	b.options.Search = func(ctx context.Context, who endpoint.Caller, query string, limit int) (endpoint.Answer, error) {
		b.clock = b.clock.Add(1500 * time.Microsecond)
		return search(ctx, who, query, limit)
	}
	w := b.search(`{"query":"test","limit":5}`)
	if got := w.Body.String(); w.Code != 200 || got != `{"results":["a place"],"took_ms":1}` {
		t.Errorf("got %d %s", w.Code, got)
	}
	if w.Header().Get("Content-Type") != "application/json" || w.Header().Get("X-MCP-Version") != "2" {
		t.Errorf("got %v", w.Header())
	}
	b.options.Search = func(context.Context, endpoint.Caller, string, int) (endpoint.Answer, error) {
		return endpoint.Answer{Results: []string{}, Note: "Nothing matches in app."}, nil
	}
	if got := b.search(`{"query":"test"}`).Body.String(); got != `{"results":[],"took_ms":0,"note":"Nothing matches in app."}` {
		t.Errorf("got %s", got)
	}
}

var uuid = regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`)

func TestRequestIDIsKeptOrMade(t *testing.T) {
	for given, kept := range map[string]bool{"My-request_1.b": true, strings.Repeat("x", 64): true, "my-request/1": false, "": false, "two words": false, strings.Repeat("x", 65): false, "line\u0085break": false} {
		w := newBench().send(http.MethodPost, "/mcp/search", `{"query":"test"}`, func(r *http.Request) { r.Header.Set("X-Request-ID", given) })
		got := w.Header().Get("X-Request-ID")
		if kept && got != given || !kept && !uuid.MatchString(got) {
			t.Errorf("%q became %q", given, got)
		}
	}
}

// TestVersionIsNeverRefused: of a missing or another version the line of the request warns.
func TestVersionIsNeverRefused(t *testing.T) {
	for given, noted := range map[string]string{"": "none", "1": "1", "3": "3", strings.Repeat("9", 30): strings.Repeat("9", 20)} {
		b := newBench()
		w := b.send(http.MethodPost, "/mcp/search", `{"query":"test"}`, func(r *http.Request) { r.Header.Set("X-MCP-Version", given) })
		warns := strings.HasPrefix(b.log.String()[strings.Index(b.log.String(), `"level"`):], `"level":"WARN"`) && strings.Contains(b.log.String(), `"warning":"MCP version mismatch or missing","expected":"2","received":"`+noted+`"`)
		if w.Code != 200 || w.Header().Get("X-MCP-Version") != "2" || !warns || strings.Count(b.log.String(), "\n") != 1 {
			t.Errorf("version %q: %d, log %s", given, w.Code, b.log.String())
		}
	}
	b := newBench()
	if b.search(`{"query":"test"}`); strings.Contains(b.log.String(), "mismatch") || strings.Contains(b.log.String(), "WARN") {
		t.Error("version 2 was warned about")
	}
}

func TestPreflightNeedsNoToken(t *testing.T) {
	for loopback, allowed := range map[bool]string{true: "Content-Type, X-MCP-Version, X-Request-ID", false: "Content-Type, X-MCP-Version, X-Request-ID, Authorization"} {
		b := newBench()
		b.options.Loopback = loopback
		w := b.send(http.MethodOptions, "/mcp/search", "", func(r *http.Request) { r.Header.Set("Origin", "https://elsewhere.example") })
		h := w.Header()
		if w.Code != 204 || w.Body.Len() != 0 || h.Get("Access-Control-Allow-Origin") != "*" || h.Get("Access-Control-Allow-Methods") != "POST, OPTIONS, GET" || h.Get("Access-Control-Allow-Headers") != allowed ||
			h.Get("Access-Control-Expose-Headers") != "X-MCP-Version, X-Request-ID, Retry-After" {
			t.Errorf("got %d %v", w.Code, h)
		}
	}
	if w := newBench().send(http.MethodOptions, "/mcp/elsewhere", "", nil); w.Code != 204 {
		t.Errorf("a path where nothing is served: %d", w.Code)
	}
}

// TestWhoAsks: without a principal the endpoint tells programs from pages.
func TestWhoAsks(t *testing.T) {
	for _, c := range []struct {
		name, token, origin string
		status              int
		code                string
		person, page        bool
	}{
		{name: "a program on this machine", status: 200},
		{name: "a page", origin: "https://elsewhere.example", status: 200, page: true},
		{name: "a page of a file", origin: "null", status: 200, page: true},
		{name: "a person", token: "Bearer good", status: 200, person: true},
		{name: "a person's page", token: "Bearer good", origin: "https://elsewhere.example", status: 200, person: true, page: true},
		{name: "a wrong token", token: "Bearer bad", status: 401, code: "UNAUTHENTICATED"},
		{name: "a token of another purpose", token: "Bearer purpose", status: 403, code: "FORBIDDEN"},
		{name: "too many requests", token: "Bearer much", status: 429, code: "RATE_LIMITED"},
		{name: "keys out of reach", token: "Bearer outage", status: 503, code: "SEARCH_ERROR"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench()
			w := b.send(http.MethodPost, "/mcp/search", `{"query":"test"}`, func(r *http.Request) {
				for name, value := range map[string]string{"Authorization": c.token, "Origin": c.origin} {
					if value != "" {
						r.Header.Set(name, value)
					}
				}
			})
			if w.Code != c.status || c.status == 200 && ((b.asked.who.Principal != nil) != c.person || b.asked.who.Page != c.page) {
				t.Errorf("got %d, caller %+v", w.Code, b.asked.who)
			}
			if c.code != "" {
				wantError(t, w, c.status, c.code, "")
			}
		})
	}
}

// TestRefusalWhileTheBodyIsReadIsAnswered: a request that the queue does not admit is
// no malformed one.
func TestRefusalWhileTheBodyIsReadIsAnswered(t *testing.T) {
	b := newBench()
	w := b.send(http.MethodPost, "/mcp/search", "", func(r *http.Request) {
		refused := iotest.ErrReader(fault.TooManyRequests.New("others first").After(time.Second))
		r.Body, r.ContentLength = io.NopCloser(io.MultiReader(strings.NewReader(`{"query":"test"}`), refused)), -1
	})
	wantError(t, w, 429, "RATE_LIMITED", "Too many requests")
	if b.asked.calls != 0 {
		t.Error("it was searched")
	}
}

// counted are the requests that an observer saw.
type counted struct{ requests, errors []string }

func (c *counted) Request(route string, status int, _ time.Duration) {
	c.requests = append(c.requests, fmt.Sprint(route, " ", status))
}
func (c *counted) Error(code string) { c.errors = append(c.errors, code) }

func TestRequestsAreCounted(t *testing.T) {
	b, c := newBench(), &counted{}
	b.options.Observer = c
	b.search(`{"query":"test"}`)
	b.search(`{"query":"t"}`)
	b.send(http.MethodGet, "/mcp/health", "", nil)
	b.send(http.MethodGet, "/mcp/somewhere", "", nil)
	if got := fmt.Sprint(c.requests, c.errors); got != "[POST /mcp/search 200 POST /mcp/search 400 GET /mcp/health 200  404] [INVALID_QUERY ROUTE_NOT_FOUND]" {
		t.Error(got)
	}
}

// TestTokenIsCheckedFirst: a caller without rights learns nothing of the body's
// rules.
func TestTokenIsCheckedFirst(t *testing.T) {
	w := newBench().send(http.MethodPost, "/mcp/search", `{"query":`, func(r *http.Request) { r.Header.Set("Authorization", "Bearer bad") })
	wantError(t, w, 401, "UNAUTHENTICATED", "")
}

func TestEveryFailureHasTheShape(t *testing.T) {
	for _, c := range []struct {
		method, path, code string
		status             int
		err                error
	}{
		{"GET", "/mcp/search", "METHOD_NOT_ALLOWED", 405, nil},
		{"PUT", "/mcp/search", "METHOD_NOT_ALLOWED", 405, nil},
		{"POST", "/mcp/health", "METHOD_NOT_ALLOWED", 405, nil},
		{"POST", "/mcp/find", "ROUTE_NOT_FOUND", 404, nil},
		{"POST", "/mcp/search", "SEARCH_ERROR", 503, fault.ServiceDown.New("no index: /srv/secret")},
		{"POST", "/mcp/search", "RATE_LIMITED", 429, fault.TooManyRequests.New("slow down").After(1500 * time.Millisecond)},
		{"POST", "/mcp/search", "INTERNAL_ERROR", 500, errors.New("open /srv/secret: denied")},
		{"POST", "/mcp/search", "INTERNAL_ERROR", 500, errPanic},
	} {
		b := newBench()
		b.options.Search = func(context.Context, endpoint.Caller, string, int) (endpoint.Answer, error) {
			if errors.Is(c.err, errPanic) {
				panic(c.err)
			}
			return endpoint.Answer{}, c.err
		}
		w := b.send(c.method, c.path, `{"query":"test"}`, nil)
		if strings.Contains(w.Body.String(), "secret") {
			t.Errorf("it shows what is internal: %s", w.Body)
		}
		retry := map[int]string{503: "60", 429: "2"}[c.status]
		if got := w.Header().Get("Retry-After"); got != retry || retry != "" && !strings.Contains(w.Body.String(), `"retry_after":`+retry) {
			t.Errorf("%s: Retry-After %q, %s", c.code, got, w.Body)
		}
		if allow := w.Header().Get("Allow"); (c.status == 405) != (allow != "") {
			t.Errorf("%s: Allow %q", c.code, allow)
		}
		wantError(t, w, c.status, c.code, "")
		if n := strings.Count(b.log.String(), `"msg":"request"`); n != 1 {
			t.Errorf("%s: %d lines in the log:\n%s", c.code, n, b.log.String())
		}
	}
}

var errPanic = errors.New("a panic: /srv/secret")

func TestForeignHostIsRefused(t *testing.T) {
	for host, status := range map[string]int{"localhost:3106": 200, "127.0.0.1": 200, "code.example.com": 200, "rebound.example": 403} {
		w := newBench().send(http.MethodGet, "/mcp/health", "", func(r *http.Request) { r.Host = host })
		if w.Code != status {
			t.Errorf("%s: %d", host, w.Code)
		}
		if w := newBench().send(http.MethodOptions, "/mcp/search", "", func(r *http.Request) { r.Host = host }); (w.Code == http.StatusForbidden) != (status == http.StatusForbidden) {
			t.Errorf("%s, before a page's request: %d", host, w.Code)
		}
	}
}

func TestHealthIsAlways200(t *testing.T) {
	for healthy, status := range map[bool]string{true: "healthy", false: "degraded"} {
		b := newBench()
		b.options.Services = func() (map[string]string, bool) { return map[string]string{"index": "x"}, healthy }
		for _, path := range []string{"/health", "/mcp/health"} {
			w := b.send(http.MethodGet, path, "", nil)
			if w.Code != 200 || w.Body.String() != `{"services":{"index":"x"},"status":"`+status+`"}` {
				t.Errorf("%s: %d %s", path, w.Code, w.Body)
			}
			if w := b.send(http.MethodHead, path, "", nil); w.Code != 200 {
				t.Errorf("HEAD %s, as probes send it: %d", path, w.Code)
			}
		}
	}
}

// TestHealthIsLookedUpOnce: anyone may ask, so that many requests cost one look.
func TestHealthIsLookedUpOnce(t *testing.T) {
	b, looked := newBench(), 0
	b.options.Services = func() (map[string]string, bool) {
		looked++
		return map[string]string{"index": fmt.Sprint(looked)}, true
	}
	handler := endpoint.New(b.options)
	ask := func() string {
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "http://localhost:3106/health", nil))
		return w.Body.String()
	}
	for range 100 {
		ask()
	}
	b.clock = b.clock.Add(5 * time.Second)
	if got := ask(); looked != 2 || got != `{"services":{"index":"2"},"status":"healthy"}` {
		t.Errorf("looked up %d times: %s", looked, got)
	}
}

func TestOtherPathsAreServedByTheServer(t *testing.T) {
	for path, ours := range map[string]bool{"/mcp": false, "/ready": false, "/tools/search_code": false, "/health": true, "/mcp/search": true, "/mcp/health": true, "/mcp/else": true} {
		if endpoint.Serves(path) != ours {
			t.Errorf("%s: %v", path, !ours)
		}
	}
}

// TestOneLineIsLogged checks the fields, that the query is cut, and the levels of
// slow requests.
func TestOneLineIsLogged(t *testing.T) {
	for _, c := range []struct {
		search, before time.Duration
		level, slow    string
	}{
		{800 * time.Millisecond, 0, "INFO", ""},
		{801 * time.Millisecond, 0, "WARN", "800 ms"},
		{100 * time.Millisecond, 1950 * time.Millisecond, "WARN", "2 s"},
	} {
		b := newBench()
		b.options.Enter = func(_ http.ResponseWriter, r *http.Request) (*http.Request, error) {
			b.clock = b.clock.Add(c.before)
			return r, nil
		}
		b.options.Search = func(context.Context, endpoint.Caller, string, int) (endpoint.Answer, error) {
			b.clock = b.clock.Add(c.search)
			return endpoint.Answer{Results: []string{}, N: 7}, nil
		}
		b.send(http.MethodPost, "/mcp/search", query(strings.Repeat("ü", 101)), func(r *http.Request) { r.Header.Set("X-Request-ID", "r-1") })
		var line struct {
			Level, Operation, Query, Slow string
			RequestID                     string `json:"request_id"`
			Duration                      int64  `json:"duration_ms"`
			Count                         int    `json:"result_count"`
			Status                        int
		}
		if err := strictjson.Check(bytes.TrimSpace(b.log.Bytes())); err != nil { // each field is there once
			t.Fatalf("%v: %s", err, b.log.String())
		}
		if err := json.Unmarshal(b.log.Bytes(), &line); err != nil {
			t.Fatalf("%v: %s", err, b.log.String())
		}
		took := (c.search + c.before).Milliseconds()
		if line.Level != c.level || line.Operation != "search" || line.Query != strings.Repeat("ü", 100) || line.RequestID != "r-1" || line.Duration != took || line.Count != 7 || line.Status != 200 ||
			(c.slow == "") != (line.Slow == "") || !strings.Contains(line.Slow, c.slow) {
			t.Errorf("got %+v", line)
		}
	}
}

// TestRefusedQueriesAreLogged: cut as others are, as far as they could be read.
func TestRefusedQueriesAreLogged(t *testing.T) {
	for body, want := range map[string]string{
		query(strings.Repeat("ü", 501)):      strings.Repeat("ü", 100),
		query(" ab "):                        "ab",
		`{"query":"verify token","limit":0}`: "verify token",
		`{"query":7}`:                        "",
		`{"query":`:                          "",
	} {
		b := newBench()
		if w := b.search(body); w.Code != http.StatusBadRequest {
			t.Errorf("%s: %d", body, w.Code)
		}
		var line struct{ Query string }
		if err := json.Unmarshal(b.log.Bytes(), &line); err != nil || line.Query != want {
			t.Errorf("%s: %v, %q in the log, not %q", body, err, line.Query, want)
		}
	}
}

// TestOtherPathsAreIdentified: the version and a request's id are on every answer of the
// server; an id that is safe to log is kept.
func TestOtherPathsAreIdentified(t *testing.T) {
	other := httpx.ErrorWriter{Log: slog.New(slog.DiscardHandler)}.Middleware(http.NotFoundHandler())
	handler := endpoint.Over(endpoint.New(newBench().options), other)
	for _, path := range []string{"/ready", "/mcp", "/nowhere", "/health"} {
		for given, kept := range map[string]bool{"": false, "r-1": true, "a/b": false, "a\tb": false} {
			r := httptest.NewRequest(http.MethodGet, "http://localhost:3106"+path, nil)
			r.Header.Set("X-Request-ID", given)
			w := httptest.NewRecorder()
			handler.ServeHTTP(w, r)
			id := w.Header().Get("X-Request-ID")
			if w.Header().Get("X-MCP-Version") != "2" || kept && id != given || !kept && !uuid.MatchString(id) || r.Header.Get("X-Request-ID") != given {
				t.Errorf("%s, given %q: version %q, id %q", path, given, w.Header().Get("X-MCP-Version"), id)
			}
		}
	}
}

func FuzzRequest(f *testing.F) {
	f.Fuzz(func(t *testing.T, body string) {
		b := newBench()
		w := b.search(body)
		if w.Code != 200 && w.Code != 400 || !json.Valid(w.Body.Bytes()) {
			t.Fatalf("%d %s", w.Code, w.Body)
		}
		if n := len([]rune(b.asked.query)); w.Code == 200 && (n < 3 || n > 500 || b.asked.limit < 1 || b.asked.limit > 20) {
			t.Fatalf("it asked for %q, %d", b.asked.query, b.asked.limit)
		}
	})
}
