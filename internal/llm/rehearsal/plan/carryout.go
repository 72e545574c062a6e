package plan

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"countersign.dev/internal/llm/rehearsal/language"
	"countersign.dev/internal/llm/rehearsal/match"
	"countersign.dev/internal/llm/rehearsal/speak"
)

// carryOut finds what the reading needs, calls its tool and writes the answer.
func (p *planner) carryOut(r *match.Reading) step {
	args := maps.Clone(r.Args)
	var about speak.Thing
	if t := r.Target; t != nil {
		thing, s := p.identify(t)
		if s.state != said {
			return s
		}
		if about = thing; t.Tool == r.Tool {
			args[t.Input.Name] = thing.ID
		}
	}
	if r.Step != nil {
		relative(r.Step, about, args)
	}
	if s := p.complete(r, &about, args); s.state != said {
		return s
	}
	if r.Tool.Lists() {
		return p.list(r, about, args)
	}
	a, ok := p.fetch(r.Tool, args)
	switch {
	case !ok:
		return wait
	case a.Failed:
		return say(speak.Failure(a))
	}
	return say(speak.One(r, about, a))
}

// relative works out a value that is given relative to the present one. Without a
// present value to be seen, it is left to be asked for.
func relative(s *match.Step, about speak.Thing, args map[string]any) {
	now, most := 0.0, 0
	for _, k := range about.Row.Keys {
		if v, ok := about.Row.Number(k); ok && counted(s.Input.Words, language.Identifier(k)) > most {
			now, most = v, counted(s.Input.Words, language.Identifier(k))
		}
	}
	change := s.By.Value
	if s.By.Percent {
		change *= now / 100
	}
	if s.Down {
		change = -change
	}
	if most > 0 {
		args[s.Input.Name] = s.Input.Number(math.Round((now+change)*100) / 100)
	}
}

// complete fills missing required inputs from the person's answers, or asks.
func (p *planner) complete(r *match.Reading, about *speak.Thing, args map[string]any) step {
	for in := r.Tool.Missing(args); in != nil; in = r.Tool.Missing(args) {
		if in.All != "" && !r.Tool.Writes() {
			args[in.Name] = in.All
			continue
		}
		answer, given := p.next()
		if given && in.Is(match.ID) {
			thing, s := p.identify(&match.Target{Tool: r.Tool, Input: in, Entity: match.NewEntity(answer)})
			if s.state != said && s.state != missed {
				return s
			}
			*about, args[in.Name] = thing, thing.ID
		} else if given {
			p.fill(r, in, *about, strings.TrimSpace(answer), args)
		}
		if args[in.Name] == nil {
			p.misfit = p.misfit || given
			return step{asking, question(r, in)}
		}
	}
	return done
}

// fill takes the value of an input out of the person's answer, if it is there.
func (p *planner) fill(r *match.Reading, in *match.Field, about speak.Thing, answer string, args map[string]any) {
	if value := in.Value(answer); value != "" || in.IsText() && answer != "" {
		args[in.Name] = cmp.Or(value, answer)
	}
	for _, t := range p.Words.Read(answer, p.Today) {
		switch {
		case t.Kind == language.Date && in.Is(match.Date):
			args[in.Name] = in.Day(t.Span)
		case t.Kind == language.Number && in.Is(match.Number) && t.Amount.Percent:
			relative(&match.Step{Input: in, By: t.Amount, Down: r.Falls()}, about, args)
		case t.Kind == language.Number && in.Is(match.Number):
			args[in.Name] = in.Number(t.Amount.Value)
		}
	}
}

// question asks for one input, in words that are recognised afterwards.
func question(r *match.Reading, in *match.Field) string {
	q := AskWhat + "the " + strings.Join(in.Words, " ") + " be?"
	switch {
	case in.Is(match.ID):
		return AskWhom + in.Noun() + " do you mean?"
	case len(in.Enum) > 0:
		q += " It may be " + speak.Join(in.Enum, "or") + "."
	}
	return q
}

// list reads a list, narrowed as the question says, and writes the answer.
func (p *planner) list(r *match.Reading, about speak.Thing, args map[string]any) step {
	group, s := p.group(r, about)
	if s.state != said {
		return s
	}
	var rest []match.Entity // values that no input of the list takes: the rows are searched for them
	for _, e := range r.Filters {
		hit, ok := p.probe(r, e, args)
		switch {
		case !ok:
			return wait
		case hit == "":
			rest = append(rest, e)
		default:
			args[hit] = e.Text
		}
	}
	pages := 1
	if r.Measure.Kind != "" && r.Measure.Column == "" || len(rest) > 0 || group != nil {
		pages = maxPages
	}
	l, ok := p.fetchPages(r.Tool, args, pages)
	switch {
	case !ok:
		return wait
	case l.Failed:
		return say(speak.Failure(l))
	}
	l.Rows = slices.DeleteFunc(l.Rows, func(one speak.Row) bool { return !kept(r, one, group) })
	for _, e := range rest {
		if slices.ContainsFunc(l.Rows, func(one speak.Row) bool { return one.Masked(e.Column) }) {
			return say(fmt.Sprintf("I cannot tell: %s is hidden from you.", speak.Label(r.Tool, e.Column)))
		}
		l.Rows = slices.DeleteFunc(l.Rows, func(one speak.Row) bool { return !holds(one, e) })
		if len(l.Rows) == 0 && l.More {
			return step{missed, fmt.Sprintf("I found nothing about %q among the first %s; the list is incomplete.", e.Text, r.Tool.Noun)}
		} else if len(l.Rows) == 0 {
			return step{missed, fmt.Sprintf("I found no %s %s %q.", r.Tool.Noun, cmp.Or(speak.Label(r.Tool, e.Column), "for"), e.Text)}
		}
	}
	return say(speak.List(r, about, args, l))
}

// probe finds the input that a value filters by: the one that gives rows. Where
// several could be meant they are asked side by side.
func (p *planner) probe(r *match.Reading, e match.Entity, args map[string]any) (hit string, ok bool) {
	ok = true
	for _, in := range r.FilterInputs(e, args) {
		a, known := p.fetch(r.Tool, with(args, in.Name, e.Text))
		if ok = ok && known; known && len(a.Rows) > 0 {
			hit = cmp.Or(hit, in.Name)
		}
	}
	return hit, ok
}

// group finds the ids that the answer is to be kept to; nil when to none.
func (p *planner) group(r *match.Reading, about speak.Thing) (map[any]bool, step) {
	of := r.Target
	if of == nil || of.Tool == r.Tool {
		return nil, done
	}
	l, ok := p.fetchPages(of.Tool, map[string]any{of.Input.Name: about.ID}, maxPages)
	switch {
	case !ok:
		return nil, wait
	case l.Failed:
		return nil, step{failed, speak.Failure(l)}
	}
	ids := map[any]bool{}
	for _, one := range l.Rows {
		ids[idIn(one, of.Tool, r.Tool.IDOf(of.Tool))] = true
	}
	return ids, done
}

// kept reports whether a row belongs to the group, lies beyond the bounds, and
// says yes where a yes-or-no field was asked for.
func kept(r *match.Reading, one speak.Row, group map[any]bool) bool {
	if group != nil && !group[one.Values[r.Tool.IDOf(r.Target.Tool).Name]] {
		return false
	}
	for k, v := range one.Values {
		n, isNumber := one.Number(k)
		if bound, ok := r.Beyond[k]; ok && isNumber && n == bound || v == false && r.Asked[language.Stem(k)] && !r.AsksWhether() {
			return false
		}
	}
	return true
}

// holds reports whether a row's texts, or its column, have all words of a value.
func holds(one speak.Row, e match.Entity) bool {
	if e.Column != "" {
		one = speak.Row{Keys: []string{e.Column}, Values: one.Values}
	}
	return counted(e.Words, wordsIn(one)) == len(e.Words)
}
