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

// sides are the ways to bound a number: the sections of phrases before and after
// it, and the words in the names of such inputs.
var sides = []struct {
	before, after string
	edges         []string
}{{"above", "ormore", []string{"min", "minimum", "least"}}, {"below", "orless", []string{"max", "maximum", "most"}}}

// comparisons fills "over 200k", "at most 500" and "between 5 and 9" into the
// inputs of a list that bound a number.
func (r *Reading) comparisons() {
	for i := range r.part {
		for at, s := range sides {
			if n := r.x.Phrase(s.before, lowsFrom(r.part, i)); n > 0 {
				r.compare(i, n, s.edges)
			}
			if n := r.x.Phrase(s.after, lowsFrom(r.part, i+1)); n > 0 && r.compare(i, 0, s.edges) {
				r.take(i+1, n, 0)
			}
			if r.low(i) == "between" && r.low(i+2) == "and" {
				r.compare(i+2*at, 1, s.edges)
			}
		}
	}
}

// compare bounds by the number behind the n tokens from i.
func (r *Reading) compare(i, n int, edges []string) bool {
	at := i + n
	isEdge := func(w string) bool { return slices.Contains(edges, w) }
	f := r.Tool.First(func(f *Field) bool { return !r.taken(f) && f.Is(Number) && slices.ContainsFunc(f.Words, isEdge) })
	if f == nil || r.Tool.Writes() || at >= len(r.part) || r.part[at].Kind != language.Number || r.uses[at] != unread || r.part[at].Amount.Percent {
		return false
	}
	value := r.part[at].Amount.Value
	r.take(i, n+1, 3)
	r.Args[f.Name] = f.Number(value)
	if r.x.Says("strictly", language.Lows(r.part[i:at])...) {
		r.beyond = append(r.beyond, bound{strings.Join(slices.DeleteFunc(slices.Clone(f.Words), isEdge), "_"), value})
	}
	return true
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
	for _, f := range r.Tool.Inputs {
		switch {
		case f.Is(Order):
		case f.typ == "boolean" && !r.Tool.Writes():
			words := slices.DeleteFunc(slices.Clone(f.Words), func(w string) bool { return w == "is" || w == "only" || w == "include" })
			r.choose(f, true, strings.Join(words, " "))
		default:
			for words := 4; words > 0; words-- { // "unpaid and past due": the longer phrase says more
				for _, value := range f.Enum {
					for _, phrase := range append([]string{value}, f.Values[value]...) {
						if len(language.Identifier(phrase)) == words {
							r.choose(f, value, phrase)
						}
					}
				}
			}
		}
	}
}

// choose gives a value to an input when the question has its words in a row.
func (r *Reading) choose(f *Field, value any, phrase string) {
	words := language.Identifier(phrase)
	for i := 0; i+len(words) <= len(r.part) && len(words) > 0 && !r.taken(f); i++ {
		same := true
		for j, w := range words {
			same = same && r.free(i+j) && r.part[i+j].Stem == language.Stem(w)
		}
		if same {
			r.take(i, len(words), 4)
			r.Args[f.Name] = value
			r.hints.AddStems(phrase)
		}
	}
}

// numbers fills in numbers: a change's new value, a year, an id, "5 books".
func (r *Reading) numbers() {
	for i, t := range r.part {
		if t.Kind != language.Number || r.uses[i] != unread {
			continue
		}
		id := r.idFor(Entity{})
		switch f := r.numberFor(i); {
		case f != nil && r.Tool.Writes() && (t.Amount.Percent || r.low(i-1) == "by"):
			r.take(i, 1, 2)
			r.Step = &Step{Input: f, By: t.Amount, Down: r.Falls()}
		case f != nil:
			r.take(i, 1, 2)
			r.Args[f.Name] = f.Number(t.Amount.Value)
		case id != nil && id.format == "" && language.Stem(r.low(i-1)) == language.Stem(id.Noun()): // "book 7"
			r.take(i, 1, 2)
			if r.Args[id.Name] = t.Text; id.typ == "integer" {
				r.Args[id.Name] = id.Number(t.Amount.Value)
			}
		case r.Tool.Input("limit") != nil && r.Tool.Lists() && (r.low(i-1) == "first" || !r.x.Measures(r.low(i-1)) && r.isAnchor(i+1)):
			if r.take(i, 1, 1); r.low(i-1) == "first" {
				r.take(i-1, 1, 0)
			}
			r.Args["limit"] = int64(min(50, max(1, t.Amount.Value)))
		}
	}
}

// numberFor is the input that the i-th token, a number, belongs to.
func (r *Reading) numberFor(i int) *Field {
	var fits []*Field
	for _, f := range r.Tool.Inputs {
		year := f.has("year")
		switch {
		case !f.Is(Number) || r.taken(f) || year && !r.part[i].IsYear():
		case year, f.stems[language.Stem(r.low(i-1))], f.stems[language.Stem(r.low(i+1))]:
			return f
		case f.Required && r.Tool.Writes():
			fits = append(fits, f)
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
	return slices.ContainsFunc(r.part, func(t language.Token) bool { return r.x.Is(t.Low, "falling") })
}

// Number is a value as the input takes it: an integer whole, cents exact.
func (f *Field) Number(v float64) any {
	if f.typ == "integer" && v == math.Trunc(v) && math.Abs(v) < 1e15 {
		return int64(v)
	}
	return math.Round(v*100) / 100
}

// dates fills in periods, first and last days, and days.
func (r *Reading) dates() {
	dated := false
	for i, t := range r.part {
		if t.Kind != language.Date {
			continue
		}
		dated = true
		if r.period(t.Span) {
			r.take(i, 1, 4)
		} else if r.between(i) {
			r.take(i, 1, 3)
		} else if f := r.dateFor(i); f != nil {
			r.take(i, 1, 3)
			r.Args[f.Name] = f.DayIn(t.Span)
		}
	}
	_, last := r.Tool.ends()
	for _, f := range r.Tool.Inputs { // "due" without a day means today
		for i, t := range r.part {
			if f.Is(Date) && f.endsBefore() && f != last && !dated && !r.Tool.Writes() && !r.taken(f) && !r.has("when") && r.free(i) &&
				!strings.Contains(" befor until by to dat ", " "+t.Stem+" ") && (r.x.Among(f.stems, t.Stem) || f.also[t.Stem]) {
				r.take(i, 1, 4)
				r.Asked[t.Stem] = true
				r.Args[f.Name] = language.Day(r.c.Today)
			}
		}
	}
}

// period fills an input that is named by a period, as text ("Q1 2026"), as one of
// its values ("Q1") beside the year, or as a year.
func (r *Reading) period(s language.Span) bool {
	for _, f := range r.Tool.Inputs {
		for _, unit := range []string{"quarter", "month", "year"} {
			names := s.Spellings(unit)
			if !f.has(unit) || len(names) == 0 || r.taken(f) {
				continue
			}
			short, _, _ := strings.Cut(names[0], " ")
			at := slices.IndexFunc(names, func(n string) bool { return f.pattern == nil || f.pattern.MatchString(n) })
			year := r.Tool.First(func(f *Field) bool { return f.Is(Number) && f.has("year") && !r.taken(f) })
			switch {
			case f.Value(short) != "":
				r.Args[f.Name] = f.Value(short)
				if year != nil {
					r.Args[year.Name] = int64(s.From.Year())
				}
			case f.Is(Number) && unit == "year":
				r.Args[f.Name] = int64(s.From.Year())
			case f.IsText() && at >= 0:
				r.Args[f.Name] = names[at]
			default:
				continue
			}
			return true
		}
	}
	return false
}

// between fills a first and a last day: "this month" means all of it, "after
// March" only what follows. It reports whether the list has such inputs.
func (r *Reading) between(i int) bool {
	from, to := r.Tool.ends()
	if from == nil || r.Tool.Writes() || r.taken(from) || r.taken(to) {
		return false
	}
	first, end := r.part[i].Span.From, r.part[i].Span.To
	before := r.low(i - 1)
	if before == "after" {
		first = end
	} else if before == "before" {
		end = first
	}
	if !slices.Contains([]string{"before", "by", "until", "till"}, before) {
		r.Args[from.Name] = language.Day(first)
	}
	if !slices.Contains([]string{"after", "since", "from"}, before) {
		r.Args[to.Name] = language.Day(end.AddDate(0, 0, -1))
	}
	if r.free(i-1) && r.x.Is(before, "timely") {
		r.uses[i-1] = idle
	}
	return true
}

// ends are the inputs for the first and the last day of one thing: closing_from
// and closing_to.
func (t *Tool) ends() (from, to *Field) {
	for _, f := range t.Inputs {
		root, isFrom := strings.CutSuffix(f.Name, "from")
		if other := t.Input(root + "to"); isFrom && f.Is(Date) && other != nil && other.Is(Date) {
			return f, other
		}
	}
	return nil, nil
}

// dateFor is the only input that a date belongs to, by the word before it; nil
// when it has its value already.
func (r *Reading) dateFor(i int) *Field {
	since := slices.Contains([]string{"after", "since", "from"}, r.low(i-1))
	var fits []*Field
	for _, f := range r.Tool.Inputs {
		starts := f.has("after", "since") || language.LastWord(f.Name) == "from"
		if f.Is(Date) && !(f.endsBefore() && since) && (since || !starts) {
			fits = append(fits, f)
		}
	}
	if len(fits) != 1 || r.taken(fits[0]) {
		return nil
	}
	return fits[0]
}
