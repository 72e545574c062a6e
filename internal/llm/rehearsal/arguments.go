package rehearsal

import (
	"math"
	"regexp"
	"slices"
	"strings"
)

func (r *reading) give(at, n, score int) {
	for i := range n {
		r.uses[at+i] = given
	}
	r.score += score
	r.anchored = r.anchored || score >= 4
}

// numbers fills in numbers: a change's new value, a year, "top 5".
func (r *reading) numbers() {
	for i, t := range r.part {
		if t.kind != number || r.uses[i] != unread {
			continue
		}
		if p := r.numberFor(i); p != nil {
			r.giveNumber(p, i)
		} else if p := r.idNumbered(i); p != nil {
			r.give(i, 1, 2)
			r.args[p.name] = idOf(p, t)
		} else if r.f.closed {
			r.give(i, 1, 0)
		} else if r.f.prop("limit") != nil && r.f.lists() && (r.lowAt(i-1) == "first" || !r.p.en.measures(r.lowAt(i-1)) && i+1 < len(r.part) && r.f.isAnchor(r.part[i+1])) {
			r.limit(i)
		}
	}
}

// limit reads "first 10" and "5 books" as the number of rows.
func (r *reading) limit(i int) {
	r.give(i, 1, 1)
	if r.lowAt(i-1) == "first" {
		r.give(i-1, 1, 0)
	}
	r.args["limit"] = int64(math.Min(50, math.Max(1, r.part[i].amount.value)))
}

// numberFor is the input that the i-th token, a number, belongs to.
func (r *reading) numberFor(i int) *property {
	var fits []*property
	t := r.part[i]
	for _, p := range r.f.props {
		if !p.isNumber() || r.args[p.name] != nil {
			continue
		}
		isYear := len(t.text) == 4 && t.amount.value >= 1900 && t.amount.value < 2200 && !t.amount.money
		switch {
		case p.stems["year"] != isYear && p.stems["year"]:
		case p.stems["year"] && isYear, p.stems[stem(r.lowAt(i-1))], p.stems[stem(r.lowAt(i+1))]:
			return p
		case p.required && r.f.writes():
			fits = append(fits, p)
		}
	}
	if len(fits) == 1 {
		return fits[0]
	}
	return nil
}

// idNumbered is the id that a number right behind its noun is: "book 7".
func (r *reading) idNumbered(i int) *property {
	p := r.idFor(span{})
	if p == nil || p.format != "" || r.args[p.name] != nil || stem(r.lowAt(i-1)) != stem(p.noun()) {
		return nil
	}
	return p
}

func idOf(p *property, t token) any {
	if p.typ == "integer" {
		return wholeOr(t.amount.value, p.typ)
	}
	return t.text
}

func (r *reading) giveNumber(p *property, i int) {
	a, before := r.part[i].amount, r.lowAt(i-1)
	r.give(i, 1, 2)
	if r.f.writes() && (a.percent || before == "by") {
		r.relative = &relative{prop: p, by: a, down: r.falls()}
		return
	}
	r.args[p.name] = wholeOr(a.value, p.typ)
}

// falls reports whether a change is downwards: by its verb, or by the noun of
// "give him a cut".
func (r *reading) falls() bool {
	return slices.ContainsFunc(r.part, func(t token) bool { return r.p.en.is("falling", t.low) })
}

// wholeOr keeps an integer an integer.
func wholeOr(v float64, typ string) any {
	if typ == "integer" && v == math.Trunc(v) && math.Abs(v) < 1e15 {
		return int64(v)
	}
	return math.Round(v*100) / 100
}

// dates fills in dates.
func (r *reading) dates() {
	for i, t := range r.part {
		if t.kind != date {
			continue
		}
		if r.rangeOf(i) {
			continue
		}
		if p := r.dateFor(i); p != nil && r.args[p.name] == nil {
			r.give(i, 1, 3)
			r.args[p.name] = p.dayOf(t.days).String()
		} else if r.f.closed {
			r.give(i, 1, 0)
		}
	}
	if !slices.ContainsFunc(r.part, func(t token) bool { return t.kind == date }) {
		r.dueToday()
	}
}

// dueToday gives today to an input that asks for what is due before a day, when
// the question says "due" and names no day.
func (r *reading) dueToday() {
	_, last := r.f.ends()
	for _, p := range r.f.props {
		if !p.isDate() || p == last || r.f.writes() || r.args[p.name] != nil || !p.endsBefore() || r.lowIn("when") {
			continue
		}
		for i, t := range r.part {
			if r.uses[i] == unread && t.kind == word && p.dueWord(r.p.en, t.stem) {
				r.give(i, 1, 4)
				r.asked[t.stem] = true
				r.args[p.name] = r.p.today.String()
			}
		}
	}
}

// dateFor is the one input that a date belongs to, by the word before it.
func (r *reading) dateFor(i int) *property {
	since := slices.Contains([]string{"after", "since", "from"}, r.lowAt(i-1))
	var fits []*property
	for _, p := range r.f.props {
		if p.isDate() && !(p.endsBefore() && since) && (since || !p.startsAfter()) {
			fits = append(fits, p)
		}
	}
	if len(fits) == 1 {
		return fits[0]
	}
	return nil
}

func (p *property) endsBefore() bool {
	return p.stems["befor"] || p.stems["until"] || p.stems["by"] || lastWord(p.name) == "to"
}

func (p *property) startsAfter() bool {
	return p.stems["after"] || p.stems["sinc"] || lastWord(p.name) == "from"
}

// dayOf is the day that a span of days means for the input: "before March"
// ends where March begins, "due this month" where the month ends.
func (p *property) dayOf(d days) civil {
	if p.endsBefore() && d.to.Sub(d.from.Time).Hours() > 24 {
		return d.to
	}
	return d.from
}

// dueWord reports whether a word is what the input's name is about, "due" of
// due_before.
func (p *property) dueWord(en *english, s string) bool {
	for w := range p.stems {
		if w == "befor" || w == "until" || w == "by" || w == "to" || w == "dat" {
			continue
		}
		if w == s || en.groups[w][s] {
			return true
		}
	}
	return false
}

// assign gives each value to an input: the thing that the tool needs, or a
// filter of a list.
func (r *reading) assign(spans []span) {
	for _, s := range spans {
		switch {
		case r.f.writes() && r.namesOther(s):
			continue
		case r.target == nil && r.idFor(s) != nil:
			r.target = &target{prop: r.idFor(s), span: s}
		case r.awaits(s):
			r.target.span = s
		case r.target != nil && s.place && !r.f.writes() && !r.f.lists():
			r.target.span.words = append(r.target.span.words, s.words...)
		case s.role != "" && r.mayFilter(s):
			r.filters = append(r.filters, s)
			r.uses[s.at-2] = meant
		case r.textFor(s) != nil:
			r.args[r.textFor(s).name] = s.text
		case r.f.closed:
		case r.f.lists() && r.mayFilter(s):
			r.filters = append(r.filters, s)
		default:
			continue
		}
		r.give(s.at, s.end-s.at, 1)
	}
}

// namesOther reports whether a value names the sort of thing that another tool
// is about: whoever wants a ticket changed means no invoice.
func (r *reading) namesOther(s span) bool {
	for _, t := range r.part[s.at:s.end] {
		if t.kind != word || t.capital && !r.shouting || r.f.name[t.stem] {
			continue
		}
		if s.code {
			return true // "box B-17": a noun that no tool here knows
		}
		for _, f := range r.p.everyForm() {
			if f.name[t.stem] && len(t.low) > 2 {
				return true
			}
		}
	}
	return false
}

// awaits reports whether a relation waits for its person and this is the one:
// an owner before the word that asks ("Ben's team"), or what stands behind it.
func (r *reading) awaits(s span) bool {
	if r.target == nil || r.target.span.end > 0 || r.target.self || s.place && !s.owns && r.relation > s.at {
		return false
	}
	return s.owns || s.at > r.relation
}

// mayFilter allows one value that could be a name, and places beside it.
func (r *reading) mayFilter(s span) bool {
	if r.target != nil && !s.place {
		return false
	}
	for _, other := range r.filters {
		if !other.place && !s.place {
			return false
		}
	}
	return len(r.filters) < 3
}

// idFor is the id that a value would be looked up for: a required one, or, in a
// tool without text filters, an optional one.
func (r *reading) idFor(s span) *property {
	if s.place {
		return nil
	}
	needed := r.f.first(func(p *property) bool {
		return p.isID() && p.required && r.args[p.name] == nil && !(s.code && p.unlike(s.text))
	})
	if needed != nil || r.f.writes() || r.f.first((*property).isText) != nil {
		return needed
	}
	return r.f.first(func(p *property) bool { return p.isID() && !p.required })
}

// textFor is the required text that a value fills, or the one whose name
// stands beside it.
func (r *reading) textFor(s span) *property {
	return r.f.first(func(p *property) bool {
		if !p.isText() || r.args[p.name] != nil {
			return false
		}
		if _, all := r.f.everything(p); all && s.owns {
			return false // whose they are stands in the rows: a search for the name finds other things
		}
		names := func(w string) bool { return p.stems[stem(w)] && (s.code || !r.f.name[stem(w)]) }
		beside := names(r.lowAt(s.at-1)) || names(r.lowAt(s.end))
		return beside && !p.isTitle() || p.required && (r.f.writes() && (!p.isProse() || r.part[s.at].kind == quoted) || p.isTitle() || s.code)
	})
}

// selves gives "my" and "me" their meaning: the person who asks is the thing
// that is asked for, or a tool that answers for its caller needs nothing.
func (r *reading) selves() {
	for i, t := range r.part {
		if r.uses[i] != unread || t.kind != word || !r.p.en.is("self", t.low) {
			continue
		}
		p, s := r.idFor(span{}), span{at: i, text: r.p.person.Email, words: []string{r.p.person.Email}}
		s.role = r.roleOf(s)
		switch {
		case s.role != "" && s.text != "" && r.mayFilter(s):
			r.filters = append(r.filters, s)
			r.uses[i-2] = meant
		case r.f.closed, r.target != nil && r.target.self, r.f.own && r.target == nil && (p == nil || !p.required):
		case r.target != nil && r.target.span.end == 0:
			r.target.self = true
		case r.target == nil && p != nil && !r.f.writes():
			r.target = &target{prop: p, self: true}
		default:
			continue
		}
		r.give(i, 1, 1)
	}
}

var starMeansAll = regexp.MustCompile("(?:^|[\\s\"'`“(])\\*(?:[\\s\"'`”),.;:]|$)")

// everything is what a required search text takes when nothing is searched for:
// a star, if the tool says that it means everything.
func (f *form) everything(p *property) (string, bool) {
	if !p.isText() {
		return "", false
	}
	return "*", starMeansAll.MatchString(p.text) || p.isTitle() && starMeansAll.MatchString(f.tool.Description) && !strings.Contains(p.name, "name")
}
