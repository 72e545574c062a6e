package speak

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"countersign.dev/internal/llm/rehearsal/match"
)

// measured answers with a figure over many rows: a sum, an average, the extremes.
func measured(r *match.Reading, which string, l Listing) string {
	m := r.Measure
	if m.Kind == "compare" {
		return comparison(r, which, l)
	}
	key := measuredColumn(r, l.Rows)
	if key == "" {
		if hidden := hiddenColumn(r, l.Rows); hidden != "" {
			return fmt.Sprintf("I cannot work that out: %s is hidden from you.", Label(r.Tool, hidden))
		}
		return fmt.Sprintf("I can't tell which number of the %s you mean.", r.Tool.Noun)
	}
	rows := slices.DeleteFunc(slices.Clone(l.Rows), func(one Row) bool { return !has(one, key, m) })
	skipped := ""
	if n := len(l.Rows) - len(rows); n > 0 {
		skipped = fmt.Sprintf(" %d more have no value that you may see.", n)
	}
	part := ""
	if l.More {
		part = fmt.Sprintf(" of the first %d", len(l.Rows))
	}
	switch {
	case m.By != "":
		return byGroup(r, rows, key, part) + skipped
	case m.Kind != "sum" && m.Kind != "average":
		return extremes(r, rows, key, which) + skipped
	}
	total := sum(rows, key)
	if m.Kind == "average" {
		total /= float64(len(rows))
	}
	return fmt.Sprintf("The %s %s%s%s is %s, over %s.%s", m.Word(), Label(r.Tool, key), part, which, Figure(r.Tool, key, total), Counted(len(rows), r.Tool.Noun), skipped)
}

func has(one Row, key string, m match.Measure) bool {
	_, isNumber := Number(one.Values[key])
	return isNumber || m.OverDates() && text(one, key) != ""
}

// sum adds up in hundredths, so that cents do not drift.
func sum(rows []Row, key string) float64 {
	var hundredths int64
	for _, one := range rows {
		if v, ok := Number(one.Values[key]); ok {
			hundredths += int64(math.Round(v * 100))
		}
	}
	return float64(hundredths) / 100
}

// measuredColumn is the column that a measure is taken of: the one that the list
// is ordered by, the one that the question names, or the declared amount.
func measuredColumn(r *match.Reading, rows []Row) string {
	m := r.Measure
	if m.OverDates() {
		return r.Tool.DateColumn()
	}
	best, most := m.Column, 0
	for _, one := range rows[:min(len(rows), 5)] {
		for _, k := range one.Keys {
			if _, ok := Number(one.Values[k]); ok && m.Column == "" && !IsID(k) && r.Relevance(k) > most {
				best, most = k, r.Relevance(k)
			}
		}
	}
	if best == "" && hiddenColumn(r, rows) == "" {
		best = amountOf(r, rows)
	}
	return best
}

// amountOf is the declared amount, or the only number of the rows that is named
// like one.
func amountOf(r *match.Reading, rows []Row) (only string) {
	if key := r.Tool.Amount(); key != "" && slices.ContainsFunc(rows, func(one Row) bool { return has(one, key, match.Measure{}) }) {
		return key
	}
	for _, k := range rows[0].Keys {
		if has(rows[0], k, match.Measure{}) && match.IsAmount(k) {
			if only != "" {
				return ""
			}
			only = k
		}
	}
	return only
}

func hiddenColumn(r *match.Reading, rows []Row) string {
	for _, one := range rows {
		for _, k := range one.Keys {
			if Masked(one.Values[k]) && r.Relevance(k) > 0 {
				return k
			}
		}
	}
	return ""
}

// extremes names the rows with the highest or lowest value, or the newest ones.
func extremes(r *match.Reading, rows []Row, key, which string) string {
	low := r.Measure.Kind == "lowest" || r.Measure.Kind == "oldest"
	slices.SortStableFunc(rows, func(a, b Row) int {
		x, _ := Number(a.Values[key])
		y, _ := Number(b.Values[key])
		order := cmp.Or(cmp.Compare(y, x), cmp.Compare(text(b, key), text(a, key)))
		if low {
			return -order
		}
		return order
	})
	rows = rows[:min(r.Measure.Count, len(rows))]
	what := "with the " + r.Measure.Word() + " " + Label(r.Tool, key)
	if len(rows) == 1 && r.Measure.OverDates() {
		return fmt.Sprintf("The %s of the %s%s is %s: %s %s.", r.Measure.Word(), r.Tool.Noun, which, title(rows[0]), Label(r.Tool, key), Value(r.Tool, key, rows[0].Values[key]))
	}
	if len(rows) == 1 {
		return fmt.Sprintf("%s has the %s %s%s: %s.", title(rows[0])+described(rows[0]), r.Measure.Word(), Label(r.Tool, key), which, Value(r.Tool, key, rows[0].Values[key]))
	}
	var b strings.Builder
	fmt.Fprintf(&b, "The %d %s %s%s:", len(rows), r.Tool.Noun, what, which)
	for _, one := range rows {
		b.WriteString("\n- " + title(one) + ": " + Label(r.Tool, key) + " " + Value(r.Tool, key, one.Values[key]))
	}
	return b.String()
}

// byGroup adds the rows up by one of their columns and names the largest sums.
func byGroup(r *match.Reading, rows []Row, key, part string) string {
	m := r.Measure
	groups := map[string][]Row{}
	var names []string
	for _, one := range rows {
		name := text(one, m.By)
		if groups[name] == nil {
			names = append(names, name)
		}
		groups[name] = append(groups[name], one)
	}
	slices.SortStableFunc(names, func(a, b string) int {
		order := cmp.Compare(sum(groups[b], key), sum(groups[a], key))
		if m.Kind == "lowest" {
			return -order
		}
		return order
	})
	var b strings.Builder
	fmt.Fprintf(&b, "By the total %s%s of the %s that you can see:", Label(r.Tool, key), part, r.Tool.Noun)
	for _, name := range names[:min(m.Count, len(names))] {
		fmt.Fprintf(&b, "\n- %s: %s over %s", cmp.Or(Clean(name), "without a name"), Figure(r.Tool, key, sum(groups[name], key)), Counted(len(groups[name]), r.Tool.Noun))
	}
	return b.String()
}

// comparison tells the sums of all amounts, and the rows that they come from.
func comparison(r *match.Reading, which string, l Listing) string {
	var parts []string
	for _, k := range l.Rows[0].Keys {
		if has(l.Rows[0], k, match.Measure{}) && match.IsAmount(k) {
			parts = append(parts, strings.TrimSuffix(Label(r.Tool, k), " amount")+" "+Figure(r.Tool, k, sum(l.Rows, k)))
		}
	}
	if len(parts) == 0 {
		return "I found " + Counted(len(l.Rows), r.Tool.Noun) + which + ":" + rowNames(r, l.Rows)
	}
	over := "In all" + which
	if l.More {
		over = fmt.Sprintf("Of the first %d%s", len(l.Rows), which)
	}
	return fmt.Sprintf("%s, over %s: %s.", over, Counted(len(l.Rows), r.Tool.Noun), Join(parts, "and")) + rowNames(r, l.Rows)
}
