package rehearsal

import (
	"fmt"
	"strings"
)

// errorText passes on what a tool says of a failure, with its advice.
func errorText(rep *reply) string {
	text := rep.message
	if text == "" {
		text = "That did not work."
	}
	if rep.advice != "" {
		text = strings.TrimRight(text, " ") + " " + rep.advice
	}
	return clean(text)
}

// tellOne answers from one thing: the field that was asked for in a sentence,
// or all of it.
func (p *planner) tellOne(r *reading, about found, rep *reply) outcome {
	if rep.failed && p.unknown(r, about, rep) {
		return say(fmt.Sprintf("I found no %s called %q. %s", r.target.prop.noun(), about.name, clean(rep.advice)))
	}
	switch data := rep.data.(type) {
	case row:
		if rep.failed {
			return say(errorText(rep))
		}
		return say(p.record(r, about, data))
	case []any:
		return p.tellList(r, about, nil, listing{rows: rowsOf(data), last: rep, first: rep, more: rep.more})
	}
	switch {
	case rep.failed:
		return say(errorText(rep))
	case rep.data == nil && rep.message != "":
		return say(clean(rep.message))
	case rep.data == nil:
		return say("There is nothing to show.")
	}
	return say(p.show("", rep.data))
}

// unknown reports whether a tool refused an id that stood in the question
// itself: whoever wrote it meant a thing and no format.
func (p *planner) unknown(r *reading, about found, rep *reply) bool {
	return r.target != nil && about.row.keys == nil && about.name != "" && rep.advice != "" &&
		(strings.Contains(rep.code, "NOT_FOUND") || strings.Contains(rep.code, "VALIDATION"))
}

func (p *planner) record(r *reading, about found, data row) string {
	whose := "Your"
	name := nameOf(data)
	if name == "" {
		name = about.name
	}
	if name != "" && !(about.self && r.target != nil && r.target.self) && (r.target != nil || len(r.args)+len(r.filters) > 0) {
		whose = name + "'s"
	} else if r.target == nil && !r.f.own {
		whose = "The"
	}
	key := p.askedField(r, data)
	if line := p.askedLine(r, whose, key, data); line != "" {
		return line
	}
	switch {
	case key == "" && treeKey(data) != "":
		return p.tree([]row{data}) + cutShort(data)
	case key == "":
		return p.wholeRecord(name, data) + cutShort(data)
	case masked(data.values[key]):
		return fmt.Sprintf("%s %s is hidden: you may not see it.", clean(whose), p.label(key))
	}
	return fmt.Sprintf("%s %s is %s.", clean(whose), p.label(key), p.show(key, data.values[key])) + p.behind(r, key, data)
}

// cutShort passes on that a record says of itself to be incomplete.
func cutShort(data row) string {
	if short, _ := data.get("truncated").(bool); !short {
		return ""
	}
	hint, _ := data.get("hint").(string)
	return "\n\n" + strings.TrimSpace("This is incomplete. "+clean(hint))
}

// askedLine answers from one of a record's inner rows, when the question names
// that row and not a field: "how many sick days do I have".
func (p *planner) askedLine(r *reading, whose, key string, data row) string {
	for _, k := range data.keys {
		list, _ := data.values[k].([]any)
		for _, one := range rowsOf(list) {
			name := nameOf(one)
			if name == "" || treeKey(data) != "" || !p.names(r, name) || p.fieldNames(r, key) {
				continue
			}
			if field := p.askedField(r, one); field != "" {
				return fmt.Sprintf("%s %s: %s %s.", clean(whose), clean(name), p.show(field, one.values[field]), p.label(field))
			}
			return fmt.Sprintf("%s %s:\n\n%s", clean(whose), clean(name), p.table(r, []row{one}))
		}
	}
	return ""
}

// names reports whether a word of the question stands in a row's name.
func (p *planner) names(r *reading, name string) bool {
	for _, w := range proseWords(name) {
		if r.asked[stem(w)] && !r.f.name[stem(w)] {
			return true
		}
	}
	return false
}

// fieldNames reports whether every word of the field was asked for as it is.
func (p *planner) fieldNames(r *reading, key string) bool {
	for _, w := range identifierWords(key) {
		if !r.asked[stem(w)] {
			return false
		}
	}
	return key != ""
}

// label writes a field's name within a sentence; what the tools write in
// capitals stays so.
func (p *planner) label(key string) string {
	w := identifierWords(key)
	if n := len(w); n == 2 && (w[1] == "name" || w[1] == "date") {
		w = w[:1]
	}
	return strings.Join(p.spelled(w), " ")
}

// behind shows the rows that a single value comes from, when the record has
// some.
func (p *planner) behind(r *reading, key string, data row) string {
	for _, k := range data.keys {
		list, ok := data.values[k].([]any)
		if !ok || k == key {
			continue
		}
		if rows := rowsOf(list); len(rows) > 0 && len(rows) <= 12 && !isTree(rows) {
			return "\n\n" + p.table(r, rows)
		}
	}
	return ""
}

// askedField is the one field of a record that the question's words name best.
func (p *planner) askedField(r *reading, data row) string {
	best, bestScore, rivals := "", 0, false
	for _, k := range data.keys {
		switch data.values[k].(type) {
		case row, []any:
			continue
		}
		if isIDKey(k) {
			continue
		}
		switch s := p.relevance(r, k); {
		case s > bestScore:
			best, bestScore, rivals = k, s, false
		case s == bestScore && s > 0:
			rivals = true
		}
	}
	if rivals && !r.f.lists() && r.namesOnlyHead() {
		return "" // all of the thing was asked for
	}
	return best
}

// namesOnlyHead reports whether the question names the thing and none of its
// fields.
func (r *reading) namesOnlyHead() bool {
	for s := range r.asked {
		if s != r.f.head && (r.f.fields[s] || !r.f.about[s]) {
			return false
		}
	}
	return len(r.asked) > 0
}

// relevance counts how far the words of the question speak of a field; a field
// with fewer other words is nearer. The tool's own noun tells fields apart only
// when it names nothing else.
func (p *planner) relevance(r *reading, key string) int {
	hits := 0
	words := identifierWords(key)
	for _, w := range words {
		s := stem(w)
		switch {
		case r.asked[s] && (s != r.f.head || r.f.own):
			hits += 4
		case p.en.among(r.asked, s) && (s != r.f.head || r.f.own):
			hits += 3
		}
	}
	if hits == 0 || isClerical(key) {
		return 0
	}
	return hits*4 - len(words)
}

// wholeRecord shows all of a record as two columns, and its inner lists.
func (p *planner) wholeRecord(name string, data row) string {
	var b, lists strings.Builder
	if name != "" {
		fmt.Fprintf(&b, "**%s**\n\n", clean(name))
	}
	lines := 0
	for _, k := range data.keys {
		switch v := data.values[k].(type) {
		case row:
			lists.WriteString("\n\n" + p.wholeRecord(p.human(k), v))
			continue
		case []any:
			if rows := rowsOf(v); len(rows) > 0 {
				lists.WriteString("\n\n" + p.inner(k, rows))
				continue
			}
		}
		if isClerical(k) || name != "" && isNamePart(k) || isIDKey(k) && uuidShape.MatchString(fmt.Sprint(data.values[k])) || data.values[k] == nil {
			continue
		}
		if lines == 0 {
			b.WriteString("| | |\n|---|---|\n")
		}
		fmt.Fprintf(&b, "| %s | %s |\n", p.human(k), p.show(k, data.values[k]))
		lines++
	}
	return strings.TrimSpace(strings.TrimSpace(b.String()) + lists.String())
}

func (p *planner) inner(key string, rows []row) string {
	if isTree(rows) {
		return p.tree(rows)
	}
	return "**" + p.human(key) + "**\n\n" + p.table(nil, rows)
}

// fieldFor is the field of a row that an input changes: "salary" for
// new_salary.
func fieldFor(r row, prop *property) string {
	best, bestHits := "", 0
	for _, k := range r.keys {
		hits := 0
		for _, w := range identifierWords(k) {
			if prop.stems[stem(w)] {
				hits++
			}
		}
		if _, isNumber := numberOf(r.values[k]); isNumber && hits > bestHits {
			best, bestHits = k, hits
		}
	}
	return best
}
