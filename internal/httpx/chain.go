package httpx

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"net/http"
	"regexp"
	"runtime/debug"
	"strings"
	"time"

	"countersign.dev/internal/fault"
	"countersign.dev/internal/telemetry"
)

// Front puts the chain that every request runs through in front of h, outermost
// first: names for the request, the access log, the panic guard, headers that
// make browsers careful.
func (s Surface) Front(h http.Handler) http.Handler {
	return identify(s.logged(s.caught(careful(h))))
}

var saneID = regexp.MustCompile(`^[A-Za-z0-9._-]{1,64}$`)

// identify accepts the caller's X-Request-ID when it is harmless in a log, makes
// one otherwise, and echoes it.
func identify(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		id := r.Header.Get("X-Request-ID")
		if !saneID.MatchString(id) {
			id = newID()
		}
		w.Header().Set("X-Request-ID", id)
		names := telemetry.Request{ID: id, Trace: TraceID(r.Header.Get("Traceparent"))}
		next.ServeHTTP(w, r.WithContext(telemetry.WithRequest(r.Context(), names)))
	})
}

func newID() string {
	var b [12]byte
	_, _ = rand.Read(b[:]) // never fails since Go 1.24
	return hex.EncodeToString(b[:])
}

// traceparent is version 00 of the W3C header, and what later versions must
// begin with.
var traceparent = regexp.MustCompile(`^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}(-.*)?$`)

// TraceID takes the trace id out of a W3C traceparent. What is not one gives
// the empty string.
func TraceID(header string) string {
	m := traceparent.FindStringSubmatch(header)
	if m == nil || m[1] == "ff" || (m[1] == "00" && m[4] != "") {
		return ""
	}
	if strings.Trim(m[2], "0") == "" || strings.Trim(m[3], "0") == "" { // all zeros are invalid by the specification
		return ""
	}
	return m[2]
}

// logged writes one line per request. The query string stays out: it may carry
// a question or a ticket.
func (s Surface) logged(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		rec, began := track(w), time.Now()
		defer func() {
			s.Log.InfoContext(r.Context(), "request", "method", r.Method, "path", r.URL.Path,
				"status", rec.Status(), "bytes", rec.written, "duration_ms", time.Since(began).Milliseconds())
		}()
		next.ServeHTTP(rec, r)
	})
}

// caught turns a panic into INTERNAL_ERROR; its stack goes to the log only.
func (s Surface) caught(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		rec := track(w)
		defer func() {
			switch p := recover(); p {
			case nil:
			case http.ErrAbortHandler:
				panic(p)
			default:
				s.Fail(rec, r, fault.From(fmt.Errorf("panic: %v\n%s", p, debug.Stack())))
			}
		}()
		next.ServeHTTP(rec, r)
	})
}

// careful sets what an API wants of a browser. A handler that serves pages sets
// its own values over these.
func careful(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("X-Frame-Options", "DENY")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
		h.Set("Cache-Control", "no-store")
		next.ServeHTTP(w, r)
	})
}

// recorder remembers what was answered. One stands in front of a connection,
// however many parts of the chain want to know.
type recorder struct {
	http.ResponseWriter
	status  int // 0 until the answer began
	written int64
}

func track(w http.ResponseWriter) *recorder {
	if rec, ok := w.(*recorder); ok {
		return rec
	}
	return &recorder{ResponseWriter: w}
}

// Status is the status that the client saw; an answer that was never begun is a
// 200 by the rules of net/http.
func (r *recorder) Status() int {
	if r.status == 0 {
		return http.StatusOK
	}
	return r.status
}

// WriteHeader notes the final status; informational ones do not begin an answer.
func (r *recorder) WriteHeader(status int) {
	if r.status == 0 && (status >= 200 || status == http.StatusSwitchingProtocols) {
		r.status = status
	}
	r.ResponseWriter.WriteHeader(status)
}

// Write counts.
func (r *recorder) Write(b []byte) (int, error) {
	if r.status == 0 {
		r.status = http.StatusOK
	}
	n, err := r.ResponseWriter.Write(b)
	r.written += int64(n)
	return n, err
}

// Unwrap lets http.ResponseController reach the connection.
func (r *recorder) Unwrap() http.ResponseWriter { return r.ResponseWriter }

// Flush serves those who still ask for an http.Flusher.
func (r *recorder) Flush() {
	if r.status == 0 {
		r.status = http.StatusOK
	}
	_ = http.NewResponseController(r.ResponseWriter).Flush()
}
