// Package match reads a question as each tool would: what is asked for, of which things, with which values. It holds only if each word is explained by the declaration or as a value: what no tool answers is not half understood.
package match

import (
	"cmp"
	"maps"
	"regexp"
	"slices"
	"strings"

	"countersign.dev/internal/english"
	"countersign.dev/internal/language/lexicon"
	"countersign.dev/internal/result"
	"countersign.dev/internal/schema"
	"countersign.dev/internal/schema/declared"
)

// Tool is a tool's declaration in the words that questions use.
type Tool struct {
	Info    result.ToolInfo
	Closed  bool   // exists, but not for this person
	Noun    string // its name without the verb: "performance reviews"
	Rows    string // what its rows are called: "reviews"
	Ask     string // a question that it answers; empty when it declares none
	Inputs  declared.Fields
	Columns declared.Fields              // the fields of its answers, at any depth
	States  declared.Fields              // the columns whose values have words of their own: "overspent"
	Own     bool                         // without a name it answers for the person who asks
	Lacking func(question string) string // as result.Fields has it

	verb   string            // the first word of its name: "list"
	head   string            // stem of the noun's last word
	orders english.Set       // stems of the words that order what it does
	source map[string]source // of a stem: where the declaration says it
}

// source is where a declaration says a word: the higher, the more the word speaks for the tool.
type source int

const (
	nowhere   source = iota
	inValues         // among the values of its inputs, which is no word of its own
	inMore           // in the rest of its description, or its inputs
	inColumns        // in what it answers
	inAbout          // in its title or its first sentence
	inSynonym
	inNoun
)

// weight is how much a word that is said there speaks for the tool.
func (p source) weight() int { return [...]int{0, 0, 1, 2, 2, 3, 4}[p] }

// NewTool reads a declaration.
func NewTool(x *lexicon.Lexicon, info result.ToolInfo, closed bool) *Tool {
	words := english.Words(info.Name[strings.LastIndexByte(info.Name, '.')+1:]) // library.list_books
	verbs := min(1, max(0, len(words)-1))
	t := &Tool{Info: info, Closed: closed, orders: english.Set{}, source: map[string]source{}}
	t.verb, t.Noun = strings.Join(words[:verbs], ""), strings.Join(words[verbs:], " ")
	t.head = english.Stem(english.LastWord(t.Noun))
	t.say(inNoun, slices.DeleteFunc(strings.Fields(t.Noun), func(w string) bool { return x.Is(w, "idle") })...)
	meta := cmp.Or(info.Fields, &result.Fields{})
	t.Rows, t.Ask, t.Lacking = cmp.Or(meta.Noun, t.Noun), map[bool]string{false: meta.Ask}[closed], meta.Lacking() // in ties it would come before one that is open
	for _, phrase := range append(meta.Synonyms, t.verb) {
		first, _, _ := strings.Cut(phrase, " ")
		t.orders[english.Stem(first)] = true
	}
	t.say(inSynonym, slices.DeleteFunc(slices.Clone(meta.Synonyms), func(s string) bool { return strings.Contains(s, "-") })...) // "how" and "to" are no how-to
	for _, p := range schema.Properties(info.InputSchema) {
		f := declared.New(p, meta.Input[p.Name])
		t.Own = t.Own || f.Self && !f.Required
		for _, p := range f.Phrased {
			t.say(inValues, p.Words...)
		}
		if t.Inputs = append(t.Inputs, f); !f.Is(schema.Paging) {
			t.say(inMore, append(f.Synonyms, f.Name)...)
		}
	}
	for _, p := range schema.Everywhere(info.OutputSchema, "data") { // our envelope is not read: a question for code asks for no error's code
		t.readColumn(declared.New(p, meta.Output[p.Name]))
	}
	slices.SortStableFunc(t.Columns, func(a, b *declared.Field) int { return cmp.Compare(a.Name, b.Name) })
	t.readProse(x, info.Title)
	t.readProse(x, info.Description)
	return t
}

// say notes where the declaration says words; the highest place counts.
func (t *Tool) say(at source, texts ...string) {
	for s := range english.Stems(english.Words(strings.Join(texts, " "))...) {
		t.source[s] = max(t.source[s], at)
	}
}

var bracketed = regexp.MustCompile(`\s*\([^()]*\)`) // examples, mostly

// Purpose is the first sentence of the description.
func (t *Tool) Purpose() string {
	text, _, _ := strings.Cut(cmp.Or(t.Info.Description, strings.ReplaceAll(t.Info.Name, "_", " ")), ". ")
	return strings.TrimSuffix(bracketed.ReplaceAllString(text, ""), ".")
}

// readProse notes the words of a text; the verbs that begin it order the tool.
func (t *Tool) readProse(x *lexicon.Lexicon, text string) {
	words := slices.DeleteFunc(strings.Fields(bracketed.ReplaceAllString(text, "")), func(w string) bool { return strings.ContainsAny(w, "_`") }) // names of inputs and tools
	first, rest, _ := strings.Cut(strings.Join(words, " "), ". ")
	for i, w := range english.Prose(first) {
		if i == 0 || x.Is(w, "action") {
			t.orders[english.Stem(w)] = true
		}
	}
	t.say(inAbout, first)
	t.say(inMore, rest)
}

// readColumn adds a field of the answers. What a change answers is not what it is for.
func (t *Tool) readColumn(f *declared.Field) {
	if t.Columns = append(t.Columns, f); !f.Is(schema.Choice) && len(f.Phrased) > 0 && t.Lists() {
		t.States = append(t.States, f)
	}
	words := slices.Clone(f.Synonyms)
	if f.Show != result.ShowDetail && !strings.HasSuffix(f.Name, "_at") { // else its own name is no reason to ask for it
		words = append(words, f.Name)
	}
	if !t.Writes() {
		t.say(inColumns, words...)
	}
}

// Column is a column's declaration, as far as there is one.
func (t *Tool) Column(name string) *declared.Field {
	if f := t.Columns.Named(name); f != nil {
		return f
	}
	return declared.New(schema.Property{Name: name}, result.Field{})
}

// Meta is what is declared of a column besides its schema.
func (t *Tool) Meta(name string) result.Field { return t.Column(name).Field }

// column is the first column that fits, by name; an empty one when none does.
func (t *Tool) column(fits func(*declared.Field) bool) *declared.Field {
	return cmp.Or(t.Columns.First(fits), &declared.Field{})
}

// Writes reports whether the tool changes something.
func (t *Tool) Writes() bool { return t.Info.Kind == result.Write || t.Info.Kind == result.Edit }

// Lists reports whether the tool answers rows and needs no input.
func (t *Tool) Lists() bool {
	needs := t.Inputs.First(func(f *declared.Field) bool { return f.Required && f.All == "" })
	return !t.Writes() && needs == nil && (t.Info.Kind == result.List || slices.Contains([]string{"list", "search", "find"}, t.verb))
}

// Missing is the first required input that the arguments do not hold, an id before others.
func (t *Tool) Missing(args map[string]any) *declared.Field {
	misses := func(f *declared.Field) bool { return f.Required && args[f.Name] == nil }
	return cmp.Or(t.Inputs.First(func(f *declared.Field) bool { return misses(f) && f.Is(schema.ID) }), t.Inputs.First(misses))
}

// Names reports whether a stem is part of the tool's noun.
func (t *Tool) Names(stem string) bool { return t.source[stem] == inNoun }

// Anchors reports whether a stem names what the tool is about, or is a synonym of it.
func (t *Tool) Anchors(stem string) bool { return t.source[stem] >= inSynonym }

// IsAbout reports whether the tool's rows are of a sort, "employee".
func (t *Tool) IsAbout(noun string) bool { return t.head == english.Stem(noun) }

// Mentions counts the stems in the tool's noun, its synonyms or its first sentence.
func (t *Tool) Mentions(stems english.Set) int {
	return len(slices.DeleteFunc(slices.Collect(maps.Keys(stems)), func(s string) bool { return t.source[s] < inAbout }))
}

// Relation is an optional id with synonyms: manager_id, "team". nil for none.
func (t *Tool) Relation() *declared.Field {
	return t.Inputs.First(func(f *declared.Field) bool {
		return t.Lists() && f.Is(schema.ID) && !f.Required && !t.IsAbout(f.Noun) && len(f.Synonyms) > 0
	})
}

// Identified reports whether an input is the id of what a list is of: by it their rows meet.
func (t *Tool) Identified(f *declared.Field) bool { return f.Is(schema.ID) && t.IsAbout(f.Noun) }

// Amount is the column that is meant when a question names none: the declared one, or the first.
func (t *Tool) Amount() string {
	return cmp.Or(t.column(func(f *declared.Field) bool { return f.Field.Amount }).Name, t.column((*declared.Field).Quantity).Name)
}

// DateColumn is the column by which rows are new or old; empty for none.
func (t *Tool) DateColumn() string {
	shown := t.column(func(f *declared.Field) bool {
		return f.Is(schema.Date) && f.Show != result.ShowDetail && !f.Has("due", "next", "expected", "updated")
	})
	return cmp.Or(shown.Name, t.column(func(f *declared.Field) bool { return f.Is(schema.Date) && f.Has("created") }).Name)
}

const lower, none, upper = schema.Lower, schema.Neither, schema.Upper
