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
	if r.Target != nil {
		thing, s := p.identify(r.Tool, r.Target)
		if s.state == missed && r.Tool.Lists() && r.Target.Entity.Text != "" { // "the engineering team": a filter of the list
			again := *r
			again.Filters, again.Target = append([]match.Entity{r.Target.Entity}, r.Filters...), nil
			if filtered := p.list(&again, speak.Thing{}, args); filtered.state != missed {
				return filtered
			}
		}
		if s.state != said {
			return s
		}
		about, args[r.Target.Input.Name] = thing, thing.ID
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
	case a.Failed && r.Target != nil && about.Row.Keys == nil && about.Name != "" && a.Advice != "" && (strings.Contains(a.Code, "NOT_FOUND") || strings.Contains(a.Code, "VALIDATION")):
		return say(fmt.Sprintf("I found no %s called %q. %s", r.Target.Input.Noun(), about.Name, speak.Clean(a.Advice)))
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
		words := slices.DeleteFunc(language.Identifier(k), func(w string) bool { return !slices.Contains(s.Input.Words, w) })
		if v, ok := about.Row.Number(k); ok && len(words) > most {
			now, most = v, len(words)
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

// complete fills required inputs that are still missing from the person's
// answers, or asks for them.
func (p *planner) complete(r *match.Reading, about *speak.Thing, args map[string]any) step {
	for in := r.Tool.Missing(args); in != nil; in = r.Tool.Missing(args) {
		if text, ok := r.Tool.Everything(in); ok && !r.Tool.Writes() {
			args[in.Name] = text
			continue
		}
		answer, given := p.next()
		if !given {
			return step{asking, question(r, in)}
		}
		if in.Is(match.ID) {
			thing, s := p.identify(r.Tool, &match.Target{Input: in, Entity: match.NewEntity(answer)})
			if s.state != said && s.state != missed {
				return s
			}
			if s.state == said {
				*about, args[in.Name] = thing, thing.ID
			}
		} else if v := p.valueIn(r, in, *about, strings.TrimSpace(answer)); v != nil {
			args[in.Name] = v
		}
		if args[in.Name] == nil {
			p.misfit = true
			return step{asking, question(r, in)}
		}
	}
	return done
}

// valueIn takes the value of an input out of the person's answer; nil when there
// is none.
func (p *planner) valueIn(r *match.Reading, in *match.Field, about speak.Thing, answer string) any {
	if value := in.Value(answer); value != "" {
		return value
	}
	if in.IsText() && answer != "" {
		return answer
	}
	for _, t := range p.Words.Read(answer, p.Today) {
		switch {
		case t.Kind == language.Date && in.Is(match.Date):
			return in.DayIn(t.Span)
		case t.Kind == language.Number && in.Is(match.Number) && t.Amount.Percent:
			args := map[string]any{}
			relative(&match.Step{Input: in, By: t.Amount, Down: r.Falls()}, about, args)
			return args[in.Name]
		case t.Kind == language.Number && in.Is(match.Number):
			return in.Number(t.Amount.Value)
		}
	}
	return nil
}

// question asks for one input, in words that are recognised when the answer
// comes.
func question(r *match.Reading, in *match.Field) string {
	if in.Is(match.ID) {
		return AskWhom + in.Noun() + " do you mean?"
	}
	q := AskWhat + "the " + strings.Join(in.Words, " ") + " be?"
	if len(in.Enum) > 0 {
		q += " It may be " + speak.Join(in.Enum, "or") + "."
	}
	if r.Step != nil {
		q += " I cannot see the present value, so I cannot work out a step from it."
	}
	return q
}

// list reads a list, narrowed as the question says, and writes the answer.
func (p *planner) list(r *match.Reading, about speak.Thing, args map[string]any) step {
	args = maps.Clone(args)
	group, s := p.group(r)
	if s.state != said {
		return s
	}
	var rest []match.Entity // values that no input of the list takes: the rows are searched for them
	for _, e := range r.Filters {
		hit, ok := p.probe(r, e, args)
		if !ok {
			return wait
		}
		if hit == "" {
			rest = append(rest, e)
		} else {
			args[hit] = e.Text
		}
	}
	pages := 1
	if r.Measure.Kind != "" && r.Measure.Column == "" || len(rest) > 0 || group != nil {
		pages = maxPages
	}
	l, ok := p.fetchPages(r.Tool, args, pages)
	if !ok {
		return wait
	}
	if l.Last.Failed {
		return say(speak.Failure(l.Last))
	}
	l.Rows = slices.DeleteFunc(l.Rows, func(one speak.Row) bool { return !kept(r, one, group) })
	for _, e := range rest {
		if slices.ContainsFunc(l.Rows, func(one speak.Row) bool { return one.Masked(e.Column) }) {
			return say(fmt.Sprintf("I cannot tell: %s is hidden from you.", speak.Label(r.Tool, e.Column)))
		}
		l.Rows = slices.DeleteFunc(l.Rows, func(one speak.Row) bool { return !holds(one, e) })
		noun := r.Tool.Noun
		switch {
		case len(l.Rows) > 0:
		case l.More:
			return step{missed, fmt.Sprintf("I found nothing about %q among the first %s; the list is incomplete.", e.Text, noun)}
		case e.Column != "":
			return step{missed, fmt.Sprintf("I found no %s %s %q.", noun, speak.Label(r.Tool, e.Column), e.Text)}
		default:
			return step{missed, fmt.Sprintf("I found no %s for %q.", noun, e.Text)}
		}
	}
	return say(speak.List(r, about, args, l))
}

// probe finds the input that a value filters by: the one that gives rows. Where
// several could be meant they are asked side by side.
func (p *planner) probe(r *match.Reading, e match.Entity, args map[string]any) (hit string, ok bool) {
	ok = true
	for _, in := range r.FilterInputs(e, args) {
		try := maps.Clone(args)
		try[in.Name] = e.Text
		a, known := p.fetch(r.Tool, try)
		if ok = ok && known; known && len(a.Rows()) > 0 {
			hit = cmp.Or(hit, in.Name)
		}
	}
	return hit, ok
}

// group finds the ids that the answer is to be kept to; nil when to none.
func (p *planner) group(r *match.Reading) (map[string]bool, step) {
	if r.Within == nil {
		return nil, done
	}
	head, s := p.identify(r.From, r.Within)
	if s.state != said {
		return nil, s
	}
	l, ok := p.fetchAll(r.From, map[string]any{r.Within.Input.Name: head.ID})
	switch {
	case !ok:
		return nil, wait
	case l.Last.Failed:
		return nil, step{failed, speak.Failure(l.Last)}
	}
	ids := map[string]bool{}
	for _, one := range l.Rows {
		ids[fmt.Sprint(one.Values[idKey(one, r.From, r.Tool.IDOf(r.From))])] = true
	}
	return ids, done
}

// kept reports whether a row belongs to the group, lies beyond the bounds, and
// says yes where a yes-or-no field was asked for.
func kept(r *match.Reading, one speak.Row, group map[string]bool) bool {
	if group != nil && !group[fmt.Sprint(one.Values[r.Tool.IDOf(r.From).Name])] {
		return false
	}
	for k, v := range one.Values {
		if v == false && r.Asked[language.Stem(k)] && !r.AsksWhether() {
			return false
		}
	}
	return r.Beyond(one.Number)
}

// holds reports whether a row's texts, or its column, have all the words of a
// value, in any form of them.
func holds(one speak.Row, e match.Entity) bool {
	if e.Column != "" {
		one = speak.Row{Keys: []string{e.Column}, Values: one.Values}
	}
	return counted(e.Words, wordsIn(one)) == len(e.Words)
}
