package match

import (
	"slices"

	"countersign.dev/internal/llm/rehearsal/language"
)

// Measure is what is asked of many rows at once.
type Measure struct {
	Kind   string // count, sum, average, highest, lowest, newest, oldest, compare, or empty
	Count  int    // how many rows, for the extremes
	Column string // the column by which the list itself puts the asked rows first; else empty
	By     string // the column whose equal values are added up: "our biggest customers"
}

// OverDates reports whether the measure needs a column of dates.
func (m Measure) OverDates() bool { return m.Kind == "newest" || m.Kind == "oldest" }

func (m Measure) overNumbers() bool { return m.Kind != "" && m.Kind != "count" && !m.OverDates() }

// someRows is how many "the biggest orders" are.
const someRows = 5

// measure finds "how many", "total", "top 5".
func (r reader) measure(i int) {
	for _, kind := range language.Measures {
		n := r.x.Phrase(kind, r.lows(i))
		switch {
		case !r.Tool.Lists() || n == 0 || n == 1 && r.Tool.Names(r.Tokens[i].Stem):
		case r.Measure.Kind == "":
			r.Measure = Measure{Kind: kind, Count: 1}
			r.take(i, n, 0)
			r.extent(i, i+n)
		case r.Measure.Kind == "count" && kind == "sum": // "how many … in total"
			r.take(i, n, 0)
		}
	}
}

// extent reads how many rows "top" asks for, which is the words from i to before
// end: "top 5", "the 5 largest", "5 orders with the highest value"; and of what.
func (r reader) extent(i, end int) {
	m := &r.Measure
	if r.isAnchor(end) && language.Plural(r.Tokens[end].Low) {
		m.Count = someRows
	}
	if limit, ok := r.Args["limit"].(float64); ok && m.Kind != "count" {
		m.Count = int(limit)
		delete(r.Args, "limit") // the rows are chosen among all of them
	}
	for _, at := range []int{i - 1, end} {
		if at >= 0 && at < len(r.Tokens) && r.Tokens[at].Kind == language.Number && r.uses[at] == unread {
			m.Count = int(within(r.Tokens[at].Amount.Value))
			r.take(at, 1, 0)
		}
	}
	for at, t := range r.Tokens { // customer_name for "customers"
		names := r.Tool.columns(func(f *Field) bool { return len(f.Words) == 2 && f.Words[1] == "name" && f.says(r.x, t.Stem) })
		if m.overNumbers() && r.Tool.Amount() != "" && len(names) > 0 && r.free(at) && language.Plural(t.Low) && !r.isAnchor(at) && !r.isAnchor(end) {
			m.By, m.Count = names[0].Name, max(m.Count, someRows)
			r.take(at, 1, 4)
		}
	}
}

// compare finds a word that sets the numbers of all rows side by side: "budget
// against actual spend", "how much did we spend".
func (r reader) compare(i int) {
	t, versus := r.Tokens[i], r.x.Is(r.low(i), "versus")
	if r.Measure.Kind != "" || !versus && !r.has("we", "our") || !r.Tool.Lists() {
		return
	}
	amounts := r.Tool.columns(func(f *Field) bool { return f.Amount || IsAmount(f.Name) })
	spent := r.Tool.place[t.Stem] == inSynonym || slices.ContainsFunc(amounts, func(f *Field) bool { return f.says(r.x, t.Stem) })
	if len(amounts) == 0 || !versus && !spent {
		return
	}
	if r.Measure.Kind = "compare"; versus {
		r.take(i, 1, 1)
	}
}

// topFirst orders a list so that the rows with the highest amount come first,
// when the list can and no other number is asked for: then one page has them.
func (r reader) topFirst() {
	f, amount := r.Tool.First(func(f *Field) bool { return f.Is(Order) }), r.Tool.Amount()
	other := func(f *Field) bool { return f.Is(Number) && f.Name != amount && r.Relevance(f.Name) > 0 }
	if f == nil || r.Measure.Kind != "highest" || r.Measure.By != "" || r.taken(f) || len(r.Tool.columns(other)) > 0 {
		return
	}
	if value := f.Value(amount + "_desc"); value != "" {
		r.Args[f.Name], r.Measure.Column = value, amount
	}
}
