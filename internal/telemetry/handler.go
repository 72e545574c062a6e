package telemetry

import (
	"context"
	"log/slog"
	"slices"
)

// Handler adds request_id, trace_id, parent_request_id, conversation, the step and
// principal to every record of the inner handler, and bounds its line to [MaxLine]
// bytes.
type Handler struct {
	slog.Handler
	Output *Output // that the inner handler writes to; nil: another writer, with nothing that waits
}

// Handle adds the ids and the principal from the context. A line that waits for
// others has only values that stay as they are.
func (h Handler) Handle(ctx context.Context, rec slog.Record) error {
	l := lineOf(ctx, h.Handler, rec)
	switch {
	case h.Output == nil:
		return l.handle()
	case rec.Level < slog.LevelWarn && fits(rec):
		l.record = rec.Clone()
		if h.Output.add(l) {
			return h.Output.Flush()
		}
		return nil
	}
	return h.Output.write(&l)
}

// WithAttrs keeps the wrapping. Each of the attributes has few bytes: they are the
// program's own words, and part of every line.
func (h Handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	attrs = slices.Clone(attrs)
	for i, a := range attrs {
		attrs[i].Value = (&budget{left: maxKept}).value(a.Value.Resolve())
	}
	return Handler{h.Handler.WithAttrs(attrs), h.Output}
}

// WithGroup keeps the wrapping.
func (h Handler) WithGroup(name string) slog.Handler {
	return Handler{h.Handler.WithGroup(name), h.Output}
}
