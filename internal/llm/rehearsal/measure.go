package rehearsal

import (
	"cmp"
	"fmt"
	"slices"
)

// measure is what is asked of many rows at once.
type measure struct {
	kind string // count, sum, average, highest, lowest, or empty
	n    int    // how many rows, for highest and lowest

	ordered bool   // the list itself puts the highest first
	column  string // the column that it is ordered by
}

// measures finds "how many", "total", "top 5" and their like, unless they are
// words of the tool itself.
func (r *reading) measures() {
	if !r.f.lists() {
		return
	}
	for i := range r.part {
		low := lowsFrom(r.part, i)
		for _, kind := range []string{"count", "sum", "average", "highest", "lowest"} {
			n := r.p.en.phrase(kind, low)
			if n == 0 || r.measure.kind != "" || r.uses[i] != unread || n == 1 && r.f.name[r.part[i].stem] {
				continue
			}
			r.measure.kind = kind
			for j := range n {
				r.uses[i+j] = given
			}
			r.countOf(i, i+n)
		}
	}
}

// someRows is how many "the biggest orders" are.
const someRows = 5

// countOf reads the number of rows beside "top", which stands from i to before
// end: "top 5", "the 5 largest", "5 orders with the highest value".
func (r *reading) countOf(i, end int) {
	r.measure.n = 1
	if end < len(r.part) && r.f.isAnchor(r.part[end]) && singular(r.part[end].low) != r.part[end].low {
		r.measure.n = someRows
	}
	if limit, ok := r.args["limit"].(int64); ok && r.measure.overNumbers() {
		r.measure.n = int(limit)
		delete(r.args, "limit") // the rows are chosen among all of them
	}
	for _, at := range []int{i - 1, end} {
		if at >= 0 && at < len(r.part) && r.part[at].kind == number && r.uses[at] == unread {
			r.measure.n = max(1, min(50, int(r.part[at].amount.value)))
			r.uses[at] = given
		}
	}
}

func lowsFrom(part []token, i int) []string {
	var out []string
	for _, t := range part[min(i, len(part)):] {
		if t.kind == mark || len(out) == 6 {
			break
		}
		out = append(out, t.low)
	}
	return out
}

// column takes the one word that is left beside "total" or "lowest" for a column
// of the rows: their schema need not be known before they come.
func (r *reading) column() {
	left := r.leftover()
	if !r.measure.overNumbers() || !r.anchored || len(left) != 1 || r.part[left[0]].kind != word || !r.valueLike(r.part[left[0]]) {
		return
	}
	if before := r.lowAt(left[0] - 1); before != "most" && r.p.en.measures(before) {
		r.asked[r.part[left[0]].stem] = true
		r.give(left[0], 1, 1)
	}
}

// overNumbers reports whether the measure needs a column of numbers.
func (m measure) overNumbers() bool { return m.kind != "" && m.kind != "count" }

func (m measure) word() string {
	if m.kind == "sum" {
		return "total"
	}
	return m.kind
}

// count tells how many rows there are, and never takes a part for the whole.
func (p *planner) count(r *reading, args map[string]any, l listing) string {
	which := p.which(r, found{self: true}, args)
	switch n := counted(len(l.rows), r.f.noun); {
	case l.more:
		return fmt.Sprintf("There are more than %s%s that you can see.", n, which)
	case len(l.rows) == 1:
		return fmt.Sprintf("There is %s%s that you can see.", n, which)
	default:
		return fmt.Sprintf("There are %s%s that you can see.", n, which)
	}
}

// counted writes a number of things.
func counted(n int, noun string) string {
	if n == 1 {
		noun = singular(noun)
	}
	return fmt.Sprintf("%d %s", n, noun)
}

// measured sums up a column of numbers, or shows its extremes.
func (p *planner) measured(r *reading, args map[string]any, l listing) string {
	if r.measure.kind == "compare" {
		return p.comparison(r, args, l)
	}
	key := p.numberColumn(r, l.rows)
	if key == "" {
		if hidden := p.hiddenColumn(r, l.rows); hidden != "" {
			return fmt.Sprintf("I cannot work that out: %s is hidden from you.", p.label(hidden))
		}
		return fmt.Sprintf("I can't tell which number of the %s you mean.", r.f.noun)
	}
	rows, skipped := withNumber(l.rows, key)
	if r.measure.kind == "highest" || r.measure.kind == "lowest" {
		return p.extremes(r, rows, key) + leftOut(skipped)
	}
	total := 0.0
	for _, one := range rows {
		v, _ := numberOf(one.values[key])
		total += v
	}
	part := ""
	if l.more {
		part = fmt.Sprintf(" of the first %d", len(l.rows))
	}
	if r.measure.kind == "average" {
		total /= float64(len(rows))
	}
	return fmt.Sprintf("The %s %s%s is %s%s, over %d %s.", r.measure.word(), p.label(key), part,
		p.sign(key, l.rows), plainNumber(total), len(rows), r.f.noun) + leftOut(skipped)
}

func leftOut(skipped int) string {
	if skipped == 0 {
		return ""
	}
	return fmt.Sprintf(" %d more have no number that you may see.", skipped)
}

func (p *planner) extremes(r *reading, rows []row, key string) string {
	slices.SortStableFunc(rows, func(a, b row) int {
		x, _ := numberOf(a.values[key])
		y, _ := numberOf(b.values[key])
		if r.measure.kind == "lowest" {
			return cmp.Compare(x, y)
		}
		return cmp.Compare(y, x)
	})
	rows = rows[:min(r.measure.n, len(rows))]
	if len(rows) == 1 && nameOf(rows[0]) != "" {
		return fmt.Sprintf("%s has the %s %s: %s.", clean(nameOf(rows[0])), r.measure.word(), p.label(key), p.show(key, rows[0].values[key]))
	}
	if len(rows) == 1 {
		return fmt.Sprintf("The one with the %s %s:\n\n%s", r.measure.word(), p.label(key), p.table(r, rows))
	}
	return fmt.Sprintf("The %d %s with the %s %s:\n\n%s", len(rows), r.f.noun, r.measure.word(), p.label(key), p.table(r, rows))
}

func withNumber(rows []row, key string) (out []row, skipped int) {
	for _, r := range rows {
		if _, ok := numberOf(r.values[key]); ok {
			out = append(out, r)
		} else {
			skipped++
		}
	}
	return out, skipped
}

func (p *planner) numberColumn(r *reading, rows []row) string {
	best, bestScore := r.measure.column, 0
	if best != "" {
		return best
	}
	for _, one := range rows {
		for _, k := range one.keys {
			if _, ok := numberOf(one.values[k]); ok && !isIDKey(k) && p.relevance(r, k) > bestScore {
				best, bestScore = k, p.relevance(r, k)
			}
		}
	}
	if best == "" {
		best = onlyAmount(rows)
	}
	return best
}

// onlyAmount is the one column of amounts that the rows have.
func onlyAmount(rows []row) (only string) {
	for _, k := range keysOf(rows) {
		if _, ok := numberOf(rows[0].values[k]); !ok || !isAmount(k) {
			continue
		}
		if only != "" {
			return ""
		}
		only = k
	}
	return only
}

func (p *planner) hiddenColumn(r *reading, rows []row) string {
	for _, one := range rows {
		for _, k := range one.keys {
			if masked(one.values[k]) && p.relevance(r, k) > 0 {
				return k
			}
		}
	}
	return ""
}
