package facts

import (
	"slices"
	"strings"

	"countersign.dev/internal/result"
)

// Sentence writes fields of a row within a sentence: "salary $45,000, hired 2019-06-10". What is
// empty is left out. of returns what is declared of a field.
func Sentence(of func(name string) result.Field, row result.Row, names []string) string {
	var parts []string
	for _, name := range names {
		if v := row.Values[name]; name != "" && v != nil && v != "" {
			parts = append(parts, of(name).Head(name)+" "+of(name).Said(name, row))
		}
	}
	return strings.Join(parts, ", ")
}

// Readable are the fields of a row that people read: without ids, inner rows and what only
// records are kept by, and without what the row's title has already.
func Readable(of func(name string) result.Field, row result.Row, title string) []string {
	return slices.DeleteFunc(slices.Clone(row.Keys), func(k string) bool {
		clerical := strings.HasSuffix(k, "_at") || strings.HasSuffix(k, "At") || k == "version" || of(k).Show == result.ShowDetail
		return Nests(row, k) || clerical || result.IsID(k) && row.Text(k) != "" || row.Text(k) != "" && strings.Contains(title, row.Text(k))
	})
}

// Nests reports whether a field has other rows, or an empty list.
func Nests(row result.Row, key string) bool {
	list, isList := row.Values[key].([]any)
	_, isRow := row.Values[key].(result.Row)
	return isRow || isList && (len(list) == 0 || len(result.Rows(list)) > 0)
}
