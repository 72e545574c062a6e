package match

import (
	"slices"
	"strings"

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

// Word is how the measure is named to people.
func (m Measure) Word() string {
	if m.Kind == "sum" {
		return "total"
	}
	return m.Kind
}

// someRows is how many "the biggest orders" are.
const someRows = 5

// measures finds "how many", "total", "top 5" and their like, unless they are
// words of the tool itself.
func (r *Reading) measures() {
	for i := range r.part {
		for _, kind := range language.Measures {
			m := Measure{Kind: kind, Count: 1}
			n := r.x.Phrase(kind, lowsFrom(r.part, i))
			if n == 0 || !r.Tool.Lists() || r.uses[i] != unread || n == 1 && r.Tool.name[r.part[i].Stem] || m.OverDates() && r.Tool.DateColumn() == "" {
				continue
			}
			if r.Measure.Kind == "" {
				r.Measure = m
				r.take(i, n, 0)
				r.extent(i, i+n)
			} else if r.Measure.Kind == "count" && kind == "sum" { // "how many … in total"
				r.take(i, n, 0)
			}
		}
	}
	r.compares()
}

// extent reads how many rows "top" asks for, which is the words from i to before
// end: "top 5", "the 5 largest", "5 orders with the highest value"; and of what.
func (r *Reading) extent(i, end int) {
	m := &r.Measure
	if r.isAnchor(end) && language.Plural(r.part[end].Low) {
		m.Count = someRows
	}
	if limit, ok := r.Args["limit"].(int64); ok && m.Kind != "count" {
		m.Count = int(limit)
		delete(r.Args, "limit") // the rows are chosen among all of them
	}
	for _, at := range []int{i - 1, end} {
		if at >= 0 && at < len(r.part) && r.part[at].Kind == language.Number && r.uses[at] == unread {
			m.Count = max(1, min(50, int(r.part[at].Amount.Value)))
			r.take(at, 1, 0)
		}
	}
	if !m.overNumbers() || m.Kind == "average" || r.Tool.Amount() == "" || r.isAnchor(end) {
		return
	}
	for at, t := range r.part { // customer_name for "customers"
		names := r.Tool.columns(func(f *Field) bool {
			return len(f.Words) == 2 && f.Words[1] == "name" && (language.Stem(f.Words[0]) == t.Stem || f.also[t.Stem])
		})
		if len(names) > 0 && r.free(at) && language.Plural(t.Low) && !r.isAnchor(at) {
			m.By, m.Count = names[0].Name, max(m.Count, someRows)
			r.take(at, 1, 4)
		}
	}
}

// DateColumn is the column by which rows are new or old: the first day, or else
// the first moment, that is no date of something to come; empty when there is
// none.
func (t *Tool) DateColumn() string {
	dates := t.columns(func(f *Field) bool { return f.Is(Date) && !f.has("due", "next", "expected", "updated") })
	moment := func(f *Field) bool { return f.Show == "detail" || strings.HasSuffix(f.Name, "_at") }
	slices.SortStableFunc(dates, func(a, b *Field) int {
		if moment(a) == moment(b) {
			return 0
		} else if moment(a) {
			return 1
		}
		return -1
	})
	if len(dates) == 0 {
		return ""
	}
	return dates[0].Name
}

// compares reports whether a question sets the numbers of all rows side by side:
// "budget against actual spend".
func (r *Reading) compares() {
	amounts := r.Tool.columns(func(f *Field) bool { return f.Amount || IsAmount(f.Name) })
	if r.Measure.Kind != "" || !r.Tool.Lists() || len(amounts) == 0 {
		return
	}
	ours := r.x.Phrase("howmuch", lowsFrom(r.part, 0)) > 0 || r.has("we", "our")
	for i, t := range r.part {
		if i > 0 && r.uses[i] == unread && r.x.Is(t.Low, "versus") {
			r.take(i, 1, 1)
			r.Measure.Kind = "compare"
		} else if ours && (r.Tool.synonyms[t.Stem] || slices.ContainsFunc(amounts, func(f *Field) bool { return f.stems[t.Stem] || f.also[t.Stem] })) {
			r.Measure.Kind = "compare"
		}
	}
}

// lastWord takes the only word that is left beside "total" or "lowest" for a
// column of rows whose schema is not declared.
func (r *Reading) lastWord() {
	left := r.left()
	if !r.Measure.overNumbers() || !r.anchored || len(r.Tool.Columns) > 0 || len(left) != 1 || !r.free(left[0]) || !r.x.MayBeValue(r.part[left[0]]) {
		return
	}
	if before := r.low(left[0] - 1); before != "most" && r.x.Measures(before) {
		r.Asked[r.part[left[0]].Stem] = true
		r.take(left[0], 1, 1)
	}
}

// ordering reads what the question says of the order of the rows, for a list
// with an input for it.
func (r *Reading) ordering() {
	f := r.Tool.First(func(f *Field) bool { return f.Is(Order) })
	if f == nil || r.Tool.Writes() {
		return
	}
	for i := range r.part {
		low := lowsFrom(r.part, i)
		if n := r.x.Phrase("sorted", low); n > 0 && n < len(low) {
			for _, e := range f.Enum {
				if words, falls := order(e); !r.taken(f) && slices.Contains(words, low[n]) {
					r.take(i, n+1, 3)
					r.Args[f.Name] = e
					if after := r.low(i + n + 1); falls && (after == "descending" || after == "desc") {
						r.take(i+n+1, 1, 1)
					}
				}
			}
		}
		for _, section := range []string{"newest", "oldest"} {
			if n := r.x.Phrase(section, low); n > 0 && r.uses[i] == unread && !r.taken(f) && f.Value(section) != "" {
				r.take(i, n, 2)
				r.Args[f.Name] = f.Value(section)
			}
		}
	}
}

// order takes a value like value_desc or -value apart.
func order(value string) (words []string, falls bool) {
	words = language.Identifier(value)
	if last := len(words) - 1; last > 0 && (words[last] == "desc" || words[last] == "descending") {
		return words[:last], true
	}
	return words, strings.HasPrefix(value, "-")
}

// topFirst orders a list so that the rows with the highest number come first,
// when the list can: then one page has them.
func (r *Reading) topFirst() {
	f := r.Tool.First(func(f *Field) bool { return f.Is(Order) })
	if f == nil || r.Measure.Kind != "highest" || r.Measure.By != "" || r.taken(f) {
		return
	}
	for _, e := range f.Enum {
		words, falls := order(e)
		other := r.Tool.columns(func(f *Field) bool { // "the highest probability"
			return f.Is(Number) && slices.ContainsFunc(f.Words, func(w string) bool {
				s := language.Stem(w)
				return r.Asked[s] && !r.Tool.name[s] && !slices.Contains(words, w)
			})
		})
		if falls && len(other) == 0 {
			r.Args[f.Name], r.Measure.Column = e, strings.Join(words, "_")
			return
		}
	}
}
