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
	return Clean(strings.TrimRight(a.Message, " ") + " " + a.Advice)
}

// One answers from one thing: the field that was asked for in a sentence, or all
// of it.
func One(r *match.Reading, about Thing, a *Answer) string {
	switch data := a.Data.(type) {
	case Row:
		return theRecord(r, about, data)
	case []any:
		return List(r, about, nil, Listing{Rows: RowsOf(data), Last: a, More: a.More})
	case nil:
		if a.Message != "" {
			return Clean(a.Message)
		}
		return "There is nothing to show."
	}
	return Value(r.Tool, "", a.Data)
}

func theRecord(r *match.Reading, about Thing, data Row) string {
	whose, name := "Your", Name(data)
	if name == "" {
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
	yes, isBool := data.Values[key].(bool)
	switch {
	case key == "" && treeKey(data) != "":
		return tree([]Row{data}) + cutShort(data)
	case key == "":
		return record(r, name, data) + cutShort(data)
	case Masked(data.Values[key]):
		return fmt.Sprintf("%s %s is hidden: you may not see it.", whose, Label(r.Tool, key))
	case isBool && r.AsksWhether() && yes:
		return fmt.Sprintf("Yes, %s is %s.", Clean(name), Label(r.Tool, key))
	case isBool && r.AsksWhether():
		return fmt.Sprintf("No, %s is not %s.", Clean(name), Label(r.Tool, key))
	}
	return fmt.Sprintf("%s %s is %s.", whose, Label(r.Tool, key), Value(r.Tool, key, data.Values[key])) + behind(r, key, data)
}

// cutShort passes on that a record says of itself to be incomplete.
func cutShort(data Row) string {
	if short, _ := data.Values["truncated"].(bool); !short {
		return ""
	}
	return "\n\n" + strings.TrimSpace("This is incomplete. "+Clean(text(data, "hint")))
}

// askedRow answers from one of a record's inner rows, when the question names
// that row and not a field: "how many sick days do I have".
func askedRow(r *match.Reading, whose, key string, data Row) string {
	if treeKey(data) != "" || key != "" && !slices.ContainsFunc(language.Identifier(key), func(w string) bool { return !r.Asked[language.Stem(w)] }) {
		return ""
	}
	for _, k := range data.Keys {
		list, _ := data.Values[k].([]any)
		for _, one := range RowsOf(list) {
			name := Name(one)
			if !slices.ContainsFunc(language.Prose(name), func(w string) bool { return r.Asked[language.Stem(w)] && !r.Tool.Names(language.Stem(w)) }) {
				continue
			}
			if field := askedField(r, one); field != "" {
				return fmt.Sprintf("%s %s: %s %s.", whose, Clean(name), Value(r.Tool, field, one.Values[field]), Label(r.Tool, field))
			}
			return fmt.Sprintf("%s %s", whose, record(r, name, one))
		}
	}
	return ""
}

// behind shows the rows that a single value comes from, when the record has some.
func behind(r *match.Reading, key string, data Row) string {
	for _, k := range data.Keys {
		list, _ := data.Values[k].([]any)
		if rows := RowsOf(list); k != key && len(rows) > 0 && !isTree(rows) {
			return innerRows(r, k, rows)
		}
	}
	return ""
}

// askedField is the one field of a record that the question's words name best.
func askedField(r *match.Reading, data Row) string {
	best, most, rivals := "", 0, false
	for _, k := range data.Keys {
		_, isRow := data.Values[k].(Row)
		_, isList := data.Values[k].([]any)
		if isRow || isList || IsID(k) {
			continue
		}
		switch s := r.Relevance(k); {
		case s > most:
			best, most, rivals = k, s, false
		case s == most && s > 0:
			rivals = true
		}
	}
	if rivals && !r.Tool.Lists() && r.OnlyNoun() {
		return "" // all of the thing was asked for
	}
	return best
}

// List answers from rows: a number, or names with a head line, and always
// whether they are all.
func List(r *match.Reading, about Thing, args map[string]any, l Listing) string {
	answer := ""
	which := narrowed(r, about, args)
	switch {
	case l.Last != nil && l.Last.Failed:
		return Failure(l.Last)
	case r.Measure.Kind == "count":
		answer = count(r, narrowed(r, Thing{Self: true}, args), l)
	case len(l.Rows) == 0:
		answer = "I found no " + r.Tool.Noun + which + "."
	case r.Measure.Kind != "":
		answer = measured(r, which, l)
	case isTree(l.Rows):
		answer = tree(l.Rows)
	case len(l.Rows) == 1 && !r.Plural() && askedField(r, l.Rows[0]) != "" && r.Narrow():
		answer = theRecord(r, Thing{Name: Name(l.Rows[0])}, l.Rows[0])
	case l.More:
		answer = "Here are the first " + Counted(len(l.Rows), r.Tool.Noun) + which + ":" + rowNames(r, l.Rows)
	default:
		answer = "I found " + Counted(len(l.Rows), r.Tool.Noun) + which + ":" + rowNames(r, l.Rows)
	}
	if l.More {
		answer += "\n\n" + incomplete(l, r.Measure.Kind == "")
	}
	return answer
}

// incomplete passes on what the tool says of a list that goes on.
func incomplete(l Listing, pages bool) string {
	told := "The list is incomplete: there are more."
	if pages && l.Last.Hint != "" {
		if told = Clean(l.Last.Hint); !strings.Contains(told, "incomplete") {
			told = "The list is incomplete. " + told
		}
	}
	if pages && l.Last.Next != "" {
		told += ` Say "next page" to see more.`
	}
	return told
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
	for _, p := range r.Tool.Inputs {
		v, given := args[p.Name]
		if !given || p.Paging() || v == "*" {
			continue
		}
		value, label := Clean(fmt.Sprint(v)), strings.Join(p.Words, " ")
		if p.IsID() {
			label = p.Noun()
		}
		if r.Target != nil && p == r.Target.Input {
			if value = Clean(about.Name); about.Self {
				value = "you"
			}
		}
		parts = append(parts, label+": "+value)
	}
	for _, e := range r.Filters {
		if !slices.ContainsFunc(parts, func(part string) bool { return strings.HasSuffix(part, ": "+Clean(e.Text)) }) {
			parts = append(parts, Clean(e.Text))
		}
	}
	if w := r.Within; w != nil && w.Self {
		parts = append(parts, w.Input.Noun()+": you")
	} else if w != nil {
		parts = append(parts, w.Input.Noun()+": "+Clean(w.Entity.Text))
	}
	if len(parts) == 0 {
		return ""
	}
	return " (" + strings.Join(parts, ", ") + ")"
}

// count tells how many rows there are, and never takes a part for the whole.
func count(r *match.Reading, which string, l Listing) string {
	be, n := "are", Counted(len(l.Rows), r.Tool.Noun)
	if l.More {
		n = "more than " + n
	} else if len(l.Rows) == 1 {
		be = "is"
	}
	return fmt.Sprintf("There %s %s%s that you can see.", be, n, which)
}

// Article tells the first row as a text, and names the others.
func Article(rows []Row) string {
	first, longest := rows[0], ""
	for _, k := range first.Keys {
		if t := text(first, k); len(t) > len(longest) && strings.Contains(t, " ") {
			longest = t
		}
	}
	answer := "**" + title(first) + "**"
	if longest != Name(first) {
		answer += "\n\n" + CleanTo(longest, 2000)
	}
	var more []string
	for _, one := range rows[1:min(len(rows), 4)] {
		more = append(more, Clean(Name(one)))
	}
	if len(more) > 0 {
		answer += "\n\nSee also: " + Join(more, "and") + "."
	}
	return answer
}
