package plan

import (
	"fmt"
	"slices"

	"countersign.dev/internal/english"
	"countersign.dev/internal/language"
	"countersign.dev/internal/llm/rehearsal/match"
	"countersign.dev/internal/result"
	"countersign.dev/internal/schema"
	"countersign.dev/internal/schema/declared"
)

// elsewhere says in which lists, all closed to the person, the values of a question may be, too: "value of Pilot" may ask for a deal; empty where in none.
func elsewhere(p *planner, found *match.Reading) string {
	var rows, roles []string
	for _, t := range p.Closed {
		if r := p.Read(t, found.Clause); r != nil && t.Lists() && !r.Guesses() && !r.Searches() && len(r.Values) > 0 && r.Score >= found.Score-1 {
			rows, roles = append(rows, t.Rows), append(roles, t.Info.Roles...)
		}
	}
	if len(rows) == 0 || found.Strong && len(found.Tokens) > 0 && found.Plural {
		return ""
	}
	slices.Sort(roles)
	return fmt.Sprintf("\n\nIt may be among the %s, which are not open to you: it takes one of these roles: %s.", result.Join(rows, "or"), result.Join(slices.Compact(roles), "or"))
}

// order carries an order out. One that may mean things of several sorts ("delete Kestrel") is looked up in each, and the person has to say which if several have it. A full name is a person's if somebody has it.
func (p *planner) order(c choice) string {
	same := slices.DeleteFunc(slices.Clone(c), func(r *match.Reading) bool { return r.Score < c[0].Score || r.Strong || r.Target == nil })
	answers := p.answers
	missing := func(r *match.Reading) bool {
		e := run(func() string { return p.identify(r, r.Target).Name })
		p.answers = answers // which is for the one that is carried out
		return e.none
	}
	i := slices.IndexFunc(same, func(r *match.Reading) bool { return r.MeansPerson(2) })
	if i >= 0 && !missing(same[i]) {
		return p.carryOut(same[i])
	}
	found := slices.DeleteFunc(slices.Clone(same), missing)
	var closed choice
	for _, t := range p.Closed {
		if r := p.Read(t, c[0].Clause); r != nil {
			closed = append(closed, r)
		}
	}
	refused := listed(p, closed)
	if i := slices.IndexFunc(closed, func(r *match.Reading) bool { return r.MeansPerson(1) || r.MeansPerson(2) }); refused == nil && i >= 0 {
		refused = oneOf(closed[i], closed)
	}
	switch {
	case len(p.reads) > 0:
		panic(end{waits: true})
	case len(found) == 0 && len(same) > 0 && i < 0 && refused != nil: // a person or the like, whom this one may not change
		return refuse(p.Catalog, refused)
	case len(found) == 0 && len(same) > 0: // "update Ada"
		panic(end{none: true, text: lackingOf(p, same)})
	case len(found) > 1:
		return "That could be the " + found[0].Tool.Noun + " or the " + found[1].Tool.Noun + ". Please ask again and say which sort of thing you mean."
	}
	return p.carryOut(append(found, c[0])[0])
}

// lackingOf says that no order is for what the readings of one may mean, or that nothing is called so.
func lackingOf(p *planner, orders choice) string {
	nouns, about := []string(nil), orders[0].Target.Entity.Text
	for _, r := range orders {
		nouns = append(nouns, r.Target.Input.Noun)
	}
	for _, t := range p.Open {
		by := t.Inputs.First(func(f *declared.Field) bool { return f.Is(schema.Title) })
		if tell := lacking(p.Catalog, language.Read(orders[0].Verb+" the "+english.Singular(t.Rows), p.Today)); tell != "" && by != nil && t.Lists() && len(p.fetch(t, map[string]any{by.Name: about}).Rows) > 0 {
			return "I can't do that here. " + tell + "; " + offer(p.Catalog, orders[0].Clause)
		}
	}
	slices.Sort(nouns)
	return nothing(result.Join(slices.Compact(nouns), "or")+" called", about, false, 0)
}

// oneOf is a refused order for a thing whose sort it does not say, of all the sorts that it may mean.
func oneOf(refused *match.Reading, closed choice) *match.Reading {
	one, of, nouns := *refused, *refused.Tool, []string(nil)
	for _, r := range closed {
		if r.Tool.Writes() && !r.Strong && r.Target != nil {
			nouns, of.Info.Roles = append(nouns, r.Tool.Noun), append(slices.Clone(of.Info.Roles), r.Tool.Info.Roles...)
		}
	}
	if len(nouns) < 2 || refused.Strong || refused.MeansPerson(2) {
		return refused
	}
	slices.Sort(of.Info.Roles)
	of.Noun, of.Info.Roles, one.Tool = result.Join(nouns, "or"), slices.Compact(of.Info.Roles), &of
	return &one
}

// listed is the order for something that a list which is open has, or nil: what "delete Acme" means without the word for its sort.
func listed(p *planner, c choice) *match.Reading {
	for _, r := range c {
		if r.Tool.Writes() && !r.Strong && r.Target != nil && declared.ListerOf(p.Open, r.Target.Input) != nil && !run(func() string { return p.identify(r, r.Target).Name }).none {
			return r
		}
	}
	return nil
}
