package plan

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"countersign.dev/internal/llm/rehearsal/language"
	"countersign.dev/internal/llm/rehearsal/match"
	"countersign.dev/internal/llm/rehearsal/speak"
)

// carryOut finds what the reading needs, calls its tool and writes the answer.
func (p *planner) carryOut(r *match.Reading) string {
	args, about := maps.Clone(r.Args), speak.Thing{}
	if t := r.Target; t != nil {
		if about = p.identify(r, t); t.Tool == r.Tool {
			args[t.Input.Name] = about.ID
		}
	}
	for {
		settle(r.Tool, about.Row, args)
		in := r.Tool.Missing(args)
		if in == nil && r.Tool.Lists() {
			return p.list(r, about, args)
		}
		if in == nil {
			a := p.fetch(r.Tool, args)
			if in = demanded(r.Tool, a, args); in == nil {
				return speak.One(r, about, a)
			}
		}
		p.complete(r, in, &about, args)
	}
}

// settle works out the values that are given relative to the present ones. One
// without a present value to be seen is left to be asked for.
func settle(t *match.Tool, row speak.Row, args map[string]any) {
	for _, in := range t.Inputs {
		change, relative := args[in.Name].(match.Step)
		if !relative {
			continue
		}
		delete(args, in.Name)
		for _, k := range row.Keys {
			if now, ok := row.Number(k); ok && counted(in.Words, language.Identifier(k)) > 0 {
				args[in.Name] = in.Number(change.From(now))
			}
		}
	}
}

// demanded is the input that a failed call asks for in its advice; nil for none.
func demanded(t *match.Tool, a *speak.Answer, args map[string]any) *match.Field {
	return t.First(func(in *match.Field) bool {
		return a.Failed && args[in.Name] == nil && in.IsText() && strings.HasSuffix(strings.TrimRight(a.Advice, "."), " with "+in.Name)
	})
}

// complete takes an input from the person's next answer, or asks for it.
func (p *planner) complete(r *match.Reading, in *match.Field, about *speak.Thing, args map[string]any) {
	if in.All != "" {
		args[in.Name] = in.All
		return
	}
	answer, given := p.next()
	if given && in.Is(match.ID) {
		*about = p.identify(r, &match.Target{Tool: r.Tool, Input: in, Entity: match.NewEntity(answer)})
		args[in.Name] = about.ID
	} else if given {
		args[in.Name] = r.Answer(in, strings.TrimSpace(answer))
	}
	if args[in.Name] == nil {
		panic(end{asking, question(r.Tool, in, args)})
	}
}

// question asks for one input, in words that are recognised afterwards.
func question(t *match.Tool, in *match.Field, args map[string]any) string {
	q := AskWhat + "the " + strings.Join(in.Words, " ") + " be?"
	outcome := t.First(func(f *match.Field) bool { return f.Is(match.Choice) && args[f.Name] != nil })
	switch {
	case in.Is(match.ID):
		return AskWhom + in.Noun() + " do you mean?"
	case len(in.Enum) > 0:
		q += " It may be " + speak.Join(in.Enum, "or") + "."
	case language.LastWord(in.Name) == "reason" && outcome != nil:
		return fmt.Sprintf("%sthe %s %v?", AskWhy, t.Noun, args[outcome.Name])
	}
	return q
}

// list reads a list, narrowed as the question says, and writes the answer.
func (p *planner) list(r *match.Reading, about speak.Thing, args map[string]any) string {
	group := p.group(r, about)
	var rest []match.Entity // values that no input of the list takes: the rows are searched for them
	for _, e := range r.Filters {
		in := slices.IndexFunc(r.Tool.Inputs, func(in *match.Field) bool {
			return in.IsText() && args[in.Name] == nil && e.Column == "" && len(p.fetch(r.Tool, with(args, in.Name, e.Text)).Rows) > 0
		})
		if in >= 0 {
			args[r.Tool.Inputs[in].Name] = e.Text
		} else {
			rest = append(rest, e)
		}
	}
	pages := 1
	if r.Measure.Kind != "" && r.Measure.Column == "" || len(rest) > 0 || group != nil {
		pages = maxPages
	}
	l := p.fetchPages(r.Tool, args, pages)
	for _, in := range r.Tool.Inputs {
		if sought, ok := args[in.Name].(string); ok && in.Is(match.Search) && len(l.Rows) == 0 && language.Plural(sought) {
			args[in.Name] = language.Singular(sought) // "logins" are found by "login"
			l = p.fetchPages(r.Tool, args, pages)
		}
	}
	l.Rows = slices.DeleteFunc(l.Rows, func(one speak.Row) bool { return !kept(r, one, group) })
	for _, e := range rest {
		if slices.ContainsFunc(l.Rows, func(one speak.Row) bool { return one.Masked(e.Column) }) {
			panic(end{said, fmt.Sprintf("I cannot tell: %s is hidden from you.", speak.Label(r.Tool, e.Column))})
		}
		l.Rows = slices.DeleteFunc(l.Rows, func(one speak.Row) bool { return !holds(one, e) })
		if len(l.Rows) == 0 {
			text := fmt.Sprintf("I found no %s %s %q", r.Tool.Noun, cmp.Or(speak.Label(r.Tool, e.Column), "for"), e.Text)
			if l.More {
				text += " among the first ones; the list is incomplete"
			}
			panic(end{missed, text + "."})
		}
	}
	return speak.List(r, about, args, l, 0)
}

// group finds the ids that the answer is to be kept to; nil when to none.
func (p *planner) group(r *match.Reading, about speak.Thing) map[any]bool {
	of := r.Target
	if of == nil || of.Tool == r.Tool {
		return nil
	}
	ids := map[any]bool{}
	for _, one := range p.fetchPages(of.Tool, map[string]any{of.Input.Name: about.ID}, maxPages).Rows {
		ids[idIn(one, of.Tool, r.Tool.IDOf(of.Tool))] = true
	}
	return ids
}

// kept reports whether a row belongs to the group, and says yes where a yes-or-no
// field was asked for.
func kept(r *match.Reading, one speak.Row, group map[any]bool) bool {
	if group != nil && !group[one.Values[r.Tool.IDOf(r.Target.Tool).Name]] {
		return false
	}
	return !slices.ContainsFunc(one.Keys, func(k string) bool {
		n, isNumber := one.Number(k)
		bound, bounded := r.Beyond[k]
		return isNumber && bounded && n == bound || one.Values[k] == false && r.Asked[language.Stem(k)] && !r.AsksWhether()
	})
}

// holds reports whether a row's texts, or its column, have all words of a value.
func holds(one speak.Row, e match.Entity) bool {
	if e.Column != "" {
		one = speak.Row{Keys: []string{e.Column}, Values: one.Values}
	}
	return counted(e.Words, wordsIn(one)) == len(e.Words)
}
