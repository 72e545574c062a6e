package match

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"countersign.dev/internal/llm/rehearsal/language"
)

// values finds numbers, dates and the values that a schema lists.
type values struct{ reader }

// bounds is what the words around a value say of it: which ends of a range it
// sets, both or neither when they say nothing.
type bounds struct {
	at, end              int // the first token, and the one after the last
	lower, upper, beyond bool
}

func (r values) boundsOf(i int) bounds {
	for n := min(3, i); n > 0; n-- {
		phrase := strings.Join(language.Lows(r.Tokens[i-n:i]), " ")
		if b := (bounds{i - n, i + 1, r.x.Is(phrase, "above"), r.x.Is(phrase, "below"), r.x.Is(phrase, "strictly")}); b.lower || b.upper {
			return b
		}
	}
	more, less := r.x.Phrase("ormore", r.lows(i+1)), r.x.Phrase("orless", r.lows(i+1))
	switch {
	case more+less > 0:
		return bounds{at: i, end: i + 1 + more + less, lower: more > 0, upper: less > 0}
	case r.low(i-1) == "between" && r.low(i+1) == "and":
		return bounds{at: i - 1, end: i + 2, lower: true}
	case r.low(i-1) == "and" && r.low(i-3) == "between":
		return bounds{at: i, end: i + 1, upper: true}
	}
	return bounds{at: i, end: i + 1}
}

// ranges fills "over 200k", "between 5 and 9", "before March" and "this month"
// into the inputs that keep a list to a range, and days into other inputs.
func (r values) ranges() {
	for i, t := range r.Tokens {
		b := r.boundsOf(i)
		switch {
		case t.Kind == language.Date && r.period(t.Span):
			r.take(i, 1, 4)
		case t.Kind == language.Date && r.days(t.Span, b):
			r.take(b.at, b.end-b.at, 3)
		case t.Kind == language.Number && !t.Amount.Percent && !r.Tool.Writes():
			f := r.Tool.First(func(f *Field) bool {
				return f.Is(Number) && !r.taken(f) && (b.lower && f.side == lower || b.upper && f.side == upper)
			})
			if f == nil {
				continue
			}
			if r.Args[f.Name] = f.Number(t.Amount.Value); b.beyond {
				r.Beyond[f.base] = t.Amount.Value
			}
			r.take(b.at, b.end-b.at, 3)
		}
	}
}

// period fills an input that is named by a period: the year, or a quarter as text
// ("Q1 2026") or as one of its values ("Q1") beside the year.
func (r values) period(s language.Span) bool {
	year := r.Tool.First(func(f *Field) bool { return f.Is(Number) && f.has("year") && !r.taken(f) })
	if year != nil && s.IsYear() {
		r.Args[year.Name] = int64(s.From.Year())
		return true
	}
	names, at := s.Quarter(), -1
	f := r.Tool.First(func(f *Field) bool { return f.has("quarter") && !r.taken(f) })
	if f != nil {
		at = slices.IndexFunc(names, func(n string) bool {
			return f.Value(n) != "" || len(f.Enum) == 0 && (f.pattern == nil || f.pattern.MatchString(n))
		})
	}
	if at < 0 {
		return false
	}
	if r.Args[f.Name] = names[at]; len(f.Enum) > 0 && year != nil {
		r.Args[year.Name] = int64(s.From.Year())
	}
	return true
}

// days fills the first and the last day of one thing, or the only day that the
// tool takes. It reports false when there is no such input, or more than one.
func (r values) days(s language.Span, b bounds) bool {
	if b.beyond && b.lower {
		s.From = s.To
	} else if b.beyond {
		s.To = s.From
	}
	var fits []*Field
	last := none
	for _, f := range r.Tool.Inputs {
		if f.Is(Date) && !r.taken(f) && (b.lower == b.upper || b.lower && f.side == lower || b.upper && f.side == upper) {
			fits, last = append(fits, f), max(last, f.side)
		}
	}
	if len(fits) == 0 || fits[0].base != fits[len(fits)-1].base || !b.lower && fits[0].side == lower && last != upper {
		return false
	}
	for _, f := range fits {
		r.Args[f.Name] = f.Day(s)
	}
	return true
}

// due fills in today where a question has the word for a passed day and no date.
func (r values) due() {
	f := r.Tool.First(func(f *Field) bool { return f.Is(Date) && f.side == upper })
	dated := func(t language.Token) bool { return t.Kind == language.Date }
	if f == nil || r.Tool.Writes() || r.has("when") || slices.ContainsFunc(r.Tokens, dated) ||
		r.Tool.First(func(other *Field) bool { return other.side == lower && other.base == f.base }) != nil {
		return
	}
	for i, t := range r.Tokens {
		if r.free(i) && sides[t.Low] == none && f.says(r.x, t.Stem) {
			r.take(i, 1, 4)
			r.Asked[t.Stem] = true
			r.Args[f.Name] = language.Day(r.c.Today)
		}
	}
}

// choices fills in inputs with a fixed set of values, and switches, when the
// question has the words for a value. The longer phrase says more: "past due".
func (r values) choices() {
	for _, f := range r.Tool.Inputs {
		phrases := map[string]any{}
		if f.typ == "boolean" && !r.Tool.Writes() {
			phrases[strings.Join(slices.DeleteFunc(slices.Clone(f.Words), func(w string) bool { return r.x.Is(w, "idle") }), " ")] = true
		}
		for _, value := range f.Enum {
			if !f.Is(Order) {
				phrases[strings.Join(language.Identifier(value), " ")] = value
			}
			for _, phrase := range f.Values[value] {
				phrases[phrase] = value
			}
		}
		longest := slices.SortedFunc(maps.Keys(phrases), func(a, b string) int {
			return cmp.Or(cmp.Compare(strings.Count(b, " "), strings.Count(a, " ")), cmp.Compare(a, b))
		})
		for _, phrase := range longest {
			words := language.Identifier(phrase)
			for i := 0; i+len(words) <= len(r.Tokens) && len(words) > 0 && !r.taken(f); i++ {
				if r.reads(i, words) {
					r.take(i, len(words), 4)
					r.Args[f.Name] = phrases[phrase]
				}
			}
		}
	}
}

// reads reports whether the unread words from the i-th are these, in any form.
func (r values) reads(i int, words []string) bool {
	for j, w := range words {
		if !r.free(i+j) || r.Tokens[i+j].Stem != language.Stem(w) {
			return false
		}
	}
	return true
}

// numbers fills in numbers: a change's new value, a year, "5 books".
func (r values) numbers() {
	for i, t := range r.Tokens {
		if t.Kind != language.Number || r.uses[i] != unread {
			continue
		}
		switch f := r.numberFor(i); {
		case f != nil && r.Tool.Writes() && (t.Amount.Percent || r.low(i-1) == "by"):
			r.take(i, 1, 2)
			r.Step = &Step{Input: f, By: t.Amount, Down: r.Falls()}
		case f != nil:
			r.take(i, 1, 2)
			r.Args[f.Name] = f.Number(t.Amount.Value)
		case r.Tool.Input("limit") != nil && r.Tool.Lists() && !r.x.Is(r.low(i-1), language.Measures...) && r.isAnchor(i+1):
			r.take(i, 1, 1)
			r.Args["limit"] = int64(min(50, max(1, t.Amount.Value)))
		}
	}
}

// numberFor is the input that the i-th token, a number, belongs to.
func (r values) numberFor(i int) *Field {
	var fits []*Field
	for _, f := range r.Tool.Inputs {
		year := f.has("year")
		switch {
		case !f.Is(Number) || r.taken(f) || year && !r.Tokens[i].IsYear():
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

// Falls reports whether a change is downwards.
func (r *Reading) Falls() bool { return r.x.Is(r.Verb, "falling") }
