package declared

import (
	"slices"
	"strings"

	"countersign.dev/internal/english"
	"countersign.dev/internal/result"
	"countersign.dev/internal/schema"
)

// When is the column with the day of what a verb says was done, submitted_at of "submitted"; nil for none.
func When(t *Tool, stem string) *Field {
	return t.Columns.First(func(f *Field) bool {
		return t.Lists() && f.Is(schema.Date) && len(f.Words) == 2 && english.Stem(f.Words[0]) == stem && !f.Has("due", "next") && !t.Anchors(stem)
	})
}

// DoneBy is the column with who did what a verb says, approved_by of "approved"; empty for none.
func DoneBy(t *Tool, stem string) string {
	return t.Columns.Found(func(f *Field) bool { return len(f.Words) == 2 && f.Words[1] == "by" && f.Stems[stem] }).Name
}

// Since is the column with the day on which rows came into a state, actual_close_date of CLOSED_LOST; empty for none.
func Since(t *Tool, state string) string {
	return t.Columns.Found(func(f *Field) bool {
		return f.Is(schema.Date) && !f.Has("due", "next", "expected") && f.Has(english.Words(state)...)
	}).Name
}

// States reports whether a word is a state of the rows that a list may be kept to.
func States(t *Tool, word string) bool {
	is := func(p result.Phrase) bool { return strings.Join(p.Words, " ") == word }
	return t.Lists() && t.Inputs.First(func(f *Field) bool { return f.Is(schema.Choice) && slices.ContainsFunc(f.Phrased, is) }) != nil
}

// Keeps reports whether a column or an input that is no day has a word, as far as columns are declared: of "created" not who did it.
func Keeps(t *Tool, stem string) bool {
	says := func(f *Field) bool { return !f.Is(schema.Date) && f.Says(stem) }
	return len(t.Columns) == 0 || t.Columns.First(says) != nil || t.Inputs.First(says) != nil
}
