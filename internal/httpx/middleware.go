package httpx

import (
	"crypto/rand"
	"encoding/hex"
	"log/slog"
	"net/http"
	"regexp"
	"strings"
	"time"

	"countersign.dev/internal/fault"
	"countersign.dev/internal/telemetry"
)

// Middleware wraps h in what every request runs through: the ids of the request, the
// access log, the recovery of panics, security headers.
func (s ErrorWriter) Middleware(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		rec, began := track(w), time.Now()
		r = identified(rec, r)
		secure(rec)
		defer s.end(rec, r, began)
		h.ServeHTTP(rec, r)
	})
}

// maxID is how long an id may be that is accepted from a caller.
const maxID = 64

// KeepsID reports whether a caller's id of a request is kept: it is short, and safe to log.
func KeepsID(id string) bool {
	for i := range len(id) {
		switch c := id[i]; {
		case c >= '0' && c <= '9', c|0x20 >= 'a' && c|0x20 <= 'z', c == '.', c == '_', c == '-':
		default:
			return false
		}
	}
	return len(id) > 0 && len(id) <= maxID
}

// requestID is X-Request-ID in the canonical form of net/http.
const requestID = "X-Request-Id"

// identified accepts the caller's X-Request-ID when it is safe to log, makes one
// otherwise, and returns it in the response.
func identified(rec *recorder, r *http.Request) *http.Request {
	id := r.Header.Get(requestID)
	if !KeepsID(id) {
		id = NewID()
	}
	rec.set(requestID, id)
	names := telemetry.Request{ID: id, Trace: TraceID(r.Header.Get("Traceparent"))}
	return r.WithContext(telemetry.WithRequest(r.Context(), names))
}

// NewID makes the id of a request.
func NewID() string {
	var b [12]byte
	_, _ = rand.Read(b[:]) // never fails since Go 1.24
	return hex.EncodeToString(b[:])
}

// traceparent is version 00 of the W3C header, with which later versions must
// begin.
var traceparent = regexp.MustCompile(`^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}(-.*)?$`)

// TraceID returns the trace id of a W3C traceparent, empty when it is not valid.
func TraceID(header string) string {
	if header == "" {
		return ""
	}
	m := traceparent.FindStringSubmatch(header)
	if m == nil || m[1] == "ff" || (m[1] == "00" && m[4] != "") {
		return ""
	}
	if strings.Trim(m[2], "0") == "" || strings.Trim(m[3], "0") == "" { // all zeros are invalid by the specification
		return ""
	}
	return m[2]
}

// end turns a panic of a handler into INTERNAL_ERROR, whose stack is only logged, and
// writes the one line of the request, without the query string: it may carry a question
// or a ticket.
func (s ErrorWriter) end(rec *recorder, r *http.Request, began time.Time) {
	p := recover()
	if p != nil && p != http.ErrAbortHandler {
		s.Fail(rec, r, fault.Panic(r.Method+" "+r.URL.Path, p))
	}
	took := time.Since(began)
	s.Log.LogAttrs(r.Context(), slog.LevelInfo, "request", slog.String("method", r.Method), slog.String("path", r.URL.Path),
		slog.Int("status", rec.Status()), slog.Int64("bytes", rec.written), slog.Int64("duration_ms", took.Milliseconds()))
	if s.Observer != nil {
		s.Observer.Request(r.Pattern, rec.Status(), took)
	}
	if p == http.ErrAbortHandler {
		panic(p)
	}
}

// secure sets the headers of an API for browsers. A handler that serves pages replaces
// them.
func secure(rec *recorder) {
	rec.set("X-Content-Type-Options", "nosniff")
	rec.set("X-Frame-Options", "DENY")
	rec.set("Referrer-Policy", "no-referrer")
	rec.set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
	rec.set("Cache-Control", "no-store")
}
