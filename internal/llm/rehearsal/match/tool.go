// Package match reads a question as each tool would: what is asked for, of
// which things, with which values. A reading holds only when every word of the
// question is explained by the tool's declaration or as a value, so that a
// question that no tool answers is declined instead of half understood.
package match

import (
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
	Verb    string            // the first word of its name: "list"
	Noun    string            // the others: "performance reviews"
	Head    string            // stem of the noun's last word
	Inputs  []*Input          // sorted by name
	Columns map[string]Column // the fields of its answers, at any depth
	Own     bool              // without a name it answers for the person who asks

	orders   language.Set // verbs that order what it does
	name     language.Set // stems of the noun
	synonyms language.Set // stems of the declared synonyms
	about    language.Set // stems of its title and its first sentence
	more     language.Set // stems of the rest of its description
	fields   language.Set // stems of its columns' names and synonyms
}

// Input is one input of a tool.
type Input struct {
	Name     string
	Words    []string // of the name
	Enum     []string
	Required bool
	Meta     result.Field

	text, typ, format string
	stems             language.Set // of the name and the synonyms
	about             language.Set // of the description
	pattern           *regexp.Regexp
	longest           int // characters; 0 when no limit is declared
}

// Column is one field of an answer.
type Column struct {
	Name  string
	Unit  string // an ISO 4217 code, "percent" …; empty when none is declared
	Meta  result.Field
	typ   string
	date  bool
	stems language.Set // of the name and the synonyms
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

func (s schema) typeName() string {
	switch t := s.Type.(type) {
	case string:
		return t
	case []any:
		for _, one := range t {
			if name, _ := one.(string); name != "null" {
				return name
			}
		}
	}
	for _, one := range append(s.AnyOf, s.OneOf...) {
		if name := one.typeName(); name != "" && name != "null" {
			return name
		}
	}
	return ""
}

// NewTool reads a declaration.
func NewTool(x *language.Lexicon, info result.ToolInfo, closed bool) *Tool {
	t := &Tool{Info: info, Closed: closed, Columns: map[string]Column{}, orders: language.Set{}, name: language.Set{}, synonyms: language.Set{}, about: language.Set{}, more: language.Set{}, fields: language.Set{}}
	t.readName(info.Name)
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
		t.orders.Add(words[:min(1, len(words))]...)
	}
	t.Own = answersForCaller.MatchString(info.Description)
	for _, name := range slices.Sorted(maps.Keys(in.Properties)) {
		p := newInput(x, name, in.Properties[name], meta.Input[name])
		p.Required = slices.Contains(in.Required, name)
		t.Own = t.Own || !p.Required && answersForCaller.MatchString(p.text)
		t.Inputs = append(t.Inputs, p)
	}
	t.readColumns(out, meta.Output, 0)
	return t
}

// answersForCaller finds that a tool needs no person named.
var answersForCaller = regexp.MustCompile(`(?i)\b(?:your|(?:the )?(?:asker|caller|user|person)'s|their|one's) own\b|\byourself\b`)

// readName takes a name like list_books or server.list_books apart.
func (t *Tool) readName(name string) {
	all := language.Identifier(name[strings.LastIndexByte(name, '.')+1:])
	if len(all) > 1 {
		t.Verb, all = all[0], all[1:]
		t.orders.Add(t.Verb)
	}
	t.name.AddStems(all...)
	if len(all) > 0 {
		t.Noun, t.Head = strings.Join(all, " "), language.Stem(all[len(all)-1])
	}
}

// identifierShape finds names of inputs and tools in prose: they are no words.
var identifierShape = regexp.MustCompile("[A-Za-z0-9]*_[A-Za-z0-9_]*|`[^`]*`")

// readProse keeps the content words of a title or a description. The verbs of
// the first sentence, up to its first article, order what the tool does.
func (t *Tool) readProse(x *language.Lexicon, text string) {
	first, rest, _ := strings.Cut(identifierShape.ReplaceAllString(text, " "), ". ")
	leading := true
	for i, w := range language.Prose(first) {
		leading = leading && !slices.Contains([]string{"a", "an", "the", "one"}, w) && i < 8
		if i == 0 || x.Is("action", w) || leading && !x.Is("idle", w) {
			t.orders.Add(w)
		}
		if !x.Is("idle", w) {
			t.about.AddStems(w)
		}
	}
	for _, w := range language.Prose(rest) {
		if !x.Is("idle", w) {
			t.more.AddStems(w)
		}
	}
}

func newInput(x *language.Lexicon, name string, s schema, meta result.Field) *Input {
	p := &Input{Name: name, Words: language.Identifier(name), Meta: meta, text: s.Description, typ: s.typeName(), format: s.Format, longest: s.MaxLength, stems: language.Set{}, about: language.Set{}}
	for _, one := range append([]schema{s}, append(s.AnyOf, s.OneOf...)...) {
		if p.format == "" {
			p.format = one.Format
		}
		for _, e := range one.Enum {
			if text, ok := e.(string); ok {
				p.Enum = append(p.Enum, text)
			}
		}
	}
	if s.Pattern != "" {
		p.pattern, _ = regexp.Compile(s.Pattern) // one that Go cannot read says nothing
	}
	p.stems.AddStems(p.Words...)
	p.about.AddStems(slices.DeleteFunc(language.Prose(s.Description), func(w string) bool { return x.Is("idle", w) })...)
	for _, phrase := range meta.Synonyms {
		p.about.AddStems(language.Identifier(phrase)...)
	}
	return p
}

// envelope names the fields around the data of our own tools' answers.
const envelope = " status data metadata message suggestedAction details code confirmationId confirmationData "

// readColumns collects the fields of an answer at any depth; the outermost of a
// name counts.
func (t *Tool) readColumns(s schema, meta map[string]result.Field, depth int) {
	if depth > 8 {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		if child := s.Properties[name]; depth > 0 || !strings.Contains(envelope, " "+name+" ") {
			t.addColumn(name, child, meta[name])
		}
	}
	for name, child := range s.Properties {
		if depth > 0 || name == "data" || !strings.Contains(envelope, " "+name+" ") {
			t.readColumns(child, meta, depth+1)
		}
	}
	for _, one := range slices.Concat(s.AnyOf, s.OneOf) {
		t.readColumns(one, meta, depth)
	}
	for _, one := range s.Defs {
		t.readColumns(one, meta, max(depth, 1))
	}
	if s.Items != nil {
		t.readColumns(*s.Items, meta, max(depth, 1))
	}
}

func (t *Tool) addColumn(name string, s schema, meta result.Field) {
	c := Column{Name: name, Unit: meta.Unit, Meta: meta, typ: s.typeName(), date: s.Format == "date" || s.Format == "date-time", stems: language.Set{}}
	if c.Unit == "" {
		c.Unit = currencyIn(s.Description)
	}
	c.stems.AddStems(language.Identifier(name)...)
	for _, phrase := range meta.Synonyms {
		c.stems.AddStems(language.Identifier(phrase)...)
	}
	if _, taken := t.Columns[name]; !taken {
		t.Columns[name] = c
	}
	for s := range c.stems {
		t.fields[s] = true
	}
}

// currencyIn finds the currency that a description names.
func currencyIn(text string) string {
	for _, w := range language.Prose(text) {
		switch w {
		case "usd", "dollars":
			return "USD"
		case "eur", "euros":
			return "EUR"
		case "gbp":
			return "GBP"
		}
	}
	return ""
}

// Writes reports whether the tool changes something.
func (t *Tool) Writes() bool { return t.Info.Kind == result.Write || t.Info.Kind == result.Edit }

// Lists reports whether the tool answers rows and needs no input.
func (t *Tool) Lists() bool {
	needs := t.First(func(p *Input) bool { _, all := t.Everything(p); return p.Required && !all })
	return !t.Writes() && needs == nil && (t.Info.Kind == result.List || t.Verb == "list" || t.Verb == "search" || t.Verb == "find")
}

// TakesOne reports whether the tool reads one thing by its id.
func (t *Tool) TakesOne() bool {
	return !t.Writes() && t.First(func(p *Input) bool { return p.IsID() && p.Required }) != nil
}

// Missing is the first required input that the arguments do not hold.
func (t *Tool) Missing(args map[string]any) *Input {
	return t.First(func(p *Input) bool { _, has := args[p.Name]; return p.Required && !has })
}

// Input returns an input by its name, or nil.
func (t *Tool) Input(name string) *Input {
	return t.First(func(p *Input) bool { return p.Name == name })
}

// First is the first input that fits, or nil.
func (t *Tool) First(fits func(*Input) bool) *Input {
	if i := slices.IndexFunc(t.Inputs, fits); i >= 0 {
		return t.Inputs[i]
	}
	return nil
}

// Names reports whether a word is part of the tool's noun.
func (t *Tool) Names(stem string) bool { return t.name[stem] }

// Mentions reports whether the tool's noun, its synonyms or its first sentence
// have one of the stems.
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
func (t *Tool) Relation() *Input {
	if !t.Lists() {
		return nil
	}
	return t.First(func(p *Input) bool {
		return p.IsID() && !p.Required && language.Stem(p.Noun()) != t.Head && len(p.about) > 0
	})
}

var starMeansAll = regexp.MustCompile("(?:^|[\\s\"'`“(])\\*(?:[\\s\"'`”),.;:]|$)")

// Everything is what a required search text takes when nothing is searched for:
// a star, if the declaration says that it means everything.
func (t *Tool) Everything(p *Input) (string, bool) {
	if !p.IsText() {
		return "", false
	}
	return "*", starMeansAll.MatchString(p.text) || p.IsTitle() && starMeansAll.MatchString(t.Info.Description) && !strings.Contains(p.Name, "name")
}

// Amount is the column that is meant when a question names no number: the
// declared one, or the only one that is named like an amount; empty when unsure.
func (t *Tool) Amount() string {
	only := ""
	for _, name := range slices.Sorted(maps.Keys(t.Columns)) {
		c := t.Columns[name]
		switch {
		case c.Meta.Amount:
			return name
		case !IsAmount(name) || c.typ != "number" && c.typ != "integer":
		case only != "":
			only = "?"
		default:
			only = name
		}
	}
	return strings.TrimSuffix(only, "?")
}

// IsAmount reports whether a name is that of a quantity that may be added up.
func IsAmount(name string) bool {
	return slices.Contains([]string{"amount", "value", "cost", "price", "total", "sum", "spent", "allocated", "remaining", "spend"}, language.LastWord(name))
}

// IsID reports whether the input identifies a thing.
func (p *Input) IsID() bool {
	last := language.LastWord(p.Name)
	return len(p.Enum) == 0 && (p.typ == "string" || p.typ == "integer") && (p.format == "uuid" || last == "id" || last == "uuid" || last == "guid")
}

// IsDate reports whether the input takes a day.
func (p *Input) IsDate() bool { return p.format == "date" || p.format == "date-time" }

// IsNumber reports whether the input takes a quantity.
func (p *Input) IsNumber() bool {
	return (p.typ == "number" || p.typ == "integer") && !p.IsID() && !p.Paging()
}

// Paging reports whether the input only says which rows of a list come.
func (p *Input) Paging() bool {
	return slices.Contains([]string{"limit", "cursor", "offset", "page", "page_size", "pagesize", "per_page"}, strings.ToLower(p.Name))
}

// IsText reports whether the input takes any words.
func (p *Input) IsText() bool {
	return p.typ == "string" && p.format == "" && len(p.Enum) == 0 && !p.IsID() && !p.Paging()
}

// IsTitle reports whether the input finds rows by their names.
func (p *Input) IsTitle() bool {
	return p.IsText() && p.has("nam", "titl", "query", "search", "keyword", "text", "term", "phras", "label", "subject")
}

// IsSearch reports whether the input searches the texts of rows.
func (p *Input) IsSearch() bool { return p.IsText() && p.has("query", "search", "keyword", "text") }

// isProse reports whether the input takes sentences rather than a name.
func (p *Input) isProse() bool { return p.IsText() && p.longest >= 200 && !p.IsTitle() }

// isOrder reports whether the input says in which order rows come.
func (p *Input) isOrder() bool {
	return len(p.Enum) > 0 && p.has("sort", "order", "sorting", "ordering")
}

func (p *Input) has(stems ...string) bool {
	return slices.ContainsFunc(stems, func(s string) bool { return p.stems[s] || slices.Contains(p.Words, s) })
}

// Noun is what an id identifies: "employee" of root_employee_id.
func (p *Input) Noun() string {
	for _, w := range slices.Backward(p.Words) {
		if w != "id" && w != "uuid" && w != "guid" {
			return w
		}
	}
	return ""
}

// Value is the enum value that is spelled like a text, or nothing.
func (p *Input) Value(text string) string {
	for _, e := range p.Enum {
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
func (p *Input) Takes(text string) bool {
	if p.pattern != nil {
		return p.pattern.MatchString(text)
	}
	return p.format != "uuid" && p.typ == "string" || IsUUID(text)
}

// codeShape finds an id that people use, by the letters at its beginning.
var codeShape = regexp.MustCompile(`\b([A-Z]{2,})-[0-9]+`)

// unlike reports whether a code begins otherwise than the example in the
// input's description: "such as KB-001".
func (p *Input) unlike(code string) bool {
	example, given := codeShape.FindStringSubmatch(p.text), codeShape.FindStringSubmatch(strings.ToUpper(code))
	return example != nil && given != nil && example[1] != given[1]
}

func (p *Input) endsBefore() bool {
	return p.has("before", "befor", "until", "by") || language.LastWord(p.Name) == "to"
}

func (p *Input) startsAfter() bool {
	return p.has("after", "sinc") || language.LastWord(p.Name) == "from"
}

// DayIn is the day of a span that the input means: "before March" ends where
// March begins, "due this month" where the month ends.
func (p *Input) DayIn(s language.Span) string {
	if p.endsBefore() && s.To.Sub(s.From).Hours() > 24 {
		return language.Day(s.To)
	}
	return language.Day(s.From)
}
