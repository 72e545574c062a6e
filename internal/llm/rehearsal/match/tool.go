// Package match reads a question as each tool would: what is asked for, of
// which things, with which values. A reading holds only when every word of the
// question is explained by the tool's declaration or as a value, so that a
// question that no tool answers is declined instead of half understood.
package match

import (
	"cmp"
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"

	"countersign.dev/internal/llm/rehearsal/language"
	"countersign.dev/internal/result"
)

// Tool is a tool's declaration in the words that questions use.
type Tool struct {
	Info    result.ToolInfo
	Closed  bool              // exists, but not for this person
	Noun    string            // its name without the verb: "performance reviews"
	Inputs  []*Field          // sorted by name
	Columns map[string]*Field // the fields of its answers, at any depth
	Own     bool              // without a name it answers for the person who asks

	verb     string       // the first word of its name: "list"
	head     string       // stem of the noun's last word
	orders   language.Set // verbs that order what it does
	name     language.Set // stems of the noun
	synonyms language.Set // stems of the declared synonyms
	about    language.Set // stems of its title and its first sentence
	more     language.Set // stems of the rest of its description
	fields   language.Set // stems of its columns' names and synonyms
}

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

// Field is one input or one column.
type Field struct {
	result.Field // the declared metadata
	Name         string
	Kind         Kind
	Words        []string // of the name
	Enum         []string
	Required     bool

	typ, format, text string
	longest           int            // characters; 0 when no limit is declared
	pattern           *regexp.Regexp // nil: anything
	stems             language.Set   // of the name
	also              language.Set   // of the synonyms
	about             language.Set   // of the description
}

// schema is the part of JSON Schema that is read.
type schema struct {
	Type        any               `json:"type"`
	Format      string            `json:"format"`
	Description string            `json:"description"`
	Enum        []any             `json:"enum"`
	MaxLength   int               `json:"maxLength"`
	Pattern     string            `json:"pattern"`
	Properties  map[string]schema `json:"properties"`
	Required    []string          `json:"required"`
	Items       *schema           `json:"items"`
	AnyOf       []schema          `json:"anyOf"`
	OneOf       []schema          `json:"oneOf"`
	Defs        map[string]schema `json:"$defs"`
}

// UnmarshalJSON reads a schema; true and false, which are schemas too, say nothing.
func (s *schema) UnmarshalJSON(raw []byte) error {
	type plain schema
	if len(raw) == 0 || raw[0] != '{' {
		return nil
	}
	return json.Unmarshal(raw, (*plain)(s))
}

// NewTool reads a declaration.
func NewTool(x *language.Lexicon, info result.ToolInfo, closed bool) *Tool {
	t := &Tool{Info: info, Closed: closed, Columns: map[string]*Field{}, orders: language.Set{}, synonyms: language.Set{}, about: language.Set{}, more: language.Set{}, fields: language.Set{}}
	words := language.Identifier(info.Name[strings.LastIndexByte(info.Name, '.')+1:]) // library.list_books
	if len(words) > 1 {
		t.verb, words = words[0], words[1:]
		t.orders[t.verb] = true
	}
	t.name, t.Noun = language.Stems(words...), strings.Join(words, " ")
	t.head = language.Stem(language.LastWord(t.Noun))
	t.readProse(x, info.Title)
	t.readProse(x, info.Description)
	var in, out schema
	_ = json.Unmarshal(info.InputSchema, &in) // a schema that cannot be read declares nothing
	_ = json.Unmarshal(info.OutputSchema, &out)
	meta := result.Fields{}
	if info.Fields != nil {
		meta = *info.Fields
	}
	for _, phrase := range meta.Synonyms {
		words := language.Identifier(phrase)
		t.synonyms.AddStems(words...)
		t.orders[strings.Join(words[:min(1, len(words))], "")] = true
	}
	t.Own = answersForCaller.MatchString(info.Description)
	for _, name := range slices.Sorted(maps.Keys(in.Properties)) {
		f := newField(x, name, in.Properties[name], meta.Input[name])
		f.Required = slices.Contains(in.Required, name)
		t.Own = t.Own || !f.Required && answersForCaller.MatchString(f.text)
		t.Inputs = append(t.Inputs, f)
	}
	t.readColumns(x, out, meta.Output, 0)
	return t
}

// answersForCaller finds that a tool needs no person named.
var answersForCaller = regexp.MustCompile(`(?i)\b(?:your|(?:the )?(?:asker|caller|user|person)'s|their|one's) own\b|\byourself\b`)

// identifierShape finds names of inputs and tools in prose: they are no words.
var identifierShape = regexp.MustCompile("[A-Za-z0-9]*_[A-Za-z0-9_]*|`[^`]*`")

// readProse keeps the content words of a title or a description. The verbs of
// the first sentence, up to its first article, order what the tool does.
func (t *Tool) readProse(x *language.Lexicon, text string) {
	first, rest, _ := strings.Cut(identifierShape.ReplaceAllString(text, " "), ". ")
	leading := true
	for i, w := range language.Prose(first) {
		leading = leading && !slices.Contains([]string{"a", "an", "the", "one"}, w) && i < 8
		if i == 0 || x.Is(w, "action") || leading && !x.Is(w, "idle") {
			t.orders[w] = true
		}
	}
	t.about.AddStems(content(x, first)...)
	t.more.AddStems(content(x, rest)...)
}

func content(x *language.Lexicon, text string) []string {
	return slices.DeleteFunc(language.Prose(text), func(w string) bool { return x.Is(w, "idle") })
}

func newField(x *language.Lexicon, name string, s schema, meta result.Field) *Field {
	f := &Field{Field: meta, Name: name, Words: language.Identifier(name), text: s.Description, longest: s.MaxLength, also: language.Set{}}
	for _, one := range append([]schema{s}, slices.Concat(s.AnyOf, s.OneOf)...) {
		types, _ := one.Type.([]any)
		for _, t := range append(types, one.Type) {
			if name, _ := t.(string); f.typ == "" && name != "null" {
				f.typ = name
			}
		}
		if f.format == "" {
			f.format = one.Format
		}
		for _, e := range one.Enum {
			if text, ok := e.(string); ok {
				f.Enum = append(f.Enum, text)
			}
		}
	}
	if s.Pattern != "" {
		f.pattern, _ = regexp.Compile(s.Pattern) // one that Go cannot read says nothing
	}
	f.stems, f.about = language.Stems(f.Words...), language.Stems(content(x, s.Description)...)
	f.Kind = kindOf(f)
	for _, phrase := range meta.Synonyms {
		f.also.AddStems(language.Identifier(phrase)...)
	}
	for _, w := range language.Prose(s.Description) {
		f.Unit = cmp.Or(f.Unit, language.Currency(w))
	}
	return f
}

// envelope names the fields around the data of our own tools' answers.
const envelope = " status data metadata message suggestedAction details code confirmationId confirmationData "

// readColumns collects the fields of an answer at any depth; the outermost of a
// name counts.
func (t *Tool) readColumns(x *language.Lexicon, s schema, meta map[string]result.Field, depth int) {
	if depth > 8 {
		return
	}
	outer := func(name string) bool { return depth == 0 && strings.Contains(envelope, " "+name+" ") }
	for name, child := range s.Properties {
		if t.Columns[name] == nil && !outer(name) {
			f := newField(x, name, child, meta[name])
			t.Columns[name] = f
			maps.Copy(t.fields, f.stems)
			maps.Copy(t.fields, f.also)
		}
	}
	inner := slices.Concat(s.AnyOf, s.OneOf, slices.Collect(maps.Values(s.Defs)))
	if s.Items != nil {
		inner = append(inner, *s.Items)
	}
	for name, child := range s.Properties {
		if name == "data" || !outer(name) {
			inner = append(inner, child)
		}
	}
	for _, one := range inner {
		t.readColumns(x, one, meta, depth+1)
	}
}

// Column is a column's declaration; an empty one when the tool declares none.
func (t *Tool) Column(name string) *Field {
	if f := t.Columns[name]; f != nil {
		return f
	}
	return &Field{Name: name, Words: language.Identifier(name)}
}

// Writes reports whether the tool changes something.
func (t *Tool) Writes() bool { return t.Info.Kind == result.Write || t.Info.Kind == result.Edit }

// Lists reports whether the tool answers rows and needs no input.
func (t *Tool) Lists() bool {
	needs := t.First(func(f *Field) bool { _, all := t.Everything(f); return f.Required && !all })
	return !t.Writes() && needs == nil && (t.Info.Kind == result.List || t.verb == "list" || t.verb == "search" || t.verb == "find")
}

// TakesOne reports whether the tool reads one thing by its id.
func (t *Tool) TakesOne() bool {
	return !t.Writes() && t.First(func(f *Field) bool { return f.Is(ID) && f.Required }) != nil
}

// Missing is the first required input that the arguments do not hold.
func (t *Tool) Missing(args map[string]any) *Field {
	return t.First(func(f *Field) bool { _, has := args[f.Name]; return f.Required && !has })
}

// Input returns an input by its name, or nil.
func (t *Tool) Input(name string) *Field {
	return t.First(func(f *Field) bool { return f.Name == name })
}

// First is the first input that fits, or nil.
func (t *Tool) First(fits func(*Field) bool) *Field {
	if i := slices.IndexFunc(t.Inputs, fits); i >= 0 {
		return t.Inputs[i]
	}
	return nil
}

// Names reports whether a stem is part of the tool's noun.
func (t *Tool) Names(stem string) bool { return t.name[stem] }

// IsAbout reports whether the tool's rows are of a sort, "employee".
func (t *Tool) IsAbout(noun string) bool { return t.head == language.Stem(noun) }

// Mentions counts the stems that the tool's noun, its synonyms or its first
// sentence have.
func (t *Tool) Mentions(stems language.Set) (n int) {
	for s := range stems {
		if t.name[s] || t.synonyms[s] || t.about[s] {
			n++
		}
	}
	return n
}

// Relation is an optional id of a list by which its rows belong to somebody:
// manager_id, "the direct reports of this manager". nil when it has none.
func (t *Tool) Relation() *Field {
	if !t.Lists() {
		return nil
	}
	return t.First(func(f *Field) bool {
		return f.Is(ID) && !f.Required && !t.IsAbout(f.Noun()) && len(f.about)+len(f.also) > 0
	})
}

// IDOf is the input for the id of what another list is of: by it the rows of
// both meet.
func (t *Tool) IDOf(other *Tool) *Field {
	return t.First(func(f *Field) bool { return f.Is(ID) && other.IsAbout(f.Noun()) })
}

var starMeansAll = regexp.MustCompile("(?:^|[\\s\"'`“(])\\*(?:[\\s\"'`”),.;:]|$)")

// Everything is what a required search text takes when nothing is searched for:
// a star, if the declaration says that it means everything.
func (t *Tool) Everything(f *Field) (string, bool) {
	return "*", f.IsText() && (starMeansAll.MatchString(f.text) || f.Is(Title, Search) && starMeansAll.MatchString(t.Info.Description) && !strings.Contains(f.Name, "name"))
}

// Amount is the column that is meant when a question names no number: the
// declared one, or the only one that is named like an amount; empty when unsure.
func (t *Tool) Amount() string {
	var named []string
	for _, name := range slices.Sorted(maps.Keys(t.Columns)) {
		f := t.Columns[name]
		if f.Amount {
			return name
		}
		if f.Is(Number) && IsAmount(name) {
			named = append(named, name)
		}
	}
	if len(named) == 1 {
		return named[0]
	}
	return ""
}

// IsAmount reports whether a name is that of a quantity that may be added up.
func IsAmount(name string) bool {
	return slices.Contains([]string{"amount", "value", "cost", "price", "total", "sum", "spent", "allocated", "remaining", "spend"}, language.LastWord(name))
}

// IsID reports whether a name is that of an id.
func IsID(name string) bool {
	return slices.Contains([]string{"id", "ids", "uuid", "guid"}, language.LastWord(name))
}

// kindOf sorts an input or a column by what it holds.
func kindOf(f *Field) Kind {
	number := f.typ == "number" || f.typ == "integer"
	switch {
	case slices.Contains([]string{"limit", "cursor", "offset", "page", "page_size", "pagesize", "per_page"}, strings.ToLower(f.Name)):
		return Paging
	case len(f.Enum) > 0 && f.has("sort", "order", "sorting", "ordering"):
		return Order
	case len(f.Enum) > 0:
		return Choice
	case (f.typ == "string" || number) && (f.format == "uuid" || IsID(f.Name)):
		return ID
	case f.format == "date" || f.format == "date-time":
		return Date
	case number:
		return Number
	case f.typ != "string" || f.format != "":
		return Other
	case f.has("query", "search", "keyword", "text"):
		return Search
	case f.has("name", "title", "term", "phrase", "label", "subject"):
		return Title
	case f.longest >= 200:
		return Prose
	}
	return Text
}

// Is reports whether the field is of one of the kinds.
func (f *Field) Is(kinds ...Kind) bool { return slices.Contains(kinds, f.Kind) }

// IsText reports whether the input takes any words.
func (f *Field) IsText() bool { return f.Is(Text, Title, Search, Prose) }

func (f *Field) has(words ...string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return f.stems[language.Stem(w)] })
}

// Noun is what an id identifies: "employee" of root_employee_id.
func (f *Field) Noun() string {
	words := slices.DeleteFunc(slices.Clone(f.Words), IsID)
	return language.LastWord(strings.Join(words, " "))
}

// Value is the enum value that is spelled like a text, or nothing.
func (f *Field) Value(text string) string {
	for _, e := range f.Enum {
		if strings.EqualFold(e, text) {
			return e
		}
	}
	return ""
}

var uuidShape = regexp.MustCompile(`^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$`)

// IsUUID reports whether a text is a uuid by its form.
func IsUUID(text string) bool { return uuidShape.MatchString(text) }

// Takes reports whether a text can be the id itself.
func (f *Field) Takes(text string) bool {
	if f.pattern != nil {
		return f.pattern.MatchString(text)
	}
	return f.format != "uuid" && f.typ == "string" || IsUUID(text)
}

// codeShape finds an id that people use, by the letters at its beginning.
var codeShape = regexp.MustCompile(`(?i)\b([a-z]{2,})-[0-9]+`)

// resembles compares a code with the example in the input's description, "such
// as KB-001": 1 when the letters agree, -1 when they differ, 0 without example.
func (f *Field) resembles(code string) int {
	example, given := codeShape.FindStringSubmatch(f.text), codeShape.FindStringSubmatch(code)
	switch {
	case example == nil || given == nil:
		return 0
	case strings.EqualFold(example[1], given[1]):
		return 1
	}
	return -1
}

func (f *Field) endsBefore() bool {
	return f.has("before", "until", "by") || language.LastWord(f.Name) == "to"
}

// DayIn is the day of a span that the input means: "before March" ends where
// March begins, "due this month" where the month ends.
func (f *Field) DayIn(s language.Span) string {
	if f.endsBefore() && s.To.Sub(s.From).Hours() > 24 {
		return language.Day(s.To)
	}
	return language.Day(s.From)
}
