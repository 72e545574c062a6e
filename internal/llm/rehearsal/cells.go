package rehearsal

import (
	"encoding/json"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// isIDKey reports whether a field holds an id, which people do not read.
func isIDKey(key string) bool {
	w := identifierWords(key)
	return len(w) > 0 && (w[len(w)-1] == "id" || w[len(w)-1] == "uuid" || w[len(w)-1] == "guid" || w[len(w)-1] == "ids")
}

// isNameKey reports whether a field is part of what a row is called.
func isNameKey(key string) bool {
	w := identifierWords(key)
	return len(w) > 0 && (w[len(w)-1] == "name" || w[len(w)-1] == "title" && len(w) == 1 || w[len(w)-1] == "subject")
}

// isNamePart reports whether a field is half of a person's name.
func isNamePart(key string) bool {
	w := strings.Join(identifierWords(key), " ")
	return w == "first name" || w == "last name"
}

// isClerical reports whether a field is for the records only.
func isClerical(key string) bool {
	low := strings.ToLower(key)
	return strings.HasSuffix(low, "_at") || strings.HasSuffix(key, "At") || low == "version" || low == "_score"
}

// nameOf is what a row is called: its first and last name, its name or title,
// the first name that it carries, or its number.
func nameOf(r row) string {
	first, last := "", ""
	for _, k := range r.keys {
		text, ok := r.values[k].(string)
		switch w := strings.Join(identifierWords(k), " "); {
		case !ok || text == "":
		case w == "first name" || w == "given name":
			first = text
		case w == "last name" || w == "family name" || w == "surname":
			last = text
		}
	}
	if first != "" || last != "" {
		return strings.TrimSpace(first + " " + last)
	}
	if k := nameKey(r); k != "" {
		text, _ := r.values[k].(string)
		return text
	}
	return ""
}

// nameKey is the field that names a row that has no first and last name.
func nameKey(r row) string {
	for _, fits := range []func([]string) bool{
		func(w []string) bool {
			return len(w) == 1 && (w[0] == "name" || w[0] == "title" || w[0] == "subject" || w[0] == "label")
		},
		func(w []string) bool { return w[len(w)-1] == "name" },
		func(w []string) bool {
			return w[len(w)-1] == "title" || w[len(w)-1] == "number" || w[len(w)-1] == "code"
		},
	} {
		for _, k := range r.keys {
			if text, ok := r.values[k].(string); ok && text != "" && fits(append(identifierWords(k), "")[:max(1, len(identifierWords(k)))]) {
				return k
			}
		}
	}
	return ""
}

// masked reports whether a value is hidden from the person.
func masked(v any) bool {
	text, ok := v.(string)
	return ok && strings.HasPrefix(text, "***")
}

func looksLikeTime(text string) bool {
	_, err := time.Parse(time.RFC3339, text)
	_, isDay := isoDate(text)
	return err == nil || isDay
}

func numberOf(v any) (float64, bool) {
	n, ok := v.(json.Number)
	if !ok {
		return 0, false
	}
	f, err := n.Float64()
	return f, err == nil
}

// human writes the name of a field as people would: "Next review due".
func (p *planner) human(key string) string {
	words := identifierWords(key)
	for i, w := range words {
		if p.capitals[w] {
			words[i] = strings.ToUpper(w)
		}
	}
	first, size := utf8.DecodeRuneInString(strings.Join(words, " "))
	if size == 0 {
		return key
	}
	return string(unicode.ToUpper(first)) + strings.Join(words, " ")[size:]
}

// show writes one value.
func (p *planner) show(key string, v any) string {
	switch v := v.(type) {
	case nil:
		return "–"
	case bool:
		if v {
			return "yes"
		}
		return "no"
	case json.Number:
		return p.showNumber(key, v)
	case string:
		return clean(v)
	case []any:
		return p.showArray(key, v)
	}
	return "…"
}

func (p *planner) showNumber(key string, v json.Number) string {
	f, ok := numberOf(v)
	words := identifierWords(key)
	if !ok || len(words) > 0 && (words[len(words)-1] == "year" || words[len(words)-1] == "id") {
		return v.String()
	}
	return p.currency(words) + plainNumber(f)
}

func (p *planner) showArray(key string, list []any) string {
	var parts []string
	for _, v := range list {
		switch v.(type) {
		case string, json.Number, bool:
			parts = append(parts, p.show(key, v))
		}
	}
	if len(parts) == 0 {
		return plainNumber(float64(len(list)))
	}
	return strings.Join(parts, ", ")
}

// signs are the currencies that a schema may name for a field.
var signs = []struct{ word, sign string }{{"usd", "$"}, {"dollars", "$"}, {"eur", "€"}, {"euros", "€"}, {"gbp", "£"}}

// currency is the sign that some tool's schema gives for fields of that name,
// or nothing.
func (p *planner) currency(words []string) string {
	if len(words) == 0 {
		return ""
	}
	last := words[len(words)-1]
	for _, f := range p.forms {
		for _, prop := range f.props {
			if prop.words[len(prop.words)-1] != last {
				continue
			}
			for _, s := range signs {
				if prop.about[stem(s.word)] {
					return s.sign
				}
			}
		}
	}
	return ""
}

// clean makes a text safe within a line of markdown: it is shown as text and
// never as layout, link or picture.
func clean(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if r := []rune(text); len(r) > 300 {
		text = string(r[:300]) + "…"
	}
	return markdown.Replace(text)
}

var markdown = strings.NewReplacer(`\`, `\\`, "|", `\|`, "`", "\\`", "[", `\[`, "<", "&lt;", "![", `!\[`)
