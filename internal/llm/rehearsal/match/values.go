package match

import (
	"math"
	"slices"
	"strings"

	"countersign.dev/internal/llm/rehearsal/language"
)

// bound is a number that a column must lie beyond: the input that narrows the
// list lets the number itself pass.
type bound struct {
	column string
	value  float64
}

// sides are the ways to bound a number: the phrases before and after it, and the
// words in the names of such inputs.
var sides = []struct {
	before, after string
	edges         []string
}{{"above", "ormore", []string{"min", "minimum", "least"}}, {"below", "orless", []string{"max", "maximum", "most"}}}

// comparisons fills "over 200k", "at most 500" and "between 5 and 9" into the
// inputs of a list that bound a number.
func (r *Reading) comparisons() {
	if r.Tool.Writes() {
		return
	}
	for i := range r.part {
		low := lowsFrom(r.part, i)
		for _, s := range sides {
			if n := r.x.Phrase(s.before, low); n > 0 {
				r.compare(i, n, s.edges)
			}
			if n := r.x.Phrase(s.after, lowsFrom(r.part, i+1)); n > 0 && r.compare(i, 0, s.edges) {
				r.take(i+1, n, 0)
			}
		}
		if r.low(i) == "between" && r.low(i+2) == "and" && i+3 < len(r.part) {
			r.compare(i, 1, sides[0].edges)
			r.compare(i+2, 1, sides[1].edges)
		}
	}
}

// compare bounds by the number behind the n tokens from i.
func (r *Reading) compare(i, n int, edges []string) bool {
	at := i + n
	if at >= len(r.part) || r.part[at].Kind != language.Number || r.uses[at] != unread || r.part[at].Amount.Percent {
		return false
	}
	p := r.edge(edges)
	if p == nil {
		return false
	}
	value := r.part[at].Amount.Value
	r.take(i, n+1, 3)
	r.Args[p.Name] = wholeOr(value, p.typ)
	if r.x.Says("strictly", language.Lows(r.part[i:at])) {
		column := slices.DeleteFunc(slices.Clone(p.Words), func(w string) bool { return slices.Contains(edges, w) })
		r.beyond = append(r.beyond, bound{strings.Join(column, "_"), value})
	}
	return true
}

// edge is the only number input with such a word in its name.
func (r *Reading) edge(edges []string) (fit *Input) {
	for _, p := range r.Tool.Inputs {
		if r.taken(p) || !p.IsNumber() || !slices.ContainsFunc(p.Words, func(w string) bool { return slices.Contains(edges, w) }) {
			continue
		}
		if fit != nil {
			return nil
		}
		fit = p
	}
	return fit
}

// Beyond reports whether a row lies beyond every bound. number returns a row's
// number; a row without it stays, because the list has judged it.
func (r *Reading) Beyond(number func(column string) (float64, bool)) bool {
	return !slices.ContainsFunc(r.beyond, func(b bound) bool {
		v, ok := number(b.column)
		return ok && v == b.value
	})
}

// choices fills in inputs with a fixed set of values, and switches.
func (r *Reading) choices() {
	for _, p := range r.Tool.Inputs {
		if p.isOrder() {
			continue
		}
		for _, value := range p.Enum {
			r.choose(p, value, value)
		}
		for _, value := range p.Enum {
			for _, phrase := range p.Meta.Values[value] {
				r.choose(p, value, phrase)
			}
		}
		if p.typ == "boolean" && !r.Tool.Writes() {
			words := slices.DeleteFunc(slices.Clone(p.Words), func(w string) bool { return w == "is" || w == "only" || w == "include" })
			if at, n := r.find(words); n > 0 {
				r.take(at, n, 4)
				r.Args[p.Name] = true
			}
		}
	}
}

// choose gives a value to an input when the question has its words.
func (r *Reading) choose(p *Input, value, words string) {
	if at, n := r.find(language.Identifier(words)); n > 0 && !r.taken(p) {
		r.take(at, n, 4)
		r.Args[p.Name] = value
		r.Hints.AddStems(value)
	}
}

// find looks for words in a row among the unread tokens, by their stems.
func (r *Reading) find(words []string) (at, n int) {
	for i := 0; i+len(words) <= len(r.part) && len(words) > 0; i++ {
		same := true
		for j, w := range words {
			same = same && r.free(i+j) && r.part[i+j].Stem == language.Stem(w)
		}
		if same {
			return i, len(words)
		}
	}
	return 0, 0
}

// numbers fills in numbers: a change's new value, a year, an id, "5 books".
func (r *Reading) numbers() {
	for i, t := range r.part {
		if t.Kind != language.Number || r.uses[i] != unread {
			continue
		}
		id := r.idFor(Entity{})
		switch p := r.numberFor(i); {
		case p != nil && r.Tool.Writes() && (t.Amount.Percent || r.low(i-1) == "by"):
			r.take(i, 1, 2)
			r.Step = &Step{Input: p, By: t.Amount, Down: r.Falls()}
		case p != nil:
			r.take(i, 1, 2)
			r.Args[p.Name] = wholeOr(t.Amount.Value, p.typ)
		case id != nil && id.format == "" && language.Stem(r.low(i-1)) == language.Stem(id.Noun()): // "book 7"
			r.take(i, 1, 2)
			if r.Args[id.Name] = t.Text; id.typ == "integer" {
				r.Args[id.Name] = wholeOr(t.Amount.Value, id.typ)
			}
		case r.Tool.Input("limit") != nil && r.Tool.Lists() && (r.low(i-1) == "first" || !r.x.Measures(r.low(i-1)) && r.isAnchor(i+1)):
			if r.take(i, 1, 1); r.low(i-1) == "first" {
				r.take(i-1, 1, 0)
			}
			r.Args["limit"] = int64(math.Min(50, math.Max(1, t.Amount.Value)))
		}
	}
}

// numberFor is the input that the i-th token, a number, belongs to.
func (r *Reading) numberFor(i int) *Input {
	var fits []*Input
	isYear := r.part[i].IsYear()
	for _, p := range r.Tool.Inputs {
		year := p.has("year")
		switch {
		case !p.IsNumber() || r.taken(p) || year && !isYear:
		case year, p.stems[language.Stem(r.low(i-1))], p.stems[language.Stem(r.low(i+1))]:
			return p
		case p.Required && r.Tool.Writes():
			fits = append(fits, p)
		}
	}
	if len(fits) == 1 {
		return fits[0]
	}
	return nil
}

// Falls reports whether a change is downwards: by its verb, or by the noun of
// "give him a cut".
func (r *Reading) Falls() bool {
	return slices.ContainsFunc(r.part, func(t language.Token) bool { return r.x.Is("falling", t.Low) })
}

// wholeOr keeps an integer an integer, and cents exact.
func wholeOr(v float64, typ string) any {
	if typ == "integer" && v == math.Trunc(v) && math.Abs(v) < 1e15 {
		return int64(v)
	}
	return math.Round(v*100) / 100
}

// Number is a value as the input takes it.
func (p *Input) Number(v float64) any { return wholeOr(v, p.typ) }

// dates fills in periods, first and last days, and days.
func (r *Reading) dates() {
	dated := false
	for i, t := range r.part {
		if t.Kind != language.Date {
			continue
		}
		dated = true
		if r.periodIn(t.Span) {
			r.take(i, 1, 4)
		} else if p := r.dateFor(i); !r.rangeAt(i) && p != nil && !r.taken(p) {
			r.take(i, 1, 3)
			r.Args[p.Name] = p.DayIn(t.Span)
		}
	}
	if !dated {
		r.dueToday()
	}
}

// periodIn fills an input that is named by a period, and the year beside it.
func (r *Reading) periodIn(s language.Span) bool {
	for _, p := range r.Tool.Inputs {
		value, ok := p.period(s)
		if !ok || r.taken(p) {
			continue
		}
		r.Args[p.Name] = value
		year := r.Tool.First(func(p *Input) bool { return p.IsNumber() && p.has("year") && !r.taken(p) })
		if len(p.Enum) > 0 && year != nil {
			r.Args[year.Name] = int64(s.From.Year())
		}
		return true
	}
	return false
}

// period is how the input writes a period: as text ("Q1 2026"), as one of its
// values ("Q1") or as a year.
func (p *Input) period(s language.Span) (value any, ok bool) {
	for _, unit := range []string{"quarter", "month", "year"} {
		names := s.Spellings(unit)
		if !p.has(unit) || len(names) == 0 {
			continue
		}
		switch {
		case len(p.Enum) > 0:
			short, _, _ := strings.Cut(names[0], " ")
			value := p.Value(short)
			return value, value != ""
		case p.IsNumber() && unit == "year":
			return int64(s.From.Year()), true
		case p.IsText():
			if i := slices.IndexFunc(names, func(n string) bool { return p.pattern == nil || p.pattern.MatchString(n) }); i >= 0 {
				return names[i], true
			}
		}
	}
	return nil, false
}

// rangeAt fills a first and a last day: "this month" means all of it, "after
// March" only what follows. It reports whether the list has such inputs.
func (r *Reading) rangeAt(i int) bool {
	from, to := r.Tool.ends()
	if from == nil || r.Tool.Writes() || r.taken(from) || r.taken(to) {
		return false
	}
	span := r.part[i].Span
	switch r.low(i - 1) {
	case "after":
		r.Args[from.Name] = language.Day(span.To)
	case "since", "from":
		r.Args[from.Name] = language.Day(span.From)
	case "before":
		r.Args[to.Name] = language.Day(span.From.AddDate(0, 0, -1))
	case "by", "until", "till":
		r.Args[to.Name] = language.Day(span.To.AddDate(0, 0, -1))
	default:
		r.Args[from.Name], r.Args[to.Name] = language.Day(span.From), language.Day(span.To.AddDate(0, 0, -1))
	}
	r.take(i, 1, 3)
	if r.free(i-1) && r.x.Is("timely", r.low(i-1)) {
		r.uses[i-1] = idle
	}
	return true
}

// ends are the inputs for the first and the last day of one thing: closing_from
// and closing_to.
func (t *Tool) ends() (from, to *Input) {
	for _, p := range t.Inputs {
		root, isFrom := strings.CutSuffix(p.Name, "from")
		if other := t.Input(root + "to"); isFrom && p.IsDate() && other != nil && other.IsDate() {
			return p, other
		}
	}
	return nil, nil
}

// dueToday gives today to an input for what is due before a day, when the
// question says "due" and names no day.
func (r *Reading) dueToday() {
	_, last := r.Tool.ends()
	for _, p := range r.Tool.Inputs {
		if !p.IsDate() || p == last || r.Tool.Writes() || r.taken(p) || !p.endsBefore() || r.has("when") {
			continue
		}
		for i, t := range r.part {
			if !r.free(i) || strings.Contains(" befor until by to dat ", " "+t.Stem+" ") || !r.x.Among(p.stems, t.Stem) && !slices.Contains(p.Meta.Synonyms, t.Low) {
				continue
			}
			r.take(i, 1, 4)
			r.Asked[t.Stem] = true
			r.Args[p.Name] = language.Day(r.c.Today)
		}
	}
}

// dateFor is the only input that a date belongs to, by the word before it.
func (r *Reading) dateFor(i int) *Input {
	since := slices.Contains([]string{"after", "since", "from"}, r.low(i-1))
	var fits []*Input
	for _, p := range r.Tool.Inputs {
		if p.IsDate() && !(p.endsBefore() && since) && (since || !p.startsAfter()) {
			fits = append(fits, p)
		}
	}
	if len(fits) == 1 {
		return fits[0]
	}
	return nil
}
