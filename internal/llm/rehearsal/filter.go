package rehearsal

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// list reads a list, narrowed as the question says, and tells it.
func (p *planner) list(r *reading, about found, args map[string]any) outcome {
	group, o := p.group(r)
	if o.verdict != said {
		return o
	}
	var rest []span
	for _, s := range r.filters {
		used, ok := p.probe(r, s, args)
		if !ok {
			return wait
		}
		if !used {
			rest = append(rest, s)
		}
	}
	pages := 1
	if r.measure.kind != "" && !r.measure.ordered || len(rest) > 0 || group != nil {
		pages = maxPages
	}
	l, ok := p.fetchPages(r.f, args, pages)
	if !ok {
		return wait
	}
	if l.last.failed {
		return say(errorText(l.last))
	}
	l.rows = p.narrow(r, l.rows, group)
	for _, s := range rest {
		if s.role != "" && slices.ContainsFunc(l.rows, func(one row) bool { return masked(one.values[s.role]) }) {
			return say(fmt.Sprintf("I cannot tell: %s is hidden from you.", p.label(s.role)))
		}
		l.rows = holding(l.rows, s)
		if len(l.rows) == 0 {
			return miss(p.nothing(r, s, l.more))
		}
	}
	return p.tellList(r, about, args, l)
}

// holding keeps the rows whose texts, or whose column of that role, have all
// the words of a value, in any form of them.
func holding(rows []row, s span) []row {
	return slices.DeleteFunc(slices.Clone(rows), func(r row) bool {
		if s.role != "" {
			text, _ := r.values[s.role].(string)
			return !strings.EqualFold(text, s.text) && countStems(text, s.words) < len(s.words)
		}
		have := set{}
		for w := range allWords(r) {
			have[stem(w)] = true
		}
		return slices.ContainsFunc(s.words, func(w string) bool { return !have[stem(w)] })
	})
}

// probe finds the input that a value filters by: the one that gives rows. Where
// several could be meant they are asked side by side.
func (p *planner) probe(r *reading, s span, args map[string]any) (used, ok bool) {
	props := r.filterable(s, args)
	complete := true
	var hit *property
	for _, prop := range props {
		try := maps.Clone(args)
		try[prop.name] = s.text
		rep, known := p.fetch(r.f, try)
		complete = complete && known
		if known && hit == nil && len(rep.rows()) > 0 {
			hit = prop
		}
	}
	if !complete {
		return false, false
	}
	if hit == nil {
		return false, true
	}
	args[hit.name] = s.text
	return true, true
}

// filterable lists the inputs that a value may be for, by how it stands: a
// place is no name, what is "called" so is one.
func (r *reading) filterable(s span, args map[string]any) []*property {
	var titles, others []*property
	for _, p := range r.f.props {
		switch {
		case !p.isText() || args[p.name] != nil || s.role != "":
		case p.isTitle():
			titles = append(titles, p)
		default:
			others = append(others, p)
		}
	}
	switch {
	case r.p.en.is("title", s.prep) && len(titles) > 0:
		return titles
	case s.place && len(others) > 0, s.prep == "by" && len(others) > 0:
		return others
	case s.owns && len(titles) > 0:
		return titles
	}
	return append(others, titles...)
}

// group finds the ids that the answer is to be kept to; nil when to none.
func (p *planner) group(r *reading) (map[string]bool, outcome) {
	if r.within == nil {
		return nil, say("")
	}
	who, o := p.identify(r.from, r.within)
	if o.verdict != said {
		return nil, o
	}
	l, ok := p.fetchPages(r.from, map[string]any{r.within.prop.name: who.id}, maxPages)
	if !ok {
		return nil, wait
	}
	if l.last.failed {
		return nil, say2(errorText(l.last))
	}
	ids := map[string]bool{}
	for _, row := range l.rows {
		ids[fmt.Sprint(row.get(p.idKey(row, r.from, r.f.idOf(r.from))))] = true
	}
	return ids, say("")
}

// idOf is the input for the id of what another list is of: by it the rows of
// both meet.
func (f *form) idOf(other *form) *property {
	return f.first(func(p *property) bool { return p.isID() && stem(p.noun()) == other.head })
}

// narrow keeps the rows of the group, and those where a yes-or-no field that
// was asked for is yes.
func (p *planner) narrow(r *reading, rows []row, group map[string]bool) []row {
	return slices.DeleteFunc(slices.Clone(rows), func(one row) bool {
		if group != nil && !group[fmt.Sprint(one.get(r.f.idOf(r.from).name))] {
			return true
		}
		if !r.beyondBounds(one) {
			return true
		}
		for s := range r.asked {
			for _, k := range one.keys {
				if yes, isBool := one.values[k].(bool); isBool && !yes && stem(k) == s {
					return true
				}
			}
		}
		return false
	})
}

// nothing says that a value was looked for in vain.
func (p *planner) nothing(r *reading, s span, more bool) string {
	if more {
		return fmt.Sprintf("I found nothing about %q among the first %s; the list is incomplete.", s.text, r.f.noun)
	}
	if s.role != "" {
		return fmt.Sprintf("I found no %s %s %q.", r.f.noun, p.label(s.role), s.text)
	}
	return fmt.Sprintf("I found no %s for %q.", r.f.noun, s.text)
}
