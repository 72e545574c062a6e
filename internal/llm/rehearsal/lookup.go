package rehearsal

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// found is a thing that was looked up.
type found struct {
	id   any
	row  row
	name string
	self bool // it is the person who asks
}

var uuidShape = regexp.MustCompile(`^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$`)

// identify finds the id of a target: in the question itself, or by a list whose
// rows carry it. It asks when several rows match and never guesses.
func (p *planner) identify(f *form, t *target) (found, outcome) {
	if t.self {
		return p.myself(f, t.prop)
	}
	if t.span.text == "" {
		answer, given := p.nextAnswer()
		if !given {
			return found{}, outcome{asking, askWhom + t.prop.noun() + " do you mean?"}
		}
		t = &target{prop: t.prop, span: spanOf(answer)}
	}
	if t.span.code && t.prop.takes(t.span.text) && !strings.Contains(t.span.text, "@") {
		return found{id: t.span.text, name: t.span.text}, say("")
	}
	lister := p.lister(f, t.prop)
	if lister == nil {
		return p.withoutLister(f, t)
	}
	args := lister.finding(t.span)
	if strings.Contains(t.span.text, "@") {
		args = map[string]any{} // an address is no name; the rows have it
	}
	l, ok := p.fetchPages(lister, args, maxPages)
	if !ok {
		return found{}, wait
	}
	if len(l.rows) == 0 && len(args) > 0 && strings.ToLower(t.span.text) == t.span.text && !t.span.code {
		if l, ok = p.fetchPages(lister, map[string]any{}, maxPages); !ok { // "the lion" is called otherwise
			return found{}, wait
		}
	}
	if l.last.failed {
		return found{}, say2(errorText(l.last))
	}
	return p.pick(f, lister, t, l)
}

// say2 ends a plan with a text: the lookup itself was refused or failed.
func say2(text string) outcome { return outcome{asking, text} }

// takes reports whether a text can be the id itself.
func (p *property) takes(text string) bool {
	if p.pattern != nil {
		return p.pattern.MatchString(text)
	}
	return p.format != "uuid" && p.typ == "string" || uuidShape.MatchString(text)
}

// codeShape finds an id that people use, by the letters that it begins with.
var codeShape = regexp.MustCompile(`\b([A-Z]{2,})-[0-9]+`)

// unlike reports whether a code begins otherwise than the example that the
// input's description gives: "such as KB-001".
func (p *property) unlike(code string) bool {
	example, given := codeShape.FindStringSubmatch(p.text), codeShape.FindStringSubmatch(strings.ToUpper(code))
	return example != nil && given != nil && example[1] != given[1]
}

// nounOfCode is the sort of thing that a code stands for, by the examples that
// the tools' descriptions give; empty when none is like it.
func (p *planner) nounOfCode(code string) string {
	for _, f := range p.forms {
		for _, prop := range f.props {
			if prop.isID() && codeShape.MatchString(prop.text) && codeShape.MatchString(strings.ToUpper(code)) && !prop.unlike(code) {
				return prop.noun()
			}
		}
	}
	return ""
}

// spanOf reads a whole answer as one value.
func spanOf(answer string) span {
	text := strings.TrimFunc(answer, func(r rune) bool { return !lettersAndDigits(r) })
	text = strings.TrimSuffix(text, "'s")
	return span{text: text, words: proseWords(text), code: uuidShape.MatchString(text)}
}

// lister finds the list whose rows carry the id: the one that is named like it,
// or, for a relation within a list, that list itself.
func (p *planner) lister(f *form, prop *property) *form { return listerAmong(p.en, p.forms, f, prop) }

func listerAmong(en *english, forms []*form, f *form, prop *property) *form {
	if g := mentioned(forms, f); g != nil && !f.lists() {
		return g
	}
	noun := stem(prop.noun())
	var named, carrying, people *form
	for _, g := range forms {
		if !g.lists() && !(g.closed && !g.writes() && en.is("reading", g.order)) {
			continue
		}
		switch {
		case g.head == noun && named == nil:
			named = g
		case g.columns[prop.name] && carrying == nil:
			carrying = g
		case en.stems["person"][g.head]:
			people = g
		}
	}
	switch {
	case named != nil:
		return named
	case f.lists() && f.relation() == prop:
		return f
	case carrying != nil:
		return carrying
	case noun == "":
		return nil
	}
	return people
}

// mentioned is the list that a tool's description names as where its id is found.
func mentioned(forms []*form, f *form) *form {
	for _, g := range forms {
		if g != f && (g.lists() || g.closed && !g.writes()) && identifierIn(f.tool.Description, g.tool.Name) {
			return g
		}
	}
	return nil
}

func identifierIn(text, name string) bool {
	return strings.Contains(name, "_") && slices.Contains(strings.FieldsFunc(text, func(r rune) bool { return !lettersAndDigits(r) && r != '_' && r != '.' }), name)
}

// finding is the arguments that find what a value names: by its number, when it
// is one and the list has such an input, or else by what it is called.
func (f *form) finding(s span) map[string]any {
	if s.code {
		for _, p := range f.props {
			if last := lastWord(p.name); p.isText() && (last == "number" || last == "code" || last == "reference") {
				return map[string]any{p.name: s.text}
			}
		}
	}
	return f.byTitle(s.text)
}

// byTitle is the arguments that find rows by what they are called; none when
// the list has no such input.
func (f *form) byTitle(text string) map[string]any {
	args := map[string]any{}
	for _, p := range f.props {
		if p.isTitle() {
			args[p.name] = text
			break
		}
	}
	return args
}

// withoutLister is for those who may not list: they may still mean themselves,
// or hold the id.
func (p *planner) withoutLister(f *form, t *target) (found, outcome) {
	if p.namesMe(t.span.words) {
		return p.myself(f, t.prop)
	}
	if t.span.code {
		return found{id: t.span.text, name: t.span.text}, say("")
	}
	if g := listerAmong(p.en, p.closed, f, t.prop); g != nil {
		return found{}, say2(p.refuse(g))
	}
	return found{}, miss(fmt.Sprintf("I have no list here in which I could look up %q.", t.span.text))
}

func (p *planner) namesMe(words []string) bool {
	own := proseWords(p.person.Name)
	for _, w := range words {
		if !slices.Contains(own, w) {
			return false
		}
	}
	return len(words) > 0
}

// pick chooses among the rows that a lookup gave.
func (p *planner) pick(f, lister *form, t *target, l listing) (found, outcome) {
	noun := p.nounIn(lister, t.prop)
	rows, exact := matching(l.rows, t.span.words, noun)
	rows = p.distinct(rows, lister, t.prop)
	if len(rows) == 1 && exact {
		return p.foundIn(rows[0], lister, t.prop), say("")
	}
	if len(rows) == 0 {
		return p.notFound(f, t, lister, l)
	}
	if answer, given := p.nextAnswer(); given {
		if r, ok := p.chosen(rows, answer, noun); ok {
			return p.foundIn(r, lister, t.prop), say("")
		}
		p.misfit = true
	}
	return found{}, outcome{asking, whichOne(rows, l.more, noun)}
}

func (p *planner) foundIn(r row, lister *form, prop *property) found {
	return found{id: r.get(p.idKey(r, lister, prop)), row: r, name: calledAs(r, p.nounIn(lister, prop)), self: p.isMine(r)}
}

// nounIn is what a list calls the thing whose id is looked up: whoever leads a
// team is looked up as one of the employees.
func (p *planner) nounIn(lister *form, prop *property) string {
	if own := lister.relation(); own != nil && own.name == prop.name {
		return ""
	}
	return prop.noun()
}

// isMine reports whether a row is about the person who asks: the e-mail address
// is the one thing that both sides know them by.
func (p *planner) isMine(r row) bool {
	for _, v := range r.values {
		if text, ok := v.(string); ok && p.person.Email != "" && strings.EqualFold(text, p.person.Email) {
			return true
		}
	}
	return false
}

// notFound hands what looks like an id to a tool that reads, whose own words say
// best what to do about it. A change is not tried on what nobody has seen.
func (p *planner) notFound(f *form, t *target, lister *form, l listing) (found, outcome) {
	if t.span.code && !f.writes() && !strings.Contains(t.span.text, "@") {
		return found{id: t.span.text, name: t.span.text}, say("")
	}
	text := fmt.Sprintf("I found no %s called %q.", singular(lister.noun), t.span.text)
	if l.more {
		text += fmt.Sprintf(" I looked through the first %d only; the list is incomplete.", len(l.rows))
	}
	return found{}, miss(text + " Please check the spelling, or ask for the list.")
}

// distinct keeps one row per id.
func (p *planner) distinct(rows []row, lister *form, prop *property) []row {
	seen := map[string]bool{}
	return slices.DeleteFunc(slices.Clone(rows), func(r row) bool {
		id := fmt.Sprint(r.get(p.idKey(r, lister, prop)))
		twice := seen[id] || id == "<nil>"
		seen[id] = true
		return twice
	})
}

// idKey is the field that holds the id: of the row itself when the list is of
// such things, of something that the row carries otherwise.
func (p *planner) idKey(r row, lister *form, prop *property) string {
	if _, ok := r.values[p.shownAs(lister, prop)]; ok {
		return p.shownAs(lister, prop)
	}
	ownID := lister.head == stem(prop.noun()) || lister.relation() != nil && lister.relation().name == prop.name
	if !ownID {
		if _, ok := r.values[prop.name]; ok {
			return prop.name
		}
	}
	for _, k := range r.keys {
		w := identifierWords(k)
		if n := len(w); n == 2 && stem(w[0]) == lister.head && w[1] == "id" || n == 1 && (w[0] == "id" || w[0] == "uuid") {
			return k
		}
	}
	for _, k := range r.keys {
		if lastWord(k) == "id" {
			return k
		}
	}
	return prop.name
}

// shownAs is the field that an id stands in, where a tool's description tells
// ("which list_books shows as book_key").
func (p *planner) shownAs(lister *form, prop *property) string {
	for _, f := range p.forms {
		if f.prop(prop.name) == nil || f.prop(prop.name).text != prop.text {
			continue
		}
		if _, after, ok := strings.Cut(f.tool.Description, lister.tool.Name+" shows as "); ok {
			return identifierShape.FindString(after)
		}
	}
	return ""
}

// myself finds the person who asks: by name in a list, the row with their
// e-mail address; or in the answer of a tool that answers for its caller.
func (p *planner) myself(f *form, prop *property) (found, outcome) {
	if lister := p.lister(f, prop); lister != nil && p.person.Email != "" {
		l, ok := p.fetchPages(lister, lister.byTitle(p.person.Name), maxPages)
		if !ok {
			return found{}, wait
		}
		for _, r := range l.rows {
			if p.isMine(r) {
				return p.foundIn(r, lister, prop), say("")
			}
		}
	}
	for _, g := range p.forms {
		own := g.prop(prop.name)
		if !g.own || g.writes() || own == nil || g.missing(nil) != nil {
			continue
		}
		rep, ok := p.fetch(g, map[string]any{})
		if !ok {
			return found{}, wait
		}
		if r, ok := rep.data.(row); ok && r.get(prop.name) != nil {
			return found{id: r.get(prop.name), row: r, name: p.person.Name, self: true}, say("")
		}
	}
	return found{}, miss("I could not find your own record here, so I cannot tell.")
}
