package plan

import (
	"fmt"
	"slices"
	"strings"

	"countersign.dev/internal/agent"
	"countersign.dev/internal/llm/rehearsal/language"
	"countersign.dev/internal/llm/rehearsal/match"
	"countersign.dev/internal/llm/rehearsal/speak"
)

// identify finds the id of a target: in the question itself, or by a list whose
// rows carry it. It asks when several rows match and never guesses.
func (p *planner) identify(t *match.Tool, target *match.Target) (speak.Thing, step) {
	id, e := target.Input, target.Entity
	if target.Self {
		return p.myself(t, id)
	}
	if e.Text == "" {
		answer, given := p.next()
		if !given {
			return speak.Thing{}, step{asking, AskWhom + id.Noun() + " do you mean?"}
		}
		e = match.NewEntity(answer)
	}
	address := strings.Contains(e.Text, "@") // no name, but the rows have it
	literal := speak.Thing{ID: e.Text, Name: e.Text}
	if e.Code && id.Takes(e.Text) && !address {
		return literal, done
	}
	lister := listerOf(p.Catalog, p.Open, t, id)
	if lister == nil {
		own := language.Prose(p.Person.Name)
		closed := listerOf(p.Catalog, p.Closed, t, id)
		switch {
		case len(e.Words) > 0 && !slices.ContainsFunc(e.Words, func(w string) bool { return !slices.Contains(own, w) }):
			return p.myself(t, id)
		case e.Code:
			return literal, done
		case closed != nil:
			return speak.Thing{}, step{failed, refuse(p.Catalog, closed)}
		}
		return speak.Thing{}, step{missed, fmt.Sprintf("I have no list here in which I could look up %q.", e.Text)}
	}
	args := map[string]any{}
	if !address {
		args = finding(lister, e)
	}
	l, ok := p.fetchAll(lister, args)
	if ok && len(l.Rows) == 0 && len(args) > 0 && strings.ToLower(e.Text) == e.Text && !e.Code {
		l, ok = p.fetchAll(lister, map[string]any{}) // "the lion" is called otherwise
	}
	switch {
	case !ok:
		return speak.Thing{}, wait
	case l.Last.Failed:
		return speak.Thing{}, step{failed, speak.Failure(l.Last)}
	}
	thing, s := p.pick(lister, id, e, l)
	if s.state == missed && e.Code && !t.Writes() && !address {
		return literal, done // a tool that reads says best itself what is wrong with an id
	}
	return thing, s
}

// listerOf finds the list whose rows carry an id: the declared one, one of the
// same noun, or one with such a column.
func listerOf(c *match.Catalog, tools []*match.Tool, t *match.Tool, id *match.Field) *match.Tool {
	declared, _, _ := strings.Cut(id.From, ":")
	people := c.Words.Stems("person")
	var best *match.Tool
	most := 0
	for _, other := range tools {
		weight := 0
		switch {
		case !other.Lists():
		case other.Info.Name == declared:
			weight = 6
		case other.IsAbout(id.Noun()):
			weight = 4
		case other == t && t.Relation() == id:
			weight = 3
		case other != t && other.Columns[id.Name] != nil:
			weight = 2
		case id.Noun() != "" && slices.ContainsFunc(language.Identifier(other.Noun), func(w string) bool { return people[language.Stem(w)] }):
			weight = 1
		}
		if weight > most {
			best, most = other, weight
		}
	}
	return best
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
	if f == nil {
		return map[string]any{}
	}
	return map[string]any{f.Name: e.Text}
}

// pick chooses among the rows that a lookup gave.
func (p *planner) pick(lister *match.Tool, id *match.Field, e match.Entity, l speak.Listing) (speak.Thing, step) {
	noun := id.Noun()
	if own := lister.Relation(); own != nil && own.Name == id.Name && id.From == "" {
		noun = "" // the other side of a relation is looked up as one of the rows
	}
	rows, exact := matching(l.Rows, e.Words, noun)
	seen := map[string]bool{"<nil>": true}
	rows = slices.DeleteFunc(rows, func(r speak.Row) bool {
		key := fmt.Sprint(r.Values[idKey(r, lister, id)])
		twice := seen[key]
		seen[key] = true
		return twice
	})
	found := func(r speak.Row) (speak.Thing, step) {
		return speak.Thing{ID: r.Values[idKey(r, lister, id)], Row: r, Name: r.CalledAs(noun), Self: isMine(p.Person, r)}, done
	}
	switch answer, given := "", false; {
	case len(rows) == 1 && exact:
		return found(rows[0])
	case len(rows) == 0:
		text := fmt.Sprintf("I found no %s called %q.", language.Singular(lister.Noun), e.Text)
		if l.More {
			text += fmt.Sprintf(" I looked through the first %d only; the list is incomplete.", len(l.Rows))
		}
		return speak.Thing{}, step{missed, text + " Please check the spelling, or ask for the list."}
	default:
		if answer, given = p.next(); given {
			if r, ok := chosen(p.Catalog, rows, answer, noun); ok {
				return found(r)
			}
			p.misfit = true
		}
	}
	return speak.Thing{}, step{asking, whichOne(rows, l.More, noun)}
}

// isMine reports whether a row is about the person who asks: the e-mail address
// is the one thing by which both sides know them.
func isMine(who agent.Person, r speak.Row) bool {
	return who.Email != "" && slices.ContainsFunc(r.Keys, func(k string) bool { return strings.EqualFold(r.Text(k), who.Email) })
}

// idKey is the field that holds the id: the declared one, that of the row itself
// when the list is of such things, or that of something that the row carries.
func idKey(r speak.Row, lister *match.Tool, id *match.Field) string {
	has := func(key string) bool { return r.Values[key] != nil }
	if from, key, _ := strings.Cut(id.From, ":"); from == lister.Info.Name && has(key) {
		return key
	}
	relation := lister.Relation()
	if !lister.IsAbout(id.Noun()) && (relation == nil || relation.Name != id.Name) && has(id.Name) {
		return id.Name
	}
	for _, fits := range []func(w []string) bool{
		func(w []string) bool { return len(w) == 2 && lister.IsAbout(w[0]) },
		func(w []string) bool { return len(w) == 1 },
		func(w []string) bool { return true },
	} {
		if i := slices.IndexFunc(r.Keys, func(k string) bool { return match.IsID(k) && fits(language.Identifier(k)) }); i >= 0 {
			return r.Keys[i]
		}
	}
	return id.Name
}

// myself finds the person who asks: by name in a list, the row with their e-mail
// address; or in the answer of a tool that answers for its caller.
func (p *planner) myself(t *match.Tool, id *match.Field) (speak.Thing, step) {
	if lister := listerOf(p.Catalog, p.Open, t, id); lister != nil && p.Person.Email != "" {
		l, ok := p.fetchAll(lister, finding(lister, match.Entity{Text: p.Person.Name}))
		if !ok {
			return speak.Thing{}, wait
		}
		if i := slices.IndexFunc(l.Rows, func(r speak.Row) bool { return isMine(p.Person, r) }); i >= 0 {
			return speak.Thing{ID: l.Rows[i].Values[idKey(l.Rows[i], lister, id)], Row: l.Rows[i], Name: l.Rows[i].Name(), Self: true}, done
		}
	}
	for _, other := range p.Open {
		if !other.Own || other.Writes() || other.Input(id.Name) == nil || other.Missing(nil) != nil {
			continue
		}
		a, ok := p.fetch(other, map[string]any{})
		if !ok {
			return speak.Thing{}, wait
		}
		if r, ok := a.Data.(speak.Row); ok && r.Values[id.Name] != nil {
			return speak.Thing{ID: r.Values[id.Name], Row: r, Name: p.Person.Name, Self: true}, done
		}
	}
	return speak.Thing{}, step{missed, "I could not find your own record here, so I cannot tell."}
}

// matching keeps the rows that a name means: those that are called by all its
// words; else those that are called by some and hold the others; else those that
// hold them all. exact is false when no row has the very words and the list
// offered others.
func matching(rows []speak.Row, words []string, noun string) (out []speak.Row, exact bool) {
	ranks := [4][]speak.Row{}
	for _, r := range rows {
		low := strings.ToLower(r.CalledAs(noun))
		called, held := counted(words, language.Prose(low)), counted(words, wordsIn(r))
		switch n := len(words); {
		case n > 0 && called == n:
			ranks[0] = append(ranks[0], r)
		case n > 0 && called > 0 && held == n:
			ranks[1] = append(ranks[1], r)
		case n > 0 && held == n:
			ranks[2] = append(ranks[2], r)
		case len(rows) <= 8 && slices.ContainsFunc(words, func(w string) bool { return len(w) > 2 && strings.Contains(low, w) }):
			ranks[3] = append(ranks[3], r) // part of a word, as the server matched it
		}
	}
	for i, found := range ranks {
		if len(found) > 0 {
			return found, i < 3
		}
	}
	return nil, false
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

// chosen is the row that the person's answer picks: by its place, or by words
// that only that row has.
func chosen(c *match.Catalog, rows []speak.Row, answer, noun string) (speak.Row, bool) {
	tokens := c.Words.Read(answer, c.Today)
	var words []string
	for _, t := range tokens {
		if at := language.Place(t.Low); at > 0 && at <= len(rows) && len(tokens) <= 4 {
			return rows[at-1], true
		}
		if t.Kind != language.Mark && !c.Words.Is(t.Low, "idle") {
			words = append(words, language.Prose(t.Text)...)
		}
	}
	if out, exact := matching(rows, words, noun); len(out) == 1 && exact {
		return out[0], true
	}
	return speak.Row{}, false
}

// whichOne asks, with what sets the rows apart.
func whichOne(rows []speak.Row, more bool, noun string) string {
	const most = 8
	var names []string
	for _, r := range rows[:min(most, len(rows))] {
		names = append(names, speak.Clean(r.CalledAs(noun)+r.Described()))
	}
	text := AskWhich + speak.Join(names, "or") + "?"
	if more || len(rows) > most {
		text += " There are more; you can also give more of the name."
	}
	return text
}
