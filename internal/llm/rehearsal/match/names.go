package match

import (
	"slices"
	"strings"

	"countersign.dev/internal/llm/rehearsal/language"
)

// Entity is a run of words that no tool's vocabulary explains, in a place where a
// value is expected: somebody's name, a place, the number of an order.
type Entity struct {
	Text   string   // as written
	Words  []string // in lower case
	Code   bool     // looks like an id
	Column string   // the column of the rows that it is a value of: "assigned to …"

	owns    bool // possessive
	place   bool // follows a preposition of place
	at, end int  // its first token, and the one after its last
}

// NewEntity reads a whole answer as one value.
func NewEntity(answer string) Entity {
	text := strings.TrimSuffix(strings.Trim(answer, " .,;:?!\"'`()[]\t\n"), "'s")
	return Entity{Text: text, Words: language.Prose(text), Code: IsUUID(text)}
}

// names finds the values that no schema lists: names of people, places, ids.
type names struct{ reader }

// name gives the value that begins at a token to an input, or narrows a list by it.
func (r names) name(i int) {
	if !r.begins(i) {
		return
	}
	e := r.entity(i)
	id, text, sort := r.idFor(e), r.textFor(e), r.c.sortOf(e.Text)
	switch {
	case e.Code && sort != "" && !r.Tool.Names(sort), r.Tool.Writes() && r.namesOther(e):
		return
	case r.waits() && (e.owns || e.at > r.Target.at): // "Ben's team", "who reports to Ben"
		r.Target.Entity = e
	case r.Target == nil && id != nil:
		r.Target = &Target{Tool: r.Tool, Input: id, Entity: e}
	case text != nil && (e.Column == "" || !r.mayFilter()):
		r.Args[text.Name] = e.Text
	case r.mayFilter():
		r.filter(e)
	default:
		return
	}
	r.take(e.at, e.end-e.at, 1)
}

// begins reports whether a value may begin at a token. In lower case, the words
// around it have to make it one: a preposition, a noun that the tool knows, or the
// verb of an order. The first word takes the list's noun: "gardening employees".
func (r names) begins(i int) bool {
	t, before := r.Tokens[i], r.beforeValue(i)
	switch {
	case t.Kind == language.Code || t.Kind == language.Quoted || t.Owns:
		return true
	case t.Kind != language.Word || r.x.Is(t.Low, "self"):
		return false
	case i == r.Order:
		return r.x.MayBeValue(t.Low) && r.isAnchor(i+1) && r.Tool.Lists()
	case t.Capital || !r.x.MayBeValue(t.Low):
		return t.Capital
	case r.x.Is(r.low(before), "place", "title", "owner") || r.isAnchor(before) || r.isAnchor(i+1) || r.Tool.Writes() && before == r.Order:
		return true
	}
	return i+1 < len(r.Tokens) && (r.uses[i+1] == meant && before == i-1 && before != r.Order-1 || r.free(i+1) && r.Tokens[i+1].Owns)
}

// beforeValue is the first token before the i-th that is no article.
func (r names) beforeValue(i int) int {
	for i--; slices.Contains([]string{"the", "our", "a", "an"}, r.low(i)); i-- {
	}
	return i
}

// entity is the value that begins at a token.
func (r names) entity(i int) Entity {
	e := Entity{at: i, end: i, Column: r.columnBefore(i)}
	for e.end < len(r.Tokens) && (e.end == i || r.continues(e.end)) && !e.owns {
		t := r.Tokens[e.end]
		if noun := t.Owns && e.end > i && r.Tool.First(func(f *Field) bool { return r.x.Among(f.stems, t.Stem) }) != nil; !noun {
			e.Text = strings.TrimSpace(e.Text + " " + t.Text) // without the noun of "the Sales department's"
		}
		e.owns, e.Code = t.Owns, e.Code || t.Kind == language.Code
		e.end++
	}
	if e.Words = language.Prose(e.Text); e.Code {
		e.Words = []string{strings.ToLower(e.Text)}
	}
	before := r.beforeValue(i)
	for r.isAnchor(before) {
		before = r.beforeValue(before)
	}
	e.place = r.x.Is(r.low(before), "place")
	e.owns = e.owns || r.low(i-1) == "does" && r.low(e.end) == "have"
	return e
}

func (r names) continues(i int) bool {
	t := r.Tokens[i]
	return r.uses[i] == unread && (t.Kind == language.Word && (t.Capital || r.x.MayBeValue(t.Low)) || t.Kind == language.Code)
}

// columnBefore finds the column that a value belongs to by the words before it,
// when no input narrows the list by it: assigned_to for "assigned to Ben".
func (r names) columnBefore(at int) string {
	if prep := r.low(at - 1); at < 2 || prep != "to" && prep != "by" {
		return ""
	}
	return nameOf(r.Tool.columns(func(f *Field) bool {
		n := len(f.Words)
		return r.Tool.Input(f.Name) == nil && (n == 1 || n > 1 && sides[f.Words[n-1]] == upper) && r.x.Among(language.Stems(f.Words[0]), r.Tokens[at-2].Stem)
	}))
}

// filter narrows the list by a value.
func (r names) filter(e Entity) {
	if r.Filters = append(r.Filters, e); e.Column != "" {
		r.uses[e.at-2] = meant
	}
}

// mayFilter allows places, and one value that could be a name.
func (r names) mayFilter() bool {
	return r.Tool.Lists() && r.Target == nil && !slices.ContainsFunc(r.Filters, func(other Entity) bool { return !other.place })
}

// namesOther reports whether a value names the sort of thing that another tool
// is about: an order to change a ticket means no invoice.
func (r names) namesOther(e Entity) bool {
	return slices.ContainsFunc(r.Tokens[e.at:e.end], func(t language.Token) bool {
		return t.Kind == language.Word && !t.Capital && slices.ContainsFunc(r.c.All(), func(other *Tool) bool { return other.Names(t.Stem) })
	})
}

// idFor is the id that a value would be looked up for: a required one, or, in a
// tool without text inputs, an optional one.
func (r names) idFor(e Entity) *Field {
	texts := r.Tool.First((*Field).IsText) != nil
	return r.Tool.First(func(f *Field) bool {
		return f.Is(ID) && !r.taken(f) && !e.place && (f.Required || !texts && !r.Tool.Writes())
	})
}

// textFor is the required text that a value fills. The rows themselves say whose
// they are: a search for the name would find other things.
func (r names) textFor(e Entity) *Field {
	return r.Tool.First(func(f *Field) bool { return f.IsText() && f.Required && !r.taken(f) && (f.All == "" || !e.owns) })
}

// self gives "my" and "me" their meaning: the person who asks is the thing that
// is asked for, or a tool that answers for its caller needs nothing.
func (r names) self(i int) {
	if !r.x.Is(r.low(i), "self") {
		return
	}
	email := strings.ToLower(r.c.Person.Email)
	id, e := r.idFor(Entity{}), Entity{at: i, Text: email, Words: []string{email}, Column: r.columnBefore(i)}
	switch {
	case r.waits():
		r.Target.Self = true
	case e.Column != "" && email != "" && r.mayFilter():
		r.filter(e)
	case r.Tool.Own && r.Target == nil:
	case r.Target == nil && id != nil && !r.Tool.Writes():
		r.Target = &Target{Tool: r.Tool, Input: id, Self: true}
	default:
		return
	}
	r.take(i, 1, 1)
}

// relation finds a word that asks for a relation of people ("my team", "who
// reports to Ben"): of the rows of this list, or of another one by whose rows
// this one is narrowed. Its person is found later.
func (r names) relation(i int) {
	s := r.Tokens[i].Stem
	for _, from := range append([]*Tool{r.Tool}, r.c.Open...) {
		f := from.Relation()
		if f == nil || !f.also[s] || !r.free(i) || !r.Tool.Lists() || r.Tool.Names(s) || from != r.Tool && r.Tool.IDOf(from) == nil {
			continue
		}
		if r.Target == nil {
			r.Target = &Target{Tool: from, Input: f, at: i}
		}
		if r.take(i, 1, 1); from == r.Tool {
			r.take(i, 1, 4) // else it does not tell what is asked for
		}
		return
	}
}
