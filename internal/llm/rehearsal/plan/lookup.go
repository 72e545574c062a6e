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
func (p *planner) identify(t *match.Tool, target *match.Target) (speak.Thing, step) {
	if target.Self {
		return p.myself(t, target.Input)
	}
	if target.Entity.Text == "" {
		answer, given := p.nextAnswer()
		if !given {
			return speak.Thing{}, step{asking, AskWhom + target.Input.Noun() + " do you mean?"}
		}
		target = &match.Target{Input: target.Input, Entity: match.NewEntity(answer)}
	}
	e := target.Entity
	address := strings.Contains(e.Text, "@")
	literal := speak.Thing{ID: e.Text, Name: e.Text}
	if e.Code && target.Input.Takes(e.Text) && !address {
		return literal, done
	}
	lister := p.lister(p.Open, t, target.Input)
	if lister == nil {
		return p.withoutList(t, target)
	}
	args := finding(lister, e)
	if address {
		args = map[string]any{} // an address is no name; the rows have it
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
	return p.pick(t, lister, target, l)
}

// lister finds the list whose rows carry an id: the declared one, one that the
// description names, one of the same noun, or one with such a column.
func (p *planner) lister(tools []*match.Tool, t *match.Tool, id *match.Input) *match.Tool {
	declared, _, _ := strings.Cut(id.Meta.From, ":")
	noun := language.Stem(id.Noun())
	var mentioned, named, carrying, people *match.Tool
	for _, other := range tools {
		switch {
		case !other.Lists():
		case other.Info.Name == declared:
			return other
		case other != t && !t.Lists() && mentions(t.Info.Description, other.Info.Name):
			mentioned = other
		case other.Head == noun && named == nil:
			named = other
		case other.Columns[id.Name].Name != "" && carrying == nil && other != t:
			carrying = other
		case p.Words.Stems("person")[other.Head]:
			people = other
		}
	}
	switch {
	case mentioned != nil:
		return mentioned
	case named != nil:
		return named
	case t.Relation() == id && slices.Contains(tools, t):
		return t
	case carrying != nil || noun == "":
		return carrying
	}
	return people
}

// mentions reports whether a text has the name of a tool as an identifier.
func mentions(text, name string) bool {
	return strings.Contains(name, "_") && slices.Contains(strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(" ,.;:()\"'`", r) }), name)
}

// finding is the arguments that find what a value names: by its number, when it
// is one and the list has such an input, or else by its name.
func finding(lister *match.Tool, e match.Entity) map[string]any {
	p := lister.First(func(p *match.Input) bool {
		return e.Code && p.IsText() && slices.Contains([]string{"number", "code", "reference"}, language.LastWord(p.Name))
	})
	if p == nil {
		p = lister.First((*match.Input).IsTitle)
	}
	if p == nil {
		return map[string]any{}
	}
	return map[string]any{p.Name: e.Text}
}

// withoutList is for those who may not list: they may still mean themselves, or
// hold the id.
func (p *planner) withoutList(t *match.Tool, target *match.Target) (speak.Thing, step) {
	own, e := language.Prose(p.Person.Name), target.Entity
	if len(e.Words) > 0 && !slices.ContainsFunc(e.Words, func(w string) bool { return !slices.Contains(own, w) }) {
		return p.myself(t, target.Input)
	}
	if e.Code {
		return speak.Thing{ID: e.Text, Name: e.Text}, done
	}
	if closed := p.lister(p.Closed, t, target.Input); closed != nil {
		return speak.Thing{}, step{failed, p.refuse(closed)}
	}
	return speak.Thing{}, step{missed, fmt.Sprintf("I have no list here in which I could look up %q.", e.Text)}
}

// pick chooses among the rows that a lookup gave.
func (p *planner) pick(t, lister *match.Tool, target *match.Target, l speak.Listing) (speak.Thing, step) {
	id := target.Input
	noun := id.Noun()
	if own := lister.Relation(); own != nil && own.Name == id.Name && id.Meta.From == "" {
		noun = "" // the other side of a relation is looked up as one of the rows
	}
	rows, exact := matching(l.Rows, target.Entity.Words, noun)
	seen := map[string]bool{}
	rows = slices.DeleteFunc(rows, func(r speak.Row) bool {
		key := fmt.Sprint(r.Values[idKey(r, lister, id)])
		twice := seen[key] || key == "<nil>"
		seen[key] = true
		return twice
	})
	found := func(r speak.Row) (speak.Thing, step) {
		return speak.Thing{ID: r.Values[idKey(r, lister, id)], Row: r, Name: speak.CalledAs(r, noun), Self: p.isMine(r)}, done
	}
	if len(rows) == 1 && exact {
		return found(rows[0])
	}
	if len(rows) == 0 {
		return p.notFound(t, target.Entity, lister, l)
	}
	if answer, given := p.nextAnswer(); given {
		if r, ok := p.chosen(rows, answer, noun); ok {
			return found(r)
		}
		p.misfit = true
	}
	return speak.Thing{}, step{asking, whichOne(rows, l.More, noun)}
}

// isMine reports whether a row is about the person who asks: the e-mail address
// is the one thing by which both sides know them.
func (p *planner) isMine(r speak.Row) bool {
	for _, v := range r.Values {
		if text, ok := v.(string); ok && p.Person.Email != "" && strings.EqualFold(text, p.Person.Email) {
			return true
		}
	}
	return false
}

// notFound hands what looks like an id to a tool that reads, whose own words say
// best what to do about it. A change is never tried on a thing that was not found.
func (p *planner) notFound(t *match.Tool, e match.Entity, lister *match.Tool, l speak.Listing) (speak.Thing, step) {
	if e.Code && !t.Writes() && !strings.Contains(e.Text, "@") {
		return speak.Thing{ID: e.Text, Name: e.Text}, done
	}
	text := fmt.Sprintf("I found no %s called %q.", language.Singular(lister.Noun), e.Text)
	if l.More {
		text += fmt.Sprintf(" I looked through the first %d only; the list is incomplete.", len(l.Rows))
	}
	return speak.Thing{}, step{missed, text + " Please check the spelling, or ask for the list."}
}

// idKey is the field that holds the id: the declared one, that of the row itself
// when the list is of such things, or that of something that the row carries.
func idKey(r speak.Row, lister *match.Tool, id *match.Input) string {
	has := func(key string) bool { _, ok := r.Values[key]; return ok }
	if from, key, _ := strings.Cut(id.Meta.From, ":"); from == lister.Info.Name && has(key) {
		return key
	}
	relation := lister.Relation()
	if lister.Head != language.Stem(id.Noun()) && (relation == nil || relation.Name != id.Name) && has(id.Name) {
		return id.Name
	}
	for _, fits := range []func(w []string) bool{
		func(w []string) bool { return len(w) == 2 && language.Stem(w[0]) == lister.Head && w[1] == "id" },
		func(w []string) bool { return len(w) == 1 && (w[0] == "id" || w[0] == "uuid") },
		func(w []string) bool { return len(w) > 0 && w[len(w)-1] == "id" },
	} {
		if i := slices.IndexFunc(r.Keys, func(k string) bool { return fits(language.Identifier(k)) }); i >= 0 {
			return r.Keys[i]
		}
	}
	return id.Name
}

// myself finds the person who asks: by name in a list, the row with their e-mail
// address; or in the answer of a tool that answers for its caller.
func (p *planner) myself(t *match.Tool, id *match.Input) (speak.Thing, step) {
	if lister := p.lister(p.Open, t, id); lister != nil && p.Person.Email != "" {
		l, ok := p.fetchAll(lister, finding(lister, match.Entity{Text: p.Person.Name}))
		if !ok {
			return speak.Thing{}, wait
		}
		for _, r := range l.Rows {
			if p.isMine(r) {
				return speak.Thing{ID: r.Values[idKey(r, lister, id)], Row: r, Name: speak.Name(r), Self: true}, done
			}
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
	for _, fits := range []func(called, held language.Set) bool{
		func(called, _ language.Set) bool { return holdsAll(called, words) },
		func(called, held language.Set) bool {
			return slices.ContainsFunc(words, func(w string) bool { return called[w] }) && holdsAll(held, words)
		},
		func(_, held language.Set) bool { return holdsAll(held, words) },
	} {
		for _, r := range rows {
			called := language.Set{}
			called.Add(language.Prose(speak.CalledAs(r, noun))...)
			if fits(called, wordsIn(r)) {
				out = append(out, r)
			}
		}
		if len(out) > 0 {
			return out, true
		}
	}
	for _, r := range rows[:min(len(rows), 8)] { // part of a word, as the server matched it
		low := strings.ToLower(speak.CalledAs(r, noun))
		if len(rows) <= 8 && slices.ContainsFunc(words, func(w string) bool { return len(w) > 2 && strings.Contains(low, w) }) {
			out = append(out, r)
		}
	}
	return out, false
}

// wordsIn are the words of a row's short texts, its whole values among them.
func wordsIn(r speak.Row) language.Set {
	s := language.Set{}
	for _, v := range r.Values {
		if text, ok := v.(string); ok && len(text) < 200 {
			s.Add(language.Prose(text)...)
			s.Add(strings.ToLower(text))
		}
	}
	return s
}

func holdsAll(have language.Set, words []string) bool {
	return len(words) > 0 && !slices.ContainsFunc(words, func(w string) bool { return !have[w] && !have[language.Singular(w)] })
}

// chosen is the row that the person's answer picks: by its place, or by words
// that only that row has.
func (p *planner) chosen(rows []speak.Row, answer, noun string) (speak.Row, bool) {
	tokens := p.Words.Read(answer, p.Today)
	var words []string
	for _, t := range tokens {
		if at := language.Place(t.Low); at > 0 && at <= len(rows) && len(tokens) <= 4 {
			return rows[at-1], true
		}
		if t.Kind != language.Mark && !p.Words.Is("idle", t.Low) {
			words = append(words, match.NewEntity(t.Text).Words...)
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
		names = append(names, speak.Clean(speak.CalledAs(r, noun)+speak.Described(r)))
	}
	text := AskWhich + speak.Join(names, "or") + "?"
	if more || len(rows) > most {
		text += " There are more; you can also give more of the name."
	}
	return text
}
