package match

import (
	"maps"
	"slices"
	"strings"
	"time"

	"countersign.dev/internal/agent"
	"countersign.dev/internal/llm/rehearsal/language"
)

// Catalog is what a question is read against.
type Catalog struct {
	Words  *language.Lexicon
	Person agent.Person
	Today  time.Time
	Open   []*Tool // the tools that the person may use
	Closed []*Tool // the others
}

// All returns the open and the closed tools.
func (c *Catalog) All() []*Tool { return slices.Concat(c.Open, c.Closed) }

// use is what a token of a question is for.
type use uint8

const (
	unread use = iota
	idle       // carries nothing
	meant      // a word of the tool's own vocabulary
	given      // an argument, or part of one
)

// Reading is how one tool would understand one part of a question.
type Reading struct {
	Tool    *Tool
	Intent  Intent
	Args    map[string]any
	Target  *Target      // the thing that it is about, to be looked up
	Filters []Entity     // values that narrow a list
	Within  *Target      // a group that a list is kept to
	From    *Tool        // the list that knows the group
	Step    *Step        // a change relative to the present value
	Measure Measure      // what is asked of all rows at once
	Asked   language.Set // stems of the words that ask for something in the answer
	Score   int

	c        *Catalog
	x        *language.Lexicon
	part     []language.Token
	uses     []use
	hints    language.Set // stems of the words that chose a value
	beyond   []bound
	relation int  // where a word asked for a relation, when the target is one
	anchored bool // a word names what the tool is about
}

// Target is a thing whose id an input needs.
type Target struct {
	Input  *Field
	Self   bool // the person who asks
	Entity Entity
}

// Step is a change given as a difference or in per cent.
type Step struct {
	Input *Field
	By    language.Amount
	Down  bool
}

// Read reads a part as the tool would. It returns nil unless every word is
// explained.
func (c *Catalog) Read(t *Tool, part []language.Token, m Intent) *Reading {
	r := c.Attempt(t, part, m)
	if r == nil || len(r.left()) > 0 || !(r.anchored || r.Target != nil && r.Target.Self || r.presents()) {
		return nil
	}
	if i := m.Order; i >= 0 && !t.Writes() && r.uses[i] == meant && c.Words.Is(m.Verb, "action") && !c.Words.Is(m.Verb, "reading") &&
		r.low(i+1) != "of" && !strings.HasPrefix(strings.ToLower(t.Info.Description), m.Verb+" ") {
		return nil // "email Ada" asks for no address
	}
	return r
}

// Attempt reads a part as far as it goes; nil when its intent alone excludes
// the tool.
func (c *Catalog) Attempt(t *Tool, part []language.Token, m Intent) *Reading {
	r := &Reading{Tool: t, Intent: m, Args: map[string]any{}, Asked: language.Set{}, hints: language.Set{}, c: c, x: c.Words, part: part, uses: make([]use, len(part))}
	switch {
	case t.Writes() && !t.isOrdered(c.Words, part, m), !t.Writes() && (m.negated || c.commands(m, part)):
		return nil
	case t.Writes():
		onlyIDs := t.First(func(f *Field) bool { return f.Required && !f.Is(ID) }) == nil
		r.uses[m.Order], r.Score, r.anchored = meant, 4, onlyIDs || t.verb == m.Verb && !c.Words.Is(m.Verb, "vague")
	}
	for _, step := range []func(){r.comparisons, r.ordering, r.choices, r.numbers, r.dates, r.relations, r.groups, r.measures, r.vocabulary, r.assign, r.selves, r.remarks, r.shape, r.lastWord, r.topFirst} {
		step()
	}
	return r
}

// commands reports whether a part begins with the verb of a tool that writes:
// then no tool that only reads is meant, whatever other words it shares.
func (c *Catalog) commands(m Intent, part []language.Token) bool {
	return m.Order >= 0 && !part[m.Order].Owns && !c.Words.Is(m.Verb, "reading") &&
		slices.ContainsFunc(c.All(), func(t *Tool) bool { return t.Writes() && t.verb == m.Verb })
}

func (r *Reading) take(at, n, score int) {
	for i := range n {
		r.uses[at+i] = given
	}
	r.Score += score
	r.anchored = r.anchored || score >= 4
}

func (r *Reading) low(i int) string {
	if i < 0 || i >= len(r.part) || r.part[i].Kind != language.Word {
		return ""
	}
	return r.part[i].Low
}

// free reports whether a token is a word that nothing has explained yet.
func (r *Reading) free(i int) bool { return r.low(i) != "" && r.uses[i] == unread }

func (r *Reading) has(words ...string) bool {
	return slices.ContainsFunc(r.part, func(t language.Token) bool { return slices.Contains(words, t.Low) })
}

func (r *Reading) taken(f *Field) bool { return r.Args[f.Name] != nil }

// isAnchor reports whether the i-th word names what the tool is about.
func (r *Reading) isAnchor(i int) bool {
	return r.low(i) != "" && (r.Tool.name[r.part[i].Stem] || r.Tool.synonyms[r.part[i].Stem])
}

// left returns the tokens that nothing explains.
func (r *Reading) left() (out []int) {
	for i, u := range r.uses {
		if u == unread && r.part[i].Kind != language.Mark {
			out = append(out, i)
		}
	}
	return out
}

// Obstacle is the piece of the question that alone keeps a list from answering
// it; empty when there is more to it.
func (r *Reading) Obstacle() string {
	left := r.left()
	if len(left) == 0 || left[len(left)-1]-left[0] >= 4 || !r.Tool.Lists() || !r.Strong() || r.Target != nil {
		return ""
	}
	first := left[0]
	for first > 0 && r.uses[first-1] != meant {
		first--
	}
	return language.Text(r.part[first : left[len(left)-1]+1])
}

// Strong reports whether a word names what the tool is about.
func (r *Reading) Strong() bool {
	for i := range r.part {
		if r.uses[i] != unread && r.isAnchor(i) {
			return true
		}
	}
	return r.Measure.By != ""
}

// Plural reports whether the tool's own noun is in the plural.
func (r *Reading) Plural() bool {
	for i, t := range r.part {
		if r.uses[i] == meant && !t.Owns && language.Plural(t.Low) && r.isAnchor(i) {
			return true
		}
	}
	return false
}

// Many reports whether a tool that handles one thing is asked about many.
func (r *Reading) Many() bool {
	if r.Tool.Writes() && r.Intent.Bulk {
		return true
	}
	if r.Target != nil || r.Tool.First(func(f *Field) bool { return f.Is(ID) && f.Required && !r.taken(f) }) == nil {
		return false
	}
	return r.Intent.Bulk || r.Measure.Kind != "" || slices.ContainsFunc(r.part, func(t language.Token) bool {
		return t.Kind == language.Word && language.Plural(t.Low) && !t.Owns && (r.Tool.name[t.Stem] || !r.Tool.Writes() && r.Asked[t.Stem])
	})
}

// Narrow reports whether anything narrows the answer.
func (r *Reading) Narrow() bool { return r.Target != nil || len(r.Args)+len(r.Filters) > 0 }

// AsksWhether reports whether a part asks to be answered by yes or no.
func (r *Reading) AsksWhether() bool { return slices.Contains([]string{"is", "are", "does"}, r.low(0)) }

// presents reports "show Cleo" or "where does Cleo work": nothing but a name,
// for a tool that reads one thing.
func (r *Reading) presents() bool {
	if !r.Tool.TakesOne() || r.Target == nil || r.Target.Self || r.Intent.Asks && len(language.Lows(r.part)) > 6 || slices.Contains(r.uses, meant) {
		return false
	}
	if r.has("where") {
		r.Asked["wher"] = true
	}
	return r.x.Is(r.Intent.Verb, "present")
}

// vocabulary marks the words that the tool itself uses, and the idle ones.
func (r *Reading) vocabulary() {
	for i, t := range r.part {
		if !r.free(i) || t.Owns && i > 0 && r.part[i-1].Owns {
			continue
		}
		weight, anchor := r.weigh(t)
		switch {
		case weight > 0:
			r.uses[i], r.Asked[t.Stem] = meant, true
			r.Score, r.anchored = r.Score+weight, r.anchored || anchor
		case r.x.Is(t.Low, "idle"), t.Low == "more" && r.isAnchor(i+1), r.x.Is(t.Low, "versus") && r.Tool.Amount() != "",
			i > 0 && (r.x.Is(t.Low, "unit") || r.x.Is(t.Low, "tail") && r.uses[i-1] == meant):
			r.uses[i] = idle
		}
	}
	if people := r.x.Stems("person"); !r.has("who", "whom", "whose") || r.Tool.Writes() || r.Tool.Mentions(people) == 0 {
		return
	} else if r.Score, r.anchored = r.Score+1, true; people[r.Tool.head] && !r.x.Stems("outsider")[r.Tool.head] {
		r.Score += 2
	}
}

// weigh says how much a word speaks for the tool, and whether it can be what the
// question is about. A word of the tool's name counts most; one that only names
// whose it is ("employee", for a balance that takes an employee_id) counts
// little. A word that owns another ("manager's") must be the tool's noun.
func (r *Reading) weigh(w language.Token) (weight int, anchor bool) {
	t, x, s := r.Tool, r.x, w.Stem
	id := t.First(func(f *Field) bool { return f.Is(ID) && language.Stem(f.Noun()) == s })
	whose := id != nil && (!id.Required || t.Writes())
	switch people, outsiders := x.Stems("person"), x.Stems("outsider"); {
	case t.name[s]:
		return 4, true
	case w.Owns && !whose, x.Is(w.Low, "idle") && t.Columns[w.Low] == nil:
		return 0, false
	case whose:
		return 1, false
	case t.synonyms[s]:
		return 3, true
	case people[s] && people[t.head] && outsiders[t.head] == outsiders[s]:
		return 3, true
	case people[s] && t.Mentions(people) > 0:
		if !t.about[s] && (outsiders[t.head] || outsiders[s]) {
			return 0, false // an employee is no customer
		}
		return 1, !t.Lists() && t.about[s] && t.fields[s]
	case x.Among(t.name, s):
		return 3, true
	case x.Among(t.about, s), !t.Writes() && x.Among(t.fields, s):
		return 2, true
	case t.more[s], t.First(func(f *Field) bool { return !f.Is(Paging) && (x.Among(f.stems, s) || f.also[s]) }) != nil:
		return 1, false
	}
	return 0, false
}

// shape prefers the tool whose kind fits the question: one thing or many, and
// the sort of thing that a code names by the examples in the descriptions.
func (r *Reading) shape() {
	for _, t := range r.part {
		for _, other := range r.c.Open {
			id := other.First(func(f *Field) bool { return t.Kind == language.Code && f.Is(ID) && f.resembles(t.Text) > 0 })
			if id != nil && r.Tool.name[language.Stem(id.Noun())] {
				r.Score += 3
				break
			}
		}
	}
	many := r.Intent.Bulk || r.Plural()
	required := r.Target != nil && r.Target.Input.Required
	switch {
	case required && many && !r.Tool.Writes(), r.Target == nil && !r.Tool.Lists() && r.Tool.Missing(r.Args) != nil:
		r.Score -= 3
	case required, r.Tool.Lists() && r.Target == nil && (many || len(r.Filters) == 0):
		r.Score += 2
	}
}

// remarks keeps the text behind a colon or "because" in the input for it: one
// that the tool needs, or one that is named like it.
func (r *Reading) remarks() {
	if r.Intent.Remark == "" {
		return
	}
	f := r.Tool.First(func(f *Field) bool { return f.Is(Prose) && f.Required && r.Tool.Writes() && !r.taken(f) })
	if f == nil {
		f = r.Tool.First(func(f *Field) bool { return f.IsText() && !r.taken(f) && f.has("reason", "comment", "note") })
	}
	if f == nil {
		r.Score, r.anchored = 0, false // a reason that would be lost
		return
	}
	r.Args[f.Name] = r.Intent.Remark
}

// Relevance counts how far the words of the question ask for a column; a column
// with fewer other words is nearer. The tool's own noun tells columns apart only
// when the tool answers for its caller.
func (r *Reading) Relevance(key string) int {
	hits, words, col := 0, language.Identifier(key), r.Tool.Column(key)
	for _, w := range words {
		switch s := language.Stem(w); {
		case s == r.Tool.head && !r.Tool.Own:
		case r.Asked[s]:
			hits += 4
		case r.x.Among(r.Asked, s):
			hits += 3
		}
	}
	for s := range col.also {
		if r.Asked[s] && (s != r.Tool.head || hits == 0) {
			hits += 2
		}
	}
	if hits == 0 || strings.HasSuffix(key, "_at") || col.Show == "detail" {
		return 0
	}
	return hits*4 - len(words)
}

// Hinted reports whether a value that narrows the list speaks of a column: the
// day on which it was due, of what is overdue.
func (r *Reading) Hinted(key string) bool {
	f := r.Tool.Column(key)
	for hint := range r.hints {
		if r.x.Among(language.Stems(f.Words...), hint) || f.also[hint] {
			return true
		}
	}
	return false
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
