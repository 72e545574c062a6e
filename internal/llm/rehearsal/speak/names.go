package speak

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"countersign.dev/internal/llm/rehearsal/language"
	"countersign.dev/internal/llm/rehearsal/match"
)

func text(r Row, key string) string {
	t, _ := r.Values[key].(string)
	return t
}

// Number reads a number of a row.
func Number(v any) (float64, bool) {
	n, ok := v.(json.Number)
	if !ok {
		return 0, false
	}
	f, err := n.Float64()
	return f, err == nil
}

// Masked reports whether a value is hidden from the person.
func Masked(v any) bool {
	t, ok := v.(string)
	return ok && strings.HasPrefix(t, "***")
}

// IsID reports whether a field holds an id, which people do not read.
func IsID(key string) bool {
	return slices.Contains([]string{"id", "ids", "uuid", "guid"}, language.LastWord(key))
}

// Name is what people call a row: its first and last name, its own name or
// number, or the first name that it carries.
func Name(r Row) string {
	full := ""
	for _, keys := range [][]string{{"first name", "given name"}, {"last name", "family name", "surname"}} {
		for _, k := range r.Keys {
			if slices.Contains(keys, strings.Join(language.Identifier(k), " ")) {
				full += " " + text(r, k)
			}
		}
	}
	if full = strings.TrimSpace(full); full != "" {
		return full
	}
	return text(r, nameKey(r))
}

// CalledAs is what a row calls a thing of the sort: the row itself, or another
// thing that it carries with its name ("customer_name" beside "customer_id").
func CalledAs(r Row, noun string) string {
	if t := text(r, noun+"_name"); noun != "" && t != "" {
		return t
	}
	return Name(r)
}

func isNamePart(key string) bool {
	w := strings.Join(language.Identifier(key), " ")
	return w == "first name" || w == "last name"
}

// nameKey is the field that names a row that has no first and last name. The
// row's own noun comes first: the number of an order, not the name of its buyer.
func nameKey(r Row) string {
	if id := ownID(r); id != "" {
		w := language.Identifier(id)
		if noun := strings.Join(w[:len(w)-1], "_"); noun != "" {
			for _, end := range []string{"_name", "_title", "_number"} {
				if text(r, noun+end) != "" {
					return noun + end
				}
			}
		} else { // a bare id: the name of something without an id of its own
			for _, k := range r.Keys {
				if other, isName := strings.CutSuffix(k, "_name"); isName && text(r, k) != "" && r.Values[other+"_id"] == nil {
					return k
				}
			}
		}
	}
	for _, ends := range [][]string{{"=name", "=title", "=subject", "=label"}, {"name"}, {"title", "number", "code"}} {
		for _, k := range r.Keys {
			if text(r, k) != "" && (slices.Contains(ends, language.LastWord(k)) || slices.Contains(ends, "="+strings.ToLower(k))) {
				return k
			}
		}
	}
	if i := slices.IndexFunc(r.Keys, func(k string) bool { return short(k, text(r, k)) }); i >= 0 {
		return r.Keys[i] // the first text that says something
	}
	return ""
}

// ownID is the field that identifies a row: its first, if that is an id.
func ownID(r Row) string {
	if len(r.Keys) > 0 && IsID(r.Keys[0]) {
		return r.Keys[0]
	}
	return ""
}

// ReadableID is a row's own id when people use it: neither a uuid nor some other
// key of a store.
func ReadableID(r Row) string {
	if id := text(r, ownID(r)); !match.IsUUID(id) && len(id) <= 20 {
		return id
	}
	return ""
}

// Described puts up to two short texts of a row in brackets.
func Described(r Row) string {
	var parts []string
	for _, k := range r.Keys {
		if t := text(r, k); len(parts) < 2 && k != nameKey(r) && !isNamePart(k) && short(k, t) {
			parts = append(parts, t)
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return fmt.Sprintf(" (%s)", strings.Join(parts, ", "))
}

func described(r Row) string {
	if d := Clean(Described(r)); d != "" {
		return " " + d
	}
	return ""
}

// short reports whether a text is worth a few words: no id, address or date.
func short(key, t string) bool {
	return t != "" && len(t) <= 40 && !IsID(key) && !Masked(t) && !strings.Contains(t, "@") && !strings.ContainsAny(t[:1], "0123456789")
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
func Clean(t string) string { return CleanTo(t, 300) }

// CleanTo is Clean with so many characters at most.
func CleanTo(t string, most int) string {
	t = strings.Join(strings.Fields(t), " ")
	if r := []rune(t); len(r) > most {
		t = string(r[:most]) + "…"
	}
	return markdown.Replace(t)
}

var markdown = strings.NewReplacer(`\`, `\\`, "|", `\|`, "`", "\\`", "[", `\[`, "<", "&lt;", "![", `!\[`)
