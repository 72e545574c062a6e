package match

import (
	"strings"

	"countersign.dev/internal/english"
	"countersign.dev/internal/language/lexicon"
	"countersign.dev/internal/schema"
	"countersign.dev/internal/schema/declared"
)

// event is the column with the day of what the i-th word says was done, if a date follows: "submitted in October", whatever state that is.
func event(r reader, i int) *declared.Field {
	if i < 0 || !r.x.Dated(r.Clause, i) || !strings.HasSuffix(r.Low(i), "ed") && !r.Has("did") {
		return nil
	}
	return declared.When(r.Tool, r.Tokens[i].Stem)
}

// happened keeps the rows of which the words before a date say that something was done then, or is expected. A row without that day may be in the state, and have the day of the like.
func happened(r reader, b lexicon.Bounds, within func(string, float64) bool) bool {
	i := b.At - 1
	for i > b.At-3 && event(r, i) == nil {
		i--
	}
	on := event(r, i)
	if on == nil || r.uses[i] != unread {
		on = r.Tool.Columns.First(func(f *declared.Field) bool {
			return f.Is(schema.Date) && f.Words[0] == "expected" && r.Has("expected") && r.Tool.Lists()
		})
		i = b.At
	}
	if on == nil {
		return false
	}
	by := Filter{Entity: Entity{Column: on.Name}, Keeps: within}
	like := r.Tool.Columns.First(func(f *declared.Field) bool { return f != on && f.Is(schema.Date) && f.Stems.Means(r.Tokens[i].Stem) })
	for _, f := range r.Tool.Inputs {
		for _, p := range f.Phrased {
			if i == b.At || !f.Is(schema.Choice) || !r.reads(i, p.Words) {
				continue
			}
			if b.At = i; like != nil { // the word would be that state otherwise
				by.Else = []Filter{{Entity: Entity{Column: f.Name}, Values: p.Values}, {Entity: Entity{Column: like.Name}, Keeps: within}}
			}
		}
	}
	r.Filters = append(r.Filters, by)
	r.take(given, b.At, b.End-b.At, 4)
	return true
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
