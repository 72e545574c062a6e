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

	"countersign.dev/internal/fault"
)

// Handler answers a request or says why it cannot. It must not write anything
// before it returns an error, unless it started a stream.
type Handler func(w http.ResponseWriter, r *http.Request) error

// Surface is one HTTP face of ours: how it draws an error, and where it logs.
type Surface struct {
	// Write draws a fault in the shape that the surface's founding document has.
	// Retry-After is already set when the fault advises it.
	Write func(w http.ResponseWriter, r *http.Request, f *fault.Error)
	Log   *slog.Logger
}

// Handle turns a handler into an http.Handler whose errors the surface draws.
func (s Surface) Handle(h Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		rec := track(w)
		if err := h(rec, r); err != nil {
			s.Fail(rec, r, err)
		}
	})
}

// Fail logs what only the log may know and draws the rest. When the answer has
// begun already, as on a stream, it only logs.
func (s Surface) Fail(w http.ResponseWriter, r *http.Request, err error) {
	f := fault.From(err)
	s.Note(r.Context(), f)
	if rec, ok := w.(*recorder); ok && rec.status != 0 {
		return
	}
	if f.RetryAfter > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int(math.Ceil(f.RetryAfter.Seconds()))))
	}
	s.Write(w, r, f)
}

// Note logs what a fault keeps from the wire.
func (s Surface) Note(ctx context.Context, f *fault.Error) {
	switch cause := errors.Unwrap(f); {
	case f.Kind() == fault.Internal:
		s.Log.ErrorContext(ctx, "request failed", "code", f.Code.Name, "fault_id", f.ID, "error", cause)
	case cause != nil:
		s.Log.WarnContext(ctx, "request refused", "code", f.Code.Name, "error", cause)
	}
}

// JSON answers with a value.
func JSON(w http.ResponseWriter, status int, v any) error {
	body, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("encoding an answer: %w", err)
	}
	Raw(w, status, body)
	return nil
}

// Raw answers with JSON that is encoded already.
func Raw(w http.ResponseWriter, status int, body []byte) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(body) // a client that is gone cannot be told
}
