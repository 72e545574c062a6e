package httpx

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"net/http"
	"strconv"
	"time"

	"countersign.dev/internal/fault"
)

// Handler answers a request or returns an error. It must not have written
// anything when it returns one, unless it started a stream.
type Handler func(w http.ResponseWriter, r *http.Request) error

// ErrorWriter writes the errors of one HTTP surface, and logs them.
type ErrorWriter struct {
	// Write encodes a fault in the shape of the surface's founding document.
	// Retry-After is already set when the fault advises it.
	Write    func(w http.ResponseWriter, r *http.Request, f *fault.Error)
	Log      *slog.Logger
	Observer Observer // nil: none
}

// Observer counts requests. Package metrics is one.
type Observer interface {
	// Request reports an answered request; route is the pattern that served it.
	Request(route string, status int, took time.Duration)
	// Error reports a request that failed as a whole, by the name of its code.
	Error(code string)
}

// Handle turns a handler into an http.Handler that writes its errors.
func (s ErrorWriter) Handle(h Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		rec := track(w)
		if err := h(rec, r); err != nil {
			s.Fail(rec, r, err)
		}
	})
}

// Fail logs the cause of an error and writes the rest. When the response has
// started already, as on a stream, it only logs.
func (s ErrorWriter) Fail(w http.ResponseWriter, r *http.Request, err error) {
	f := fault.From(err)
	s.LogCause(r.Context(), f)
	if s.Observer != nil {
		s.Observer.Error(f.Code.Name)
	}
	if rec, ok := w.(*recorder); ok && rec.status != 0 {
		return
	}
	RetryAfter(w, f)
	s.Write(w, r, f)
}

// RetryAfter sets the header of that name, in whole seconds, when the fault
// advises a time.
func RetryAfter(w http.ResponseWriter, f *fault.Error) {
	if f.RetryAfter > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int(math.Ceil(f.RetryAfter.Seconds()))))
	}
}

// LogCause logs the cause of a fault, which is not written to the client.
func (s ErrorWriter) LogCause(ctx context.Context, f *fault.Error) {
	switch {
	case f.Code == fault.Cancelled:
		s.Log.InfoContext(ctx, "request cancelled")
	case f.Kind() == fault.Internal:
		s.Log.ErrorContext(ctx, "request failed", "code", f.Code.Name, "fault_id", f.ID, "error", f.Logged())
	case errors.Unwrap(f) != nil:
		s.Log.WarnContext(ctx, "request refused", "code", f.Code.Name, "error", f.Logged())
	}
}

// JSON responds with a value.
func JSON(w http.ResponseWriter, status int, v any) error {
	body, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("encoding an answer: %w", err)
	}
	Raw(w, status, body)
	return nil
}

// Raw responds with JSON that is encoded already.
func Raw(w http.ResponseWriter, status int, body []byte) {
	rec := track(w)
	rec.set("Content-Type", "application/json")
	rec.set("Content-Length", strconv.Itoa(len(body))) // a refusal is whole before its request is
	w.WriteHeader(status)
	_, _ = w.Write(body) // the client has disconnected
}
