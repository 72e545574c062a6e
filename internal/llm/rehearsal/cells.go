package rehearsal

import (
	"encoding/json"
	"math"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// isIDKey reports whether a field holds an id, which people do not read.
func isIDKey(key string) bool {
	return slices.Contains([]string{"id", "ids", "uuid", "guid"}, lastWord(key))
}

// isNameKey reports whether a field is part of what a row is called.
func isNameKey(key string) bool {
	w := identifierWords(key)
	last := lastWord(key)
	return last == "name" || last == "subject" || last == "title" && len(w) == 1
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
	text := strings.Join(p.spelled(identifierWords(key)), " ")
	first, size := utf8.DecodeRuneInString(text)
	if size == 0 {
		return key
	}
	return string(unicode.ToUpper(first)) + text[size:]
}

// spelled writes words as the tools do: abbreviations in capitals.
func (p *planner) spelled(words []string) []string {
	for i, w := range words {
		if p.capitals[w] {
			words[i] = strings.ToUpper(w)
		}
	}
	return words
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
	if last := lastWord(key); !ok || last == "year" || last == "id" {
		return v.String()
	}
	return p.sign(key, nil) + plainNumber(f)
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

// sign is the currency of a field: as a tool declares it, or as every row says.
func (p *planner) sign(key string, rows []row) string {
	for _, f := range p.forms {
		if s := f.signs[key]; s != "" {
			return s
		}
	}
	return p.currency(lastWord(key))
}

func roundedHundredths(v float64) int64 { return int64(math.Round(v * 100)) }

// currency is the sign that some tool's schema gives for fields of that name,
// or nothing.
func (p *planner) currency(last string) string {
	for _, f := range p.forms {
		for _, prop := range f.props {
			if last == "" || lastWord(prop.name) != last {
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
func clean(text string) string { return cleanTo(text, 300) }

// cleanTo is clean with so many characters at most.
func cleanTo(text string, most int) string {
	text = strings.Join(strings.Fields(text), " ")
	if r := []rune(text); len(r) > most {
		text = string(r[:most]) + "…"
	}
	return markdown.Replace(text)
}

var markdown = strings.NewReplacer(`\`, `\\`, "|", `\|`, "`", "\\`", "[", `\[`, "<", "&lt;", "![", `!\[`)
