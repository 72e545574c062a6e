package match

import (
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
	Hints   language.Set // stems of the words that chose a value
	Score   int

	c        *Catalog
	x        *language.Lexicon
	part     []language.Token
	uses     []use
	shouting bool // capitals are the writer's habit and no sign of a name
	relation int  // where a word asked for a relation, when the target is one
	anchored bool // a word names what the tool is about
	beyond   []bound
}

// Target is a thing whose id an input needs.
type Target struct {
	Input  *Input
	Self   bool // the person who asks
	Entity Entity
}

// Step is a change given as a difference or in per cent.
type Step struct {
	Input *Input
	By    language.Amount
	Down  bool
}

// Read reads a part as the tool would. It returns nil unless every word is
// explained.
func (c *Catalog) Read(t *Tool, part []language.Token, m Intent) *Reading {
	r := c.Attempt(t, part, m)
	if r == nil || len(r.left()) > 0 || !(r.anchored || r.Target != nil && r.Target.Self || r.presents()) || r.isDeed() {
		return nil
	}
	return r
}

// Attempt reads a part as far as it goes; nil when its intent alone excludes
// the tool.
func (c *Catalog) Attempt(t *Tool, part []language.Token, m Intent) *Reading {
	r := &Reading{Tool: t, Intent: m, Args: map[string]any{}, Asked: language.Set{}, Hints: language.Set{}, c: c, x: c.Words, part: part, uses: make([]use, len(part)), shouting: shouting(part)}
	switch {
	case t.Writes() && !t.isOrdered(c.Words, part, m), !t.Writes() && (m.negated || c.commands(m, part)):
		return nil
	case t.Writes():
		onlyIDs := t.First(func(p *Input) bool { return p.Required && !p.IsID() }) == nil
		r.uses[m.Order], r.Score, r.anchored = meant, 4, onlyIDs || t.Verb == m.Verb && !c.Words.Is("vague", m.Verb)
	}
	r.idleSelves()
	r.comparisons()
	r.ordering()
	r.choices()
	r.numbers()
	r.dates()
	r.relations()
	r.groups()
	r.measures()
	r.vocabulary()
	r.assign(r.entities())
	r.selves()
	r.remarks()
	r.shape()
	r.lastWord()
	r.topFirst()
	return r
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
func (r *Reading) free(i int) bool {
	return i >= 0 && i < len(r.part) && r.uses[i] == unread && r.part[i].Kind == language.Word
}

func (r *Reading) has(words ...string) bool {
	return slices.ContainsFunc(r.part, func(t language.Token) bool { return slices.Contains(words, t.Low) })
}

func (r *Reading) taken(p *Input) bool { return r.Args[p.Name] != nil }

// isAnchor reports whether the i-th word names what the tool is about.
func (r *Reading) isAnchor(i int) bool {
	return i >= 0 && i < len(r.part) && r.part[i].Kind == language.Word && (r.Tool.name[r.part[i].Stem] || r.Tool.synonyms[r.part[i].Stem])
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
	if r.Measure.By != "" {
		return true
	}
	for i := range r.part {
		if r.uses[i] != unread && r.isAnchor(i) {
			return true
		}
	}
	return false
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
	if r.Target != nil || r.Tool.First(func(p *Input) bool { return p.IsID() && p.Required && !r.taken(p) }) == nil {
		return false
	}
	return r.Intent.Bulk || r.Measure.Kind != "" || slices.ContainsFunc(r.part, func(t language.Token) bool {
		return t.Kind == language.Word && language.Plural(t.Low) && !t.Owns && (r.Tool.name[t.Stem] || !r.Tool.Writes() && r.Asked[t.Stem])
	})
}

// Narrow reports whether anything narrows the answer.
func (r *Reading) Narrow() bool { return r.Target != nil || len(r.Args)+len(r.Filters) > 0 }

// AsksWhether reports whether a part asks to be answered by yes or no.
func (r *Reading) AsksWhether() bool {
	return r.low(0) == "is" || r.low(0) == "are" || r.low(0) == "does"
}

// OnlyNoun reports whether the question names the thing and none of its fields.
func (r *Reading) OnlyNoun() bool {
	for s := range r.Asked {
		if s != r.Tool.Head && (r.Tool.fields[s] || !r.Tool.about[s] && !r.Tool.synonyms[s]) {
			return false
		}
	}
	return len(r.Asked) > 0
}

// isDeed reports whether a reading for a tool that only reads rests on a verb of
// action at the beginning: "email Ada" asks for no address.
func (r *Reading) isDeed() bool {
	i, verb := r.Intent.Order, r.Intent.Verb
	return !r.Tool.Writes() && i >= 0 && r.uses[i] == meant && r.x.Is("action", verb) && !r.x.Is("reading", verb) &&
		r.low(i+1) != "of" && !strings.HasPrefix(strings.ToLower(r.Tool.Info.Description), verb+" ")
}

// commands reports whether a part begins with the verb of a tool that writes:
// then no tool that only reads is meant, whatever other words it shares.
func (c *Catalog) commands(m Intent, part []language.Token) bool {
	return m.Order >= 0 && !part[m.Order].Owns && !c.Words.Is("reading", m.Verb) &&
		slices.ContainsFunc(c.All(), func(t *Tool) bool { return t.Writes() && t.Verb == m.Verb })
}

func shouting(part []language.Token) bool {
	words, capitals := 0, 0
	for _, t := range part {
		if t.Kind == language.Word {
			words++
			if t.Capital {
				capitals++
			}
		}
	}
	return words > 3 && capitals*4 > words*3
}

// presents reports "show Cleo" or "where does Cleo work": nothing but a name,
// for a tool that reads one thing.
func (r *Reading) presents() bool {
	if !r.Tool.TakesOne() || r.Target == nil || r.Target.Self || r.Intent.Order < 0 || r.Intent.Asks && len(language.Lows(r.part)) > 6 || slices.Contains(r.uses, meant) {
		return false
	}
	if r.has("where") {
		r.Asked["wher"] = true
	}
	return r.x.Is("present", r.Intent.Verb)
}

// idleSelves marks the "me" and "I" that only dress a request: "show me", "can
// I see".
func (r *Reading) idleSelves() {
	last := len(r.part) - 1
	for last > 0 && r.part[last].Kind == language.Mark {
		last--
	}
	for i := range r.part {
		before, after := r.low(i-1), r.low(i+1)
		switch r.low(i) {
		case "me":
			if r.x.Is("dative", before) && before != "for" || before == "for" && i == last {
				r.uses[i] = idle
			}
		case "i":
			if before == "can" || before == "could" || before == "may" || r.x.Is("wish", after) {
				r.uses[i] = idle
			}
		}
	}
}

// vocabulary marks the words that the tool itself uses, and the idle ones.
func (r *Reading) vocabulary() {
	for i, t := range r.part {
		if !r.free(i) || r.standsAsValue(i) || t.Owns && i > 0 && r.part[i-1].Owns {
			continue
		}
		weight, anchor := r.weigh(t)
		switch {
		case weight > 0:
			r.uses[i] = meant
			r.Score += weight
			r.anchored = r.anchored || anchor
			r.Asked[t.Stem] = true
		case r.x.Is("idle", t.Low), t.Low == "more" && r.isAnchor(i+1), r.x.Is("versus", t.Low) && r.Tool.Amount() != "", i > 0 && (r.x.Is("unit", t.Low) || r.x.Is("tail", t.Low) && r.uses[i-1] == meant):
			r.uses[i] = idle
		}
	}
	if !r.has("who", "whom", "whose") || r.Tool.Writes() {
		return
	}
	if people := r.x.Stems("person"); r.Tool.nounAmong(people) && !r.Tool.aboutOutsiders(r.x) {
		r.Score, r.anchored = r.Score+3, true
	} else if r.Tool.Mentions(people) > 0 {
		r.Score, r.anchored = r.Score+1, true
	}
}

// weigh says how much a word speaks for the tool, and whether it can be what the
// question is about. A word of the tool's name counts most; one that only names
// whose it is ("employee", for a balance that takes an employee_id) counts
// little. A word that owns another ("manager's") must be the tool's noun.
func (r *Reading) weigh(w language.Token) (weight int, anchor bool) {
	t, x := r.Tool, r.x
	switch s := w.Stem; {
	case t.name[s]:
		return 4, true
	case w.Owns && !t.takesIDOf(s), x.Is("idle", w.Low) && t.Columns[w.Low].Name == "":
		return 0, false
	case t.takesIDOf(s):
		return 1, false
	case t.synonyms[s]:
		return 3, true
	case x.Stems("person")[s] && t.Mentions(x.Stems("person")) > 0:
		return r.weighPerson(s)
	case x.Among(t.name, s):
		return 3, true
	case x.Among(t.about, s), !t.Writes() && x.Among(t.fields, s):
		return 2, true
	case t.more[s], t.First(func(p *Input) bool { return !p.Paging() && x.Among(p.stems, s) }) != nil:
		return 1, false
	case x.Among(language.Set{s: true}, language.Stem("record")) && t.TakesOne():
		return 1, true
	}
	return 0, false
}

func (r *Reading) weighPerson(s string) (int, bool) {
	t, outsiders := r.Tool, r.x.Stems("outsider")
	for other := range r.x.Stems("person") {
		if t.name[other] && (s == other || !outsiders[other] && !outsiders[s]) {
			return 3, true
		}
	}
	if !t.about[s] && (t.aboutOutsiders(r.x) || outsiders[s]) {
		return 0, false // an employee is no customer
	}
	return 1, !t.Lists() && t.about[s] && t.fields[s]
}

func (t *Tool) nounAmong(stems language.Set) bool {
	for s := range t.name {
		if stems[s] {
			return true
		}
	}
	return false
}

// aboutOutsiders reports whether the people that a tool is about are not the
// company's own.
func (t *Tool) aboutOutsiders(x *language.Lexicon) bool { return x.Stems("outsider")[t.Head] }

// takesIDOf reports whether a word names the thing whose id the tool takes along
// the way.
func (t *Tool) takesIDOf(s string) bool {
	p := t.First(func(p *Input) bool { return p.IsID() && language.Stem(p.Noun()) == s })
	return p != nil && (!p.Required || t.Writes())
}

// standsAsValue reports whether a word is a value by its place, though the tool
// may know it: "in Support", a capitalised owner.
func (r *Reading) standsAsValue(i int) bool {
	t := r.part[i]
	if !t.Capital || r.shouting || i == 0 || strings.ToUpper(t.Text) == t.Text || r.Tool.name[t.Stem] && !t.Owns {
		return false
	}
	before := r.low(i - 1)
	if before == "the" || before == "our" {
		before = r.low(i - 2)
	}
	return t.Owns || r.x.Any(before, "place", "title")
}

// shape prefers the tool whose kind fits the question: one thing or many.
func (r *Reading) shape() {
	many := r.Intent.Bulk || r.Plural()
	for _, t := range r.part {
		if noun := r.c.nounOfCode(t.Text); t.Kind == language.Code && noun != "" && r.Tool.name[language.Stem(noun)] {
			r.Score += 3
		}
	}
	required := r.Target != nil && r.Target.Input.Required
	switch {
	case required && many && !r.Tool.Writes():
		r.Score -= 3
	case required:
		r.Score += 2
	case r.Tool.Lists() && r.Target == nil && (many || len(r.Filters) == 0):
		r.Score += 2
	case !r.Tool.Lists() && r.Tool.Missing(r.Args) != nil && r.Target == nil:
		r.Score -= 3
	}
}

// nounOfCode is the sort of thing that a code names, by the examples in the
// tools' descriptions; empty when none is like it.
func (c *Catalog) nounOfCode(code string) string {
	if !codeShape.MatchString(strings.ToUpper(code)) {
		return ""
	}
	for _, t := range c.Open {
		if p := t.First(func(p *Input) bool { return p.IsID() && codeShape.MatchString(p.text) && !p.unlike(code) }); p != nil {
			return p.Noun()
		}
	}
	return ""
}

// remarks keeps the text behind a colon or "because" in the input for it: one
// that the tool needs, or one that is named like it.
func (r *Reading) remarks() {
	if r.Intent.Remark == "" {
		return
	}
	p := r.Tool.First(func(p *Input) bool { return p.isProse() && p.Required && r.Tool.Writes() && !r.taken(p) })
	if p == nil {
		p = r.Tool.First(func(p *Input) bool { return p.IsText() && !r.taken(p) && p.has("reason", "comment", "not") })
	}
	if p == nil {
		r.Score, r.anchored = 0, false // a reason that would be lost
		return
	}
	r.Args[p.Name] = r.Intent.Remark
}

// Relevance counts how far the words of the question ask for a column; a column
// with fewer other words is nearer. The tool's own noun tells columns apart only
// when the tool answers for its caller.
func (r *Reading) Relevance(key string) int {
	hits, words := 0, language.Identifier(key)
	col := r.Tool.Columns[key]
	for _, w := range words {
		switch s := language.Stem(w); {
		case s == r.Tool.Head && !r.Tool.Own:
		case r.Asked[s]:
			hits += 4
		case r.x.Among(r.Asked, s):
			hits += 3
		}
	}
	for _, w := range col.Meta.Synonyms {
		if s := language.Stem(w); r.Asked[s] && (s != r.Tool.Head || hits == 0) {
			hits += 2
		}
	}
	if hits == 0 || strings.HasSuffix(key, "_at") || col.Meta.Show == "detail" {
		return 0
	}
	return hits*4 - len(words)
}

// Hinted reports whether a value that narrows the list speaks of a column: the
// day on which it was due, of what is overdue.
func (r *Reading) Hinted(key string) bool {
	return slices.ContainsFunc(language.Identifier(key), func(w string) bool { return r.x.Among(r.Hints, language.Stem(w)) })
}
