package plan

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"countersign.dev/internal/calendar"
	"countersign.dev/internal/english"
	"countersign.dev/internal/facts"
	"countersign.dev/internal/language"
	"countersign.dev/internal/language/lexicon"
	"countersign.dev/internal/llm/rehearsal/match"
	"countersign.dev/internal/llm/rehearsal/speak"
	"countersign.dev/internal/result"
	"countersign.dev/internal/schema"
	"countersign.dev/internal/schema/declared"
)

// carryOut finds what the reading needs, calls its tool and writes the answer.
func (p *planner) carryOut(r *match.Reading) string {
	args, about := maps.Clone(r.Args), declared.Thing{}
	if r.Few = p.few; p.paging {
		r.Next(p.named[r.Tool.Rows])
		r.Last = p.last
		args = maps.Clone(r.Args)
	}
	if t := r.Target; t != nil {
		who := run(func() string { about = p.identify(r, t); return "" })
		if in := t.Entity; who.none && r.Tool.Lists() && !t.Input.Required && !in.Code { // "reviews of Engineering"
			place := *r
			in.Located, place.Target, place.Assumed = true, nil, in.Text
			place.Filters = append(slices.Clone(r.Filters), match.Filter{Entity: in})
			if e := run(func() string { return p.list(&place, declared.Thing{}, maps.Clone(args)) }); !e.none {
				return e.orWait()
			}
		}
		if who != (end{}) {
			panic(who)
		}
		if t.Tool == r.Tool {
			args[t.Input.Name] = about.ID
		}
	}
	if r.Each > 0 || r.Tool.Writes() && r.Target != nil && !r.Target.Input.Required && (r.Plural || p.Words.Is(r.Verb, "inventing")) {
		return p.each(r)
	}
	for {
		declared.Settle(about.Row, args)
		in := r.Tool.Missing(args)
		if in == nil && r.Tool.Lists() {
			return p.list(r, about, args)
		}
		if in == nil {
			a := p.fetch(r.Tool, args)
			if a.Fault == nil {
				return speak.One(r, about, a)
			}
			lacks, _ := a.Fault.Details["fields"].([]any)
			in = r.Tool.Inputs.First(func(f *declared.Field) bool {
				return f.IsText() && args[f.Name] == nil && slices.Contains(lacks, any(f.Name))
			})
			if in == nil || len(p.answers) == 0 {
				panic(end{none: in == nil && len(r.Values) > 0 || len(args) == 0, text: speak.Failure(a)})
			}
		}
		p.complete(r, in, &about, args)
	}
}

// each carries an order out for each of the texts that a person lists for it, as many as they said.
func (p *planner) each(r *match.Reading) string {
	in := r.Tool.Inputs.First(func(f *declared.Field) bool { return f.IsText() && f.Required })
	texts := english.Items(fmt.Sprint(cmp.Or(r.Args[in.Name], any(""))), r.Each)
	for len(texts) == 0 || r.Each > 0 && len(texts) != r.Each {
		answer, given := p.next()
		if texts = english.Items(answer, r.Each); !given {
			panic(end{text: fmt.Sprintf("What should the %s%ss be, separated by commas?", strings.TrimPrefix(fmt.Sprint(r.Each, " "), "0 "), strings.Join(in.Words, " "))})
		}
	}
	return all(len(texts), func(i int) string {
		one := *r
		one.Each, one.Plural, one.Verb, one.Args = 0, false, r.Tool.Info.Name, with(r.Args, in.Name, texts[i])
		return p.carryOut(&one)
	})
}

// complete takes an input from the person's next answer, or asks for it.
func (p *planner) complete(r *match.Reading, in *declared.Field, about *declared.Thing, args map[string]any) {
	if in.All != "" {
		args[in.Name] = in.All
		return
	}
	answer, given := p.next()
	if given && in.Is(schema.ID) {
		for _, t := range language.Read(answer, p.Today) { // "the second one"
			id, name := lexicon.Shown(p.listing, calendar.Ordinal(t.Low))
			answer = cmp.Or(id, name, answer)
		}
		answer = strings.Trim(answer, " .,;:?!\"'`()[]\t\n")
		*about = p.identify(r, &match.Target{Tool: r.Tool, Input: in, Entity: match.Entity{Text: answer, Words: english.Prose(answer), Code: in.Format == "uuid" && in.Identify(answer) != nil}})
		args[in.Name] = about.ID
	} else if given {
		args[in.Name] = r.Answer(in, strings.TrimSpace(answer))
	}
	question := "What should the " + strings.Join(in.Words, " ") + " be" // which [lexicon.Asks] recognises
	switch {
	case args[in.Name] != nil:
		return
	case in.Is(schema.ID):
		question = "Which " + in.Noun + " do you mean"
	case len(in.Enum) > 0:
		question += ": " + result.Join(in.Enum, "or")
	}
	panic(end{text: question + "?"})
}

// list answers from a list. Values that none of its inputs takes are looked for in its rows.
func (p *planner) list(r *match.Reading, about declared.Thing, args map[string]any) string {
	if of := r.Target; of != nil && of.Tool != r.Tool { // the rows of the people that another list gives
		id := r.Tool.Columns.First(of.Tool.Identified)
		theirs := match.Filter{Entity: match.Entity{Column: id.Name}}
		for _, one := range p.fetchPages(of.Tool, map[string]any{of.Input.Name: about.ID}, maxPages).Rows {
			theirs.Values = append(theirs.Values, declared.IDIn(of.Tool, one, id))
		}
		r.Filters = append(r.Filters, theirs)
	}
	narrowing := len(r.Filters)
	for i, f := range r.Filters {
		r.Filters[i].Also = calledSo(p, r.Tool, f, args)
	}
	r.Filters = slices.DeleteFunc(r.Filters, func(f match.Filter) bool { return f.Also == nil && p.passes(r.Tool, f, args) })
	one := (r.Measure.Kind == "" || r.Measure.Column != "" && r.Measure.By == "" && r.Measure.Kind != "sort" && !r.Measure.OverDates()) && len(r.Filters) == 0 && r.Skip < 50
	l := p.fetchPages(r.Tool, args, map[bool]int{true: 1, false: maxPages}[one])
	named := slices.ContainsFunc(l.Rows, func(one result.Row) bool { named, _ := owner(p.Catalog, one); return named })
	unsaid := func(f match.Filter) bool { return f.Self && f.Column == "" && !named }
	l.Remark = cmp.Or(speak.Hidden(r, l.Rows), l.Remark, map[bool]string{true: "They do not say whose they are."}[slices.ContainsFunc(r.Filters, unsaid) && len(l.Rows) > 0])
	r.Filters = slices.DeleteFunc(r.Filters, unsaid)
	for _, f := range r.Filters {
		read, some, known := len(l.Rows), l.Rows, false
		l.Rows = slices.DeleteFunc(slices.Clone(l.Rows), func(one result.Row) bool { return fits(p.Catalog, one, f) == f.Not })
		says := func(one result.Row) bool { return slices.Contains(one.Keys, f.Column) }
		if short := facts.Addressed(some, f.Column, f.Words); short != "" && len(l.Rows) == 0 || f.Column != "" && len(some) > 0 && len(f.Else) == 0 && !slices.ContainsFunc(some, says) {
			panic(end{none: true, text: fmt.Sprintf("I cannot tell: the %s here do not say %q%s.", r.Tool.Rows, speak.Label(r.Tool, cmp.Or(short, f.Column)), map[bool]string{true: " by a whole name"}[short != ""])})
		}
		others := func(one result.Row) bool { _, mine := owner(p.Catalog, one); return !mine }
		if (f.Located || f.Whose && slices.ContainsFunc(some, others)) && len(l.Rows) == 0 {
			l.Rows, known = ofPeople(p, r.Tool, some, f)
		}
		if f.Located && len(l.Rows) == 0 && !known && (len(r.Filters) > 1 || len(f.Words) > 1) { // a place in what is searched for, or none
			f.Located = false
			l.Rows = slices.DeleteFunc(slices.Clone(some), func(one result.Row) bool { return !fits(p.Catalog, one, f) })
		}
		if plain := strings.ToLower(f.Text) == f.Text && !f.Code && f.Column == "" && f.Keeps == nil && f.Values == nil; plain && len(f.Words) > 1 && len(r.Args)+len(r.Filters) == 1 && len(l.Rows) == 0 { // no name
			l.Rows = facts.WithWords(some, f.Words)
			l.Remark = map[bool]string{true: "Nothing has all of these words; these have some of them."}[len(l.Rows) > 0]
		}
		if len(l.Rows) == 0 && f.Text != "" && !known {
			if len(r.Args)+narrowing > 1 || f.Self { // another value may be why
				panic(end{none: true, text: speak.List(r, about, l, 0) + map[bool]string{true: " They may not say that of each."}[f.Located && !r.OfPeople()]})
			}
			panic(end{none: true, text: nothing(r.Tool.Rows+" "+cmp.Or(speak.Label(r.Tool, f.Column), map[bool]string{true: "that say"}[f.Located && !r.OfPeople()], "for"), f.Text, l.More, read) + map[bool]string{true: " What each has inside is not searched."}[!r.OfPeople() && declared.ReadsMore(p.Open, r.Tool)] + shownTo(p, r)})
		}
	}
	if len(l.Rows) > 0 && 2*english.Shared(r.Guide, facts.Words(l.Rows[0])) > len(r.Guide) {
		return speak.Record(r.Tool, result.Markdown(facts.Title(l.Rows[0])), l.Rows[0])
	}
	return speak.List(r, about, l, 0)
}

// calledSo are the ids of the rows whose names or tags have a word in small letters: "cloud invoices" are also those with it in another text, or in another form.
func calledSo(p *planner, t *declared.Tool, f match.Filter, args map[string]any) (ids []any) {
	in := t.Inputs.First(func(in *declared.Field) bool {
		return in.Is(schema.Title) || strings.HasPrefix(in.Name, "tag") || t.Columns.Named(in.Name+"_name") != nil
	})
	if in == nil || args[in.Name] != nil || f.Text == "" || f.Text != strings.ToLower(f.Text) || f.Code || f.Self || f.Located || f.Column != "" || f.Whose {
		return nil
	}
	for _, one := range p.fetchPages(t, with(args, in.Name, f.Text), maxPages).Rows {
		ids = append(ids, declared.IDIn(t, one, &declared.Field{}))
	}
	return ids
}

// ofPeople keeps the rows of the people whom their list finds in a place that the rows do not tell, such as a department, and reports whether it finds any.
func ofPeople(p *planner, t *declared.Tool, rows []result.Row, in match.Filter) (theirs []result.Row, known bool) {
	whose := func(f *declared.Field) bool { return f.Is(schema.ID) && p.Words.IsOurs(english.Stem(f.Noun)) }
	id := cmp.Or(t.Inputs.First(whose), t.Columns.First(whose), &declared.Field{})
	people, args, ids := declared.ListerOf(p.Open, id), map[string]any{}, map[any]bool{}
	if people == nil || people == t || !p.passes(people, in, args) {
		return nil, false
	}
	for _, one := range p.fetchPages(people, args, maxPages).Rows {
		ids[declared.IDIn(people, one, id)] = true
	}
	return slices.DeleteFunc(slices.Clone(rows), func(one result.Row) bool { return !ids[one.Values[id.Name]] }), true
}

// passes gives a value to the first text input by which its list finds rows. A name may be that of others too: the rows themselves say which are the person's own.
func (p *planner) passes(t *declared.Tool, f match.Filter, args map[string]any) bool {
	in := t.Inputs.First(func(in *declared.Field) bool {
		whose := !f.Self || p.Words.Is(in.Name, "person") && !p.Words.Is(in.Name, "outsider")
		return f.Column == "" && in.IsText() && !in.Has("month", "quarter", "year") && !(f.Located && len(f.Words) == 1 && in.Is(schema.Title)) && args[in.Name] == nil && whose && len(p.fetch(t, with(args, in.Name, f.Text)).Rows) > 0
	})
	if in != nil {
		args[in.Name] = f.Text
	}
	return in != nil && !f.Self
}

func fits(c *match.Catalog, one result.Row, f match.Filter) bool {
	n, isNumber := one.Number(f.Column)
	switch named, mine := owner(c, one); {
	case slices.Contains(f.Also, declared.IDIn(&declared.Tool{}, one, &declared.Field{})):
		return true
	case len(f.Else) > 0 && one.Values[f.Column] == nil:
		return !slices.ContainsFunc(f.Else, func(f match.Filter) bool { return !fits(c, one, f) })
	case f.Keeps != nil:
		return (isNumber || one.Text(f.Column) != "" && !one.Masked(f.Column)) && f.Keeps(one.Text(f.Column), n)
	case f.Values != nil:
		return facts.Has(one, f.Column, f.Values)
	case f.Column != "":
		one.Keys = []string{f.Column}
	case f.Self:
		return mine
	case f.Located, f.Named, f.Whose && named: // "in Denver" is the value of a field, or in a text
		one.Keys = slices.DeleteFunc(slices.Clone(one.Keys), func(k string) bool {
			text := strings.ToLower(one.Text(k))
			return f.Named && !facts.IsName(one, k) || f.Whose && (english.LastWord(k) == "by" || c.Words.Is(english.Words(k)[0], "superior")) || f.Located && strings.HasSuffix(k, "_title") && !strings.Contains(text, strings.ToLower(f.Text)) || f.Located && len(english.Prose(text)) > len(f.Words)+1 && !strings.Contains(text, "in "+strings.ToLower(f.Text))
		})
	}
	words := facts.Words(one)
	if strings.ToLower(f.Text) == f.Text && !f.Code && !f.Located && !f.Named && !f.Whose { // no name
		for _, k := range one.Keys {
			words = append(words, english.Prose(one.Text(k))...)
		}
	}
	return english.Shared(f.Words, words) == len(f.Words) || len(f.Words) > 1 && slices.Contains(words, strings.Join(f.Words, "")) // HealthCare
}

// owner reports whether a row says whose it is, and whether it is the asker's.
func owner(c *match.Catalog, one result.Row) (named, mine bool) {
	ours := func(w string) bool { return c.Words.Is(w, "person", "holder") && !c.Words.Is(w, "outsider") }
	for _, k := range one.Keys {
		text := one.Text(k)
		if text != "" && english.LastWord(k) != "by" {
			own := strings.EqualFold(text, c.Person.Email) || strings.EqualFold(text, c.Person.Name)
			named, mine = named || own || strings.Contains(text, "@") || slices.ContainsFunc(english.Words(k), ours), mine || own
		}
	}
	return named, mine
}

const advice = " Please check the spelling, or ask for the list."

// nothing says that no row was found by a value, as far as a list was read.
func nothing(what, value string, more bool, read int) string {
	end := map[bool]string{true: fmt.Sprintf(" among the first %d; the list is incomplete.", read), false: " among those that you can see." + advice}
	return fmt.Sprintf("I found no %s %q", what, value) + end[more]
}

// shownTo says who sees the column that is asked for, if the person may not: "the salary of Ada".
func shownTo(p *planner, r *match.Reading) string {
	roles := r.Tool.Column(speak.Column(r)).Roles
	if len(roles) == 0 || slices.ContainsFunc(roles, func(role string) bool { return slices.Contains(p.Person.Roles, role) }) {
		return ""
	}
	return " The " + speak.Label(r.Tool, speak.Column(r)) + " is shown to " + result.Join(roles, "or") + "."
}

// identify finds the id of a target, in the question or by a list whose rows carry it. It asks when several match.
func (p *planner) identify(r *match.Reading, target *match.Target) declared.Thing {
	id, e := target.Input, target.Entity
	lister, closed := declared.ListerOf(p.Open, id), declared.ListerOf(p.Closed, id)
	mine := e.Self || lister == nil && len(e.Words) > 0 && english.Shared(e.Words, english.Prose(p.Person.Name)) == len(e.Words)
	switch {
	case mine && lister == nil:
		return p.caller(id)
	case e.Code && id.Identify(e.Text) != nil:
		return declared.Thing{ID: id.Identify(e.Text), Name: e.Text}
	case lister == nil && closed != nil:
		what := map[bool]string{true: r.Tool.Noun + " of others", false: closed.Noun}[r.Strong && !r.Tool.IsAbout(id.Noun)]
		panic(end{none: r.Guesses(), shut: !r.Vague && r.Verb != "where", text: refuse(p.Catalog, p.Attempt(closed, r.Clause), what)})
	case lister == nil:
		panic(end{none: true, text: fmt.Sprintf("I have no list here in which I could look up %q.", e.Text)})
	}
	all, more := p.things(lister, id, e)
	found := declared.Called(all, e.Words)
	switch {
	case len(found) == 1:
		return found[0]
	case mine:
		return p.caller(id)
	case len(found) == 0: // a part of a name is never enough without asking
		found = slices.DeleteFunc(all, func(t declared.Thing) bool { return !english.Begins(t.Name, e.Text) })
	}
	if len(found) == 0 {
		shown := shownTo(p, r)
		text := nothing(english.Singular(lister.Rows)+" called", e.Text, more, len(all))
		panic(end{none: true, text: strings.TrimSuffix(text, map[bool]string{true: advice}[shown != ""]) + shown})
	}
	return p.chosen(found)
}

// things are what the rows are, or carry, in which a list finds what a value names.
func (p *planner) things(lister *declared.Tool, id *declared.Field, e match.Entity) (out []declared.Thing, more bool) {
	numbers := func(f *declared.Field) bool {
		return e.Code && f.IsText() && slices.Contains([]string{"number", "code", "reference"}, english.LastWord(f.Name))
	}
	names := func(f *declared.Field) bool { return f.Is(schema.Title, schema.Search) }
	noun, seen, args := id.Noun, map[any]bool{nil: true}, map[string]any{}
	if by := cmp.Or(lister.Inputs.First(numbers), lister.Inputs.First(names)); by != nil && !strings.Contains(e.Text, "@") { // an address is no name, but the rows have it
		args[by.Name] = e.Text
	}
	if _, key, declared := strings.Cut(id.From, ":"); declared && key != id.Name {
		noun = "" // it is one of the rows themselves
	}
	l := p.fetchPages(lister, args, maxPages)
	for _, r := range l.Rows {
		if key := declared.IDIn(lister, r, id); !seen[key] {
			seen[key], out = true, append(out, declared.Thing{ID: key, Row: r, Name: cmp.Or(r.Text(noun+"_name"), facts.Name(r))})
		}
	}
	return out, l.More
}

// caller finds the person who asks in the answer of a tool that answers for its caller.
func (p *planner) caller(id *declared.Field) declared.Thing {
	for _, other := range p.Open {
		if other.Own && other.Inputs.Named(id.Name) != nil {
			if r, _ := p.fetch(other, map[string]any{}).Data.(result.Row); r.Values[id.Name] != nil {
				return declared.Thing{ID: r.Values[id.Name], Row: r, Name: p.Person.Name}
			}
		}
	}
	panic(end{text: "I could not find your own record here, so I cannot tell."})
}

// chosen is the one thing that the person's answer picks. It asks when it picks none.
func (p *planner) chosen(things []declared.Thing) declared.Thing {
	var words, names []string
	answer, _ := p.next()
	for _, t := range language.Read(answer, p.Today) {
		if at := calendar.Ordinal(t.Low); at > 0 && at <= len(things) {
			return things[at-1]
		}
		if !p.Words.Is(t.Low, "idle") {
			words = append(words, english.Prose(t.Text)...)
		}
	}
	if out := declared.Called(things, words); len(out) == 1 {
		return out[0]
	}
	for _, t := range things[:min(8, len(things))] { // as many as can be read at a glance
		names = append(names, result.Markdown(t.Name+facts.Description(t.Row)))
	}
	panic(end{text: "Which one: " + result.Join(names, "or") + "?"})
}
