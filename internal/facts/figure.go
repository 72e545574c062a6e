package facts

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strconv"

	"countersign.dev/internal/english"
	"countersign.dev/internal/result"
)

// Averages is a row with the sum of each field over some rows divided by a number, in
// hundredths; divided by 1 they are sums. The number is not 0. It is in the rows' currency, when they
// have one.
func Averages(all []result.Row, keys []string, by int) result.Row {
	averages := result.Row{Keys: keys, Values: map[string]any{}}
	averages.Values["currency"], _ = Currency(all)
	for _, k := range keys {
		averages.Values[k] = average(all, k, by)
	}
	return averages
}

func average(all []result.Row, key string, by int) json.Number {
	sum := 0.0
	for _, row := range all {
		n, _ := row.Number(key)
		sum += n
	}
	return json.Number(strconv.FormatFloat(result.Cents(sum/float64(by)), 'f', -1, 64))
}

// Currency is the currency of rows, empty when they name none; one is false for rows in several.
func Currency(all []result.Row) (code string, one bool) {
	for i, row := range all {
		if code = row.Text("currency"); i > 0 && code != all[0].Text("currency") {
			return "", false
		}
	}
	return code, true
}

// Totals adds up a column over the rows that share a value of another one, or averages it: a row
// for each value, in their order, with its name, the figure, and the number of rows as counted.
// Rows without the value are left out, unless they are only counted. The kind is sum, count or
// average; of returns what is declared of a field.
func Totals(all []result.Row, by, column, counted string, of func(name string) result.Field, kind string) (out []result.Row) {
	shared := map[string][]result.Row{}
	for _, row := range all {
		shared[row.Text(by)] = append(shared[row.Text(by)], row)
	}
	for _, value := range slices.Sorted(maps.Keys(shared)) {
		if value == "" && column != "" && kind != "count" {
			continue
		}
		divisor := 1
		if kind == "average" {
			divisor = len(shared[value])
		}
		currency, _ := Currency(shared[value])
		figures := map[string]any{"currency": currency, "name": cmp.Or(of(by).Prose(by, value), "none"), column: average(shared[value], column, divisor), counted: json.Number(strconv.Itoa(len(shared[value])))}
		out = append(out, result.Row{Keys: []string{"name", column, counted}, Values: figures})
	}
	return out
}

// SortDescending puts the rows with the largest numbers of a field first, or with the last of its texts:
// in the order of degrees, and without these in that of the alphabet.
func SortDescending(all []result.Row, key string, degrees []string) {
	slices.SortStableFunc(all, func(a, b result.Row) int {
		x, _ := a.Number(key)
		y, _ := b.Number(key)
		degree := cmp.Compare(slices.Index(degrees, b.Text(key)), slices.Index(degrees, a.Text(key)))
		return cmp.Or(cmp.Compare(y, x), degree, cmp.Compare(b.Text(key), a.Text(key)))
	})
}

// First are the rows of each value of a column that come first, with all that have the same figure as that one.
func First(all []result.Row, by, figure string) []result.Row {
	first := map[string]any{}
	return slices.DeleteFunc(slices.Clone(all), func(row result.Row) bool {
		of := row.Text(by)
		first[of] = cmp.Or(first[of], row.Values[figure])
		return first[of] != row.Values[figure]
	})
}

// Raised is the number of the field whose name shares a word with that of an input (new_salary
// and base_salary), changed by a step or by so many per cent; nil where no field has one. Of
// several fields it is the last one's.
func Raised(row result.Row, input string, step float64, percent bool) (raised any) {
	for _, k := range row.Keys {
		now, isNumber := row.Number(k)
		if !isNumber || english.Shared(english.Words(input), english.Words(k)) == 0 {
			continue
		}
		if raised = result.Cents(now + step); percent {
			raised = result.Cents(now + step*now/100)
		}
	}
	return raised
}

// Has reports whether a field has one of some values, or is what one of [result.Signs] says of it.
func Has(row result.Row, key string, values []any) bool {
	n, _ := row.Number(key)
	is := []any{row.Values[key], n, result.Signs[1+cmp.Compare(n, 0)]}
	if row.Values[key] == nil {
		is = []any{"none"}
	}
	return slices.ContainsFunc(is, func(v any) bool { return slices.Contains(values, v) })
}
