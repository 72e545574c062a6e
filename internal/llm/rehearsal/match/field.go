package match

import (
	"cmp"
	"encoding/json"
	"math"
	"regexp"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"countersign.dev/internal/llm/rehearsal/language"
	"countersign.dev/internal/result"
)

// Kind is what a field holds.
type Kind string

// The kinds of fields.
const (
	ID     Kind = "id"
	Date   Kind = "date"
	Number Kind = "number"
	Choice Kind = "choice" // one of a fixed set of values
	Order  Kind = "order"  // the order in which rows come
	Paging Kind = "paging" // which rows of a list come
	Text   Kind = "text"   // any words
	Title  Kind = "title"  // what rows are called
	Search Kind = "search" // what rows mention
	Prose  Kind = "prose"  // sentences
	Other  Kind = "other"
)

// side is the end of a range that an input sets.
type side int

const (
	lower side = iota - 1
	none
	upper
)

// sides are the words in the names of inputs that set an end of a range.
var sides = map[string]side{
	"min": lower, "minimum": lower, "least": lower, "from": lower, "after": lower, "since": lower,
	"max": upper, "maximum": upper, "most": upper, "to": upper, "before": upper, "until": upper, "by": upper,
}

// Field is one input or one column.
type Field struct {
	result.Field // the declared metadata
	Name         string
	Kind         Kind
	Words        []string // of the name
	Enum         []string
	Required     bool
	Noun         string // what an id identifies: "employee" of root_employee_id

	Format string // of its values: "uuid"

	typ     string
	stems   language.Set // of the name
	also    language.Set // of the synonyms
	side    side         // of a number or a date
	base    string       // the name without the word for its side
	phrases []phrase     // longest first: "past due" says more than "due"
}

// phrase is what people say for a value of a choice or a switch.
type phrase struct {
	words []string
	value any
}

// parseSchema reads a schema; one that cannot be read declares nothing.
func parseSchema(raw json.RawMessage) *jsonschema.Schema {
	s := &jsonschema.Schema{}
	_ = json.Unmarshal(raw, s)
	return s
}

func newField(name string, s *jsonschema.Schema, meta result.Field) *Field {
	f := &Field{Field: meta, Name: name, Words: language.Identifier(name)}
	for _, one := range slices.Concat([]*jsonschema.Schema{s}, s.AnyOf, s.OneOf) {
		for _, t := range append(one.Types, one.Type) {
			if t != "null" {
				f.typ = cmp.Or(f.typ, t)
			}
		}
		f.Format = cmp.Or(f.Format, one.Format)
		for _, e := range one.Enum {
			if text, ok := e.(string); ok {
				f.Enum = append(f.Enum, text)
			}
		}
	}
	f.stems = language.Stems(f.Words...)
	f.Noun = language.LastWord(strings.Join(slices.DeleteFunc(slices.Clone(f.Words), func(w string) bool { return IsID(w) || w == "number" }), " "))
	if f.Kind = f.kind(s); f.Is(Number, Date) {
		f.base = strings.Join(slices.DeleteFunc(slices.Clone(f.Words), func(w string) bool { f.side += sides[w]; return sides[w] != none }), "_")
	}
	f.also = language.Stems(language.Identifier(strings.Join(meta.Synonyms, " "))...)
	f.readPhrases()
	return f
}

func (f *Field) readPhrases() {
	add := func(text string, value any) { f.phrases = append(f.phrases, phrase{language.Identifier(text), value}) }
	if f.typ == "boolean" {
		add(f.Name, true)
	}
	for _, value := range f.Enum {
		if !f.Is(Order) {
			add(value, value)
		}
		for _, text := range f.Values[value] {
			add(text, value)
		}
	}
	slices.SortStableFunc(f.phrases, func(a, b phrase) int { return cmp.Compare(len(b.words), len(a.words)) })
}

// kind sorts an input or a column by what it holds.
func (f *Field) kind(s *jsonschema.Schema) Kind {
	number := f.typ == "number" || f.typ == "integer"
	switch {
	case slices.Contains([]string{"limit", "cursor", "offset", "page", "page_size", "pagesize", "per_page"}, strings.ToLower(f.Name)):
		return Paging
	case len(f.Enum) > 0 && f.has("sort", "order", "sorting", "ordering"):
		return Order
	case len(f.Enum) > 0:
		return Choice
	case (f.typ == "string" || number) && (f.Format == "uuid" || IsID(f.Name)):
		return ID
	case f.Format == "date" || f.Format == "date-time":
		return Date
	case number:
		return Number
	case f.typ != "string" || f.Format != "":
		return Other
	case f.has("query", "search", "keyword", "text"):
		return Search
	case f.has("name", "title", "term", "phrase", "label", "subject"):
		return Title
	case s.MaxLength != nil && *s.MaxLength >= 200:
		return Prose
	}
	return Text
}

// Is reports whether there is a field, and of one of the kinds.
func (f *Field) Is(kinds ...Kind) bool { return f != nil && slices.Contains(kinds, f.Kind) }

// IsText reports whether the input takes any words.
func (f *Field) IsText() bool { return f.Is(Text, Title, Search, Prose) }

func (f *Field) has(words ...string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return f.stems[language.Stem(w)] })
}

// says reports whether a word is one of the field's own, or means the same.
func (f *Field) says(x *language.Lexicon, stem string) bool {
	return f.also[stem] || x.Among(f.stems, stem)
}

// amount reports whether a column holds quantities that may be added up.
func (f *Field) amount() bool { return f.Amount || f.Is(Number) && IsAmount(f.Name) }

// Number is a value as inputs take it: cents exact.
func (f *Field) Number(v float64) any { return math.Round(v*100) / 100 }

// Day is the day of a span that the input means: the end of a range ends it.
func (f *Field) Day(s language.Span) string {
	switch {
	case f.side != upper:
		return language.Day(s.From)
	case f.has("before", "until"):
		return language.Day(s.To)
	}
	return language.Day(s.To.AddDate(0, 0, -1))
}

var uuidShape = regexp.MustCompile(`^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$`)

// IsUUID reports whether a text is a uuid by its form.
func IsUUID(text string) bool { return uuidShape.MatchString(text) }

// IsID reports whether a name is that of an id.
func IsID(name string) bool {
	return slices.Contains([]string{"id", "ids", "uuid", "guid"}, language.LastWord(name))
}

// IsAmount reports whether a name is that of a quantity that may be added up.
func IsAmount(name string) bool {
	return slices.Contains([]string{"amount", "value", "cost", "price", "total", "sum", "spent", "allocated", "remaining", "spend"}, language.LastWord(name))
}
