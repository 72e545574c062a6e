package match

import (
	"slices"
	"strings"
	"time"

	"countersign.dev/internal/calendar"
	"countersign.dev/internal/english"
	"countersign.dev/internal/language"
	"countersign.dev/internal/language/lexicon"
	"countersign.dev/internal/schema"
	"countersign.dev/internal/schema/declared"
)

// event is the column with the day of what the i-th word says was done, if a date follows: submitted_at for "submitted in October", whatever state that is.
func (r reader) event(i int) *declared.Field {
	at := i + 1
	for at < min(i+4, len(r.Tokens)) && (slices.Contains(english.Function, r.Low(at)) || r.x.Is(r.Low(at), "from", "over", "upto", "under")) {
		at++
	}
	if !r.Tool.Lists() || at >= len(r.Tokens) || r.Tokens[at].Kind != language.Date || !strings.HasSuffix(r.Low(i), "ed") && !r.Has("did") {
		return nil
	}
	return r.Tool.Columns.First(func(f *declared.Field) bool {
		return f.Is(schema.Date) && len(f.Words) == 2 && english.Stem(f.Words[0]) == r.Tokens[i].Stem && !f.Has("due", "next") && !r.isAnchor(i)
	})
}

// happened keeps the rows of which the words before a date say that something was done then, or is expected. A row without that day may be in the state, and have the day of the like.
func (r reader) happened(b lexicon.Bounds, within func(string, float64) bool) bool {
	for i := b.At - 1; i >= max(0, b.At-3); i-- {
		on := r.event(i)
		if on == nil || r.uses[i] != unread {
			continue
		}
		by := Filter{Entity: Entity{Column: on.Name}, Keeps: within}
		state, like := false, r.Tool.Columns.First(func(f *declared.Field) bool { return f != on && f.Is(schema.Date) && f.Stems.Means(r.Tokens[i].Stem) })
		for _, f := range r.Tool.Inputs {
			for _, p := range f.Phrased {
				state = state || f.Is(schema.Choice) && r.reads(i, p.Words)
				if like != nil && f.Is(schema.Choice) && r.reads(i, p.Words) {
					by.Else = []Filter{{Entity: Entity{Column: f.Name}, Values: p.Values}, {Entity: Entity{Column: like.Name}, Keeps: within}}
				}
			}
		}
		r.Filters = append(r.Filters, by)
		if state { // which the word would be otherwise
			b.At = i
		}
		r.take(given, b.At, b.End-b.At, 4)
		return true
	}
	expected := r.Tool.Columns.First(func(f *declared.Field) bool {
		return f.Is(schema.Date) && f.Words[0] == "expected" && r.Has("expected")
	})
	if expected == nil || !r.Tool.Lists() {
		return false
	}
	r.Filters = append(r.Filters, Filter{Entity: Entity{Column: expected.Name}, Keeps: within})
	r.take(given, b.At, b.End-b.At, 3)
	return true
}

// inside reports of a day whether it is in a span, or on the side of it that words say.
func inside(s calendar.Span, b lexicon.Bounds) func(day string, _ float64) bool {
	if b.Beyond && b.Side == lower {
		s.From = s.To
	} else if b.Beyond {
		s.To = s.From
	}
	return func(day string, _ float64) bool {
		return (b.Side == upper || day >= s.From.Format(time.DateOnly)) && (b.Side == lower || day < s.To.Format(time.DateOnly))
	}
}

// reads reports whether the unread words from the i-th are these, in any form.
func (r reader) reads(i int, words []string) bool {
	for j, w := range words {
		isOrder := i+j == r.Order && r.Tool.Writes() // "finish task 3" says which status
		if !isOrder && !r.free(i+j) || r.Tokens[i+j].Stem != english.Stem(w) {
			return false
		}
	}
	return len(words) > 0
}
