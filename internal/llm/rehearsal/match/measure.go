package match

import (
	"maps"
	"slices"
	"strings"

	"countersign.dev/internal/llm/rehearsal/language"
)

// Measure is what is asked of many rows at once.
type Measure struct {
	Kind    string // count, sum, average, highest, lowest, newest, oldest, compare, or empty
	Count   int    // how many rows, for the extremes
	Column  string // the column that the list itself is ordered by; else empty
	Ordered bool   // the list itself puts the asked rows first
	By      string // the column whose equal values are added up: "our biggest customers"
}

// OverNumbers reports whether the measure needs a column of numbers.
func (m Measure) OverNumbers() bool { return m.Kind != "" && m.Kind != "count" && !m.OverDates() }

// OverDates reports whether the measure needs a column of dates.
func (m Measure) OverDates() bool { return m.Kind == "newest" || m.Kind == "oldest" }

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
	if !r.Tool.Lists() {
		return
	}
	for i := range r.part {
		low := lowsFrom(r.part, i)
		for _, kind := range []string{"count", "sum", "average", "highest", "lowest", "newest", "oldest"} {
			n := r.x.Phrase(kind, low)
			if n == 0 || r.uses[i] != unread || n == 1 && r.Tool.name[r.part[i].Stem] || Measure.OverDates(Measure{Kind: kind}) && r.Tool.DateColumn() == "" {
				continue
			}
			if r.Measure.Kind != "" && !(r.Measure.Kind == "count" && kind == "sum") { // "how many … in total"
				continue
			}
			if r.Measure.Kind == "" {
				r.Measure.Kind = kind
			}
			for j := range n {
				r.uses[i+j] = given
			}
			r.extent(i, i+n)
		}
	}
	if r.Measure.Kind == "" {
		r.compares()
	}
}

// extent reads how many rows "top" asks for, which is the words from i to before end:
// "top 5", "the 5 largest", "5 orders with the highest value"; and of what.
func (r *Reading) extent(i, end int) {
	m := &r.Measure
	m.Count = max(m.Count, 1)
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
			r.uses[at] = given
		}
	}
	if !m.OverNumbers() || m.Kind == "average" || r.Tool.Amount() == "" || r.isAnchor(end) {
		return
	}
	for at := range r.part {
		if by := r.groupColumn(at); by != "" {
			if m.By = by; m.Count == 1 {
				m.Count = someRows
			}
			r.take(at, 1, 4)
		}
	}
}

// groupColumn is the column of names that a plural noun asks to add up by:
// customer_name for "customers".
func (r *Reading) groupColumn(i int) string {
	if !r.free(i) || !language.Plural(r.part[i].Low) || r.isAnchor(i) {
		return ""
	}
	for _, name := range slices.Sorted(maps.Keys(r.Tool.Columns)) {
		w := language.Identifier(name)
		if len(w) == 2 && w[1] == "name" && (language.Stem(w[0]) == r.part[i].Stem || slices.Contains(r.Tool.Columns[name].Meta.Synonyms, language.Singular(r.part[i].Low))) {
			return name
		}
	}
	return ""
}

// DateColumn is the column by which rows are new or old: the first day, or else
// the first moment, that is no date of something to come; empty when there is
// none.
func (t *Tool) DateColumn() string {
	fallback := ""
	for _, name := range slices.Sorted(maps.Keys(t.Columns)) {
		c := t.Columns[name]
		switch {
		case !c.date || c.stems["du"] || c.stems["next"] || c.stems["expect"] || c.stems["updat"]:
		case c.Meta.Show != "detail" && !strings.HasSuffix(name, "_at"):
			return name
		case fallback == "" || c.stems["creat"]:
			fallback = name
		}
	}
	return fallback
}

// compares reports whether a question sets the numbers of all rows side by side:
// "budget against actual spend".
func (r *Reading) compares() {
	if !slices.ContainsFunc(slices.Collect(maps.Values(r.Tool.Columns)), func(c Column) bool { return c.Meta.Amount || IsAmount(c.Name) }) {
		return
	}
	for i, t := range r.part {
		if r.x.Is("versus", t.Low) && r.uses[i] == unread && i > 0 {
			r.take(i, 1, 1)
			r.Measure.Kind = "compare"
		}
	}
	ours := r.x.Phrase("howmuch", lowsFrom(r.part, 0)) > 0 || r.has("we", "our")
	if ours && slices.ContainsFunc(r.part, func(t language.Token) bool { return r.x.Is("spending", t.Low) }) {
		r.Measure.Kind = "compare"
	}
}

// lastWord takes the only word that is left beside "total" or "lowest" for a
// column of the rows: their schema need not be known before they come.
func (r *Reading) lastWord() {
	left := r.left()
	if !r.Measure.OverNumbers() || !r.anchored || len(r.Tool.Columns) > 0 || len(left) != 1 || !r.free(left[0]) || !r.x.MayBeValue(r.part[left[0]]) {
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
	p := r.Tool.First((*Input).isOrder)
	if p == nil || r.Tool.Writes() {
		return
	}
	for i := range r.part {
		low := lowsFrom(r.part, i)
		if n := r.x.Phrase("sorted", low); n > 0 && i+n < len(r.part) {
			r.sortedBy(p, i, n)
		}
		for _, section := range []string{"newest", "oldest"} {
			if n := r.x.Phrase(section, low); n > 0 && r.uses[i] == unread && !r.taken(p) && p.Value(section) != "" {
				r.take(i, n, 2)
				r.Args[p.Name] = p.Value(section)
			}
		}
	}
}

// sortedBy gives the value of an order whose words stand behind "sorted by".
func (r *Reading) sortedBy(p *Input, i, n int) {
	for _, e := range p.Enum {
		words, falls := fallingOrder(e)
		if r.part[i+n].Stem != language.Stem(words[0]) {
			continue
		}
		r.take(i, n+1, 3)
		r.Args[p.Name] = e
		if after := r.low(i + n + 1); falls && (after == "descending" || after == "desc") {
			r.take(i+n+1, 1, 1)
		}
		return
	}
}

// fallingOrder takes a value like value_desc or -value apart.
func fallingOrder(value string) (words []string, falls bool) {
	words = append(language.Identifier(value), "")
	words = words[:max(1, len(words)-1)]
	if last := len(words) - 1; last > 0 && (words[last] == "desc" || words[last] == "descending") {
		return words[:last], true
	}
	return words, strings.HasPrefix(value, "-")
}

// topFirst orders a list so that the rows with the highest number come first,
// when the list can: then one page has them.
func (r *Reading) topFirst() {
	p := r.Tool.First((*Input).isOrder)
	if p == nil || r.Measure.Kind != "highest" || r.Measure.By != "" || r.taken(p) {
		return
	}
	for _, e := range p.Enum {
		words, falls := fallingOrder(e)
		other := func(c Column) bool { // "the highest probability"
			return (c.typ == "number" || c.typ == "integer") && slices.ContainsFunc(language.Identifier(c.Name), func(w string) bool {
				s := language.Stem(w)
				return r.Asked[s] && !r.Tool.name[s] && !slices.Contains(words, w)
			})
		}
		if falls && !slices.ContainsFunc(slices.Collect(maps.Values(r.Tool.Columns)), other) {
			r.Args[p.Name] = e
			r.Measure.Ordered, r.Measure.Column = true, strings.Join(words, "_")
			return
		}
	}
}
