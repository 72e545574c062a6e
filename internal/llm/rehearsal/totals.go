package rehearsal

import (
	"fmt"
	"slices"
	"strings"
)

// compares reports whether a question sets numbers of all the rows side by
// side: "budget against actual spend".
func (r *reading) compares() {
	if !r.f.closed && (!r.f.lists() || len(r.f.amounts()) == 0) {
		return
	}
	for i, t := range r.part {
		if r.p.en.is("versus", t.low) && r.uses[i] == unread && i > 0 && r.measure.kind == "" {
			r.give(i, 1, 1)
			r.measure.kind = "compare"
		}
	}
	if r.p.en.phrase("howmuch", lowsFrom(r.part, 0)) > 0 || r.lowIn("we") || r.lowIn("our") {
		if r.measure.kind == "" && slices.ContainsFunc(r.part, func(t token) bool { return r.p.en.is("spending", t.low) }) {
			r.measure.kind = "compare"
		}
	}
}

// amounts are the columns that may be added up: quantities, and neither rates
// nor points in time.
func (f *form) amounts() []string {
	var out []string
	for c := range f.numbers {
		if f.columns[c] && isAmount(c) {
			out = append(out, c)
		}
	}
	return out
}

func isAmount(key string) bool {
	return slices.Contains([]string{"amount", "value", "cost", "price", "total", "sum", "spent", "allocated", "remaining", "spend"}, lastWord(key))
}

// comparison tells the sums of the amounts, and the rows that they come from.
func (p *planner) comparison(r *reading, args map[string]any, l listing) string {
	keys := slices.DeleteFunc(keysOf(l.rows), func(k string) bool {
		return !isAmount(k) || !slices.ContainsFunc(l.rows, func(one row) bool { _, ok := numberOf(one.values[k]); return ok })
	})
	if len(keys) == 0 {
		return p.headLine(r, found{self: true}, args, l) + "\n\n" + p.table(r, l.rows)
	}
	total := row{values: map[string]any{}}
	var parts []string
	for _, k := range keys {
		text := p.sign(k, l.rows) + plainNumber(sumOf(l.rows, k))
		total.values[k] = text
		parts = append(parts, strings.TrimSuffix(strings.TrimSuffix(p.label(k), " amount"), " value")+" "+text)
	}
	which := "In all" + p.which(r, found{self: true}, args)
	if l.more {
		which = fmt.Sprintf("Of the first %d", len(l.rows))
	}
	head := fmt.Sprintf("%s, over %s: %s.", which, counted(len(l.rows), r.f.noun), joinAnd(parts))
	cols := p.columns(r, l.rows)
	cells := make([]string, len(cols))
	for i, c := range cols {
		if text, ok := total.values[c.keys[0]].(string); ok {
			cells[i] = "**" + text + "**"
		}
	}
	cells[0] = "**Total**"
	return head + "\n\n" + p.table(r, l.rows) + "\n| " + strings.Join(cells, " | ") + " |"
}

// sumOf adds up in hundredths, so that cents do not drift.
func sumOf(rows []row, key string) float64 {
	var hundredths int64
	for _, one := range rows {
		if v, ok := numberOf(one.values[key]); ok {
			hundredths += roundedHundredths(v)
		}
	}
	return float64(hundredths) / 100
}
