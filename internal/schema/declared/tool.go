package declared

import (
	"cmp"
	"maps"
	"regexp"
	"slices"
	"strings"

	"countersign.dev/internal/english"
	"countersign.dev/internal/language"
	"countersign.dev/internal/language/lexicon"
	"countersign.dev/internal/result"
	"countersign.dev/internal/schema"
)

// Tool is a tool's declaration in the words that questions use.
type Tool struct {
	Info    result.ToolInfo
	Closed  bool   // exists, but not for this person
	Verb    string // the first word of its name: "list"
	Noun    string // its name without the verb: "performance reviews"
	Head    string // stem of the noun's last word
	Rows    string // what its rows are called: "reviews"
	Ask     string // a question that it answers; empty when it declares none
	Inputs  Fields
	Columns Fields                       // the fields of its answers, at any depth
	States  Fields                       // the columns whose values have words of their own: "overspent"
	Own     bool                         // without a name it answers for the person who asks
	Lacking func(question string) string // as result.Fields has it

	orders english.Set     // stems of the words that order what it does
	source map[string]Part // of a stem: where the declaration says it
}

// Part is where a declaration says a word: the higher, the more the word speaks for the tool.
type Part int

// The parts of a declaration.
const (
	Nowhere   Part = iota // not at all
	InValues              // among the values of its inputs, which is no word of its own
	InMore                // in the rest of its description, or its inputs
	InColumns             // in what it answers
	InAbout               // in its title or its first sentence
	InSynonym             // in a word that is declared for the same
	InNoun                // in its name, without the verb
)

// Weight is how much a word that is said there speaks for the tool.
func (p Part) Weight() int { return [...]int{0, 0, 1, 2, 2, 3, 4}[p] }

// NewTool reads a declaration.
func NewTool(x *lexicon.Lexicon, info result.ToolInfo, closed bool) *Tool {
	words := english.Words(info.Name[strings.LastIndexByte(info.Name, '.')+1:]) // library.list_books
	verbs := min(1, max(0, len(words)-1))
	t := &Tool{Info: info, Closed: closed, orders: english.Set{}, source: map[string]Part{}}
	t.Verb, t.Noun = strings.Join(words[:verbs], ""), strings.Join(words[verbs:], " ")
	t.Head = english.Stem(english.LastWord(t.Noun))
	t.say(InNoun, slices.DeleteFunc(strings.Fields(t.Noun), func(w string) bool { return x.Is(w, "idle") })...)
	meta := cmp.Or(info.Fields, &result.Fields{})
	t.Rows, t.Ask, t.Lacking = cmp.Or(meta.Noun, t.Noun), map[bool]string{false: meta.Ask}[closed], meta.Lacking() // in ties it would come before one that is open
	for _, phrase := range append(meta.Synonyms, t.Verb) {
		first, _, _ := strings.Cut(phrase, " ")
		t.orders[english.Stem(first)] = true
	}
	t.say(InSynonym, slices.DeleteFunc(slices.Clone(meta.Synonyms), func(s string) bool { return strings.Contains(s, "-") })...) // "how" and "to" are no how-to
	for _, p := range schema.Properties(info.InputSchema) {
		f := New(p, meta.Input[p.Name])
		t.Own = t.Own || f.Self && !f.Required
		for _, p := range f.Phrased {
			t.say(InValues, p.Words...)
		}
		if t.Inputs = append(t.Inputs, f); !f.Is(schema.Paging) {
			t.say(InMore, append(f.Synonyms, f.Name)...)
		}
	}
	for _, p := range schema.Everywhere(info.OutputSchema, "data") { // our envelope is not read: a question for code asks for no error's code
		t.readColumn(New(p, meta.Output[p.Name]))
	}
	slices.SortStableFunc(t.Columns, func(a, b *Field) int { return cmp.Compare(a.Name, b.Name) })
	t.readProse(x, info.Title)
	t.readProse(x, info.Description)
	return t
}

// say notes where the declaration says words; the highest place counts.
func (t *Tool) say(at Part, texts ...string) {
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
		if i == 0 || x.Is(w, "action") && !x.Is(w, "present") { // "open deals" are no order
			t.orders[english.Stem(w)] = true
		}
	}
	t.say(InAbout, first)
	t.say(InMore, rest)
}

// readColumn adds a field of the answers. What a change answers is not what it is for.
func (t *Tool) readColumn(f *Field) {
	if t.Columns = append(t.Columns, f); !f.Is(schema.Choice) && len(f.Phrased) > 0 && t.Lists() {
		t.States = append(t.States, f)
	}
	words := slices.Clone(f.Synonyms)
	if f.Show != result.ShowDetail && !strings.HasSuffix(f.Name, "_at") { // else its own name is no reason to ask for it
		words = append(words, f.Name)
	}
	if !t.Writes() {
		t.say(InColumns, words...)
	}
}

// Column is a column's declaration, as far as there is one.
func (t *Tool) Column(name string) *Field {
	if f := t.Columns.Named(name); f != nil {
		return f
	}
	return New(schema.Property{Name: name}, result.Field{})
}

// Order is what rows are sorted by, within a sentence.
func (t *Tool) Order(key string) string {
	switch f := t.Column(key); {
	case f.Is(schema.Date) && !strings.Contains(f.Head(key), "date"): // "hired"
		return "date " + strings.TrimSuffix(f.Head(key), " at")
	case f.Is(schema.Title) && len(f.Words) > 1 && t.IsAbout(f.Words[0]): // "deal"
		return f.Words[1]
	default:
		return f.Head(key)
	}
}

// Meta is what is declared of a column besides its schema.
func (t *Tool) Meta(name string) result.Field { return t.Column(name).Field }

// Writes reports whether the tool changes something.
func (t *Tool) Writes() bool { return t.Info.Kind == result.Write || t.Info.Kind == result.Edit }

// Lists reports whether the tool answers rows and needs no input.
func (t *Tool) Lists() bool {
	needs := t.Inputs.First(func(f *Field) bool { return f.Required && f.All == "" })
	return !t.Writes() && needs == nil && (t.Info.Kind == result.List || slices.Contains([]string{"list", "search", "find"}, t.Verb))
}

// LacksOne reports whether the tool answers from one thing of a list, and no argument says which.
func (t *Tool) LacksOne(args map[string]any) bool {
	from := func(f *Field) bool { return f.From != "" }
	given := func(f *Field) bool { return (f.From != "" || f.Is(schema.ID)) && args[f.Name] != nil }
	return t.Info.Kind == result.Read && !t.Own && t.Inputs.First(from) != nil && t.Inputs.First(given) == nil
}

// Missing is the first required input that the arguments do not hold, an id before others.
func (t *Tool) Missing(args map[string]any) *Field {
	misses := func(f *Field) bool { return f.Required && args[f.Name] == nil }
	return cmp.Or(t.Inputs.First(func(f *Field) bool { return misses(f) && f.Is(schema.ID) }), t.Inputs.First(misses))
}

// Said is where the declaration says a stem.
func (t *Tool) Said(stem string) Part { return t.source[stem] }

// Names reports whether a stem is part of the tool's noun.
func (t *Tool) Names(stem string) bool { return t.source[stem] == InNoun }

// Anchors reports whether a stem names what the tool is about, or is a synonym of it.
func (t *Tool) Anchors(stem string) bool { return t.source[stem] >= InSynonym }

// IsAbout reports whether the tool's rows are of a sort, "employee".
func (t *Tool) IsAbout(noun string) bool { return t.Head == english.Stem(noun) }

// Mentions counts the stems in the tool's noun, its synonyms or its first sentence.
func (t *Tool) Mentions(stems english.Set) int {
	return len(slices.DeleteFunc(slices.Collect(maps.Keys(stems)), func(s string) bool { return t.source[s] < InAbout }))
}

// Relates reports whether an input is an optional id with synonyms: manager_id, "team".
func (t *Tool) Relates(f *Field) bool {
	return t.Lists() && f.Is(schema.ID) && !f.Required && !t.IsAbout(f.Noun) && len(f.Synonyms) > 0
}

// Relation is such an input with a synonym of a stem, or nil.
func (t *Tool) Relation(stem string) *Field {
	return t.Inputs.First(func(f *Field) bool { return f.Also[stem] && t.Relates(f) })
}

// Identified reports whether an input is the id of what a list is of: by it their rows meet.
func (t *Tool) Identified(f *Field) bool { return f.Is(schema.ID) && t.IsAbout(f.Noun) }

// Takes reports whether texts are values of one input that has a fixed set of them: of "high" and "critical" one takes the place of the other.
func (t *Tool) Takes(values ...string) bool {
	says := func(f *Field, text string) bool {
		return slices.ContainsFunc(f.Phrased, func(p result.Phrase) bool { return strings.EqualFold(strings.Join(p.Words, " "), text) })
	}
	return t.Inputs.First(func(f *Field) bool {
		return f.Is(schema.Choice) && !slices.ContainsFunc(values, func(v string) bool { return !says(f, v) })
	}) != nil
}

// Goes reports whether words ask for no more than the rows that come next in a list, in its own words or in those of the question before.
func (t *Tool) Goes(x *lexicon.Lexicon, tokens []language.Token, before string) bool {
	figure := func(w string) bool { // "remaining" may be an amount
		return slices.ContainsFunc(t.Columns, func(f *Field) bool { return f.Is(schema.Number) && len(f.Words) > 1 && f.Words[0] == w })
	}
	rows := func(i int) bool { return i < len(tokens) && (tokens[i].Low == "ones" || english.Plural(tokens[i].Low)) } // "the remaining budgets"
	asks := false
	for i, w := range tokens {
		asks = asks || x.Is(w.Low, "further") && (rows(i+1) || !figure(w.Low))
	}
	return asks && !slices.ContainsFunc(tokens, func(w language.Token) bool {
		return w.Low == "than" || w.Kind == language.Word && !x.Is(w.Low, "idle", "self", "further", "polite", "sure", "pronoun", "praise") && !t.Anchors(w.Stem) && !slices.Contains(english.Prose(before), w.Low) || x.Is(w.Low, "condition") && w.Low != "would"
	})
}

// Called is the column by whose word rows are called: "surname", "title"; empty for none. The
// names of other things in them are not theirs.
func (t *Tool) Called(stem string) string {
	return t.Columns.Found(func(f *Field) bool {
		own := len(f.Words) == 1 || t.IsAbout(f.Words[0]) || f.Words[0] == "last" || f.Words[0] == "full"
		return own && f.Is(schema.Title) && f.Says(stem)
	}).Name
}

// Amount is the column that is meant when a question names none: the declared one, or the first.
func (t *Tool) Amount() string {
	return cmp.Or(t.Columns.Found(func(f *Field) bool { return f.Field.Amount }).Name, t.Columns.Found((*Field).Quantity).Name)
}

// DateColumn is the column by which rows are new or old; empty for none.
func (t *Tool) DateColumn() string {
	shown := t.Columns.Found(func(f *Field) bool {
		return f.Is(schema.Date) && f.Show != result.ShowDetail && !f.Has("due", "next", "expected", "updated")
	})
	return cmp.Or(shown.Name, t.Columns.Found(func(f *Field) bool { return f.Is(schema.Date) && f.Has("created") }).Name)
}

// IsOrdered reports whether a clause orders, without any doubt, what a tool changes.
func (t *Tool) IsOrdered(x *lexicon.Lexicon, c lexicon.Clause) bool {
	if !t.Writes() || c.Order < 0 || c.Asks || c.Negations > 0 || c.Unsure || c.Tokens[c.Order].Owns {
		return false
	}
	verb := english.Stem(c.Verb)
	return t.orders[verb] && !english.Plural(c.Verb) || x.Is(c.Verb, "action") && t.orders.Means(verb)
}
