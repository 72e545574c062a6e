package endpoint

import (
	"cmp"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"strconv"
	"time"

	"countersign.dev/internal/fault"
	"countersign.dev/internal/httpx"
)

// failure is an answer that is none: document 004's ErrorResponse.
type failure struct {
	status  int
	code    string
	message string
	retry   int   // seconds; 0: no advice
	cause   error // for the log
}

const searchPath = "/mcp/search"

// version is the protocol version of document 004.
const version = "2"

func (f *failure) Error() string { return f.code + ": " + f.message }
func (f *failure) Unwrap() error { return f.cause }

// retryAfter is how many seconds a client waits for an index.
const retryAfter = 60

// failureOf maps an error to the wire. Its own text is only logged.
func failureOf(err error) *failure {
	if f, ok := err.(*failure); ok { //nolint:errorlint // made in this package and never wrapped
		return f
	}
	switch f := fault.From(err); f.Kind() {
	case fault.Unavailable:
		return &failure{http.StatusServiceUnavailable, "SEARCH_ERROR", "Code search is temporarily unavailable", retryAfter, err}
	case fault.Unauthenticated:
		return &failure{http.StatusUnauthorized, "UNAUTHENTICATED", f.Message, 0, err}
	case fault.Forbidden:
		return &failure{http.StatusForbidden, "FORBIDDEN", f.Message, 0, err}
	case fault.RateLimited:
		return &failure{http.StatusTooManyRequests, "RATE_LIMITED", "Too many requests", max(1, int(f.RetryAfter.Seconds()+0.999)), err}
	}
	return &failure{http.StatusInternalServerError, "INTERNAL_ERROR", "An unexpected error occurred", 0, err}
}

// headers are those of every answer. Access-Control-Allow-Origin is * because
// assistants in web pages of any origin may ask; what a page without a token sees
// is only what was configured to be public. Authorization joins the headers that a
// page may send where the server needs tokens.
func (e *exchange) headers() {
	h := e.w.Header()
	h.Set("Access-Control-Allow-Origin", "*")
	h.Set("Access-Control-Allow-Methods", "POST, OPTIONS, GET")
	allowed := "Content-Type, X-MCP-Version, X-Request-ID"
	if !e.Loopback {
		allowed += ", Authorization"
	}
	h.Set("Access-Control-Allow-Headers", allowed)
	h.Set("Access-Control-Expose-Headers", "X-MCP-Version, X-Request-ID, Retry-After")
	h.Set("X-MCP-Version", version)
	h.Set("X-Request-ID", e.id)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "no-store")
}

// requestID keeps the caller's id where every other path does, too, and makes a UUID
// otherwise.
func requestID(r *http.Request) string {
	if id := r.Header.Get("X-Request-ID"); httpx.KeepsID(id) {
		return id
	}
	return newUUID()
}

// newUUID makes a random UUID, version 4.
func newUUID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails since Go 1.24
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// end writes an error, if there is one, and the one line of the log.
func (e *exchange) end(err error) {
	if err != nil {
		f := failureOf(err)
		body := map[string]any{"code": f.code, "message": f.message}
		if f.retry > 0 {
			body["retry_after"] = f.retry
			e.w.Header().Set("Retry-After", strconv.Itoa(f.retry))
		}
		_ = e.write(f.status, map[string]any{"error": body})
		if e.Observer != nil {
			e.Observer.Error(f.code)
		}
	}
	e.log(err)
}

// What is slow: the search, and the request as a whole.
const (
	slowSearch  = 800 * time.Millisecond
	slowRequest = 2 * time.Second
)

func (e *exchange) log(err error) {
	took := e.Now().Sub(e.began)
	if e.Observer != nil {
		e.Observer.Request(e.pattern(), e.status, took)
	}
	if e.operation == "health" || e.status == http.StatusNoContent {
		return
	}
	about := []any{"operation", e.operation, "duration_ms", took.Milliseconds(), "query", clip(e.query, 100), "result_count", e.found, "status", e.status} // the context has the id
	level := slog.LevelInfo
	if received := e.r.Header.Get("X-MCP-Version"); e.operation == "search" && received != version {
		level, about = slog.LevelWarn, append(about, "warning", "MCP version mismatch or missing", "expected", version, "received", clip(cmp.Or(received, "none"), 20))
	}
	switch {
	case took > slowRequest:
		level, about = slog.LevelWarn, append(about, "slow", "the request took more than 2 s")
	case e.searched > slowSearch:
		level, about = slog.LevelWarn, append(about, "slow", "the search took more than 800 ms")
	}
	if err != nil && e.status >= http.StatusInternalServerError {
		level, about = slog.LevelError, append(about, "error", err)
	}
	e.Log.Log(e.r.Context(), level, "request", about...)
}

// pattern is the route of the request, or empty.
func (e *exchange) pattern() string {
	switch e.operation {
	case "search":
		return "POST " + searchPath
	case "health":
		return "GET " + e.r.URL.Path
	}
	return ""
}

// clip cuts a text at a number of characters.
func clip(text string, most int) string {
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most])
	}
	return text
}

func (e *exchange) write(status int, v any) error {
	body, err := json.Marshal(v)
	if err != nil {
		return err
	}
	e.status = status
	e.w.Header().Set("Content-Type", "application/json")
	e.w.WriteHeader(status)
	_, _ = e.w.Write(body) // the client has gone
	return nil
}
