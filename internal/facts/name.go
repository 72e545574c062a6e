package facts

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"countersign.dev/internal/english"
	"countersign.dev/internal/result"
)

// Name is what people call a row: a first and a last name, or the text of the field that
// names it. It is empty where none does.
func Name(row result.Row) string {
	name := ""
	for _, k := range row.Keys {
		if isNamePart(k) {
			name += " " + row.Text(k)
		}
	}
	return strings.TrimSpace(cmp.Or(name, row.Text(nameKey(row))))
}

// IsName reports whether a field names its row, or is a part of its name.
func IsName(row result.Row, key string) bool { return isNamePart(key) || key == nameKey(row) }

// Title is a row's name behind an id that people use ("TICK-004 Login refused"), with its year, or the
// line in the file that is its name ("seal/seal.go:41").
func Title(row result.Row) string {
	id, name := row.Text(ownID(row)), Name(row)
	if len(id) > 20 || id == name { // a UUID or an ObjectId, which are not for reading
		id = ""
	}
	for _, k := range row.Keys {
		switch {
		case english.LastWord(k) == "year":
			name += fmt.Sprintf(" %v", row.Values[k])
		case k == "start_line":
			name += fmt.Sprintf(":%v", row.Values[k])
		}
	}
	return strings.TrimSpace(id + " " + result.Field{}.Prose(nameKey(row), name))
}

func isNamePart(key string) bool {
	return slices.Contains([]string{"first name", "last name"}, strings.Join(english.Words(key), " "))
}

// ownID is the field that identifies a row: its first, if that is an id.
func ownID(row result.Row) string {
	if len(row.Keys) == 0 || !result.IsID(row.Keys[0]) {
		return ""
	}
	return row.Keys[0]
}

// nameKey is the field that names a row without a first and a last name. The row's own noun
// comes first: the number of an order, not the name of its buyer.
func nameKey(row result.Row) string {
	own := append(english.Words(ownID(row)), "")[0]
	for _, pattern := range strings.Fields(own + "_name " + own + "_title " + own + "_number name title subject label *name *title *number *code *path *") {
		for _, k := range row.Keys {
			fits, _ := path.Match(pattern, strings.Join(english.Words(k), "_"))
			others := own == "id" && row.Values[strings.TrimSuffix(k, "name")+"id"] != nil // of something that has an id of its own
			if fits && !others && row.Text(k) != "" && (pattern != "*" || Describes(row, k)) {
				return k
			}
		}
	}
	return ""
}

// Describes reports whether a field is a short text about its row: no id, address, figure
// or date, no sentence, and not hidden.
func Describes(row result.Row, key string) bool {
	t := row.Text(key)
	return t != "" && len(t) <= 40 && !strings.HasSuffix(t, ".") && key != "currency" && !result.IsID(key) && !row.Masked(key) && !strings.Contains(t, "@") && !strings.ContainsAny(t[:1], "0123456789")
}

// Description is up to two short texts about a row in brackets, after a space: " (Sales, VP of Sales)".
func Description(row result.Row) string {
	var parts []string
	for _, k := range row.Keys {
		if len(parts) < 2 && !IsName(row, k) && Describes(row, k) {
			parts = append(parts, result.Field{}.Prose(k, row.Text(k)))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return " (" + strings.Join(parts, ", ") + ")"
}

// Words are the words of a row's short texts in small letters, its whole values among them.
func Words(row result.Row) (words []string) {
	const short = 200
	for _, k := range row.Keys {
		if text := strings.ToLower(row.Text(k)); len(text) < short {
			words = append(append(words, english.Prose(text)...), text)
		}
	}
	return words
}

// WithWords are the rows that have some of the words, those with more of them first.
func WithWords(all []result.Row, words []string) (found []result.Row) {
	shares := func(row result.Row) int { return english.Shared(words, Words(row)) }
	for _, row := range all {
		if shares(row) > 0 {
			found = append(found, row)
		}
	}
	slices.SortStableFunc(found, func(a, b result.Row) int { return shares(b) - shares(a) })
	return found
}

// Addressed is the column, the named one or any when that is empty, in which rows have an e-mail address of the first of
// several names alone; empty: there is none. ada@example.com may be another Ada's than Ada Lovelace's.
func Addressed(rows []result.Row, in string, names []string) (column string) {
	if len(names) < 2 {
		return ""
	}
	for _, row := range rows {
		for _, key := range row.Keys {
			if local, _, is := strings.Cut(fmt.Sprint(row.Values[key]), "@"); is && (in == "" || in == key) && strings.EqualFold(local, names[0]) {
				return key
			}
		}
	}
	return ""
}
