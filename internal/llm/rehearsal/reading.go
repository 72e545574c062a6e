package rehearsal

import (
	"slices"
	"strings"
)

// use says what a token of a question is for.
type use uint8

const (
	unread use = iota
	idle       // carries nothing
	meant      // a word of the tool's own vocabulary
	given      // an argument, or part of one
)

// reading is how one tool would understand one part of a question. It holds
// only when every word is explained.
type reading struct {
	p        *planner
	f        *form
	part     []token
	mood     mood
	uses     []use
	shouting bool // capitals say nothing here

	score    int
	args     map[string]any
	target   *target // the thing that it is about, to be looked up
	filters  []span  // values that narrow a list
	relation int     // where a word asked for a relation, when the target is one
	within   *target // a group of people or things that a list is kept to
	from     *form   // the list that knows the group
	relative *relative
	measure  measure
	beyond   []bound // numbers that rows must lie beyond
	asked    set     // stems of the words that ask for something in the answer
	hints    set     // stems of the words that chose a value: columns near them are worth showing
	anchored bool
}

// target is a thing whose id an input needs.
type target struct {
	prop *property
	self bool // the person who asks
	span span
}

// relative is a change given as a step from the present value.
type relative struct {
	prop *property
	by   amount
	down bool
}

// understand reads a part as the tool would. It returns nil unless every word
// of it is explained by the tool's vocabulary or as a value.
func (p *planner) understand(f *form, part []token, m mood) *reading {
	r := p.attempt(f, part, m)
	if r == nil || !r.explained() || r.isDeed() {
		return nil
	}
	return r
}

// attempt reads a part as the tool would, as far as it goes; nil when the mood
// alone forbids it.
func (p *planner) attempt(f *form, part []token, m mood) *reading {
	r := &reading{p: p, f: f, part: part, mood: m, uses: make([]use, len(part)), args: map[string]any{}, asked: set{}, hints: set{}, shouting: shouting(part)}
	if f.writes() && !p.en.orders(f, part, m) {
		return nil
	}
	if !f.writes() && (m.negated || p.commands(m, part)) {
		return nil
	}
	if f.writes() {
		r.uses[m.order], r.score, r.anchored = meant, 4, f.needsOnlyIDs() || f.order == m.verb && !p.en.is("vague", m.verb)
	}
	r.idleSelves()
	r.comparisons()
	r.ordering()
	r.periods()
	r.choices()
	r.toldChoices()
	r.numbers()
	r.dates()
	r.relations()
	p.restrict(r)
	r.measures()
	r.compares()
	r.vocabulary()
	r.assign(r.spans())
	r.selves()
	r.remarks()
	r.shape()
	r.column()
	r.topFirst()
	return r
}

// isDeed reports whether a reading for a tool that only reads rests on a verb of
// action that the part begins with: "email Ada" asks for no address.
func (r *reading) isDeed() bool {
	i := r.mood.order
	return !r.f.writes() && i >= 0 && r.uses[i] == meant && r.p.en.is("action", r.mood.verb) && !r.p.en.is("reading", r.mood.verb) &&
		r.lowAt(i+1) != "of" && !strings.HasPrefix(strings.ToLower(r.f.tool.Description), r.mood.verb+" ")
}

// shouting reports whether capitals are the writer's habit and no sign of a name.
func shouting(part []token) bool {
	words, capitals := 0, 0
	for _, t := range part {
		if t.kind == word {
			words++
			if t.capital {
				capitals++
			}
		}
	}
	return words > 3 && capitals*4 > words*3
}

// explained reports whether no word is left over.
func (r *reading) explained() bool {
	return len(r.leftover()) == 0 && (r.anchored || r.target != nil && r.target.self || r.presents())
}

// presents reports "show Cleo" or "where does Cleo work": nothing but a name, for
// a tool that reads one thing.
func (r *reading) presents() bool {
	if !r.f.takesOne() || r.target == nil || r.target.self || r.mood.order < 0 || r.mood.asks && len(lows(r.part)) > 6 {
		return false
	}
	for i, u := range r.uses {
		if u == meant {
			return false
		}
		if r.part[i].low == "where" {
			r.asked["wher"] = true
		}
	}
	return r.p.en.is("present", r.mood.verb)
}

func (r *reading) leftover() []int {
	var out []int
	for i, u := range r.uses {
		if u == unread && r.part[i].kind != mark {
			out = append(out, i)
		}
	}
	return out
}

// idleSelves marks the "me" and "I" that only dress a request: "show me", "can
// I see".
func (r *reading) idleSelves() {
	for i, t := range r.part {
		if !r.p.en.is("self", t.low) || t.kind != word {
			continue
		}
		before, after := r.lowAt(i-1), r.lowAt(i+1)
		switch {
		case t.low == "me" && (r.p.en.is("dative", before) && before != "for" || before == "for" && i == r.lastWord()):
			r.uses[i] = idle
		case t.low == "i" && (before == "can" || before == "could" || before == "may" || r.p.en.is("wish", after)):
			r.uses[i] = idle
		}
	}
}

func (r *reading) lowAt(i int) string {
	if i < 0 || i >= len(r.part) || r.part[i].kind != word {
		return ""
	}
	return r.part[i].low
}

func (r *reading) lastWord() int {
	for i := len(r.part) - 1; i >= 0; i-- {
		if r.part[i].kind != mark {
			return i
		}
	}
	return -1
}

// vocabulary marks the words that the tool itself uses, and the idle ones.
func (r *reading) vocabulary() {
	for i, t := range r.part {
		if r.uses[i] != unread || t.kind != word || r.standsAsValue(i) || t.owns && i > 0 && r.part[i-1].owns {
			continue
		}
		weight, anchor := r.weigh(t)
		switch {
		case weight > 0:
			r.uses[i] = meant
			r.score += weight
			r.anchored = r.anchored || anchor
			r.asked[t.stem] = true
		case r.p.en.is("idle", t.low) || r.p.en.is("unit", t.low) && i > 0 || r.p.en.is("tail", t.low) && i > 0 && r.uses[i-1] == meant:
			r.uses[i] = idle
		}
	}
	if (r.lowIn("who") || r.lowIn("whom") || r.lowIn("whose")) && !r.f.writes() {
		r.persons()
	}
}

// weigh says how much a word speaks for the tool, and whether it can be what the
// question is about. A word of the tool's name speaks loudest; one that only
// names whose it is ("employee", for a balance that takes an employee_id) or any
// person says little. A word that owns another ("manager's") must be the very
// noun of the tool, or it asks for something the tool does not follow.
func (r *reading) weigh(t token) (weight int, anchor bool) {
	en, f := r.p.en, r.f
	switch {
	case f.name[t.stem]:
		return 4, true
	case t.owns && !f.takesIDOf(t.stem):
		return 0, false
	case en.is("idle", t.low) && !f.columns[t.low]:
		return 0, false
	case f.takesIDOf(t.stem):
		return 1, false
	case en.stems["person"][t.stem] && f.aboutPeople(en):
		return r.weighPerson(t)
	case en.among(f.name, t.stem):
		return 3, true
	case en.among(f.about, t.stem), !f.writes() && en.among(f.fields, t.stem):
		return 2, true
	case f.more[t.stem], r.namesProperty(t):
		return 1, false
	case en.groups[stem("record")][t.stem] && f.takesOne():
		return 1, true
	}
	return 0, false
}

func (r *reading) weighPerson(t token) (int, bool) {
	for s := range r.p.en.stems["person"] {
		if r.f.name[s] && (s == t.stem || !r.p.en.stems["outsider"][s] && !r.p.en.stems["outsider"][t.stem]) {
			return 3, true
		}
	}
	if !r.f.about[t.stem] && (r.f.aboutOutsiders(r.p.en) || r.p.en.stems["outsider"][t.stem]) {
		return 0, false // an employee is no customer
	}
	return 1, !r.f.lists() && r.f.about[t.stem] && r.f.fields[t.stem]
}

// aboutOutsiders reports whether the people that a tool is about are not the
// company's own.
func (f *form) aboutOutsiders(en *english) bool { return en.stems["outsider"][f.head] }

// takesIDOf reports whether a word names the thing whose id the tool takes
// along the way.
func (f *form) takesIDOf(s string) bool {
	for _, p := range f.props {
		if p.isID() && stem(p.noun()) == s {
			return !p.required || f.writes()
		}
	}
	return false
}

// takesOne reports whether the tool reads one thing by its id.
func (f *form) takesOne() bool {
	return !f.writes() && f.first(func(p *property) bool { return p.isID() && p.required }) != nil
}

func (r *reading) namesProperty(t token) bool {
	return r.f.first(func(p *property) bool { return !p.paging() && r.p.en.among(p.stems, t.stem) }) != nil
}

// aboutPeople reports whether the tool's words name people of any sort.
func (f *form) aboutPeople(en *english) bool {
	for s := range en.stems["person"] {
		if f.name[s] || f.about[s] {
			return true
		}
	}
	return false
}

// persons credits "who" to a tool about people.
func (r *reading) persons() {
	for s := range r.p.en.stems["person"] {
		if r.f.name[s] && !r.f.aboutOutsiders(r.p.en) {
			r.score, r.anchored = r.score+3, true
			return
		}
	}
	if r.f.aboutPeople(r.p.en) {
		r.score, r.anchored = r.score+1, true
	}
}

func (r *reading) lowIn(w string) bool {
	return slices.ContainsFunc(r.part, func(t token) bool { return t.low == w })
}

// standsAsValue reports whether a word is a value for where it stands, though
// the tool may know it: "in Support", a capitalised owner.
func (r *reading) standsAsValue(i int) bool {
	t := r.part[i]
	if !t.capital || r.shouting || i == 0 || strings.ToUpper(t.text) == t.text {
		return false
	}
	if r.f.name[t.stem] && !t.owns {
		return false
	}
	before := r.lowAt(i - 1)
	if before == "the" || before == "our" {
		before = r.lowAt(i - 2)
	}
	return t.owns || r.p.en.is("place", before) || r.p.en.is("title", before)
}

// shape prefers the tool whose kind fits the question: one thing or many.
func (r *reading) shape() {
	many := r.mood.bulk || r.asksPlural()
	for _, t := range r.part {
		if t.kind == code && r.f.name[stem(r.p.nounOfCode(t.text))] {
			r.score += 3
		}
	}
	switch {
	case r.target != nil && r.target.prop.required && many && !r.f.writes():
		r.score -= 3
	case r.target != nil && r.target.prop.required:
		r.score += 2
	case r.f.lists() && r.target == nil:
		if many || len(r.filters) == 0 {
			r.score += 2
		}
	case r.f.missing(r.args) != nil && r.target == nil:
		r.score -= 3
	}
}

// asksPlural reports whether the tool's own noun stands in the plural.
func (r *reading) asksPlural() bool {
	for i, t := range r.part {
		if r.uses[i] == meant && !t.owns && singular(t.low) != t.low && r.f.name[t.stem] {
			return true
		}
	}
	return false
}
