// Package match reads a question as each tool would: what is asked for, of
// which things, with which values. A reading holds only when every word of the
// question is explained by the tool's declaration or as a value, so that a
// question that no tool answers is declined instead of half understood.
package match

import (
	"maps"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

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

	verb     string         // the first word of its name: "list"
	head     string         // stem of the noun's last word
	orders   language.Set   // words that order what it does
	verbs    language.Set   // stems of those that are verbs of action
	name     language.Set   // stems of the noun
	synonyms language.Set   // stems of the declared synonyms
	about    language.Set   // stems of its title and its first sentence
	weights  map[string]int // how much a stem speaks for the tool
}

// How much a word of the tool's speaks for it.
const (
	weightName    = 4
	weightSynonym = 3
	weightAbout   = 2 // in its title, its first sentence or its columns
	weightMore    = 1 // in the rest of its description or its inputs
)

// NewTool reads a declaration.
func NewTool(x *language.Lexicon, info result.ToolInfo, closed bool) *Tool {
	t := &Tool{Info: info, Closed: closed, Columns: map[string]*Field{}, weights: map[string]int{}}
	t.orders, t.verbs, t.synonyms, t.about = language.Set{}, language.Set{}, language.Set{}, language.Set{}
	words := language.Identifier(info.Name[strings.LastIndexByte(info.Name, '.')+1:]) // library.list_books
	if len(words) > 1 {
		t.verb, words = words[0], words[1:]
		t.orders[t.verb] = true
	}
	t.name, t.Noun = language.Stems(words...), strings.Join(words, " ")
	t.head = language.Stem(language.LastWord(t.Noun))
	var meta result.Fields
	if info.Fields != nil {
		meta = *info.Fields
	}
	for _, phrase := range meta.Synonyms {
		words := language.Identifier(phrase)
		t.synonyms.AddStems(words...)
		t.orders[strings.Join(words[:min(1, len(words))], "")] = true
	}
	in, out := parseSchema(info.InputSchema), parseSchema(info.OutputSchema)
	for _, name := range slices.Sorted(maps.Keys(in.Properties)) {
		f := newField(name, in.Properties[name], meta.Input[name])
		f.Required = slices.Contains(in.Required, name)
		t.Own = t.Own || f.Self && !f.Required
		t.Inputs = append(t.Inputs, f)
	}
	t.readColumns(out, meta.Output, 0)
	t.weigh(x)
	for v := range t.orders {
		if x.Is(v, "action") {
			t.verbs.AddStems(v)
		}
	}
	return t
}

// weigh gives each word its weight. What a change answers is not what it is for.
func (t *Tool) weigh(x *language.Lexicon) {
	more, columns := t.readProse(x, t.Info.Title), language.Set{}
	maps.Copy(more, t.readProse(x, t.Info.Description))
	for _, f := range t.Columns {
		f.addTo(columns)
	}
	for _, f := range t.Inputs {
		if !f.Is(Paging) {
			f.addTo(more)
		}
	}
	if t.Writes() {
		columns = nil
	}
	for i, stems := range []language.Set{more, columns, t.about, t.synonyms, t.name} {
		for s := range stems {
			t.weights[s] = []int{weightMore, weightAbout, weightAbout, weightSynonym, weightName}[i]
		}
	}
}

// readProse keeps the words of a text's first sentence, and returns the others.
// That sentence's verbs, up to its first article, order what the tool does.
func (t *Tool) readProse(x *language.Lexicon, text string) (more language.Set) {
	words := slices.DeleteFunc(strings.Fields(text), func(w string) bool { return strings.ContainsAny(w, "_`") }) // names of inputs and tools
	first, rest, _ := strings.Cut(strings.Join(words, " "), ". ")
	leading := true
	for i, w := range language.Prose(first) {
		leading = leading && !slices.Contains([]string{"a", "an", "the", "one"}, w)
		if i == 0 || x.Is(w, "action") || leading && !x.Is(w, "idle") {
			t.orders[w] = true
		}
	}
	content := func(text string) []string {
		return slices.DeleteFunc(language.Prose(text), func(w string) bool { return x.Is(w, "idle") })
	}
	t.about.AddStems(content(first)...)
	return language.Stems(content(rest)...)
}

// envelope names the fields around the data of our own tools' answers.
var envelope = []string{"status", "data", "metadata", "message", "suggestedAction", "details", "code", "confirmationId", "confirmationData"}

// readColumns collects an answer's fields at any depth; of one name, the outermost.
func (t *Tool) readColumns(s *jsonschema.Schema, meta map[string]result.Field, depth int) {
	if s == nil || depth > 8 {
		return
	}
	outer := func(name string) bool { return depth == 0 && slices.Contains(envelope, name) }
	for name, child := range s.Properties {
		if t.Columns[name] == nil && !outer(name) {
			t.Columns[name] = newField(name, child, meta[name])
		}
	}
	for _, one := range slices.Concat(s.AnyOf, s.OneOf, slices.Collect(maps.Values(s.Defs)), []*jsonschema.Schema{s.Items}) {
		t.readColumns(one, meta, depth+1)
	}
	for name, child := range s.Properties {
		if name == "data" || !outer(name) {
			t.readColumns(child, meta, depth+1)
		}
	}
}

// Column is a column's declaration; an empty one when the tool declares none.
func (t *Tool) Column(name string) *Field {
	if f := t.Columns[name]; f != nil {
		return f
	}
	return &Field{Name: name, Words: language.Identifier(name)}
}

// columns returns the tool's columns that fit, sorted by name.
func (t *Tool) columns(fits func(*Field) bool) (out []*Field) {
	for _, name := range slices.Sorted(maps.Keys(t.Columns)) {
		if fits(t.Columns[name]) {
			out = append(out, t.Columns[name])
		}
	}
	return out
}

// Writes reports whether the tool changes something.
func (t *Tool) Writes() bool { return t.Info.Kind == result.Write || t.Info.Kind == result.Edit }

// Lists reports whether the tool answers rows and needs no input.
func (t *Tool) Lists() bool {
	needs := t.First(func(f *Field) bool { return f.Required && f.All == "" })
	return !t.Writes() && needs == nil && (t.Info.Kind == result.List || slices.Contains([]string{"list", "search", "find"}, t.verb))
}

// Missing is the first required input that the arguments do not hold.
func (t *Tool) Missing(args map[string]any) *Field {
	return t.First(func(f *Field) bool { return f.Required && args[f.Name] == nil })
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

// Mentions counts the stems in the tool's noun, its synonyms or its first sentence.
func (t *Tool) Mentions(stems language.Set) (n int) {
	for s := range stems {
		if t.name[s] || t.synonyms[s] || t.about[s] {
			n++
		}
	}
	return n
}

// Relation is an optional id of a list by which its rows belong to somebody and
// for which people have other words: manager_id, "team". nil when it has none.
func (t *Tool) Relation() *Field {
	if !t.Lists() {
		return nil
	}
	return t.First(func(f *Field) bool { return f.Is(ID) && !f.Required && !t.IsAbout(f.Noun()) && len(f.Synonyms) > 0 })
}

// IDOf is the input for the id of what another list is of: by it their rows meet.
func (t *Tool) IDOf(other *Tool) *Field {
	return t.First(func(f *Field) bool { return f.Is(ID) && other.IsAbout(f.Noun()) })
}

// Amount is the column that is meant when a question names no number: the
// declared one, or the only one that is named like an amount; empty when unsure.
func (t *Tool) Amount() string {
	amounts := t.columns(func(f *Field) bool { return f.Amount })
	if len(amounts) == 0 {
		if amounts = t.columns(func(f *Field) bool { return f.Is(Number) && IsAmount(f.Name) }); len(amounts) != 1 {
			return ""
		}
	}
	return amounts[0].Name
}

// DateColumn is the column by which rows are new or old: the first day that is
// no date of something to come; empty when there is none.
func (t *Tool) DateColumn() string {
	for _, f := range t.columns(func(f *Field) bool { return f.Is(Date) && f.Show != result.ShowDetail }) {
		if !f.has("due", "next", "expected", "updated") {
			return f.Name
		}
	}
	return ""
}
