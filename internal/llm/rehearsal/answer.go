package rehearsal

import (
	"cmp"
	"fmt"
	"slices"
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

func (p *planner) record(r *reading, about found, data row) string {
	if nested := wrapped(data); nested != nil {
		data = *nested
	}
	whose := "Your"
	name := nameOf(data)
	if name == "" {
		name = about.name
	}
	if name != "" && !(about.self && r.target != nil && r.target.self) && (r.target != nil || len(r.args) > 0) {
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

// wrapped takes a record out of an object that holds nothing else.
func wrapped(data row) *row {
	if len(data.keys) != 1 {
		return nil
	}
	if inner, ok := data.values[data.keys[0]].(row); ok {
		return &inner
	}
	return nil
}

// label writes a field's name within a sentence; what the tools write in
// capitals stays so.
func (p *planner) label(key string) string {
	w := identifierWords(key)
	if n := len(w); n == 2 && (w[1] == "name" || w[1] == "date") {
		w = w[:1]
	}
	for i := range w {
		if p.capitals[w[i]] {
			w[i] = strings.ToUpper(w[i])
		}
	}
	return strings.Join(w, " ")
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
	best, bestScore := "", 0
	for _, k := range data.keys {
		switch data.values[k].(type) {
		case row, []any:
			continue
		}
		if isIDKey(k) {
			continue
		}
		if s := p.relevance(r, k); s > bestScore {
			best, bestScore = k, s
		}
	}
	return best
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
		case r.f.name[s] && !r.f.lists() && s != r.f.head && len(words) > 1 && hits > 0:
			hits++
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

// tellList answers from rows: a number, or a table with its head line, and
// always whether it is the whole.
func (p *planner) tellList(r *reading, about found, args map[string]any, l listing) outcome {
	text := ""
	switch {
	case l.last != nil && l.last.failed:
		return say(errorText(l.last))
	case r.measure.kind == "count":
		text = p.count(r, args, l)
	case len(l.rows) == 0:
		text = p.none(r, about, args)
	case r.measure.overNumbers():
		text = p.measured(r, l)
	case isTree(l.rows):
		text = p.tree(l.rows)
	case len(l.rows) == 1 && p.askedField(r, l.rows[0]) != "" && (len(r.filters) > 0 || len(r.args) > 0):
		text = p.record(r, found{name: nameOf(l.rows[0])}, l.rows[0])
	default:
		text = p.headLine(r, about, args, l) + "\n\n" + p.table(r, l.rows)
	}
	if l.more {
		text += "\n\n" + incompleteness(l, r.measure.kind == "")
	}
	return say(text)
}

// incompleteness passes on what the tool says of a list that goes on.
func incompleteness(l listing, pages bool) string {
	text := "The list is incomplete: there are more."
	if pages && l.last.hint != "" {
		text = "The list is incomplete. " + clean(l.last.hint)
	}
	if pages && l.last.next != "" {
		text += ` Say "next page" to see more.`
	}
	return text
}

func (p *planner) headLine(r *reading, about found, args map[string]any, l listing) string {
	n, noun := len(l.rows), r.f.noun
	if n == 1 {
		noun = singular(noun)
	}
	narrowed := p.narrowedBy(r, about, args)
	switch {
	case l.more && len(narrowed) == 0:
		return fmt.Sprintf("Here are the first %d %s:", n, noun)
	case l.more:
		return fmt.Sprintf("Here are the first %d %s (%s):", n, noun, narrowed)
	case narrowed != "":
		return fmt.Sprintf("I found %d %s (%s):", n, noun, narrowed)
	}
	return fmt.Sprintf("I found %d %s:", n, noun)
}

func (p *planner) none(r *reading, about found, args map[string]any) string {
	if narrowed := p.narrowedBy(r, about, args); narrowed != "" {
		return fmt.Sprintf("I found no %s (%s).", r.f.noun, narrowed)
	}
	return fmt.Sprintf("There are no %s that you can see.", r.f.noun)
}

// narrowedBy says what a list was kept to.
func (p *planner) narrowedBy(r *reading, about found, args map[string]any) string {
	var parts []string
	for _, prop := range r.f.props {
		v, given := args[prop.name]
		if !given || prop.paging() {
			continue
		}
		text := fmt.Sprint(v)
		if r.target != nil && prop.name == r.target.prop.name {
			if text = about.name; about.self {
				text = "you"
			}
		}
		label := strings.ToLower(p.human(prop.name))
		if prop.isID() {
			label = prop.noun()
		}
		parts = append(parts, label+": "+clean(text))
	}
	for _, s := range r.filters {
		if !slices.ContainsFunc(parts, func(part string) bool { return strings.HasSuffix(part, ": "+clean(s.text)) }) {
			parts = append(parts, clean(s.text))
		}
	}
	if r.within != nil {
		parts = append(parts, p.groupName(r))
	}
	return strings.Join(parts, ", ")
}

func (p *planner) groupName(r *reading) string {
	if r.within.self {
		return r.within.prop.noun() + ": you"
	}
	return r.within.prop.noun() + ": " + clean(r.within.span.text)
}

// count tells how many rows there are, and never takes a part for the whole.
func (p *planner) count(r *reading, args map[string]any, l listing) string {
	n, noun := len(l.rows), r.f.noun
	if n == 1 {
		noun = singular(noun)
	}
	which := ""
	if narrowed := p.narrowedBy(r, found{self: true}, args); narrowed != "" {
		which = " (" + narrowed + ")"
	}
	if l.more {
		return fmt.Sprintf("There are more than %d %s%s that you can see.", n, noun, which)
	}
	if n == 1 {
		return fmt.Sprintf("There is 1 %s%s that you can see.", noun, which)
	}
	return fmt.Sprintf("There are %d %s%s that you can see.", n, noun, which)
}

// measured sums up a column of numbers, or shows its extremes.
func (p *planner) measured(r *reading, l listing) string {
	key := p.numberColumn(r, l.rows)
	if key == "" {
		if hidden := p.hiddenColumn(r, l.rows); hidden != "" {
			return fmt.Sprintf("I cannot work that out: %s is hidden from you.", p.label(hidden))
		}
		return fmt.Sprintf("I can't tell which number of the %s you mean.", r.f.noun)
	}
	rows, skipped := withNumber(l.rows, key)
	if r.measure.kind == "highest" || r.measure.kind == "lowest" {
		return p.extremes(r, rows, key) + leftOut(skipped)
	}
	total := 0.0
	for _, one := range rows {
		v, _ := numberOf(one.values[key])
		total += v
	}
	part := ""
	if l.more {
		part = fmt.Sprintf(" of the first %d", len(l.rows))
	}
	if r.measure.kind == "average" {
		total /= float64(len(rows))
	}
	return fmt.Sprintf("The %s %s%s is %s%s, over %d %s.", r.measure.word(), p.label(key), part,
		p.currency(identifierWords(key)), plainNumber(total), len(rows), r.f.noun) + leftOut(skipped)
}

func leftOut(skipped int) string {
	if skipped == 0 {
		return ""
	}
	return fmt.Sprintf(" %d more have no number that you may see.", skipped)
}

func (p *planner) extremes(r *reading, rows []row, key string) string {
	slices.SortStableFunc(rows, func(a, b row) int {
		x, _ := numberOf(a.values[key])
		y, _ := numberOf(b.values[key])
		if r.measure.kind == "lowest" {
			return cmp.Compare(x, y)
		}
		return cmp.Compare(y, x)
	})
	rows = rows[:min(r.measure.n, len(rows))]
	if len(rows) == 1 {
		return fmt.Sprintf("%s has the %s %s: %s.", clean(nameOf(rows[0])), r.measure.word(), p.label(key), p.show(key, rows[0].values[key]))
	}
	return fmt.Sprintf("The %d with the %s %s:\n\n%s", len(rows), r.measure.word(), p.label(key), p.table(r, rows))
}

func withNumber(rows []row, key string) (out []row, skipped int) {
	for _, r := range rows {
		if _, ok := numberOf(r.values[key]); ok {
			out = append(out, r)
		} else {
			skipped++
		}
	}
	return out, skipped
}

func (p *planner) numberColumn(r *reading, rows []row) string {
	best, bestScore := "", 0
	for _, one := range rows {
		for _, k := range one.keys {
			if _, ok := numberOf(one.values[k]); ok && !isIDKey(k) && p.relevance(r, k) > bestScore {
				best, bestScore = k, p.relevance(r, k)
			}
		}
	}
	return best
}

func (p *planner) hiddenColumn(r *reading, rows []row) string {
	for _, one := range rows {
		for _, k := range one.keys {
			if masked(one.values[k]) && p.relevance(r, k) > 0 {
				return k
			}
		}
	}
	return ""
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
