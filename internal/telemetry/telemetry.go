// Package telemetry correlates log lines with requests: request and trace ids in
// the context, and one log handler that adds them and the principal to every
// record.
//
// It never logs payloads.
package telemetry

import (
	"context"
	"log/slog"
	"slices"

	"countersign.dev/internal/access"
)

// Request identifies one request across processes.
type Request struct {
	ID     string // X-Request-ID, accepted or made
	Trace  string // the W3C trace id of traceparent, or empty
	Parent string // the request in which this one came: that of its WebSocket, or of its turn; or empty

	Conversation string // whose turn it is; empty outside of a turn
}

// acceptedID is how long an id may be that a server takes from a caller.
const acceptedID = 64

// Part names a part of the request, whose id follows that of the whole: a reader
// finds the parts by it, in other processes too, which get the id alone.
func (r Request) Part(name string) Request {
	r.Parent = r.ID
	if len(r.ID)+1+len(name) <= acceptedID {
		name = r.ID + "." + name
	}
	r.ID = name
	return r
}

type requestKey struct{}

// WithRequest puts the request's ids into the context.
func WithRequest(ctx context.Context, r Request) context.Context {
	return context.WithValue(ctx, requestKey{}, r)
}

// RequestOf returns the request's ids; they are empty when there are none.
func RequestOf(ctx context.Context) Request {
	r, _ := ctx.Value(requestKey{}).(Request)
	return r
}

// Handler adds request_id, trace_id, parent_request_id, conversation, the step and
// principal to every record of the inner handler, and bounds its line to [MaxLine]
// bytes.
type Handler struct{ slog.Handler }

// Handle adds the ids and the principal from the context.
func (h Handler) Handle(ctx context.Context, rec slog.Record) error {
	rec = bounded(rec)
	r := RequestOf(ctx)
	attrs := make([]slog.Attr, 0, 10) // added at once, because a record grows by each
	for _, id := range [...]struct{ key, text string }{
		{"request_id", r.ID}, {"trace_id", r.Trace}, {"parent_request_id", r.Parent}, {"conversation", r.Conversation},
	} {
		if id.text != "" {
			attrs = append(attrs, slog.String(id.key, Clip(id.text, maxID)))
		}
	}
	attrs = append(attrs, stepOf(ctx).attrs()...)
	if p, err := access.From(ctx); err == nil {
		attrs = append(attrs, slog.String("principal", Clip(p.Username(), maxKept)))
	}
	rec.AddAttrs(attrs...)
	return h.Handler.Handle(ctx, rec)
}

// WithAttrs keeps the wrapping. Each of the attributes has few bytes: they are the
// program's own words, and part of every line.
func (h Handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	attrs = slices.Clone(attrs)
	for i, a := range attrs {
		attrs[i].Value = (&budget{left: maxKept}).value(a.Value.Resolve())
	}
	return Handler{h.Handler.WithAttrs(attrs)}
}

// WithGroup keeps the wrapping.
func (h Handler) WithGroup(name string) slog.Handler { return Handler{h.Handler.WithGroup(name)} }
