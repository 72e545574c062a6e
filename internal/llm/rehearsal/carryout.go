package rehearsal

import (
	"maps"
	"math"
	"strings"
)

// carryOut finds what the reading needs, calls its tool and writes the answer.
func (p *planner) carryOut(r *reading) outcome {
	args := maps.Clone(r.args)
	var about found
	if r.target != nil {
		var o outcome
		if about, o = p.identify(r.f, r.target); o.verdict != said {
			if o.verdict == missed && r.f.lists() && r.target.span.text != "" {
				return p.asFilter(r, o)
			}
			return o
		}
		args[r.target.prop.name] = about.id
	}
	if r.relative != nil {
		p.step(r, about, args)
	}
	if o := p.complete(r, &about, args); o.verdict != said {
		return o
	}
	if r.f.lists() {
		return p.list(r, about, args)
	}
	rep, ok := p.fetch(r.f, args)
	if !ok {
		return wait
	}
	return p.tellOne(r, about, rep)
}

// asFilter reads "the engineering team" again, when nobody of that name leads
// one: as a filter of the list.
func (p *planner) asFilter(r *reading, missing outcome) outcome {
	again := *r
	again.filters, again.target = append([]span{r.target.span}, r.filters...), nil
	o := p.list(&again, found{}, maps.Clone(r.args))
	if o.verdict == missed {
		return missing
	}
	return o
}

// step works out a value that is given as a step from the present one. Without
// a present value to be seen, it is left to be asked for.
func (p *planner) step(r *reading, about found, args map[string]any) {
	key := fieldFor(about.row, r.relative.prop)
	now, ok := numberOf(about.row.get(key))
	if !ok {
		return
	}
	change := r.relative.by.value
	if r.relative.by.percent {
		change *= now / 100
	}
	if r.relative.down {
		change = -change
	}
	args[r.relative.prop.name] = wholeOr(math.Round((now+change)*100)/100, r.relative.prop.typ)
}

// complete asks for required inputs that are still missing.
func (p *planner) complete(r *reading, about *found, args map[string]any) outcome {
	for prop := r.f.missing(args); prop != nil; prop = r.f.missing(args) {
		if text, ok := r.f.everything(prop); ok && !r.f.writes() {
			args[prop.name] = text
			continue
		}
		answer, given := p.nextAnswer()
		if !given {
			return outcome{asking, p.question(r, prop)}
		}
		if prop.isID() {
			f, o := p.identify(r.f, &target{prop: prop, span: spanOf(answer)})
			if o.verdict == missed {
				p.misfit = true
				return outcome{asking, p.question(r, prop)}
			}
			if o.verdict != said {
				return o
			}
			*about, args[prop.name] = f, f.id
			continue
		}
		if !p.fill(r, prop, *about, args, answer) {
			p.misfit = true
			return outcome{asking, p.question(r, prop)}
		}
	}
	return say("")
}

func (p *planner) nextAnswer() (string, bool) {
	if len(p.answers) == 0 {
		return "", false
	}
	a := p.answers[0]
	p.answers = p.answers[1:]
	return a, true
}

// fill takes the value of an input out of the person's answer.
func (p *planner) fill(r *reading, prop *property, about found, args map[string]any, answer string) bool {
	if prop.isText() {
		args[prop.name] = strings.TrimSpace(answer)
		return strings.TrimSpace(answer) != ""
	}
	for _, value := range prop.enum {
		if strings.EqualFold(strings.TrimSpace(answer), value) {
			args[prop.name] = value
			return true
		}
	}
	for _, t := range p.en.read(answer, p.today) {
		switch {
		case t.kind == date && prop.isDate():
			args[prop.name] = prop.dayOf(t.days).String()
			return true
		case t.kind == number && prop.isNumber() && t.amount.percent:
			again := *r
			again.relative = &relative{prop: prop, by: t.amount, down: r.falls()}
			p.step(&again, about, args)
			return args[prop.name] != nil
		case t.kind == number && prop.isNumber():
			args[prop.name] = wholeOr(t.amount.value, prop.typ)
			return true
		}
	}
	return false
}

// question asks for one input, in words that are recognised when the answer
// comes.
func (p *planner) question(r *reading, prop *property) string {
	if prop.isID() {
		return askWhom + prop.noun() + " do you mean?"
	}
	q := askWhat + "the " + strings.Join(prop.words, " ") + " be?"
	if len(prop.enum) > 0 {
		q += " It may be " + joinOr(prop.enum) + "."
	}
	if r.relative != nil {
		q += " I cannot see the present value, so I cannot work out a step from it."
	}
	return q
}

// fetch returns what a call came to, or asks for the call.
func (p *planner) fetch(f *form, args map[string]any) (*reply, bool) {
	if rep, ok := p.known[callKey(f.tool.Name, args)]; ok {
		return rep, true
	}
	key := callKey(f.tool.Name, args)
	for _, w := range p.wanted {
		if callKey(w.form.tool.Name, w.args) == key {
			return nil, false
		}
	}
	p.wanted = append(p.wanted, want{f, args})
	return nil, false
}

// maxPages bounds how far a list is read to count it or to find something.
const maxPages = 6

// listing is a list as far as it was read.
type listing struct {
	rows  []row
	last  *reply
	more  bool // the list goes on
	first *reply
}

// fetchPages reads a list, page after page, at most that many.
func (p *planner) fetchPages(f *form, args map[string]any, pages int) (listing, bool) {
	var l listing
	for range pages {
		rep, ok := p.fetch(f, args)
		if !ok {
			return l, false
		}
		if l.first == nil {
			l.first = rep
		}
		l.rows, l.last, l.more = append(l.rows, rep.rows()...), rep, rep.more
		if !rep.more || rep.next == "" || rep.failed || f.prop("cursor") == nil {
			break
		}
		args = maps.Clone(args)
		args["cursor"] = rep.next
	}
	return l, true
}
