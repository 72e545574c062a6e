package speak

import (
	"encoding/json"
	"slices"
	"strings"

	"countersign.dev/internal/llm/rehearsal/language"
	"countersign.dev/internal/llm/rehearsal/match"
	"countersign.dev/internal/result"
)

// Row is an object of an answer.
type Row result.Row

// Text is a field of a row that holds text; empty when it holds none.
func (r Row) Text(key string) string {
	t, _ := r.Values[key].(string)
	return t
}

// Number is a field of a row that holds a number.
func (r Row) Number(key string) (float64, bool) {
	n, ok := r.Values[key].(json.Number)
	f, err := n.Float64()
	return f, ok && err == nil
}

// Masked reports whether a value is hidden from the person.
func (r Row) Masked(key string) bool { return strings.HasPrefix(r.Text(key), "***") }

// rows are the rows inside a field.
func (r Row) rows(key string) []Row {
	list, _ := r.Values[key].([]any)
	return rowsIn(list)
}

// holds reports whether a field holds other rows, and no value to be written.
func (r Row) holds(key string) bool {
	_, one := r.Values[key].(result.Row)
	return one || len(r.rows(key)) > 0
}

// ownID is the field that identifies a row: its first, if that is an id.
func (r Row) ownID() string {
	if len(r.Keys) > 0 && match.IsID(r.Keys[0]) {
		return r.Keys[0]
	}
	return ""
}

// nameKey is the field that names a row without a first and a last name. The
// row's own noun comes first: the number of an order, not the name of its buyer.
func (r Row) nameKey() (best string) {
	own, most := append(language.Identifier(r.ownID()), "")[0], 0
	for _, k := range r.Keys {
		words, rank := language.Identifier(k), 0
		switch last := language.LastWord(k); {
		case r.Text(k) == "":
		case len(words) == 2 && words[0] == own && slices.Contains([]string{"name", "title", "number"}, last):
			rank = 6
		case len(words) == 1 && slices.Contains([]string{"name", "title", "subject", "label"}, last):
			rank = 5
		case own == "id" && last == "name" && r.Values[strings.TrimSuffix(k, "name")+"id"] == nil: // of nothing that has an id of its own
			rank = 4
		case last == "name":
			rank = 3
		case slices.Contains([]string{"title", "number", "code"}, last):
			rank = 2
		case r.short(k):
			rank = 1
		}
		if rank > most {
			best, most = k, rank
		}
	}
	return best
}

func isNamePart(key string) bool {
	return slices.Contains([]string{"first name", "last name"}, strings.Join(language.Identifier(key), " "))
}

// Name is what people call a row.
func (r Row) Name() string {
	var parts []string
	for _, k := range r.Keys {
		if isNamePart(k) {
			parts = append(parts, r.Text(k))
		}
	}
	if len(parts) == 0 {
		return r.Text(r.nameKey())
	}
	return strings.Join(parts, " ")
}

// CalledAs is what a row calls a thing of the sort: the row itself, or another
// thing that it carries with its name ("customer_name" beside "customer_id").
func (r Row) CalledAs(noun string) string {
	if t := r.Text(noun + "_name"); noun != "" && t != "" {
		return t
	}
	return r.Name()
}

// title is a row's name, behind its id when that is one that people use.
func (r Row) title() string {
	id, name := r.Text(r.ownID()), r.Name()
	if match.IsUUID(id) || len(id) > 20 || id == name {
		id = ""
	}
	return strings.TrimSpace(Clean(id) + " " + Clean(name))
}

// Described puts up to two short texts of a row in brackets.
func (r Row) Described() string {
	var parts []string
	for _, k := range r.Keys {
		if len(parts) < 2 && k != r.nameKey() && !isNamePart(k) && r.short(k) {
			parts = append(parts, r.Text(k))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return " (" + Clean(strings.Join(parts, ", ")) + ")"
}

// short reports whether a field is a short text: no id, address or date.
func (r Row) short(key string) bool {
	t := r.Text(key)
	return t != "" && len(t) <= 40 && !match.IsID(key) && !r.Masked(key) && !strings.Contains(t, "@") && !strings.ContainsAny(t[:1], "0123456789")
}
