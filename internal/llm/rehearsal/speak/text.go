package speak

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"countersign.dev/internal/english"
	"countersign.dev/internal/facts"
	"countersign.dev/internal/language"
	"countersign.dev/internal/llm/rehearsal/match"
	"countersign.dev/internal/result"
	"countersign.dev/internal/schema/declared"
)

const maxRows, maxFacts = 10, 3 // rows that a text names, and fields of each

// Failure passes on what a tool says of a failure, for people.
func Failure(a *Answer) string {
	message, advice := a.Fault.ForPeople()
	return result.Markdown(cmp.Or(result.Unmark(message), "That did not work.") + " " + result.Unmark(advice))
}

// Label is a field's name within a sentence.
func Label(t *declared.Tool, key string) string { return t.Column(key).Head(key) }

// lines names up to ten rows, with the fields that are given, or that were asked for, or with what describes them.
func lines(r *match.Reading, rows []result.Row, given ...string) (text string) {
	n := cmp.Or(r.Few, maxRows)
	for _, one := range rows[:min(len(rows), n)] {
		keys := given
		if keys == nil {
			keys = slices.DeleteFunc(relevant(r, one), func(k string) bool {
				return facts.IsName(one, k) || r.Args[k] != nil || one.Masked(k) || facts.Sentence(r.Tool.Meta, one, []string{k}) == ""
			})
			keys = keys[:min(len(keys), maxFacts)]
		}
		title := cmp.Or(facts.Title(one), "one without a name")
		if len(keys) == 0 {
			title += facts.Description(one)
			keys = slices.DeleteFunc([]string{r.Tool.Amount()}, func(k string) bool { return one.Masked(k) })
		}
		text += "\n- " + result.Markdown(title) + strings.TrimSuffix(": "+facts.Sentence(r.Tool.Meta, one, keys), ": ")
	}
	if more := len(rows) - n; more > 0 {
		text += fmt.Sprintf("\n- and %d more", more)
	}
	return text
}

// relevant are the fields of a row that the question asks for, the nearest first.
func relevant(r *match.Reading, one result.Row) []string {
	keys := slices.DeleteFunc(slices.Clone(one.Keys), func(k string) bool { return facts.Nests(one, k) || result.IsID(k) || r.Relevance(k) == 0 })
	slices.SortStableFunc(keys, func(a, b string) int { return cmp.Compare(r.Relevance(b), r.Relevance(a)) })
	return keys
}

// Record writes all of a row: its fields in one line, its inner rows in others.
func Record(t *declared.Tool, name string, one result.Row) string {
	text := "**" + cmp.Or(result.Markdown(name), t.Noun) + "**: " + facts.Sentence(t.Meta, one, facts.Readable(t.Meta, one, name)) + "."
	for _, k := range one.Keys {
		inner := result.RowsWithin(one.Values[k])
		if v, isRow := one.Values[k].(result.Row); isRow && t.Column(k).Show != result.ShowDetail {
			inner = []result.Row{v}
		}
		for _, v := range inner[:min(len(inner), maxRows)] {
			text += "\n- " + cmp.Or(result.Markdown(facts.Title(v)), Label(t, k)) + ": " + facts.Sentence(t.Meta, v, facts.Readable(t.Meta, v, facts.Name(v)))
		}
	}
	return text
}

// One answers from one thing: the field that was asked for, or all of it.
func One(r *match.Reading, about declared.Thing, a *Answer) string {
	data, isObject := a.Data.(result.Row)
	_, isList := a.Data.([]any)
	switch {
	case isList:
		return List(r, about, a, 0)
	case !isObject:
		return r.Tool.Meta("").Said("", result.Row{Values: map[string]any{"": a.Data}})
	case r.Tool.Writes() && data.Values["success"] == true: // the rest of it is for programs
		return result.Markdown(cmp.Or(data.Text("message"), "Done: "+language.Text(r.Tokens)+"."))
	}
	name := facts.Name(data)
	if name == "" || name == data.Text("scope") || about.Name != "" && (r.Tool.Own || about.Row.Keys != nil) {
		name = about.Name
	}
	whose := map[bool]string{true: result.Markdown(name) + "'s", false: "The"}[name != "" && name[:1] != strings.ToLower(name[:1])] // not "all deals"
	if r.Target != nil && r.Target.Entity.Self || r.Tool.Own && r.Target == nil {
		whose = "Your"
	}
	named := func(one result.Row) int {
		words := english.Prose(facts.Name(one))
		words = words[:max(1, len(words)-1)] // not the "leave" of each kind
		return len(slices.DeleteFunc(words, func(w string) bool { return !r.Asked[english.Stem(w)] || r.Tool.Names(english.Stem(w)) }))
	}
	inner := slices.SortedStableFunc(slices.Values(result.RowsWithin(data)), func(a, b result.Row) int { return named(b) - named(a) }) // "how many sick days do I have": one of its inner rows
	var parts []string                                                                                                                 // "vacation and sick days" are two
	for _, one := range inner[:min(len(inner), map[bool]int{true: len(inner), false: 1}[r.Has("and", "or")])] {
		if key := cmp.Or(askedField(r, one), r.Tool.Amount()); named(one) > 0 && one.Values[key] != nil {
			parts = append(parts, fmt.Sprintf("%s %s: %s %s.", whose, result.Markdown(facts.Name(one)), r.Tool.Meta(key).Said(key, one), Label(r.Tool, key)))
		}
	}
	if len(parts) > 0 {
		return strings.Join(parts, "\n\n")
	}
	return field(r, whose, name, data)
}

// field answers with the field that was asked for, or with the whole record.
func field(r *match.Reading, whose, name string, data result.Row) string {
	key := askedField(r, data)
	label := Label(r.Tool, key)
	yes, isBool := data.Values[key].(bool)
	switch {
	case key == "" || slices.Contains(language.Lows(r.Tokens), "against"):
		return Record(r.Tool, name, data)
	case data.Masked(key):
		return hidden(r, whose+" "+label, key)
	case isBool && slices.Contains([]string{"is", "are", "does"}, r.Tokens[0].Low):
		return fmt.Sprintf(map[bool]string{true: "Yes, %s is %s.", false: "No, %s is not %s."}[yes], result.Markdown(name), label)
	}
	if strings.Count(name, " ") > 2 && whose != "The" { // what has a title, not a name
		whose = result.Markdown(name) + ":"
	}
	said := r.Tool.Meta(key).Said(key, data)
	if slices.ContainsFunc([]string{"ed", "spent", " by", " to", " at", " on"}, func(end string) bool { return strings.HasSuffix(label, end) }) && name != "" { // "hired", "approved by"
		return fmt.Sprintf("%s: %s %s.", result.Markdown(name), label, said)
	}
	are := map[bool]string{true: " are", false: " is"}[english.Plural(english.LastWord(label))]
	covers := strings.TrimSuffix(" ("+result.Markdown(data.Text("scope"))+")", " ()")                                                     // whose rows a figure is of
	return fmt.Sprintf("%s %s%s %s%s.", whose, label, map[bool]string{true: ":", false: are}[strings.Count(said, " ") > 3], said, covers) // of a sentence
}

// Hidden says how many rows hide what is asked for, or what narrows them, and who may see it.
func Hidden(r *match.Reading, rows []result.Row) string {
	keys := []string{Column(r)}
	for _, f := range r.Filters {
		keys = append(keys, f.Column)
	}
	for _, key := range keys {
		masked := slices.DeleteFunc(slices.Clone(rows), func(one result.Row) bool { return !one.Masked(key) })
		if n := len(masked); n > 0 {
			return hidden(r, "The "+Label(r.Tool, key)+" of "+english.Count(n, r.Tool.Rows), key)
		}
	}
	return ""
}

func hidden(r *match.Reading, what, key string) string {
	own := map[bool]string{true: " You can ask for your own " + Label(r.Tool, key) + "."}[r.OfPeople() && r.TellsOwn(key)]
	return what + " is hidden from you. It is shown to " + cmp.Or(result.Join(r.Tool.Column(key).Roles, "or"), "others") + "." + own
}

// askedField is the one field of a record that the question's words name best. Of what was expected and
// has come about since, it is the day on which it did, unless the question is what was expected.
func askedField(r *match.Reading, data result.Row) string {
	key := append(relevant(r, data), "")[0]
	expected, is := strings.CutPrefix(key, "expected_")
	if came := "actual_" + expected; is && data.Text(came) != "" && !r.Asked[english.Stem("expected")] {
		return came
	}
	return key
}

// Column is the column that the question's words name best; empty when they name none.
func Column(r *match.Reading) string {
	var all result.Row
	for _, f := range r.Tool.Columns {
		all.Keys = append(all.Keys, f.Name)
	}
	return askedField(r, all)
}

// List answers from rows, and says whether they are all; before is how many of the list were shown already.
func List(r *match.Reading, about declared.Thing, l *Answer, before int) (answer string) {
	if r.Last && r.Measure.Kind == "" && !l.More {
		r.Skip = max(r.Skip, len(l.Rows)-cmp.Or(r.Few, maxRows))
	}
	if rest := *l; r.Measure.Kind == "" && r.Skip > 0 {
		before, rest.Rows = min(r.Skip, len(l.Rows)), l.Rows[min(r.Skip, len(l.Rows)):]
		if l = &rest; len(l.Rows) == 0 && !l.More {
			return "" // they were all named
		}
	}
	which, counted := narrowed(r, about), english.Count(len(l.Rows), r.Tool.Rows)
	switch first := append(l.Rows, result.Row{})[0]; {
	case r.Measure.Kind == "count" && r.Measure.By != "" && !l.More:
		amount := r.Tool.Amount()
		if slices.ContainsFunc(l.Rows, func(one result.Row) bool { return one.Masked(amount) }) || r.Measure.By != "currency" && mixes(r.Tool, l.Rows, amount) {
			amount = ""
		}
		groups := facts.Totals(l.Rows, r.Measure.By, amount, r.Tool.Rows, r.Tool.Meta, r.Measure.Kind)
		if groups = groups[min(r.Skip, len(groups)):]; r.Skip > 0 && len(groups) == 0 {
			return "" // they were all named
		}
		if answer = "There are " + counted + which + ", by " + r.Measure.Of + ":" + lines(r, groups, r.Tool.Rows, amount); len(groups) == 1 && facts.Name(groups[0]) == "none" {
			answer = "I cannot work that out: the list of " + r.Tool.Rows + " does not say the " + r.Measure.Of + " of each."
		}
	case r.Measure.Kind == "count" || r.Measure.Kind == "sum" && r.Measure.By == "" && measuredColumn(r, l.Rows) == "": // a part is never taken for the whole
		answer = "There " + map[bool]string{true: "is ", false: "are "}[len(l.Rows) == 1] + map[bool]string{true: "more than "}[l.More] + counted + which + " that you can see."
	case len(l.Rows) == 0:
		answer = "I found no " + r.Tool.Rows + which + " that you can see." + map[bool]string{true: " I looked for these words."}[r.Searches()]
	case r.Measure.Kind != "" && (r.Measure.Kind != "sum" || len(l.Rows) > 1 || askedField(r, first) == "" || len(r.Filters) > 0):
		answer = measured(r, which, l)
	case len(l.Rows) == 1 && !r.Plural && askedField(r, first) != "" && which != "":
		answer = field(r, result.Markdown(facts.Name(first))+"'s", facts.Name(first), first)
	case len(l.Rows) == 1 && r.IsOf(facts.Title(first)):
		answer = Record(r.Tool, result.Markdown(facts.Title(first)), first)
	case before > 0:
		n, more := len(l.Rows), l.More
		if r.Skip > 0 { // so many are named at a time
			n, more = min(n, cmp.Or(r.Few, maxRows)), more || n > cmp.Or(r.Few, maxRows)
		}
		last := map[bool]string{true: fmt.Sprintf("number %d to", before+1), false: "the last ones of"}[more]
		answer = fmt.Sprintf(map[bool]string{true: "Here is %s, " + map[bool]string{true: "number", false: "the last one of"}[more] + " %[3]d:", false: "Here are %s, %s %d:"}[n == 1], strings.Replace(english.Count(n, r.Tool.Rows), " ", " more ", 1), last, before+n) + lines(r, l.Rows)
	default:
		answer = map[bool]string{true: "Here are the first ", false: "I found "}[l.More && len(l.Rows) > 1] + counted + which + map[bool]string{true: " that you can see"}[r.Bulk && which == "" && !l.More] + ":" + lines(r, l.Rows)
	}
	if l.Remark != "" {
		answer += "\n\n" + result.Markdown(l.Remark)
	}
	answer += map[bool]string{true: "\n\nThe list is incomplete: there are more."}[l.More]
	return answer + map[bool]string{true: ` Say "next page" to see them.`}[l.More && r.Measure.Kind == ""]
}

var asking = regexp.MustCompile(`(?i)^(?:(?:did|do|have|has) (?:i|we)|are|is) `)

// narrowed says in brackets what a list was kept to, in the question's words.
func narrowed(r *match.Reading, about declared.Thing) string {
	parts := slices.DeleteFunc(append(r.Said(), r.Assumed), func(said string) bool { return said == "" || strings.HasPrefix(said, "sort") })
	for i := range parts {
		about := slices.DeleteFunc(strings.Fields(parts[i]), func(w string) bool { return strings.EqualFold(w, r.Tool.Rows) })
		parts[i] = asking.ReplaceAllString(strings.Join(about, " "), "")
	}
	if r.Target != nil {
		noun := map[bool]string{false: r.Target.Input.Noun + ": "}[r.Tool.IsAbout(r.Target.Input.Noun)]
		parts = append(parts, noun+map[bool]string{true: "you", false: about.Name}[r.Target.Entity.Self])
	}
	if slices.ContainsFunc(r.Filters, func(f match.Filter) bool { return f.Self && f.Column == "" }) {
		parts = append(parts, "yours")
	}
	return strings.TrimSuffix(" ("+result.Markdown(strings.Join(english.Distinct(parts), ", "))+")", " ()")
}

// measured answers with figures over many rows: sums, an average, the extremes.
func measured(r *match.Reading, which string, l *Answer) string {
	if l.More {
		which = fmt.Sprintf(" of the first %d", len(l.Rows)) + which
	}
	key := measuredColumn(r, l.Rows)
	rows := slices.DeleteFunc(slices.Clone(l.Rows), func(one result.Row) bool {
		return key != r.Tool.Rows && (one.Values[key] == nil || one.Masked(key))
	})
	if adds := adding[r.Measure.Kind] != "" || r.Measure.Kind == "compare"; adds && r.Measure.By != "currency" && mixes(r.Tool, rows, key) {
		return "I cannot add these " + r.Tool.Rows + " up: they are in several currencies." + lines(r, rows, key)
	}
	if r.Measure.Each {
		if facts.SortDescending(rows, key, r.Tool.Column(key).Enum); r.Measure.Kind == "lowest" {
			slices.Reverse(rows)
		}
		return fmt.Sprintf("The %s %s of each %s%s:", r.Measure.Kind, Label(r.Tool, key), r.Measure.Of, which) + lines(r, facts.First(rows, r.Measure.By, key), r.Measure.By, key)
	}
	if r.Measure.By != "" {
		which += map[bool]string{true: ", over " + english.Count(len(rows), r.Tool.Rows)}[key != r.Tool.Rows]
		rows = facts.Totals(rows, r.Measure.By, key, r.Tool.Rows, r.Tool.Meta, r.Measure.Kind)
		if rows = rows[min(r.Skip, len(rows)):]; r.Skip > 0 && (len(rows) == 0 || adding[r.Measure.Kind] == "") {
			return ""
		}
	}
	switch {
	case len(rows) > 0 && adding[r.Measure.Kind] != "" && r.Measure.By != "":
		return fmt.Sprintf("The %s%s by %s%s:", strings.TrimPrefix(adding[r.Measure.Kind], Label(r.Tool, key)+" "), Label(r.Tool, key), r.Measure.Of, which) + lines(r, rows, key)
	case key == "" && which != "" && adding[r.Measure.Kind] == "": // "the most urgent tickets"
		return "I found " + english.Count(len(l.Rows), r.Tool.Rows) + which + ":" + lines(r, l.Rows)
	case len(rows) == 0, r.Measure.Kind == "compare" && !slices.ContainsFunc(rows[0].Keys, result.IsAmount):
		return fmt.Sprintf("I cannot work that out: none of the %s has %s that you may see.", r.Tool.Rows, cmp.Or(map[bool]string{true: "amounts to compare"}[r.Measure.Kind == "compare"], Label(r.Tool, key), "such a number or date"))
	case r.Measure.By == "" && slices.Contains([]string{"sum", "average", "compare"}, r.Measure.Kind):
		return added(r, rows, key, which)
	}
	return ranked(r, rows, key, which)
}

// mixes reports whether a column has amounts in several currencies, which add up to nothing.
func mixes(t *declared.Tool, rows []result.Row, key string) bool {
	_, one := facts.Currency(rows)
	return !one && t.Meta(key).IsMoney(key)
}

// measuredColumn is the column that the list is ordered by, that is named, or the amount.
func measuredColumn(r *match.Reading, rows []result.Row) string {
	if r.Measure.OverDates() {
		return cmp.Or(r.Measure.Column, r.Tool.DateColumn())
	}
	key := cmp.Or(r.Measure.Column, map[bool]string{true: Column(r)}[r.Measure.Kind == "sort"])
	for _, one := range rows {
		for _, k := range relevant(r, one) {
			if _, isNumber := one.Number(k); key == "" && (isNumber || one.Masked(k)) {
				key = k
			}
		}
	}
	return cmp.Or(key, r.Tool.Amount())
}

var adding = map[string]string{"sum": "total ", "average": "average "}

// added writes a sum or an average; to compare, the sums of all amounts, and the rows.
func added(r *match.Reading, rows []result.Row, key, which string) string {
	by, keys, kind := 1, []string{key}, r.Measure.Kind
	list := map[bool]string{true: lines(r, rows)}[kind == "compare" || kind == "sum" && len(rows) < 2*maxRows]
	switch kind {
	case "average":
		by = len(rows)
	case "compare":
		keys = slices.DeleteFunc(slices.Clone(rows[0].Keys), func(k string) bool { return rows[0].Values[k] == nil || rows[0].Text(k) != "" || !result.IsAmount(k) })
	}
	return fmt.Sprintf("In all%s, over %s that you can see: %s%s.", which, english.Count(len(rows), r.Tool.Rows), strings.TrimPrefix(adding[kind], Label(r.Tool, key)+" "), facts.Sentence(r.Tool.Meta, facts.Averages(rows, keys, by), keys)) + list
}

// ranked names the extreme rows, or the values of a column whose rows have the largest sums.
func ranked(r *match.Reading, rows []result.Row, key, which string) string {
	m, keys := r.Measure, slices.Compact([]string{key, map[bool]string{true: r.Tool.Amount(), false: r.Tool.Rows}[r.Measure.By == ""]})
	facts.SortDescending(rows, key, r.Tool.Column(key).Enum)                                                                     // whose values are from low to high
	words := m.Kind == "sort" && !r.Has("descending", "desc") && facts.Describes(rows[0], key) && r.Tool.Column(key).Enum == nil // from A to Z
	due := m.Kind == "sort" && english.Shared([]string{"due", "expected", "next"}, english.Words(key)) > 0
	if words || m.Kind == "lowest" || m.Kind == "oldest" || m.Kind == "sort" && r.Has("ascending", "asc") || due && !r.Has("descending", "desc") {
		slices.Reverse(rows)
	}
	keys = slices.DeleteFunc(keys, func(k string) bool { return facts.IsName(rows[0], k) })
	if skip := r.Skip; skip >= len(rows) {
		return ""
	} else if skip > 0 {
		last := map[bool]string{true: fmt.Sprintf(" to %d", min(skip+cmp.Or(r.Few, maxRows), len(rows)))}[len(rows) > skip+1]
		return fmt.Sprintf("Number %d%s of %d, by %s:", skip+1, last, len(rows), r.Tool.Order(key)) + lines(r, rows[skip:], keys...)
	}
	n := min(m.Count, len(rows))
	for m.Count == 1 && n < len(rows) && rows[n].Values[key] == rows[0].Values[key] { // none of those is the highest
		n++
	}
	kind := cmp.Or(map[string]string{"newest": "latest", "oldest": "earliest"}[m.Kind], m.Kind) // which is no age
	extreme := kind + map[bool]string{true: " number of"}[key == r.Tool.Rows] + " " + Label(r.Tool, key) + which
	switch {
	case n == 1 && m.By != "":
		return fmt.Sprintf("%s has the %s: %s.", result.Markdown(facts.Title(rows[0])), extreme, r.Tool.Meta(key).Said(key, rows[0]))
	case n == 1 && m.OverDates() && r.Target != nil && !r.Tool.Relates(r.Target.Input): // one of somebody's records
		return Record(r.Tool, facts.Name(rows[0]), rows[0])
	case m.Kind == "sort":
		return english.Count(n, r.Tool.Rows) + which + ", by " + r.Tool.Order(key) + ":" + lines(r, rows[:n], keys...)
	case n == 1:
		keys = slices.Concat(keys, slices.DeleteFunc(relevant(r, rows[0]), func(k string) bool { return slices.Contains(keys, k) || rows[0].Values[k] == nil }))
		keys = keys[:min(len(keys), maxFacts)]
		of := map[bool]string{true: ", of " + english.Count(len(rows), r.Tool.Rows) + " that you can see"}[len(rows) > 1 && !strings.HasPrefix(which, " of the first")]
		return fmt.Sprintf("%s is the %s%s: %s%s.", result.Markdown(facts.Title(rows[0])+facts.Description(rows[0])), kind, which, facts.Sentence(r.Tool.Meta, rows[0], keys), of)
	}
	if of := cmp.Or(m.Of, r.Tool.Rows); m.OverDates() {
		return fmt.Sprintf("The %d %s %s%s:", n, kind, of, which) + lines(r, rows[:n], keys...)
	}
	return fmt.Sprintf("The %d %s with the %s:", n, cmp.Or(m.Of, r.Tool.Rows), extreme) + lines(r, rows[:n], keys...)
}
