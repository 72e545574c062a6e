// Package match reads a question as each tool would: what is asked for, of which things, with which values. It holds only if each word is explained by the declaration or as a value: what no tool answers is not half understood.
package match

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"countersign.dev/internal/agent"
	"countersign.dev/internal/english"
	"countersign.dev/internal/language"
	"countersign.dev/internal/language/lexicon"
	"countersign.dev/internal/result"
	"countersign.dev/internal/schema"
	"countersign.dev/internal/schema/declared"
)

const lower, none, upper = schema.Lower, schema.Neither, schema.Upper

// Catalog is what a question is read against.
type Catalog struct {
	Words  *lexicon.Lexicon
	Person agent.Person
	Today  time.Time
	Open   []*declared.Tool // the tools that the person may use
	Closed []*declared.Tool // the others
}

// All returns the open and the closed tools.
func (c *Catalog) All() []*declared.Tool { return slices.Concat(c.Open, c.Closed) }

// Named is the tool of a name, if the person may use it; else an empty one.
func (c *Catalog) Named(name string) *declared.Tool {
	if i := slices.IndexFunc(c.Open, func(t *declared.Tool) bool { return t.Info.Name == name }); i >= 0 {
		return c.Open[i]
	}
	return &declared.Tool{Rows: "things"}
}

// Lists reports whether an open list is of what a word says.
func (c *Catalog) Lists(word string) bool {
	return slices.ContainsFunc(c.Open, func(t *declared.Tool) bool { return t.Lists() && t.IsAbout(strings.ToLower(word)) })
}

// opens reports whether a stem is what an open tool is about or answers: "salaries" are no part of a name that a closed one would know.
func (c *Catalog) opens(stem string) bool {
	return slices.ContainsFunc(c.Open, func(t *declared.Tool) bool { return t.Said(stem) >= declared.InColumns })
}

// Knows reports whether a stem is in the vocabulary of some tool.
func (c *Catalog) Knows(stem string) bool {
	return slices.ContainsFunc(c.All(), func(t *declared.Tool) bool { return t.Said(stem) > declared.Nowhere })
}

// Joint is how a sentence asks for several of what the tools list.
func (c *Catalog) Joint() language.Joint {
	return c.Words.Joint(func(t language.Token) bool {
		ours := c.Words.IsOurs(t.Stem) && !c.Words.Is(english.Singular(t.Low), "superior")
		return slices.ContainsFunc(c.All(), func(of *declared.Tool) bool {
			return of.Lists() && (of.Head == t.Stem || english.Stem(english.LastWord(of.Rows)) == t.Stem || ours && c.Words.IsOurs(of.Head))
		})
	}, func(t language.Token) bool { return c.Knows(t.Stem) })
}

// use is what a token of a question is for.
type use uint8

const (
	unread  use = iota
	read        // part of an argument, or nothing that matters
	given       // a value that narrows what is answered
	guessed     // such a value, if something is found by it
	meant       // a word of the tool's own vocabulary
)

// Reading is how one tool would understand one clause of a question.
type Reading struct {
	lexicon.Clause
	Tool    *declared.Tool
	Args    map[string]any // a token is a change of the present value, by its number
	Target  *Target        // the thing that it is about, to be looked up; of another tool: that whose rows it is kept to
	Filters []Filter       // what narrows a list besides its arguments
	Values  []string       // what it was given in words, besides the person who asks
	Measure Measure        // what is asked of all rows at once
	Asked   english.Set    // stems of the words that ask for something in the answer
	Strong  bool           // a word names what the tool is about
	Vague   bool           // it has nothing but a name
	Plural  bool           // that word is in the plural
	Assumed string         // what it is kept to, although the question does not say so
	Topic   bool           // texts are searched for what it is about
	Guide   []string       // what it asks instructions for
	Each    int            // how many things an order makes, each with a text of its own
	Skip    int            // how many rows were named before
	Last    bool           // the last ones are asked for, whatever was named
	Few     int            // how many are to be named now; 0 for as many as usual
	Score   int

	c        *Catalog
	x        *lexicon.Lexicon
	uses     []use
	heads    []bool // which tokens begin what is used for one thing
	anchored bool   // a word says what the tool is about, or what it answers
}

// Target is a thing whose id an input of a tool needs.
type Target struct {
	Tool   *declared.Tool
	Input  *declared.Field
	Entity Entity
	at     int // where a word asked for a relation
}

// isAnchor reports whether the i-th word names what the tool is about.
func (r *Reading) isAnchor(i int) bool {
	return r.Low(i) != "" && r.Tool.Anchors(r.Tokens[i].Stem)
}

func (r *Reading) left(uses ...use) (out []language.Token) {
	for i, t := range r.Tokens {
		if t.Kind != language.Mark && slices.Contains(uses, r.uses[i]) {
			out = append(out, t)
		}
	}
	return out
}

func (r *Reading) waits() bool { return r.Target != nil && r.Target.Entity.end == 0 }

// Guesses reports whether the reading rests on a value that may be none.
func (r *Reading) Guesses() bool { return r.Vague || slices.Contains(r.uses, guessed) }

// Next has the reading ask for what follows the rows that were named, as many at a time as it asked for. Where it asked for figures, their rows follow.
func (r *Reading) Next(named int) {
	limit, _ := r.Args["limit"].(float64)
	r.Skip, r.Few = named, cmp.Or(r.Few, int(limit))
	delete(r.Args, "limit")
	switch {
	case r.Measure.By != "":
	case slices.Contains([]string{"count", "sum", "average", "compare"}, r.Measure.Kind):
		r.Measure = Measure{}
	case r.Measure.Count == 1: // which was named in a sentence
		r.Skip++
	}
}

// Searches reports whether texts are searched for words of the question.
func (r *Reading) Searches() bool {
	return r.Tool.Inputs.First(func(f *declared.Field) bool {
		return f.Is(schema.Search) && r.Args[f.Name] != nil && r.Args[f.Name] != f.All
	}) != nil
}

// Said are the values that narrow the answer, in the question's words.
func (r *Reading) Said() (values []string) {
	for i, t := range r.Tokens {
		switch isValue := r.uses[i] == given || r.uses[i] == guessed; {
		case isValue && i > 0 && r.uses[i-1] == r.uses[i] && (!r.heads[i] || t.Low == "and"):
			values[len(values)-1] += " " + t.Text
		case isValue:
			values = append(values, t.Text)
		}
	}
	return values
}

// Unread are the words that nothing explains for sure and no tool knows.
func (r *Reading) Unread() string {
	words, all := []string(nil), r.c.All()
	for i, t := range r.Tokens {
		known := t.Kind == language.Date || t.Kind == language.Mark || r.x.Is(t.Low, "idle", "who", "self", "reading", "present") || slices.ContainsFunc(all, func(of *declared.Tool) bool { return of.Names(t.Stem) })
		if said := language.Said(r.Tokens[i : i+1]); !known && said != "" && (r.uses[i] == unread || r.uses[i] == guessed) {
			words = append(words, said)
		} else if n := len(words); n > 0 && words[n-1] != "…" {
			words = append(words, "…") // of which the words between are understood
		}
	}
	return strings.TrimSuffix(strings.Join(words, " "), " …")
}

// MeansPerson reports whether it is about somebody of the company, by one name or by both.
func (r *Reading) MeansPerson(names int) bool {
	return r.Target != nil && len(r.Target.Entity.Words) == names && r.x.IsOurs(english.Stem(r.Target.Input.Noun))
}

// IsOf reports whether it asks for one thing, whose title says what the question calls it, and for nothing else.
func (r *Reading) IsOf(title string) bool {
	words := english.Prose(strings.Join(r.Values, " "))
	return len(words) > 0 && !r.Plural && r.Measure.Kind == "" && english.Shared(words, english.Prose(title)) == len(words)
}

// TellsOwn reports whether some tool shows a column of one thing that the person may ask for without a list: their own.
func (r *Reading) TellsOwn(key string) bool {
	return slices.ContainsFunc(r.c.Open, func(t *declared.Tool) bool { return t.Columns.Named(key) != nil && t.Inputs.First(t.Identified) != nil })
}

// OfPeople reports whether its rows are people of the company's own.
func (r *Reading) OfPeople() bool { return r.x.IsOurs(r.Tool.Head) }

// Relevance counts how far the question's words ask for a column; other words of its name count against it.
func (r *Reading) Relevance(key string) int {
	hits, words, col := 0, english.Words(key), r.Tool.Column(key)
	for _, w := range words {
		if s := english.Stem(w); r.Asked.Means(s) && (s != r.Tool.Head || r.Tool.Own) {
			hits += 4
		}
	}
	for s := range col.Also {
		if r.Asked[s] {
			hits += map[bool]int{true: 1, false: 2}[s == r.Tool.Head]
		}
	}
	whose := r.Has("who", "whom", "whose") && len(words) > 0 && r.x.Is(words[0], "holder") // who has it
	dated := col.Is(schema.Date) && r.Low(0) == "when"
	hits += map[bool]int{true: 2}[dated && r.Low(1) == "is" && col.Has("due", "next")]
	clerical := strings.HasSuffix(key, "_at") || col.Show == result.ShowDetail
	if clerical && (!dated || hits == 0) || hits == 0 && !whose && !dated {
		return 0
	}
	return max(1, hits*4-len(words))
}

// Entity is a run of words that no tool's vocabulary explains, in a place where a value is expected: somebody's name, a place, the number of an order.
type Entity struct {
	Text   string   // as written
	Words  []string // in lower case
	Code   bool     // looks like an id
	Self   bool     // the person who asks
	Column string   // the column of the rows that it is a value of: "assigned to …"

	owns    bool   // possessive
	Located bool   // follows a preposition of place
	guess   bool   // nothing but its place says that it is a value
	turned  bool   // it is what others have in a column: "what depends on task 8"
	sort    string // of an id: the stem of what it identifies
	at, end int    // its first token, and the one after its last
}

// Filter keeps some rows by their ids, and the rows that hold the entity's words, in its column or anywhere; those whose column has one of some values; or those whose text or number there is kept.
type Filter struct {
	Entity
	Values []any
	Also   []any
	Not    bool     // those that the rest of it does not keep
	Else   []Filter // that hold for a row without a value in the column
	Named  bool     // only what names a row
	Whose  bool     // not who did something with it
	Keeps  func(text string, number float64) bool
}

// reader explains the words of a clause by those of the tool.
type reader struct{ *Reading }

// others reports whether a stem is what another list is of: "deals" are no column of customers.
func (r reader) others(s string) bool {
	return slices.ContainsFunc(r.c.All(), func(other *declared.Tool) bool { return other != r.Tool && other.Lists() && other.Head == s })
}

// alike reports whether an input of this or another list of the same things fits.
func (r reader) alike(fits func(*declared.Field) bool) bool {
	return slices.ContainsFunc(r.c.Open, func(t *declared.Tool) bool { return t.Head == r.Tool.Head && t.Inputs.First(fits) != nil })
}

// take gives n tokens a use, for so many points.
func (r *Reading) take(as use, at, n, score int) {
	for i := at; i < at+n; i++ {
		if r.uses[i], r.heads[i] = as, i == at; as == given && r.x.Is(r.Low(i), "negation") { // it is part of a value
			r.Negations--
		}
	}
	r.Score += score
	r.anchored = r.anchored || score >= declared.InNoun.Weight()
}

func (r *Reading) free(i int) bool { return r.Low(i) != "" && r.uses[i] == unread }

// taken reports whether an input, or the column of its name, has its value.
func (r *Reading) taken(f *declared.Field) bool {
	return r.Args[f.Name] != nil || slices.ContainsFunc(r.Filters, func(by Filter) bool { return by.Column == f.Name })
}

// Measure is what is asked of many rows at once.
type Measure struct {
	Kind   string // count, sum, average, highest, lowest, newest, oldest, compare, or empty
	Count  int    // how many rows, for the extremes
	Column string // the column by which the list itself puts the asked rows first, or by which they are sorted; else empty
	By     string // the column whose equal values are added up: "our biggest customers"
	Of     string // the question's word for that column
	Each   bool   // the extreme of each of these values is asked for
}

// OverDates reports whether the measure needs a column of dates.
func (m Measure) OverDates() bool { return m.Kind == "newest" || m.Kind == "oldest" }
