package rehearsal

import (
	"slices"
	"strings"
)

// column is one column of a table.
type column struct {
	head  string
	keys  []string // the fields that it joins
	score int
}

const (
	maxColumns = 6
	maxRows    = 50
	maxNodes   = 120
)

// table shows rows under few columns: what they are called, what was asked for,
// and what else tells them apart.
func (p *planner) table(r *reading, rows []row) string {
	cols := p.columns(r, rows)
	var b strings.Builder
	line := func(cells []string) { b.WriteString("| " + strings.Join(cells, " | ") + " |\n") }
	heads, rules := make([]string, len(cols)), make([]string, len(cols))
	for i, c := range cols {
		heads[i], rules[i] = c.head, "---"
	}
	line(heads)
	line(rules)
	for _, one := range rows[:min(len(rows), maxRows)] {
		cells := make([]string, len(cols))
		for i, c := range cols {
			cells[i] = p.cell(c, one)
		}
		line(cells)
	}
	if len(rows) > maxRows {
		b.WriteString("\nThese are the first 50 of them; there are more.\n")
	}
	return strings.TrimRight(b.String(), "\n")
}

func (p *planner) cell(c column, one row) string {
	var parts []string
	for _, k := range c.keys {
		if v, ok := one.values[k]; ok {
			parts = append(parts, p.show(k, v))
		}
	}
	return strings.Join(parts, " ")
}

func (p *planner) columns(r *reading, rows []row) []column {
	name := p.nameColumn(rows)
	var number, asked, others []column // number: an id that people use
	for _, k := range keysOf(rows) {
		if slices.Contains(name.keys, k) {
			continue
		}
		c := column{head: p.human(k), keys: []string{k}}
		if r != nil {
			c.score = p.relevance(r, k)
		}
		switch {
		case k == ownIDKey(rows[0]) && readableID(rows[0]) != "":
			number = append(number, c)
		case c.score > 0 && !isIDKey(k):
			asked = append(asked, c)
		case r != nil && r.args[k] != nil || !tells(rows, k):
		case r != nil && p.hinted(r, rows, k):
			asked = append(asked, c)
		default:
			others = append(others, c)
		}
	}
	cols := number
	if len(name.keys) > 0 {
		cols = append(cols, name)
	}
	cols = append(cols, asked...)
	for _, c := range others {
		if len(cols) < maxColumns-1 {
			cols = append(cols, c)
		}
	}
	if len(cols) == 0 && len(rows) > 0 && len(rows[0].keys) > 0 {
		cols = []column{{head: p.human(rows[0].keys[0]), keys: rows[0].keys[:1]}}
	}
	return cols[:min(len(cols), maxColumns)]
}

// hinted reports whether a value that narrows the list speaks of a field: the
// day on which it was due, of what is overdue.
func (p *planner) hinted(r *reading, rows []row, key string) bool {
	if _, isBool := rows[0].values[key].(bool); isBool {
		return false
	}
	return slices.ContainsFunc(identifierWords(key), func(w string) bool { return p.en.among(r.hints, stem(w)) })
}

func keysOf(rows []row) []string {
	var keys []string
	for _, r := range rows[:min(len(rows), 5)] {
		for _, k := range r.keys {
			if !slices.Contains(keys, k) {
				keys = append(keys, k)
			}
		}
	}
	return keys
}

// nameColumn joins first and last name, or takes the field that names a row.
func (p *planner) nameColumn(rows []row) column {
	var keys []string
	for _, k := range rows[0].keys {
		if isNamePart(k) {
			keys = append(keys, k)
		}
	}
	if len(keys) > 0 {
		return column{head: "Name", keys: keys}
	}
	if k := nameKey(rows[0]); k != "" {
		return column{head: p.human(k), keys: []string{k}}
	}
	return column{}
}

// tells reports whether a field is worth a column that nobody asked for: short,
// readable, shown to this person, not empty and not a matter of record-keeping.
func tells(rows []row, key string) bool {
	if isIDKey(key) || isClerical(key) || strings.Contains(strings.ToLower(key), "mail") {
		return false
	}
	filled := false
	for _, r := range rows {
		switch v := r.values[key].(type) {
		case nil:
		case row, []any:
			return false
		case string:
			if masked(v) || len(v) > 80 {
				return false
			}
			filled = filled || v != ""
		default:
			filled = true
		}
	}
	return filled
}

// isTree reports whether rows hold rows of their own kind.
func isTree(rows []row) bool {
	for _, r := range rows {
		if treeKey(r) != "" {
			return true
		}
	}
	return false
}

// treeKey is the field that holds a row's children: rows that are called in
// the same way.
func treeKey(r row) string {
	for _, k := range r.keys {
		list, ok := r.values[k].([]any)
		if !ok {
			continue
		}
		for _, child := range rowsOf(list) {
			if len(child.keys) > 1 && len(r.keys) > 1 && child.keys[0] == r.keys[0] && child.keys[1] == r.keys[1] {
				return k
			}
		}
	}
	return ""
}

// tree shows rows and their children as an indented list.
func (p *planner) tree(rows []row) string {
	var b strings.Builder
	left := maxNodes
	p.branch(&b, rows, 0, &left)
	if left < 0 {
		b.WriteString("\nThis is only the first part of it: there are more below.\n")
	}
	return strings.TrimRight(b.String(), "\n")
}

func (p *planner) branch(b *strings.Builder, rows []row, depth int, left *int) {
	for _, r := range rows {
		if *left--; *left < 0 || depth > 30 {
			return
		}
		b.WriteString(strings.Repeat("  ", depth) + "- " + clean(nameOf(r)+described(r)) + "\n")
		if k := treeKey(r); k != "" {
			list, _ := r.values[k].([]any)
			p.branch(b, rowsOf(list), depth+1, left)
		}
	}
}
