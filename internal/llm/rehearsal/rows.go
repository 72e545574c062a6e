package rehearsal

import (
	"fmt"
	"slices"
	"strings"
)

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
		text = p.measured(r, args, l)
	case isTree(l.rows):
		text = p.tree(l.rows)
	case len(l.rows) == 1 && !r.asksPlural() && p.askedField(r, l.rows[0]) != "" && (len(r.filters) > 0 || len(r.args) > 0):
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
		text = clean(l.last.hint)
		if !strings.Contains(text, "incomplete") {
			text = "The list is incomplete. " + text
		}
	}
	if pages && l.last.next != "" {
		text += ` Say "next page" to see more.`
	}
	return text
}

func (p *planner) headLine(r *reading, about found, args map[string]any, l listing) string {
	head := "I found "
	if l.more {
		head = "Here are the first "
	}
	return head + counted(len(l.rows), r.f.noun) + p.which(r, about, args) + ":"
}

func (p *planner) none(r *reading, about found, args map[string]any) string {
	if which := p.which(r, about, args); which != "" {
		return "I found no " + r.f.noun + which + "."
	}
	return fmt.Sprintf("There are no %s that you can see.", r.f.noun)
}

// which puts what a list was kept to in brackets.
func (p *planner) which(r *reading, about found, args map[string]any) string {
	if narrowed := p.narrowedBy(r, about, args); narrowed != "" {
		return " (" + narrowed + ")"
	}
	return ""
}

// narrowedBy says what a list was kept to.
func (p *planner) narrowedBy(r *reading, about found, args map[string]any) string {
	var parts []string
	for _, prop := range r.f.props {
		v, given := args[prop.name]
		if !given || prop.paging() || v == "*" {
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
