package speak

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"

	"countersign.dev/internal/llm/rehearsal/match"
)

// measured answers with figures over many rows: sums, an average, the extremes.
func measured(r *match.Reading, which string, l *Answer) (answer string) {
	if l.More {
		which = fmt.Sprintf(" of the first %d", len(l.Rows)) + which
	}
	key := measuredColumn(r, l.Rows)
	if key == "" {
		return fmt.Sprintf("I can't tell which number or date of the %s you mean.", r.Tool.Noun)
	}
	rows := slices.DeleteFunc(slices.Clone(l.Rows), func(one Row) bool {
		_, isNumber := one.Number(key)
		return !isNumber && !(r.Measure.OverDates() && one.Text(key) != "")
	})
	switch {
	case len(rows) == 0:
		return fmt.Sprintf("I cannot work that out: none of the %s has a %s, or it is hidden from you.", r.Tool.Noun, Label(r.Tool, key))
	case r.Measure.By == "" && r.Measure.Adds():
		answer = added(r, rows, key, which)
	default:
		answer = ranked(r, rows, key, which)
	}
	if n := len(l.Rows) - len(rows); n > 0 {
		answer += fmt.Sprintf(" %d more have no value that you may see.", n)
	}
	return answer
}

// measuredColumn is the column that a measure is taken of: the one that the list is
// ordered by, the one that the question names, or the amount.
func measuredColumn(r *match.Reading, rows []Row) string {
	if r.Measure.OverDates() {
		return r.Tool.DateColumn()
	}
	key := r.Measure.Column
	for _, one := range rows {
		for _, k := range relevant(r, one) {
			if _, isNumber := one.Number(k); key == "" && (isNumber || one.Masked(k)) {
				key = k
			}
		}
	}
	return cmp.Or(key, r.Tool.Amount())
}

// added writes the sum of a column, or its average; to compare, the sums of all
// amounts, and the rows that they come from.
func added(r *match.Reading, rows []Row, key, which string) string {
	word, by, keys, list := "total ", 1, []string{key}, ""
	switch r.Measure.Kind {
	case "average":
		word, by = "average ", len(rows)
	case "compare":
		word, list = "", lines(r, rows)
		keys = slices.DeleteFunc(slices.Clone(rows[0].Keys), func(k string) bool { return rows[0].Values[k] == nil || rows[0].Text(k) != "" || !match.IsAmount(k) })
	}
	all := Row{Values: map[string]any{}}
	for _, k := range keys {
		all.Values[k] = sum(rows, k, by)
	}
	return fmt.Sprintf("In all%s, over %s: %s%s.", which, Counted(len(rows), r.Tool.Noun), word, facts(r.Tool, all, keys)) + list
}

// sum adds up in hundredths, so that cents do not drift, and divides by a number.
func sum(rows []Row, key string, by int) json.Number {
	hundredths := 0.0
	for _, one := range rows {
		v, _ := one.Number(key)
		hundredths += math.Round(v * 100)
	}
	return json.Number(strconv.FormatFloat(math.Round(hundredths/float64(by))/100, 'f', -1, 64))
}

// ranked names the rows with the highest or lowest value, the newest ones, or the
// values of a column whose rows have the largest sums.
func ranked(r *match.Reading, rows []Row, key, which string) string {
	m := r.Measure
	if m.By != "" {
		rows = totals(r.Tool, rows, m.By, key)
	}
	slices.SortStableFunc(rows, func(a, b Row) int {
		x, _ := a.Number(key)
		y, _ := b.Number(key)
		return cmp.Or(cmp.Compare(y, x), cmp.Compare(b.Text(key), a.Text(key)))
	})
	if m.Kind == "lowest" || m.Kind == "oldest" {
		slices.Reverse(rows)
	}
	rows = rows[:min(m.Count, len(rows))]
	if len(rows) == 1 && m.By == "" {
		return fmt.Sprintf("%s%s is the %s%s: %s.", rows[0].title(), rows[0].Described(), m.Kind, which, facts(r.Tool, rows[0], []string{key}))
	}
	return fmt.Sprintf("The %d %s with the %s %s%s:", len(rows), cmp.Or(m.Of, r.Tool.Noun), m.Kind, Label(r.Tool, key), which) + lines(r, rows, key, r.Tool.Noun)
}

// totals adds up a column over the rows that share a value: one row for each value.
func totals(t *match.Tool, rows []Row, by, key string) (out []Row) {
	shared := map[string][]Row{}
	for _, one := range rows {
		shared[one.Text(by)] = append(shared[one.Text(by)], one)
	}
	for _, name := range slices.Sorted(maps.Keys(shared)) {
		of := json.Number(strconv.Itoa(len(shared[name])))
		out = append(out, Row{Keys: []string{by, key, t.Noun}, Values: map[string]any{by: name, key: sum(shared[name], key, 1), t.Noun: of}})
	}
	return out
}
