package telemetry

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"time"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"countersign.dev/internal/access"
)

// How long a line may wait for others, and how many wait. A busy process writes
// sooner.
const (
	lineDelay = 20 * time.Millisecond
	maxLines  = 64
	fullLines = 16 * maxLines // the caller writes by itself, because the goroutine does not get to it
)

// Output writes the lines of a [Handler]. Those below warn are put into words and
// written together, a moment later: an answer does not wait for the log of the one
// before. A line of a warning or an error is written when it is logged, after all
// that came before it. A process that is killed loses the lines of that moment; it
// loses no event of the audit log, which is not written here.
//
// It is the io.Writer of the handler's inner handler. Flush it at the end.
type Output struct {
	to io.Writer

	mu      sync.Mutex // never held while lines are written
	waiting []line
	later   *time.Timer // writes what waits; nil: nothing has waited yet

	writing sync.Mutex // keeps the order of lines
	spare   []line
	text    []byte // of the lines that are written
}

// NewOutput makes an output.
func NewOutput(to io.Writer) *Output { return &Output{to: to} }

// line is a record with what its context says of it.
type line struct {
	inner   slog.Handler
	record  slog.Record
	request Request
	step    Step
	who     *access.Principal
}

// add lets a line wait. full says that too many do.
func (o *Output) add(l line) (full bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.waiting = append(o.waiting, l)
	n := len(o.waiting)
	switch {
	case o.later == nil:
		o.later = time.AfterFunc(lineDelay, func() { _ = o.Flush() })
	case n == 1:
		o.later.Reset(lineDelay)
	case n == maxLines:
		o.later.Reset(0)
	}
	return n >= fullLines
}

// Flush writes all lines that wait. Nothing reports the error of a log.
func (o *Output) Flush() error { return o.write(nil) }

// write writes all lines that wait, and the last one after them.
func (o *Output) write(last *line) error {
	o.writing.Lock()
	defer o.writing.Unlock()
	o.mu.Lock()
	lines := o.waiting
	o.waiting = o.spare[:0]
	o.mu.Unlock()
	o.text = o.text[:0]
	for i := range lines {
		_ = lines[i].handle()
	}
	clear(lines) // requests are not kept
	o.spare = lines
	var failed error
	if last != nil {
		failed = last.handle()
	}
	if len(o.text) > 0 {
		_, err := o.to.Write(o.text)
		failed = errors.Join(failed, err)
	}
	if cap(o.text) > maxText {
		o.text = nil
	}
	return failed
}

// maxText bounds the buffer that is kept, in bytes.
const maxText = 64 << 10

// Write implements io.Writer, for the inner handler of a line that is written.
func (o *Output) Write(p []byte) (int, error) {
	o.text = appendVisible(o.text, p)
	return len(p), nil
}

// appendVisible appends a line whose characters can be seen: encoding/json leaves C1 controls and marks of direction
// as they are, and a terminal that shows the line would obey them. In a JSON text their escapes are the same characters.
func appendVisible(dst, line []byte) []byte {
	for len(line) > 0 {
		n := 0
		for n < len(line) && line[n] < unicode.MaxASCII { // which is DEL
			n++
		}
		dst, line = append(dst, line[:n]...), line[n:]
		if len(line) == 0 {
			break
		}
		r, size := utf8.DecodeRune(line)
		if unicode.IsPrint(r) {
			dst = append(dst, line[:size]...)
		} else {
			for _, unit := range utf16.Encode([]rune{r}) {
				dst = fmt.Appendf(dst, "\\u%04x", unit)
			}
		}
		line = line[size:]
	}
	return dst
}

func lineOf(ctx context.Context, inner slog.Handler, rec slog.Record) line {
	return line{inner, rec, RequestOf(ctx), stepOf(ctx), access.Of(ctx)}
}

// handle gives a line to the inner handler, with the ids and the principal.
func (l line) handle() error {
	rec := bounded(l.record)
	attrs := make([]slog.Attr, 0, 10) // added at once, because a record grows by each
	for _, id := range [...]struct{ key, text string }{
		{"request_id", l.request.ID}, {"trace_id", l.request.Trace}, {"parent_request_id", l.request.Parent}, {"conversation", l.request.Conversation},
	} {
		if id.text != "" {
			attrs = append(attrs, slog.String(id.key, Clip(id.text, maxID)))
		}
	}
	attrs = append(attrs, l.step.attrs()...)
	if l.who != nil {
		attrs = append(attrs, slog.String("principal", Clip(l.who.Username(), maxKept)))
	}
	rec.AddAttrs(attrs...)
	return l.inner.Handle(context.Background(), rec) // everything of the line's context is in it
}
