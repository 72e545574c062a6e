package speak

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"countersign.dev/internal/llm/rehearsal/language"
	"countersign.dev/internal/llm/rehearsal/match"
	"countersign.dev/internal/result"
)

// maxRows is how many rows a text names, maxFacts how many fields of each.
const (
	maxRows  = 10
	maxFacts = 3
)

// Label is a field's name within a sentence.
func Label(t *match.Tool, key string) string {
	label := t.Column(key).Label
	if label == "" {
		w := language.Identifier(key)
		if n := len(w); n == 2 && (w[1] == "name" || w[1] == "date") {
			w = w[:1]
		}
		return strings.Join(w, " ")
	}
	first, size := utf8.DecodeRuneInString(label)
	if second, _ := utf8.DecodeRuneInString(label[size:]); !unicode.IsUpper(second) {
		label = string(unicode.ToLower(first)) + label[size:]
	}
	return label
}

// value writes one value of a field.
func value(t *match.Tool, key string, v any) string {
	switch v := v.(type) {
	case nil:
		return "–"
	case bool:
		return map[bool]string{true: "yes", false: "no"}[v]
	case json.Number:
		f, err := v.Float64()
		if err != nil || language.LastWord(key) == "year" || match.IsID(key) || t.Column(key).Show == result.ShowYear {
			return v.String()
		}
		return figure(t, key, f)
	case string:
		return Clean(v)
	case []any:
		var parts []string
		for _, one := range v {
			parts = append(parts, value(t, key, one))
		}
		return strings.Join(parts, ", ")
	}
	return "…"
}

// figure writes a number of a field with its unit.
func figure(t *match.Tool, key string, f float64) string {
	unit, digits := t.Column(key).Unit, language.Digits(f)
	switch sign := map[string]string{"USD": "$", "EUR": "€", "GBP": "£"}[unit]; {
	case sign != "" && f < 0:
		return "-" + sign + digits[1:]
	case sign != "":
		return sign + digits
	case unit == "percent":
		return digits + "%"
	}
	return strings.TrimSpace(digits + " " + unit)
}

// rowNames lists up to ten rows with the facts of the keys, and how many more
// there are.
func rowNames(t *match.Tool, rows []Row, keys func(Row) []string) string {
	var b strings.Builder
	for _, one := range rows[:min(len(rows), maxRows)] {
		b.WriteString("\n- " + cmp.Or(one.title(), "one without a name") + facts(t, one, keys(one)))
	}
	if more := len(rows) - maxRows; more > 0 {
		fmt.Fprintf(&b, "\n- and %d more", more)
	}
	return b.String()
}

func facts(t *match.Tool, one Row, keys []string) string {
	var parts []string
	for _, k := range keys {
		if v, ok := one.Values[k]; ok && v != nil && v != "" {
			parts = append(parts, Label(t, k)+" "+value(t, k, v))
		}
	}
	if len(parts) == 0 {
		return described(one)
	}
	return ": " + strings.Join(parts, ", ")
}

// asked returns a function that chooses the fields to write of a row: those that
// were asked for or that the question's values chose, and else the amount and
// two texts.
func asked(r *match.Reading) func(Row) []string {
	return func(one Row) []string {
		var keys, others []string
		for _, k := range one.Keys {
			_, isText := one.Values[k].(string)
			_, isRow := one.Values[k].(Row)
			_, isList := one.Values[k].([]any)
			switch {
			case isRow || isList || match.IsID(k) || isNamePart(k) || k == one.nameKey() || r.Args[k] != nil:
			case r.Relevance(k) > 0, r.Hinted(k) && isText:
				keys = append(keys, k)
			case k == r.Tool.Amount() && !one.Masked(k), len(others) < 2 && one.short(k):
				others = append(others, k)
			}
		}
		slices.SortStableFunc(keys, func(a, b string) int { return cmp.Compare(r.Relevance(b), r.Relevance(a)) })
		if len(keys) == 0 {
			return others
		}
		return keys[:min(len(keys), maxFacts)]
	}
}

// record writes all of a row: its fields in one line, its inner rows in others.
func record(t *match.Tool, name string, one Row) string {
	var parts []string
	inner := ""
	for _, k := range plain(t)(one) {
		if list, isList := one.Values[k].([]any); one.Values[k] != nil && one.Values[k] != "" && !(isList && len(list) == 0) {
			parts = append(parts, Label(t, k)+" "+value(t, k, one.Values[k]))
		}
	}
	for _, k := range one.Keys {
		if v, isRow := one.Values[k].(Row); isRow {
			inner += "\n- " + Label(t, k) + facts(t, v, v.Keys)
		} else if rows := one.rows(k); len(rows) > 0 {
			inner += rowNames(t, rows, plain(t))
		}
	}
	if name != "" {
		name = "**" + Clean(name) + "**: "
	}
	return name + strings.Join(parts, "; ") + "." + inner
}

// plain returns a function that chooses the fields of a row that are neither its
// name, nor ids that people do not read, nor other rows, nor clerical.
func plain(t *match.Tool) func(Row) []string {
	return func(one Row) []string {
		return slices.DeleteFunc(slices.Clone(one.Keys), func(k string) bool {
			_, isRow := one.Values[k].(Row)
			clerical := strings.HasSuffix(k, "_at") || strings.HasSuffix(k, "At") || k == "version" || t.Column(k).Show == result.ShowDetail
			return isRow || len(one.rows(k)) > 0 || isNamePart(k) || clerical || match.IsID(k) && match.IsUUID(one.Text(k)) || one.Text(k) != "" && one.Text(k) == one.Name()
		})
	}
}
