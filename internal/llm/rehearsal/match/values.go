package match

import (
	"fmt"
	"slices"
	"strings"

	"countersign.dev/internal/llm/rehearsal/language"
)

// bounds are a value and the words around it: which end of a range they make it,
// and whether they leave the value itself out.
type bounds struct {
	at, end int // the first token, and the one after the last
	side    side
	beyond  bool
}

func (r reader) boundsOf(i int) bounds {
	for n := min(3, i); n > 0; n-- {
		phrase := strings.Join(language.Lows(r.Tokens[i-n:i]), " ")
		switch beyond := r.x.Is(phrase, "strictly"); {
		case r.x.Is(phrase, "above"):
			return bounds{i - n, i + 1, lower, beyond}
		case r.x.Is(phrase, "below"):
			return bounds{i - n, i + 1, upper, beyond}
		}
	}
	for end, section := range map[side]string{lower: "ormore", upper: "orless"} {
		if n := r.x.Phrase(section, r.lows(i+1)); n > 0 {
			return bounds{i, i + 1 + n, end, false}
		}
	}
	return bounds{at: i, end: i + 1}
}

// value fills "over 200k", "before March", "this month", a year or a change's new
// amount into the input that it is for.
func (r reader) value(i int) {
	t, b := r.Tokens[i], r.boundsOf(i)
	switch {
	case t.Kind == language.Date && (r.period(t.Span) || r.days(t.Span, b)):
		r.take(b.at, b.end-b.at, 4)
	case t.Kind == language.Number:
		r.number(i, b)
	}
}

// number fills in the i-th token, a number.
func (r reader) number(i int, b bounds) {
	t, f := r.Tokens[i], r.numberFor(i, b.side)
	switch {
	case f != nil && f.side != none && !r.Tool.Writes():
		if r.Args[f.Name] = f.Number(t.Amount.Value); b.beyond {
			r.Beyond[f.base] = t.Amount.Value
		}
		r.take(b.at, b.end-b.at, 3)
	case f != nil:
		r.Args[f.Name] = r.amount(f, t, r.low(i-1) == "by")
		r.take(i, 1, 2)
	case r.Tool.Input("limit") != nil && r.Tool.Lists() && !r.x.Is(r.low(i-1), language.Measures...) && r.isAnchor(i+1):
		r.Args["limit"] = within(t.Amount.Value)
		r.take(i, 1, 1)
	}
}

// within is a number of rows that may be asked for.
func within(n float64) float64 { return min(50, max(1, n)) }

// numberFor is the input that the i-th token, a number, belongs to.
func (r reader) numberFor(i int, end side) *Field {
	var fits []*Field
	for _, f := range r.Tool.Inputs {
		year := f.has("year")
		switch {
		case !f.Is(Number) || r.taken(f) || year && !r.Tokens[i].IsYear():
		case end != none && f.side == end, year, f.stems[language.Stem(r.low(i-1))], f.stems[language.Stem(r.low(i+1))]:
			return f
		case f.Required && r.Tool.Writes():
			fits = append(fits, f)
		}
	}
	if len(fits) != 1 {
		return nil
	}
	return fits[0]
}

// amount is a number as an input takes it, or as a change takes a difference.
func (r *Reading) amount(f *Field, t language.Token, difference bool) any {
	if r.Tool.Writes() && (t.Amount.Percent || difference) {
		return Step{By: t.Amount, Down: r.x.Is(r.Verb, "falling")}
	}
	return f.Number(t.Amount.Value)
}

// Answer is the value of an input that a person's answer gives; nil when it gives none.
func (r *Reading) Answer(f *Field, text string) any {
	if value := f.Value(text); value != "" {
		return value
	}
	for _, t := range r.x.Read(text, r.c.Today) {
		switch {
		case t.Kind == language.Date && f.Is(Date):
			return f.Day(t.Span)
		case t.Kind == language.Number && f.Is(Number):
			return r.amount(f, t, false)
		}
	}
	if !f.IsText() || text == "" {
		return nil
	}
	return text
}

// period fills an input that is named by a period: the year, or a quarter as text
// ("Q1 2026") or as one of its values ("Q1") beside the year.
func (r reader) period(s language.Span) bool {
	year := r.Tool.First(func(f *Field) bool { return f.Is(Number) && f.has("year") && !r.taken(f) })
	quarter := r.Tool.First(func(f *Field) bool { return f.has("quarter") && !r.taken(f) })
	switch q := s.Quarter(); {
	case year != nil && s.IsYear():
	case quarter == nil || q == "":
		return false
	case len(quarter.Enum) == 0:
		r.Args[quarter.Name] = fmt.Sprintf("%s %d", q, s.From.Year())
		return true
	default:
		r.Args[quarter.Name] = q
	}
	if year != nil {
		r.Args[year.Name] = s.From.Year()
	}
	return true
}

// days fills the first and the last day of one thing, or the only day that the
// tool takes. It reports false when there is no such input, or more than one.
func (r reader) days(s language.Span, b bounds) bool {
	if b.beyond && b.side == lower {
		s.From = s.To
	} else if b.beyond {
		s.To = s.From
	}
	var fits []*Field
	last := none
	for _, f := range r.Tool.Inputs {
		if f.Is(Date) && !r.taken(f) && (b.side == none || b.side == f.side) {
			fits, last = append(fits, f), max(last, f.side)
		}
	}
	if len(fits) == 0 || fits[0].base != fits[len(fits)-1].base || b.side != lower && fits[0].side == lower && last != upper {
		return false
	}
	for _, f := range fits {
		r.Args[f.Name] = f.Day(s)
	}
	return true
}

// due fills in today where a question has the word for a passed day and no date.
func (r reader) due(i int) {
	t := r.Tokens[i]
	f := r.Tool.First(func(f *Field) bool { return f.Is(Date) && f.side == upper && f.says(r.x, t.Stem) })
	from := r.Tool.First(func(other *Field) bool { return f != nil && other.side == lower && other.base == f.base })
	dated := func(t language.Token) bool { return t.Kind == language.Date || t.Low == "when" }
	if f == nil || from != nil || r.Tool.Writes() || sides[t.Low] != none || slices.ContainsFunc(r.Tokens, dated) {
		return
	}
	r.take(i, 1, 4)
	r.Asked[t.Stem], r.Args[f.Name] = true, language.Day(r.c.Today)
}

// choices fills in inputs with a fixed set of values, and switches, when the
// question has the words for a value.
func (r reader) choices() {
	for _, f := range r.Tool.Inputs {
		for _, p := range f.phrases {
			for i := range r.Tokens {
				if !r.taken(f) && r.reads(i, p.words) {
					r.take(i, len(p.words), 4)
					r.Args[f.Name] = p.value
				}
			}
		}
	}
}

// reads reports whether the unread words from the i-th are these, in any form.
func (r reader) reads(i int, words []string) bool {
	for j, w := range words {
		if !r.free(i+j) || r.Tokens[i+j].Stem != language.Stem(w) {
			return false
		}
	}
	return len(words) > 0
}
