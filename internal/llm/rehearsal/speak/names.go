package speak

import (
	"encoding/json"
	"slices"
	"strings"

	"countersign.dev/internal/llm/rehearsal/language"
	"countersign.dev/internal/llm/rehearsal/match"
)

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
	return rowsOf(list)
}

// first is the first field with a text whose name or last word is one of these.
func (r Row) first(names ...string) string {
	for _, k := range r.Keys {
		if words := language.Identifier(k); r.Text(k) != "" && (slices.Contains(names, strings.Join(words, " ")) || slices.Contains(names, "…"+language.LastWord(k))) {
			return k
		}
	}
	return ""
}

func isNamePart(key string) bool {
	return slices.Contains([]string{"first name", "last name"}, strings.Join(language.Identifier(key), " "))
}

// nameKey is the field that names a row without a first and a last name. The
// row's own noun comes first: the number of an order, not the name of its buyer.
func (r Row) nameKey() string {
	noun, isOwn := strings.CutSuffix(r.ownID(), "_id")
	for _, k := range []string{noun + "_name", noun + "_title", noun + "_number"} {
		if isOwn && r.Text(k) != "" {
			return k
		}
	}
	for _, k := range r.Keys { // a bare id: the name of something without an id of its own
		other, isName := strings.CutSuffix(k, "_name")
		if isName && (r.ownID() == "_id" || r.ownID() == "id") && r.Text(k) != "" && r.Values[other+"_id"] == nil {
			return k
		}
	}
	for _, names := range [][]string{{"name", "title", "subject", "label"}, {"…name"}, {"…title", "…number", "…code"}} {
		if k := r.first(names...); k != "" {
			return k
		}
	}
	if i := slices.IndexFunc(r.Keys, r.short); i >= 0 {
		return r.Keys[i] // the first text that says something
	}
	return ""
}

// ownID is the field that identifies a row: its first, if that is an id.
func (r Row) ownID() string {
	if len(r.Keys) > 0 && match.IsID(r.Keys[0]) {
		return r.Keys[0]
	}
	return ""
}

// Name is what people call a row.
func (r Row) Name() string {
	full := r.Text(r.first("first name", "given name")) + " " + r.Text(r.first("last name", "family name", "surname"))
	if full = strings.TrimSpace(full); full != "" {
		return full
	}
	return r.Text(r.nameKey())
}

// CalledAs is what a row calls a thing of the sort: the row itself, or another
// thing that it carries with its name ("customer_name" beside "customer_id").
func (r Row) CalledAs(noun string) string {
	if t := r.Text(noun + "_name"); noun != "" && t != "" {
		return t
	}
	return r.Name()
}

// title is a row's name, behind its id when people use that: neither a uuid nor
// some other key of a store.
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
	return " (" + strings.Join(parts, ", ") + ")"
}

func described(r Row) string { return strings.TrimSuffix(" "+Clean(r.Described()), " ") }

// short reports whether a field is a text worth a few words: no id, address or
// date.
func (r Row) short(key string) bool {
	t := r.Text(key)
	return t != "" && len(t) <= 40 && !match.IsID(key) && !r.Masked(key) && !strings.Contains(t, "@") && !strings.ContainsAny(t[:1], "0123456789")
}

// Join writes names as people list them.
func Join(names []string, last string) string {
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	n := len(names) - 1
	return strings.Join(names[:n], ", ") + " " + last + " " + names[n]
}

// Clean makes a text safe within a line of markdown, with 300 characters at
// most: it is shown as text and never as layout, link or picture.
func Clean(t string) string { return cleanTo(t, 300) }

func cleanTo(t string, most int) string {
	t = strings.Join(strings.Fields(t), " ")
	if r := []rune(t); len(r) > most {
		t = string(r[:most]) + "…"
	}
	return markdown.Replace(t)
}

var markdown = strings.NewReplacer(`\`, `\\`, "|", `\|`, "`", "\\`", "[", `\[`, "<", "&lt;", "![", `!\[`)
