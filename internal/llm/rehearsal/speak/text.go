package speak

import (
	"cmp"
	"encoding/json"
	"fmt"
	"regexp"
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

// identifier is a name of a tool or of an input.
var identifier = regexp.MustCompile(`\w+_\w+`)

// Failure passes on what a tool says of a failure, without the words that only a
// program understands: of an input that is no id it says what was not found.
func Failure(t *match.Tool, a *Answer) string {
	for _, in := range t.Inputs {
		if in.Is(match.ID) && strings.HasPrefix(a.Advice, in.Name+":") {
			return fmt.Sprintf("I find no %s with that id.", in.Noun())
		}
	}
	text := cmp.Or(a.Message, "That did not work.")
	for sentence := range strings.SplitAfterSeq(a.Advice, ". ") {
		if !identifier.MatchString(sentence) {
			text = strings.TrimRight(text, ". ") + ". " + sentence
		}
	}
	return Clean(identifier.ReplaceAllStringFunc(text, func(name string) string { return strings.ReplaceAll(name, "_", " ") }))
}

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
	case bool:
		return map[bool]string{true: "yes", false: "no"}[v]
	case json.Number:
		f, err := v.Float64()
		if err != nil || language.LastWord(key) == "year" || match.IsID(key) || t.Column(key).Show == result.ShowYear {
			return v.String()
		}
		return figure(t.Column(key), f)
	case string:
		return Clean(v)
	case []any:
		var parts []string
		for _, one := range v {
			parts = append(parts, value(t, key, one))
		}
		return strings.Join(parts, ", ")
	}
	return "–"
}

// figure writes a number of a field with its unit.
func figure(field *match.Field, f float64) string {
	unit, digits := field.Unit, language.Digits(f)
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

// facts writes fields of a row with their labels.
func facts(t *match.Tool, one Row, keys []string) string {
	var parts []string
	for _, k := range keys {
		if v := one.Values[k]; v != nil && v != "" {
			parts = append(parts, Label(t, k)+" "+value(t, k, v))
		}
	}
	return strings.Join(parts, ", ")
}

// lines names up to ten rows, each with what was asked for or else its amount and
// what describes it, and counts the rest.
func lines(r *match.Reading, rows []Row) (text string) {
	for _, one := range rows[:min(len(rows), maxRows)] {
		keys := slices.DeleteFunc(relevant(r, one), func(k string) bool { return isNamePart(k) || k == one.nameKey() || r.Args[k] != nil })
		keys = keys[:min(len(keys), maxFacts)]
		text += "\n- " + cmp.Or(one.title(), "one without a name")
		if amount := r.Tool.Amount(); len(keys) == 0 {
			text += one.Described()
			keys = slices.DeleteFunc([]string{amount}, one.Masked)
		}
		if said := facts(r.Tool, one, keys); said != "" {
			text += ": " + said
		}
	}
	if more := len(rows) - maxRows; more > 0 {
		text += fmt.Sprintf("\n- and %d more", more)
	}
	return text
}

// relevant are the fields of a row that the question asks for, the nearest first.
func relevant(r *match.Reading, one Row) []string {
	keys := slices.DeleteFunc(slices.Clone(one.Keys), func(k string) bool {
		_, isList := one.Values[k].([]any)
		return isList || one.holds(k) || match.IsID(k) || r.Relevance(k) == 0
	})
	slices.SortStableFunc(keys, func(a, b string) int { return cmp.Compare(r.Relevance(b), r.Relevance(a)) })
	return keys
}

// record writes all of a row: its fields in one line, its inner rows in others.
func record(t *match.Tool, name string, one Row) string {
	text, inner := facts(t, one, plain(t, one)), ""
	for _, k := range one.Keys {
		if v, isRow := one.Values[k].(result.Row); isRow {
			inner += "\n- " + Label(t, k) + ": " + facts(t, Row(v), v.Keys)
		}
		rows := one.rows(k)
		for _, v := range rows[:min(len(rows), maxRows)] {
			inner += "\n- " + v.title() + ": " + facts(t, v, plain(t, v))
		}
	}
	if name != "" {
		text = "**" + Clean(name) + "**: " + text
	}
	return text + "." + inner
}

// plain chooses the fields of a row that are neither its name, nor ids that
// people do not read, nor other rows, nor clerical.
func plain(t *match.Tool, one Row) []string {
	return slices.DeleteFunc(slices.Clone(one.Keys), func(k string) bool {
		clerical := strings.HasSuffix(k, "_at") || strings.HasSuffix(k, "At") || k == "version" || t.Column(k).Show == result.ShowDetail
		list, isList := one.Values[k].([]any)
		return one.holds(k) || isList && len(list) == 0 || isNamePart(k) || clerical ||
			match.IsUUID(one.Text(k)) || one.Text(k) != "" && one.Text(k) == one.Name()
	})
}

// One answers from one thing: the field that was asked for, or all of it.
func One(r *match.Reading, about Thing, a *Answer) string {
	data := a.Object()
	switch _, isList := a.Data.([]any); {
	case a.Failed:
		return Failure(r.Tool, a)
	case isList:
		return List(r, about, nil, a, 0)
	case data.Values == nil:
		return value(r.Tool, "", a.Data)
	}
	name := data.Name()
	if name == "" || about.Name != "" && r.Tool.Own {
		name = about.Name
	}
	whose := "The"
	if about.Self && r.Target != nil && r.Target.Self || r.Tool.Own && !r.Narrow() {
		whose = "Your"
	} else if name != "" {
		whose = Clean(name) + "'s"
	}
	for _, k := range data.Keys { // "how many sick days do I have": one of its inner rows
		for _, one := range data.rows(k) {
			named := func(w string) bool { return r.Asked[language.Stem(w)] && !r.Tool.Names(language.Stem(w)) }
			if key := askedField(r, one); slices.ContainsFunc(language.Prose(one.Name()), named) {
				said := facts(r.Tool, one, plain(r.Tool, one))
				if key != "" {
					said = value(r.Tool, key, one.Values[key]) + " " + Label(r.Tool, key)
				}
				return fmt.Sprintf("%s %s: %s.", whose, Clean(one.Name()), said)
			}
		}
	}
	return field(r, whose, name, data)
}

// field answers with the field that was asked for, or with the whole record.
func field(r *match.Reading, whose, name string, data Row) string {
	key := askedField(r, data)
	label := Label(r.Tool, key)
	yes, isBool := data.Values[key].(bool)
	switch {
	case key == "":
		answer := record(r.Tool, name, data)
		if data.Values["truncated"] == true { // what a record says of itself is passed on
			answer += "\n\nThis is incomplete. " + Clean(data.Text("hint"))
		}
		return answer
	case data.Masked(key):
		return fmt.Sprintf("%s %s is hidden: you may not see it.", whose, label)
	case isBool && r.AsksWhether():
		return fmt.Sprintf(map[bool]string{true: "Yes, %s is %s.", false: "No, %s is not %s."}[yes], Clean(name), label)
	}
	return fmt.Sprintf("%s %s is %s.", whose, label, value(r.Tool, key, data.Values[key]))
}

// askedField is the one field of a record that the question's words name best.
func askedField(r *match.Reading, data Row) string {
	return append(relevant(r, data), "")[0]
}

// List answers from rows: a number, or names, and always whether they are all.
// before is how many rows of the list were shown already.
func List(r *match.Reading, about Thing, args map[string]any, l *Answer, before int) string {
	which, answer, counted := narrowed(r, about, args), "", Counted(len(l.Rows), r.Tool.Noun)
	switch {
	case l.Failed:
		return Failure(r.Tool, l)
	case r.Measure.Kind == "count":
		be := "are"
		if l.More {
			counted = "more than " + counted // a part is never taken for the whole
		} else if len(l.Rows) == 1 {
			be = "is"
		}
		answer = fmt.Sprintf("There %s %s%s that you can see.", be, counted, which)
	case len(l.Rows) == 0:
		answer = "I found no " + r.Tool.Noun + which + "."
	case r.Measure.Kind != "":
		answer = measured(r, which, l)
	case len(l.Rows) == 1 && !r.Plural && askedField(r, l.Rows[0]) != "" && r.Narrow():
		answer = field(r, Clean(l.Rows[0].Name())+"'s", l.Rows[0].Name(), l.Rows[0])
	case before > 0 && l.More:
		answer = fmt.Sprintf("Here are %s, number %d to %d:", strings.Replace(counted, " ", " more ", 1), before+1, before+len(l.Rows)) + lines(r, l.Rows)
	case before > 0:
		answer = fmt.Sprintf("Here are %s, the last ones of %d:", strings.Replace(counted, " ", " more ", 1), before+len(l.Rows)) + lines(r, l.Rows)
	case l.More:
		answer = "Here are the first " + counted + which + ":" + lines(r, l.Rows)
	default:
		answer = "I found " + counted + which + ":" + lines(r, l.Rows)
	}
	if l.More {
		answer += "\n\nThe list is incomplete: there are more."
		if r.Measure.Kind == "" && l.Next != "" {
			answer += ` Say "next page" to see them.`
		}
	}
	return answer
}

// Counted writes a number of things.
func Counted(n int, noun string) string {
	if n == 1 {
		noun = language.Singular(noun)
	}
	return fmt.Sprintf("%d %s", n, noun)
}

// narrowed says in brackets what a list was kept to.
func narrowed(r *match.Reading, about Thing, args map[string]any) string {
	parts, whose := []string{}, map[bool]string{true: "you", false: Clean(about.Name)}[about.Self]
	for _, f := range r.Tool.Inputs {
		v, given := args[f.Name]
		n, isNumber := v.(float64)
		switch {
		case !given || f.Is(match.Paging, match.Order) || v == f.All:
		case r.Target != nil && r.Target.Tool == r.Tool && f == r.Target.Input:
			parts = append(parts, f.Noun()+": "+whose)
		case isNumber && f.Unit != "":
			parts = append(parts, strings.Join(f.Words, " ")+": "+figure(f, n))
		default:
			parts = append(parts, strings.Join(f.Words, " ")+": "+Clean(fmt.Sprint(v)))
		}
	}
	for _, e := range r.Filters {
		if text := Clean(e.Text); !slices.ContainsFunc(parts, func(part string) bool { return strings.HasSuffix(part, ": "+text) }) {
			parts = append(parts, text)
		}
	}
	if t := r.Target; t != nil && t.Tool != r.Tool {
		parts = append(parts, t.Input.Noun()+": "+whose)
	}
	if len(parts) == 0 {
		return ""
	}
	return " (" + strings.Join(parts, ", ") + ")"
}

// Article writes a whole text.
func Article(t *match.Tool, one Row) string { return record(t, one.title(), one) }
