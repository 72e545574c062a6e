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
	key, hidden := measuredColumn(r, l.Rows)
	switch {
	case key == "" && hidden != "":
		return fmt.Sprintf("I cannot work that out: %s is hidden from you.", Label(r.Tool, hidden))
	case key == "":
		return fmt.Sprintf("I can't tell which number of the %s you mean.", r.Tool.Noun)
	}
	rows := slices.DeleteFunc(slices.Clone(l.Rows), func(one Row) bool {
		_, isNumber := one.Number(key)
		return !isNumber && !(m.OverDates() && one.Text(key) != "")
	})
	skipped := ""
	if n := len(l.Rows) - len(rows); n > 0 {
		skipped = fmt.Sprintf(" %d more have no value that you may see.", n)
	}
	if len(rows) == 0 {
		return fmt.Sprintf("None of the %s has a %s that you may see.", r.Tool.Noun, Label(r.Tool, key))
	}
	if l.More {
		which = fmt.Sprintf(" of the first %d", len(l.Rows)) + which
	}
	switch {
	case m.By != "":
		return byGroup(r, rows, key, which) + skipped
	case m.Kind != "sum" && m.Kind != "average":
		return extremes(r, rows, key, which) + skipped
	}
	total := sum(rows, key)
	if m.Kind == "average" {
		total /= float64(len(rows))
	}
	return fmt.Sprintf("The %s %s%s is %s, over %s.%s", m.Word(), Label(r.Tool, key), which, figure(r.Tool, key, total), Counted(len(rows), r.Tool.Noun), skipped)
}

// sum adds up in hundredths, so that cents do not drift.
func sum(rows []Row, key string) float64 {
	var hundredths int64
	for _, one := range rows {
		v, _ := one.Number(key)
		hundredths += int64(math.Round(v * 100))
	}
	return float64(hundredths) / 100
}

// measuredColumn is the column that a measure is taken of: the one that the list
// is ordered by, the one that the question names, or the amount. hidden is one
// that the question names and the person may not see.
func measuredColumn(r *match.Reading, rows []Row) (key, hidden string) {
	if r.Measure.OverDates() {
		return r.Tool.DateColumn(), ""
	}
	if r.Measure.Column != "" {
		return r.Measure.Column, ""
	}
	most := 0
	for _, one := range rows {
		for _, k := range one.Keys {
			relevance := r.Relevance(k)
			if _, ok := one.Number(k); ok && !match.IsID(k) && relevance > most {
				key, most = k, relevance
			} else if one.Masked(k) && relevance > 0 {
				hidden = k
			}
		}
	}
	if amounts := amounts(rows[0]); key == "" && hidden == "" && (len(amounts) == 1 || r.Tool.Amount() != "") {
		key = cmp.Or(r.Tool.Amount(), strings.Join(amounts, ""))
	}
	return key, hidden
}

// amounts are the numbers of a row that may be added up.
func amounts(one Row) (keys []string) {
	for _, k := range one.Keys {
		if _, ok := one.Number(k); ok && match.IsAmount(k) {
			keys = append(keys, k)
		}
	}
	return keys
}

// extremes names the rows with the highest or lowest value, or the newest ones.
func extremes(r *match.Reading, rows []Row, key, which string) string {
	m, label := r.Measure, Label(r.Tool, key)
	slices.SortStableFunc(rows, func(a, b Row) int {
		x, _ := a.Number(key)
		y, _ := b.Number(key)
		order := cmp.Or(cmp.Compare(y, x), cmp.Compare(b.Text(key), a.Text(key)))
		if m.Kind == "lowest" || m.Kind == "oldest" {
			return -order
		}
		return order
	})
	rows = rows[:min(m.Count, len(rows))]
	switch one := rows[0]; {
	case len(rows) == 1 && m.OverDates():
		return fmt.Sprintf("The %s of the %s%s is %s: %s %s.", m.Word(), r.Tool.Noun, which, one.title(), label, value(r.Tool, key, one.Values[key]))
	case len(rows) == 1:
		return fmt.Sprintf("%s has the %s %s%s: %s.", one.title()+described(one), m.Word(), label, which, value(r.Tool, key, one.Values[key]))
	}
	return fmt.Sprintf("The %d %s with the %s %s%s:", len(rows), r.Tool.Noun, m.Word(), label, which) + rowNames(r.Tool, rows, func(Row) []string { return []string{key} })
}

// byGroup adds the rows up by one of their columns and names the largest sums.
func byGroup(r *match.Reading, rows []Row, key, which string) string {
	groups := map[string][]Row{}
	var names []string
	for _, one := range rows {
		name := one.Text(r.Measure.By)
		if groups[name] == nil {
			names = append(names, name)
		}
		groups[name] = append(groups[name], one)
	}
	slices.SortStableFunc(names, func(a, b string) int {
		order := cmp.Compare(sum(groups[b], key), sum(groups[a], key))
		if r.Measure.Kind == "lowest" {
			return -order
		}
		return order
	})
	answer := fmt.Sprintf("By the total %s%s of the %s that you can see:", Label(r.Tool, key), which, r.Tool.Noun)
	for _, name := range names[:min(r.Measure.Count, len(names))] {
		answer += fmt.Sprintf("\n- %s: %s over %s", cmp.Or(Clean(name), "without a name"), figure(r.Tool, key, sum(groups[name], key)), Counted(len(groups[name]), r.Tool.Noun))
	}
	return answer
}

// comparison writes the sums of all amounts, and the rows that they come from.
func comparison(r *match.Reading, which string, l Listing) string {
	var parts []string
	for _, k := range amounts(l.Rows[0]) {
		parts = append(parts, strings.TrimSuffix(Label(r.Tool, k), " amount")+" "+figure(r.Tool, k, sum(l.Rows, k)))
	}
	over := "In all"
	if l.More {
		over = fmt.Sprintf("Of the first %d", len(l.Rows))
	}
	return fmt.Sprintf("%s%s, over %s: %s.", over, which, Counted(len(l.Rows), r.Tool.Noun), Join(parts, "and")) + rowNames(r.Tool, l.Rows, asked(r))
}
