package rehearsal

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"countersign.dev/internal/agent"
	"countersign.dev/internal/result"
)

// form is what a tool's declaration tells: what it is for, in which words, and
// what has to be filled in.
type form struct {
	tool    agent.Tool
	order   string            // the verb that its name starts with
	verbs   set               // words that may order it
	name    set               // stems of its name without the verb
	about   set               // stems of its title and its first sentence
	more    set               // stems of the rest of its description
	fields  set               // stems of the fields that its answers have
	columns set               // the fields as they are written
	numbers set               // those that hold numbers
	signs   map[string]string // the currency that a field's description names
	props   []*property
	noun    string // what it is about, in the words of its name: "performance reviews"
	head    string // stem of the noun's last word
	closed  bool   // exists, but not for this person
	own     bool   // answers for the person who asks when nobody is named
}

// property is one input of a tool.
type property struct {
	name     string
	words    []string // of the name
	stems    set      // of the name
	about    set      // stems of its description
	text     string   // its description
	typ      string
	format   string
	enum     []string
	required bool
	least    *float64
	pattern  *regexp.Regexp // what the text must look like; nil: anything
	longest  int            // characters that it may have; 0: no limit is told
}

// schema is the part of JSON Schema that the planner reads.
type schema struct {
	Type        any               `json:"type"`
	Format      string            `json:"format"`
	Description string            `json:"description"`
	Enum        []any             `json:"enum"`
	Const       any               `json:"const"`
	Minimum     *float64          `json:"minimum"`
	MaxLength   int               `json:"maxLength"`
	Pattern     string            `json:"pattern"`
	Properties  object[schema]    `json:"properties"`
	Required    []string          `json:"required"`
	Items       *schema           `json:"items"`
	AnyOf       []schema          `json:"anyOf"`
	OneOf       []schema          `json:"oneOf"`
	Defs        map[string]schema `json:"$defs"`
}

// UnmarshalJSON reads a schema; true and false, which are schemas too, say
// nothing that the planner needs.
func (s *schema) UnmarshalJSON(raw []byte) error {
	type plain schema
	if len(raw) == 0 || raw[0] != '{' {
		return nil
	}
	return json.Unmarshal(raw, (*plain)(s))
}

func (en *english) form(t agent.Tool) *form {
	f := &form{tool: t, verbs: set{}, name: set{}, about: set{}, more: set{}, fields: set{}, columns: set{}, numbers: set{}, signs: map[string]string{}}
	en.readName(f, t.Name)
	en.readProse(f, t.Title)
	en.readProse(f, t.Description)
	var in, out schema
	_ = json.Unmarshal(t.InputSchema, &in) // a schema that cannot be read has no properties
	_ = json.Unmarshal(t.OutputSchema, &out)
	for _, name := range in.Properties.keys {
		f.props = append(f.props, en.property(name, in.Properties.values[name], slices.Contains(in.Required, name)))
	}
	f.readFields(out, 0)
	f.own = answersForCaller.MatchString(t.Description)
	en.readMentions(f)
	return f
}

// answersForCaller finds that a tool needs nobody named: it is about whoever
// asks.
var answersForCaller = regexp.MustCompile(`(?i)\b(?:your|(?:the )?(?:asker|caller|user|person)'s|their|one's) own\b|\byourself\b`)

// readMentions adds to an input what the tool's description says of it: the
// words that follow its name in the same sentence.
func (en *english) readMentions(f *form) {
	for _, p := range f.props {
		before, after, found := strings.Cut(f.tool.Description, p.name)
		if !found || len(p.words) < 2 || strings.HasSuffix(strings.ToLower(before), "without ") {
			continue
		}
		sentence, _, _ := strings.Cut(after, ". ")
		for _, w := range proseWords(sentence) {
			if !en.is("idle", w) {
				p.about[stem(w)] = true
			}
		}
	}
}

// closedForm reads what is told of a tool that this person may not use. What
// kind it is shows in the verb of its name.
func (en *english) closedForm(c agent.ClosedTool) *form {
	f := en.form(agent.Tool{ToolInfo: result.ToolInfo{Name: c.Name, Description: c.Sentence, Roles: c.Roles}})
	f.closed, f.tool.Kind = true, result.Write
	if en.is("reading", f.order) {
		f.tool.Kind = result.Read
	}
	return f
}

// readName takes a name like list_books or server.list_books apart.
func (en *english) readName(f *form, name string) {
	if i := strings.LastIndexByte(name, '.'); i >= 0 {
		name = name[i+1:]
	}
	all := identifierWords(name)
	if len(all) > 1 {
		f.order, all = all[0], all[1:]
		f.verbs[f.order] = true
	}
	for _, w := range all {
		f.name[stem(w)] = true
	}
	if len(all) > 0 {
		f.noun, f.head = strings.Join(all, " "), stem(all[len(all)-1])
	}
}

// readProse keeps the content words of a title or description. The first
// sentence says what the tool is for: its first word and its verbs of action may
// order it. The others only explain.
func (en *english) readProse(f *form, text string) {
	first, rest, _ := strings.Cut(identifierShape.ReplaceAllString(text, " "), ". ")
	leading := true // "Delete, terminate or remove an …": verbs up to the article
	for i, w := range proseWords(first) {
		leading = leading && w != "a" && w != "an" && w != "the" && w != "one" && i < 8
		if i == 0 || en.is("action", w) || leading && f.tool.Kind == result.Write && !en.is("idle", w) {
			f.verbs[w] = true
		}
		if !en.is("idle", w) {
			f.about[stem(w)] = true
		}
	}
	for _, w := range proseWords(rest) {
		if !en.is("idle", w) {
			f.more[stem(w)] = true
		}
	}
}

// identifierShape finds names of inputs and tools in prose: they are no words.
var identifierShape = regexp.MustCompile("[A-Za-z0-9]*_[A-Za-z0-9_]*|`[^`]*`")

func (en *english) property(name string, s schema, required bool) *property {
	for _, alternative := range append(s.AnyOf, s.OneOf...) {
		if s.Type == nil && typeOf(alternative.Type) != "null" {
			s.Type, s.Format, s.Enum = alternative.Type, alternative.Format, alternative.Enum
		}
	}
	p := &property{name: name, words: identifierWords(name), stems: set{}, about: set{}, text: s.Description, typ: typeOf(s.Type), format: s.Format, required: required, least: s.Minimum, longest: s.MaxLength}
	if s.Pattern != "" {
		p.pattern, _ = regexp.Compile(s.Pattern) // one that Go cannot read says nothing
	}
	for _, w := range p.words {
		p.stems[stem(w)] = true
	}
	for _, w := range proseWords(s.Description) {
		if !en.is("idle", w) {
			p.about[stem(w)] = true
		}
	}
	for _, e := range s.Enum {
		if text, ok := e.(string); ok {
			p.enum = append(p.enum, text)
		}
	}
	return p
}

func typeOf(t any) string {
	switch t := t.(type) {
	case string:
		return t
	case []any:
		for _, one := range t {
			if name, ok := one.(string); ok && name != "null" {
				return name
			}
		}
	}
	return ""
}

// envelope names what stands around the data of our own tools' answers.
var envelope = map[string]bool{"status": true, "data": true, "metadata": true, "message": true, "suggestedAction": true, "details": true, "code": true, "confirmationId": true, "confirmationData": true}

// readFields collects the names of the fields of an answer, wherever they are
// declared.
func (f *form) readFields(s schema, depth int) {
	if depth > 8 {
		return
	}
	for _, name := range s.Properties.keys {
		child := s.Properties.values[name]
		if depth > 0 || !envelope[name] {
			f.columns[name] = true
			f.readColumn(name, child)
			for _, w := range identifierWords(name) {
				f.fields[stem(w)] = true
			}
		}
		if depth > 0 || name == "data" || !envelope[name] {
			f.readFields(child, depth+1)
		}
	}
	for _, one := range append(append([]schema{}, s.AnyOf...), s.OneOf...) {
		f.readFields(one, depth)
	}
	for _, one := range s.Defs {
		f.readFields(one, max(depth, 1))
	}
	if s.Items != nil {
		f.readFields(*s.Items, max(depth, 1))
	}
}

// readColumn keeps what a field's declaration says of its numbers.
func (f *form) readColumn(name string, s schema) {
	if t := typeOf(s.Type); t == "number" || t == "integer" {
		f.numbers[name] = true
	}
	about := strings.ToLower(s.Description)
	for _, c := range signs {
		if f.signs[name] == "" && (strings.Contains(about, "us "+c.word) || strings.Contains(" "+about+" ", " "+c.word+" ")) {
			f.signs[name] = c.sign
		}
	}
}

// writes reports whether the tool changes something.
func (f *form) writes() bool { return f.tool.Kind == result.Write || f.tool.Kind == result.Edit }

// lists reports whether the tool's answers are rows and no input is needed.
func (f *form) lists() bool {
	needs := f.first(func(p *property) bool { _, all := f.everything(p); return p.required && !all })
	return !f.writes() && needs == nil && (f.tool.Kind == result.List || f.order == "list" || f.order == "search" || f.order == "find")
}

// missing is the first required property that the arguments do not hold.
func (f *form) missing(args map[string]any) *property {
	return f.first(func(p *property) bool { _, has := args[p.name]; return p.required && !has })
}

// needsOnlyIDs reports whether naming a thing fills in all that is required.
func (f *form) needsOnlyIDs() bool {
	return f.first(func(p *property) bool { return p.required && !p.isID() }) == nil
}

func (f *form) prop(name string) *property {
	return f.first(func(p *property) bool { return p.name == name })
}

// first is the first input that fits, or nil.
func (f *form) first(fits func(*property) bool) *property {
	if i := slices.IndexFunc(f.props, fits); i >= 0 {
		return f.props[i]
	}
	return nil
}

// The sorts of properties.

func (p *property) isID() bool {
	last := lastWord(p.name)
	return len(p.enum) == 0 && (p.typ == "string" || p.typ == "integer") && (p.format == "uuid" || last == "id" || last == "uuid" || last == "guid")
}

func (p *property) isDate() bool { return p.format == "date" || p.format == "date-time" }
func (p *property) isNumber() bool {
	return (p.typ == "number" || p.typ == "integer") && !p.isID() && !p.paging()
}
func (p *property) isBool() bool { return p.typ == "boolean" }

func (p *property) paging() bool {
	return slices.Contains([]string{"limit", "cursor", "offset", "page", "page_size", "pagesize", "per_page"}, strings.ToLower(p.name))
}

// isText reports whether any words may be filled in.
func (p *property) isText() bool {
	return p.typ == "string" && p.format == "" && len(p.enum) == 0 && !p.isID() && !p.paging()
}

// isTitle reports whether a text property finds rows by what they are called.
func (p *property) isTitle() bool {
	for _, w := range titleStems {
		if p.stems[w] {
			return p.isText()
		}
	}
	return false
}

var titleStems = []string{"nam", "titl", "query", "search", "keyword", "text", "term", "phras", "label", "subject"}

// noun is what an id property identifies: "employee" of root_employee_id.
func (p *property) noun() string {
	for i := len(p.words) - 1; i >= 0; i-- {
		if w := p.words[i]; w != "id" && w != "uuid" && w != "guid" {
			return w
		}
	}
	return ""
}
