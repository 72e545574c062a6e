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
func measured(r *match.Reading, which string, l *Answer) string {
	if l.More {
		which = fmt.Sprintf(" of the first %d", len(l.Rows)) + which
	}
	if r.Measure.Kind == "compare" {
		return comparison(r, which, l)
	}
	key, hidden := measuredColumn(r, l.Rows)
	label := Label(r.Tool, key)
	rows := slices.DeleteFunc(slices.Clone(l.Rows), func(one Row) bool {
		_, isNumber := one.Number(key)
		return !isNumber && !(r.Measure.OverDates() && one.Text(key) != "")
	})
	answer := ""
	switch kind := r.Measure.Kind; {
	case hidden != "":
		return fmt.Sprintf("I cannot work that out: %s is hidden from you.", Label(r.Tool, hidden))
	case key == "":
		return fmt.Sprintf("I can't tell which number of the %s you mean.", r.Tool.Noun)
	case len(rows) == 0:
		return fmt.Sprintf("None of the %s has a %s that you may see.", r.Tool.Noun, label)
	case kind != "sum" && kind != "average" || r.Measure.By != "":
		answer = ranked(r, rows, key, which)
	default:
		total := sum(rows, key)
		if kind == "average" {
			total /= float64(len(rows))
		}
		answer = fmt.Sprintf("The %s %s%s is %s, over %s.", strings.Replace(kind, "sum", "total", 1), label, which, figure(r.Tool.Column(key), total), Counted(len(rows), r.Tool.Noun))
	}
	if n := len(l.Rows) - len(rows); n > 0 {
		answer += fmt.Sprintf(" %d more have no value that you may see.", n)
	}
	return answer
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
	switch {
	case r.Measure.OverDates():
		return r.Tool.DateColumn(), ""
	case r.Measure.Column != "":
		return r.Measure.Column, ""
	}
	for _, one := range rows {
		for _, k := range relevant(r, one) {
			if _, ok := one.Number(k); ok {
				return k, ""
			} else if one.Masked(k) {
				hidden = k
			}
		}
	}
	return r.Tool.Amount(), hidden
}

// group is the rows that share a value, or one row.
type group struct {
	name, text string
	rows       []Row
	sum        float64
}

// ranked names the rows with the highest or lowest value, the newest ones, or the
// values of a column whose rows have the largest sums.
func ranked(r *match.Reading, rows []Row, key, which string) string {
	var found []group
	m, label := r.Measure, Label(r.Tool, key)
	for _, one := range rows {
		i := slices.IndexFunc(found, func(g group) bool { return m.By != "" && g.name == one.Text(m.By) })
		if i < 0 {
			i, found = len(found), append(found, group{name: cmp.Or(one.Text(m.By), one.title()), text: one.Text(key)})
		}
		found[i].rows = append(found[i].rows, one)
		found[i].sum = sum(found[i].rows, key)
	}
	slices.SortStableFunc(found, func(a, b group) int { return cmp.Or(cmp.Compare(b.sum, a.sum), cmp.Compare(b.text, a.text)) })
	if m.Kind == "lowest" || m.Kind == "oldest" {
		slices.Reverse(found)
	}
	found = found[:min(m.Count, len(found))]
	if len(found) == 1 && m.By == "" {
		name, shown := found[0].name+found[0].rows[0].Described(), cmp.Or(found[0].text, figure(r.Tool.Column(key), found[0].sum))
		if m.OverDates() {
			return fmt.Sprintf("%s is the %s%s: %s %s.", name, m.Kind, which, label, shown)
		}
		return fmt.Sprintf("%s has the %s %s%s: %s.", name, m.Kind, label, which, shown)
	}
	answer := fmt.Sprintf("The %d %s with the %s %s%s:", len(found), r.Tool.Noun, m.Kind, label, which)
	if m.By != "" {
		answer = fmt.Sprintf("By the total %s%s of the %s that you can see:", label, which, r.Tool.Noun)
	}
	for _, g := range found {
		answer += fmt.Sprintf("\n- %s: %s", g.name, cmp.Or(g.text, figure(r.Tool.Column(key), g.sum)))
		if m.By != "" {
			answer += " over " + Counted(len(g.rows), r.Tool.Noun)
		}
	}
	return answer
}

// comparison writes the sums of all amounts, and the rows that they come from.
func comparison(r *match.Reading, which string, l *Answer) string {
	var parts []string
	for _, k := range l.Rows[0].Keys {
		if _, isNumber := l.Rows[0].Number(k); isNumber && match.IsAmount(k) {
			parts = append(parts, strings.TrimSuffix(Label(r.Tool, k), " amount")+" "+figure(r.Tool.Column(k), sum(l.Rows, k)))
		}
	}
	return fmt.Sprintf("In all%s, over %s: %s.", which, Counted(len(l.Rows), r.Tool.Noun), Join(parts, "and")) + lines(r, l.Rows)
}
