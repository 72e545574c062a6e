package telemetry

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"unicode"
	"unicode/utf8"
)

// MaxLine bounds a line of the log, in bytes, whatever a caller made part of it.
const MaxLine = 4 << 10

// How the bytes of a line are shared. The rest is for the time, the level, the
// attributes of the logger itself and the ids of the request.
const (
	maxRecord  = 3 << 10                                    // the message and the attributes of one record
	maxValue   = 1 << 10                                    // one attribute
	maxCause   = 2 << 10                                    // an error, which may hold a stack
	maxKept    = 256                                        // one attribute of the logger itself, or of the request
	maxID      = 128                                        // the id of a request, a trace or a conversation
	attrsExtra = 8                                          // quotes and separators of one attribute
	maxFixed   = len("2006-01-02T15:04:05.999999999Z07:00") // a time; numbers are shorter
)

// Clip shortens a text to at most that many bytes as JSON encodes it, with an
// ellipsis at its end. Nothing beyond that is looked at.
func Clip(text string, most int) string {
	if len(text) <= most && plain(text) {
		return text
	}
	const ellipsis = "…"
	size, fits := 0, 0 // fits: how much of text leaves room for the ellipsis
	for at, r := range text {
		if size <= most-len(ellipsis) {
			fits = at
		}
		if size += encodedSize(r); size > most {
			return strings.ToValidUTF8(text[:fits], "") + ellipsis
		}
	}
	return strings.ToValidUTF8(text, "")
}

// plain reports whether a text takes as many bytes in a line as it has, which most
// texts do.
func plain(text string) bool {
	for i := range len(text) {
		if !plainBytes[text[i]] {
			return false
		}
	}
	return true
}

var plainBytes = func() (plain [256]bool) {
	for c := ' '; c < unicode.MaxASCII; c++ {
		plain[c] = !strings.ContainsRune(`"\<>&`, c)
	}
	return plain
}()

// encodedSize is how many bytes a character takes at most in a line.
func encodedSize(r rune) int {
	switch {
	case r == '"' || r == '\\':
		return 2
	case r == '<' || r == '>' || r == '&' || r == utf8.RuneError:
		return 6
	case r < unicode.MaxASCII && r >= ' ' || unicode.IsPrint(r):
		return utf8.RuneLen(r)
	}
	return 12 // \udbff\udfff
}

// bounded returns the record with its texts clipped, so that its line has at most
// [MaxLine] bytes. Attributes that have no room are left out and counted.
func bounded(rec slog.Record) slog.Record {
	if fits(rec) {
		return rec.Clone() // attributes are added to it
	}
	b := budget{left: maxRecord}
	out := slog.NewRecord(rec.Time, rec.Level, b.text(rec.Message, maxValue), rec.PC)
	rec.Attrs(func(a slog.Attr) bool {
		if kept, ok := b.attr(a); ok {
			out.AddAttrs(kept)
		}
		return true
	})
	if b.dropped > 0 {
		out.AddAttrs(slog.Int("attributes_left_out", b.dropped))
	}
	return out
}

// fits reports whether nothing of a record has to be clipped, as of most lines: short
// plain texts and numbers alone.
func fits(rec slog.Record) bool {
	left := maxRecord - len(rec.Message)
	whole := len(rec.Message) <= maxValue && plain(rec.Message)
	rec.Attrs(func(a slog.Attr) bool {
		size := len(a.Key) + attrsExtra + maxFixed
		switch a.Value.Kind() {
		case slog.KindString:
			text := a.Value.String()
			size += len(text)
			whole = whole && len(text) <= maxValue && plain(text)
		case slog.KindBool, slog.KindDuration, slog.KindFloat64, slog.KindInt64, slog.KindTime, slog.KindUint64:
		default:
			whole = false
		}
		left -= size
		whole = whole && len(a.Key) <= 64 && plain(a.Key) && left >= 64
		return whole
	})
	return whole
}

// budget is what a record may still take of its line.
type budget struct{ left, dropped int }

// text takes at most that many bytes of the budget for a text.
func (b *budget) text(text string, most int) string {
	clipped := Clip(text, min(most, b.left))
	if plain(clipped) {
		b.left -= len(clipped)
		return clipped
	}
	for _, r := range clipped {
		b.left -= encodedSize(r)
	}
	return clipped
}

func (b *budget) attr(a slog.Attr) (slog.Attr, bool) {
	if b.left < 64 {
		b.dropped++
		return slog.Attr{}, false
	}
	b.left -= attrsExtra
	a.Key = b.text(a.Key, 64)
	a.Value = b.value(a.Value.Resolve())
	return a, true
}

func (b *budget) value(v slog.Value) slog.Value {
	switch v.Kind() {
	case slog.KindString:
		return slog.StringValue(b.text(v.String(), maxValue))
	case slog.KindGroup:
		var kept []slog.Attr
		for _, a := range v.Group() {
			if a, ok := b.attr(a); ok {
				kept = append(kept, a)
			}
		}
		return slog.GroupValue(kept...)
	case slog.KindAny:
		return b.any(v)
	}
	b.left -= maxFixed
	return v
}

func (b *budget) any(v slog.Value) slog.Value {
	switch value := v.Any().(type) {
	case nil:
		return v
	case error:
		return slog.StringValue(b.text(value.Error(), maxCause))
	case fmt.Stringer:
		return slog.StringValue(b.text(value.String(), maxValue))
	}
	encoded, err := json.Marshal(v.Any())
	if err == nil && len(encoded) <= min(maxValue, b.left) {
		b.left -= len(encoded)
		return v
	}
	return slog.StringValue(b.text(fmt.Sprint(v.Any()), maxValue))
}
