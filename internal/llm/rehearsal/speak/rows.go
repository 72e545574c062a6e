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
	label := t.Columns[key].Meta.Label
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

// Value writes one value of a field.
func Value(t *match.Tool, key string, v any) string {
	switch v := v.(type) {
	case nil:
		return "–"
	case bool:
		if v {
			return "yes"
		}
		return "no"
	case json.Number:
		if f, ok := Number(v); ok && language.LastWord(key) != "year" && !IsID(key) && t.Columns[key].Meta.Show != result.ShowYear {
			return Figure(t, key, f)
		}
		return v.String()
	case string:
		return Clean(v)
	case []any:
		var parts []string
		for _, one := range v {
			if _, nested := one.(Row); !nested {
				parts = append(parts, Value(t, key, one))
			}
		}
		if len(parts) == 0 {
			return language.Digits(float64(len(v)))
		}
		return strings.Join(parts, ", ")
	}
	return "…"
}

var signs = map[string]string{"USD": "$", "EUR": "€", "GBP": "£"}

// Figure writes a number of a field with its unit.
func Figure(t *match.Tool, key string, f float64) string {
	digits := language.Digits(f)
	switch unit := t.Columns[key].Unit; {
	case signs[unit] != "" && f < 0:
		return "-" + signs[unit] + digits[1:]
	case signs[unit] != "":
		return signs[unit] + digits
	case unit == "percent":
		return digits + "%"
	case unit != "":
		return digits + " " + unit
	}
	return digits
}

// rowNames lists up to ten rows with what was asked for, and how many more there
// are.
func rowNames(r *match.Reading, rows []Row) string {
	keys := factKeys(r, rows)
	var b strings.Builder
	for _, one := range rows[:min(len(rows), maxRows)] {
		b.WriteString("\n- " + title(one) + facts(r.Tool, one, keys))
	}
	if more := len(rows) - maxRows; more > 0 {
		fmt.Fprintf(&b, "\n- and %d more", more)
	}
	return b.String()
}

// title is a row's readable id and its name.
func title(one Row) string {
	id, name := ReadableID(one), Name(one)
	if id == name {
		name = ""
	}
	return cmp.Or(strings.TrimSpace(Clean(id)+" "+Clean(name)), "one without a name")
}

func facts(t *match.Tool, one Row, keys []string) string {
	var parts []string
	for _, k := range keys {
		if v, ok := one.Values[k]; ok && v != nil && v != "" {
			parts = append(parts, Label(t, k)+" "+Value(t, k, v))
		}
	}
	if len(parts) == 0 {
		return described(one)
	}
	return ": " + strings.Join(parts, ", ")
}

// factKeys chooses the fields that are written for each row: those that were asked
// for or that the question's values chose, and else the amount and two texts.
func factKeys(r *match.Reading, rows []Row) []string {
	if len(rows) == 0 {
		return nil
	}
	var keys, others []string
	for _, k := range rows[0].Keys {
		v := rows[0].Values[k]
		_, isText := v.(string)
		_, isRow := v.(Row)
		_, isList := v.([]any)
		switch {
		case isRow || isList || IsID(k) || isNamePart(k) || k == nameKey(rows[0]) || r.Args[k] != nil:
		case r.Relevance(k) > 0:
			keys = append(keys, k)
		case r.Hinted(k) && isText:
			keys = append(keys, k)
		case k == r.Tool.Amount() && !Masked(v), isText && len(others) < 2 && short(k, text(rows[0], k)):
			others = append(others, k)
		}
	}
	slices.SortStableFunc(keys, func(a, b string) int { return cmp.Compare(r.Relevance(b), r.Relevance(a)) })
	if len(keys) == 0 {
		return others
	}
	return keys[:min(len(keys), maxFacts)]
}

// record tells all of a row: its fields in one line, its inner rows in others.
func record(r *match.Reading, name string, one Row) string {
	var parts []string
	var inner strings.Builder
	for _, k := range one.Keys {
		switch v := one.Values[k].(type) {
		case nil:
		case Row:
			inner.WriteString("\n- " + Label(r.Tool, k) + facts(r.Tool, v, v.Keys))
		case []any:
			if rows := RowsOf(v); len(rows) > 0 {
				inner.WriteString(innerRows(r, k, rows))
			} else if len(v) > 0 {
				parts = append(parts, Label(r.Tool, k)+" "+Value(r.Tool, k, v))
			}
		default:
			if !isClerical(r.Tool, k) && !(name != "" && isNamePart(k)) && !(IsID(k) && match.IsUUID(fmt.Sprint(v))) && v != "" {
				parts = append(parts, Label(r.Tool, k)+" "+Value(r.Tool, k, v))
			}
		}
	}
	if name != "" {
		name = "**" + Clean(name) + "**: "
	}
	return name + strings.Join(parts, "; ") + "." + inner.String()
}

func innerRows(r *match.Reading, key string, rows []Row) string {
	var b strings.Builder
	for _, one := range rows[:min(len(rows), maxRows)] {
		name := Name(one)
		b.WriteString("\n- " + cmp.Or(Clean(name), Label(r.Tool, key)) + facts(r.Tool, one, slices.DeleteFunc(slices.Clone(one.Keys), func(k string) bool {
			_, nested := one.Values[k].([]any)
			return nested || IsID(k) || isNamePart(k) || text(one, k) == name && name != "" || isClerical(r.Tool, k)
		})))
	}
	if more := len(rows) - maxRows; more > 0 {
		fmt.Fprintf(&b, "\n- and %d more", more)
	}
	return b.String()
}

// isClerical reports whether a field is only for the records.
func isClerical(t *match.Tool, key string) bool {
	low := strings.ToLower(key)
	return strings.HasSuffix(low, "_at") || strings.HasSuffix(key, "At") || low == "version" || low == "_score" || t.Columns[key].Meta.Show == result.ShowDetail
}

// isTree reports whether rows hold rows of their own kind.
func isTree(rows []Row) bool {
	return slices.ContainsFunc(rows, func(r Row) bool { return treeKey(r) != "" })
}

// treeKey is the field that holds a row's children: rows with the same first
// fields.
func treeKey(r Row) string {
	for _, k := range r.Keys {
		list, _ := r.Values[k].([]any)
		for _, child := range RowsOf(list) {
			if len(child.Keys) > 1 && len(r.Keys) > 1 && child.Keys[0] == r.Keys[0] && child.Keys[1] == r.Keys[1] {
				return k
			}
		}
	}
	return ""
}

// tree names the first rows of a tree, level by level.
func tree(rows []Row) string {
	var b strings.Builder
	total := 0
	for len(rows) > 0 {
		var below []Row
		for _, one := range rows {
			if total++; total <= maxRows {
				list, _ := one.Values[treeKey(one)].([]any)
				under := ""
				if n := len(RowsOf(list)); n > 0 {
					under = fmt.Sprintf(", with %d below", n)
				}
				b.WriteString("\n- " + Clean(Name(one)+Described(one)) + under)
			}
			list, _ := one.Values[treeKey(one)].([]any)
			below = append(below, RowsOf(list)...)
		}
		rows = below
	}
	if total > maxRows {
		fmt.Fprintf(&b, "\n- and %d more", total-maxRows)
	}
	return fmt.Sprintf("%d in all, from the top:%s", total, b.String())
}
