package plan

import (
	"fmt"
	"slices"
	"strings"

	"countersign.dev/internal/llm/rehearsal/language"
	"countersign.dev/internal/llm/rehearsal/match"
	"countersign.dev/internal/llm/rehearsal/speak"
)

// identify finds the id of a target: in the question itself, or by a list whose
// rows carry it. It asks when several rows match and never guesses.
func (p *planner) identify(r *match.Reading, target *match.Target) speak.Thing {
	id, e := target.Input, target.Entity
	lister, closed := listerOf(p.Open, id), listerOf(p.Closed, id)
	switch own := language.Prose(p.Person.Name); {
	case target.Self, lister == nil && len(e.Words) > 0 && counted(e.Words, own) == len(e.Words):
		return p.myself(lister, id)
	case e.Code && (lister == nil || id.Takes(e.Text)):
		return speak.Thing{ID: e.Text, Name: e.Text}
	case lister == nil && closed != nil:
		panic(end{said, refuse(p.Catalog, closed, r.Clause)})
	case lister == nil:
		panic(end{missed, fmt.Sprintf("I have no list here in which I could look up %q.", e.Text)})
	}
	return p.pick(lister, id, e, p.fetchPages(lister, finding(lister, e), maxPages))
}

// listerOf finds the list whose rows carry an id, best by its declaration.
func listerOf(tools []*match.Tool, id *match.Field) *match.Tool {
	declared, _, _ := strings.Cut(id.From, ":")
	for _, fits := range []func(t *match.Tool) bool{
		func(t *match.Tool) bool { return t.Lists() && t.Info.Name == declared },
		func(t *match.Tool) bool { return t.Lists() && t.IsAbout(id.Noun()) },
	} {
		if i := slices.IndexFunc(tools, fits); i >= 0 {
			return tools[i]
		}
	}
	return nil
}

// finding is the arguments that find what a value names: by its number, when it
// is one and the list has such an input, or else by its name.
func finding(lister *match.Tool, e match.Entity) map[string]any {
	f := lister.First(func(f *match.Field) bool {
		return e.Code && f.IsText() && slices.Contains([]string{"number", "code", "reference"}, language.LastWord(f.Name))
	})
	if f == nil {
		f = lister.First(func(f *match.Field) bool { return f.Is(match.Title, match.Search) })
	}
	if f == nil || strings.Contains(e.Text, "@") { // an address is no name, but the rows have it
		return map[string]any{}
	}
	return map[string]any{f.Name: e.Text}
}

// pick chooses among the rows that a lookup gave.
func (p *planner) pick(lister *match.Tool, id *match.Field, e match.Entity, l *speak.Answer) speak.Thing {
	noun := id.Noun()
	if _, key, declared := strings.Cut(id.From, ":"); declared && key != id.Name {
		noun = "" // it is one of the rows themselves
	}
	seen := map[any]bool{nil: true}
	rows, exact := matching(l.Rows, e.Words, noun)
	rows = slices.DeleteFunc(rows, func(r speak.Row) bool {
		key := idIn(r, lister, id)
		twice := seen[key]
		seen[key] = true
		return twice
	})
	switch {
	case len(rows) == 0 && l.More:
		panic(end{missed, fmt.Sprintf("I found no %s called %q among the first %d; the list is incomplete.", language.Singular(lister.Noun), e.Text, len(l.Rows))})
	case len(rows) == 0:
		panic(end{missed, fmt.Sprintf("I found no %s called %q. Please check the spelling, or ask for the list.", language.Singular(lister.Noun), e.Text)})
	case len(rows) > 1 || !exact:
		rows = p.chosen(rows, noun)
	}
	return p.thing(rows[0], lister, id, noun)
}

// thing is what a row of a list is, or carries.
func (p *planner) thing(r speak.Row, lister *match.Tool, id *match.Field, noun string) speak.Thing {
	return speak.Thing{ID: idIn(r, lister, id), Row: r, Name: r.CalledAs(noun), Self: p.isMine(r)}
}

// isMine reports whether a row is about the person who asks: the e-mail address
// is the one thing by which both sides know them.
func (p *planner) isMine(r speak.Row) bool {
	return p.Person.Email != "" && slices.ContainsFunc(r.Keys, func(k string) bool { return strings.EqualFold(r.Text(k), p.Person.Email) })
}

// idIn is the id in a row: that of the declared field, that of something that the
// row carries, or, when the list is of such things, that of the row itself.
func idIn(r speak.Row, lister *match.Tool, id *match.Field) any {
	from, key, _ := strings.Cut(id.From, ":")
	own := slices.IndexFunc(r.Keys, match.IsID)
	switch {
	case from == lister.Info.Name && r.Values[key] != nil:
		return r.Values[key]
	case own >= 0 && (lister.IsAbout(id.Noun()) || r.Values[id.Name] == nil):
		return r.Values[r.Keys[own]]
	}
	return r.Values[id.Name]
}

// myself finds the person who asks: by name in a list, the row with their e-mail
// address; or in the answer of a tool that answers for its caller.
func (p *planner) myself(lister *match.Tool, id *match.Field) speak.Thing {
	if lister != nil {
		l := p.fetchPages(lister, finding(lister, match.Entity{Text: p.Person.Name}), maxPages)
		if i := slices.IndexFunc(l.Rows, p.isMine); i >= 0 {
			return p.thing(l.Rows[i], lister, id, "")
		}
	}
	for _, other := range p.Open {
		if other.Own && other.Input(id.Name) != nil {
			if r := p.fetch(other, map[string]any{}).Object(); r.Values[id.Name] != nil {
				return speak.Thing{ID: r.Values[id.Name], Row: r, Name: p.Person.Name, Self: true}
			}
		}
	}
	panic(end{missed, "I could not find your own record here, so I cannot tell."})
}

// matching keeps the rows that a name means: those called by all its words; else
// by some, that hold the others; else those that hold them all. exact is false
// when no row has the very words and the list offered others.
func matching(rows []speak.Row, words []string, noun string) (found []speak.Row, exact bool) {
	best := 0
	for _, r := range rows {
		low, rank := strings.ToLower(r.CalledAs(noun)), 0
		called, held := counted(words, language.Prose(low)), counted(words, wordsIn(r))
		switch n := len(words); {
		case n > 0 && called == n:
			rank = 4
		case n > 0 && held == n:
			rank = 2 + min(called, 1)
		case len(rows) <= 8 && slices.ContainsFunc(words, func(w string) bool { return len(w) > 2 && strings.Contains(low, w) }):
			rank = 1 // part of a word, as the server matched it
		}
		if rank > best {
			found, best = nil, rank
		}
		if rank > 0 && rank == best {
			found = append(found, r)
		}
	}
	return found, best > 1
}

// counted counts the words that are among others, in any form of them.
func counted(words, have []string) (n int) {
	stems := language.Stems(have...)
	for _, w := range words {
		if stems[language.Stem(w)] {
			n++
		}
	}
	return n
}

// wordsIn are the words of a row's short texts, its whole values among them.
func wordsIn(r speak.Row) (words []string) {
	for _, k := range r.Keys {
		if text := strings.ToLower(r.Text(k)); len(text) < 200 {
			words = append(append(words, language.Prose(text)...), text)
		}
	}
	return words
}

// chosen is the one row that the person's answer picks: by its place, or by words
// that only that row has. It asks when the answer picks none.
func (p *planner) chosen(rows []speak.Row, noun string) []speak.Row {
	var words []string
	answer, _ := p.next()
	for _, t := range p.Words.Read(answer, p.Today) {
		if at := language.Place(t.Low); at > 0 && at <= len(rows) {
			return rows[at-1 : at]
		}
		if !p.Words.Is(t.Low, "idle") {
			words = append(words, language.Prose(t.Text)...)
		}
	}
	if out, exact := matching(rows, words, noun); len(out) == 1 && exact {
		return out
	}
	const most = 8
	var names []string
	for _, r := range rows[:min(most, len(rows))] {
		names = append(names, speak.Clean(r.CalledAs(noun))+r.Described())
	}
	text := AskWhich + speak.Join(names, "or") + "?"
	if len(rows) > most {
		text += " There are more; you can also give more of the name."
	}
	panic(end{asking, text})
}
