// Package declared has what tools declare of an input or a column, in the words that questions use.
package declared

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"countersign.dev/internal/calendar"
	"countersign.dev/internal/english"
	"countersign.dev/internal/language"
	"countersign.dev/internal/result"
	"countersign.dev/internal/schema"
)

// Fields are inputs or columns, sorted by name.
type Fields []*Field

// First is the first field that fits, or nil.
func (fs Fields) First(fits func(*Field) bool) *Field {
	if i := slices.IndexFunc(fs, fits); i >= 0 {
		return fs[i]
	}
	return nil
}

// Found is the first field that fits; an empty one when none does.
func (fs Fields) Found(fits func(*Field) bool) *Field { return cmp.Or(fs.First(fits), &Field{}) }

// Named is the field of a name, or nil.
func (fs Fields) Named(name string) *Field {
	return fs.First(func(f *Field) bool { return f.Name == name })
}

// Field is one input or one column.
type Field struct {
	result.Field    // the declared metadata
	schema.Property // and the schema
	Kind            schema.Kind
	Words           []string // of the name
	Noun            string   // what an id identifies: "employee" of root_employee_id

	Stems   english.Set     // of the name
	Also    english.Set     // stems of the synonyms
	Side    schema.Side     // of a number or a date
	Base    string          // the name without the word for its side
	Phrased []result.Phrase // for its values
}

// New reads what is declared of a field.
func New(p schema.Property, meta result.Field) *Field {
	f := &Field{Field: meta, Property: p, Words: english.Words(p.Name)}
	f.Stems = english.Stems(f.Words...)
	f.Noun = english.LastWord(strings.Join(slices.DeleteFunc(slices.Clone(f.Words), func(w string) bool { return result.IsID(w) || w == "number" }), " "))
	if f.Kind = p.Kind(f.Like != "" || result.IsID(f.Name)); f.Is(schema.Number, schema.Date) {
		f.Base, f.Side = schema.SideOf(f.Name)
	}
	if english.LastWord(f.Name) == "year" || result.IsID(f.Name) {
		f.Show = cmp.Or(f.Show, result.ShowYear)
	}
	f.Also = english.Stems(english.Words(strings.Join(meta.Synonyms, " "))...)
	f.Phrased = f.Phrases(f.Enum, f.Is(schema.Choice), map[bool]string{true: f.Name}[f.Type == "boolean"])
	return f
}

// Is reports whether there is a field, and of one of the kinds.
func (f *Field) Is(kinds ...schema.Kind) bool { return f != nil && slices.Contains(kinds, f.Kind) }

// IsText reports whether the input takes any words.
func (f *Field) IsText() bool { return f.Is(schema.Text, schema.Title, schema.Search, schema.Prose) }

// Has reports whether the name has one of the words.
func (f *Field) Has(words ...string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return f.Stems[english.Stem(w)] })
}

// Says reports whether a word is one of the field's own, or means the same.
func (f *Field) Says(stem string) bool {
	return f.Also[stem] || f.Stems.Means(stem)
}

// Quantity reports whether a column holds quantities that may be added up.
func (f *Field) Quantity() bool { return f.Amount || f.Is(schema.Number) && result.IsAmount(f.Name) }

// Day is the day of a span that the input means: the end of a range ends it.
func (f *Field) Day(s calendar.Span) string {
	switch {
	case f.Side != schema.Upper:
		return s.From.Format(time.DateOnly)
	case f.Has("before", "until"):
		return s.To.Format(time.DateOnly)
	}
	return s.Last().Format(time.DateOnly)
}

// IsIn reports whether the i-th token of a question is an id that the input takes, as people
// write it: TICK-004, or a number behind the word for what it identifies, "ticket 4".
func (f *Field) IsIn(tokens []language.Token, i int) bool {
	t := tokens[i]
	letters, _, like := strings.Cut(f.Like, "-")
	if like && t.Kind == language.Code && strings.HasPrefix(strings.ToUpper(t.Text), letters+"-") {
		return true
	}
	digits := i > 0 && strings.Trim(t.Text, "0123456789") == ""
	return digits && f.Is(schema.ID) && english.Stem(f.Noun) == tokens[i-1].Stem && (f.Like != "" || f.Type == "integer")
}
