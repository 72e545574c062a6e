package speak

import (
	"fmt"
	"slices"
	"strings"

	"countersign.dev/internal/llm/rehearsal/language"
	"countersign.dev/internal/llm/rehearsal/match"
)

// Failure passes on what a tool says of a failure, with its advice.
func Failure(a *Answer) string {
	if a.Message == "" {
		return "That did not work."
	}
	return Clean(a.Message + " " + a.Advice)
}

// One answers from one thing: the field that was asked for in a sentence, or all
// of it.
func One(r *match.Reading, about Thing, a *Answer) string {
	switch data := a.Data.(type) {
	case Row:
		return theRecord(r, about, data)
	case []any:
		return List(r, about, nil, Listing{Rows: rowsOf(data), Last: a, More: a.More})
	case nil:
		return "There is nothing to show."
	}
	return value(r.Tool, "", a.Data)
}

func theRecord(r *match.Reading, about Thing, data Row) string {
	whose, name := "Your", data.Name()
	if name == "" || about.Name != "" && r.Tool.Own {
		name = about.Name
	}
	switch {
	case name != "" && !(about.Self && r.Target != nil && r.Target.Self) && (r.Narrow() || !r.Tool.Own):
		whose = Clean(name) + "'s"
	case r.Target == nil && !r.Tool.Own:
		whose = "The"
	}
	key := askedField(r, data)
	if line := askedRow(r, whose, key, data); line != "" {
		return line
	}
	label := Label(r.Tool, key)
	if key == "" {
		answer := record(r.Tool, name, data)
		if short, _ := data.Values["truncated"].(bool); short { // what a record says of itself is passed on
			answer += "\n\nThis is incomplete. " + Clean(data.Text("hint"))
		}
		return answer
	}
	yes, isBool := data.Values[key].(bool)
	switch {
	case data.Masked(key):
		return fmt.Sprintf("%s %s is hidden: you may not see it.", whose, label)
	case isBool && r.AsksWhether() && yes:
		return fmt.Sprintf("Yes, %s is %s.", Clean(name), label)
	case isBool && r.AsksWhether():
		return fmt.Sprintf("No, %s is not %s.", Clean(name), label)
	}
	return fmt.Sprintf("%s %s is %s.", whose, label, value(r.Tool, key, data.Values[key]))
}

// askedRow answers from one of a record's inner rows, when the question names
// that row and not a field: "how many sick days do I have".
func askedRow(r *match.Reading, whose, key string, data Row) string {
	unasked := func(w string) bool { return !r.Asked[language.Stem(w)] }
	if key != "" && !slices.ContainsFunc(language.Identifier(key), unasked) {
		return ""
	}
	for _, k := range data.Keys {
		for _, one := range data.rows(k) {
			if field := askedField(r, one); slices.ContainsFunc(language.Prose(one.Name()), func(w string) bool { return !unasked(w) && !r.Tool.Names(language.Stem(w)) }) {
				if field == "" {
					return whose + " " + record(r.Tool, one.Name(), one)
				}
				return fmt.Sprintf("%s %s: %s %s.", whose, Clean(one.Name()), value(r.Tool, field, one.Values[field]), Label(r.Tool, field))
			}
		}
	}
	return ""
}

// askedField is the one field of a record that the question's words name best.
func askedField(r *match.Reading, data Row) string {
	best, most := "", 0
	for _, k := range data.Keys {
		_, isRow := data.Values[k].(Row)
		_, isList := data.Values[k].([]any)
		if s := r.Relevance(k); !isRow && !isList && !match.IsID(k) && s > most {
			best, most = k, s
		}
	}
	return best
}

// List answers from rows: a number, or names with a head line, and always
// whether they are all.
func List(r *match.Reading, about Thing, args map[string]any, l Listing) string {
	which, answer, noun := narrowed(r, about, args), "", r.Tool.Noun
	switch {
	case l.Last != nil && l.Last.Failed:
		return Failure(l.Last)
	case r.Measure.Kind == "count":
		be, n := "are", Counted(len(l.Rows), noun)
		if l.More {
			n = "more than " + n // a part is never taken for the whole
		} else if len(l.Rows) == 1 {
			be = "is"
		}
		answer = fmt.Sprintf("There %s %s%s that you can see.", be, n, which)
	case len(l.Rows) == 0:
		answer = "I found no " + noun + which + "."
	case r.Measure.Kind != "":
		answer = measured(r, which, l)
	case len(l.Rows) == 1 && !r.Plural() && askedField(r, l.Rows[0]) != "" && r.Narrow():
		answer = theRecord(r, Thing{Name: l.Rows[0].Name()}, l.Rows[0])
	default:
		head := "I found "
		if l.More {
			head = "Here are the first "
		}
		answer = head + Counted(len(l.Rows), noun) + which + ":" + rowNames(r.Tool, l.Rows, asked(r))
	}
	if !l.More {
		return answer
	}
	told, hint := "The list is incomplete: there are more.", Clean(l.Last.Hint)
	if r.Measure.Kind == "" && strings.Contains(hint, "incomplete") {
		told = hint
	} else if r.Measure.Kind == "" {
		told = strings.TrimSpace(told + " " + hint)
	}
	answer += "\n\n" + told
	if r.Measure.Kind == "" && l.Last.Next != "" {
		answer += ` Say "next page" to see more.`
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
	var parts []string
	add := func(label, value string, self bool) {
		if self {
			value = "you"
		}
		parts = append(parts, label+": "+Clean(value))
	}
	for _, f := range r.Tool.Inputs {
		v, given := args[f.Name]
		switch {
		case !given || f.Is(match.Paging, match.Order) || v == "*":
		case r.Target != nil && f == r.Target.Input:
			add(f.Noun(), about.Name, about.Self)
		default:
			add(strings.Join(f.Words, " "), fmt.Sprint(v), false)
		}
	}
	for _, e := range r.Filters {
		if !slices.ContainsFunc(parts, func(part string) bool { return strings.HasSuffix(part, ": "+Clean(e.Text)) }) {
			parts = append(parts, Clean(e.Text))
		}
	}
	if w := r.Within; w != nil {
		add(w.Input.Noun(), w.Entity.Text, w.Self)
	}
	if len(parts) == 0 {
		return ""
	}
	return " (" + strings.Join(parts, ", ") + ")"
}

// Article writes the first row as a text, and names the others.
func Article(rows []Row) string {
	first, longest := rows[0], ""
	for _, k := range first.Keys {
		if t := first.Text(k); len(t) > len(longest) && strings.Contains(t, " ") {
			longest = t
		}
	}
	answer := "**" + first.title() + "**\n\n" + cleanTo(longest, 2000)
	var more []string
	for _, one := range rows[1:min(len(rows), 4)] {
		more = append(more, Clean(one.Name()))
	}
	if len(more) > 0 {
		answer += "\n\nSee also: " + Join(more, "and") + "."
	}
	return answer
}
