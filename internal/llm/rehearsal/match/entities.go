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

// beforeValue is the first token before the i-th that is no article.
func (r names) beforeValue(i int) int {
	for i--; slices.Contains([]string{"the", "our", "a", "an"}, r.low(i)); i-- {
	}
	return i
}

// entities finds the values among the unread tokens.
func (r names) entities() (out []Entity) {
	for i := 0; i < len(r.Tokens); i++ {
		if !r.mayBeValue(i) {
			continue
		}
		e := Entity{at: i, end: i}
		for e.end < len(r.Tokens) && (e.end == i || r.continues(e.end)) && !e.owns {
			t := r.Tokens[e.end]
			if noun := t.Owns && e.end > i && r.Tool.First(func(f *Field) bool { return !f.Is(Paging) && r.x.Among(f.stems, t.Stem) }) != nil; !noun {
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
		e.place, e.Column = r.x.Is(r.low(before), "place"), r.columnBefore(i)
		e.owns = e.owns || r.low(i-1) == "does" && r.low(e.end) == "have"
		out = append(out, e)
		i = e.end - 1
	}
	return out
}

// columnBefore finds the column that a value belongs to by the words before it,
// when no input narrows the list by it: assigned_to for "assigned to Ben".
func (r names) columnBefore(at int) string {
	if prep := r.low(at - 1); at < 2 || prep != "to" && prep != "by" || !r.Tool.Lists() {
		return ""
	}
	columns := r.Tool.columns(func(f *Field) bool {
		n := len(f.Words)
		return r.Tool.Input(f.Name) == nil && (n == 1 || n > 1 && sides[f.Words[n-1]] == upper) && r.x.Among(language.Stems(f.Words[0]), r.Tokens[at-2].Stem)
	})
	if len(columns) == 0 {
		return ""
	}
	return columns[0].Name
}

func (r names) continues(i int) bool {
	t := r.Tokens[i]
	return r.uses[i] == unread && (t.Kind == language.Word || t.Kind == language.Code) && (t.Capital || r.x.MayBeValue(t.Low))
}

// mayBeValue reports whether a value may begin at a token. A first word takes a
// capital or the list's noun behind it, as in "gardening employees".
func (r names) mayBeValue(i int) bool {
	t := r.Tokens[i]
	switch {
	case r.uses[i] != unread || t.Kind == language.Number || t.Kind == language.Date || t.Kind == language.Mark || r.x.Is(t.Low, "self"):
		return false
	case t.Kind == language.Code || t.Kind == language.Quoted || t.Owns:
		return true
	case i == 0 || i == r.Order:
		return r.x.MayBeValue(t.Low) && i+1 < len(r.Tokens) &&
			(t.Capital && r.Tokens[i+1].Capital && r.uses[i+1] == unread || r.isAnchor(i+1) && r.Tool.Lists())
	case t.Capital:
		return true
	}
	return r.x.MayBeValue(t.Low) && r.besideAnchor(i)
}

// besideAnchor reports whether the words around a lower-case word make a value
// of it: a preposition, a noun that the tool knows, or the verb of an order.
func (r names) besideAnchor(i int) bool {
	before := r.beforeValue(i)
	switch {
	case r.x.Is(r.low(before), "place", "title", "owner") || r.isAnchor(before) || r.Tool.Writes() && before == r.Order:
		return true
	case i+1 < len(r.Tokens) && (r.isAnchor(i+1) || r.uses[i+1] == meant) && before != r.Order-1:
		return before == i-1 || r.isAnchor(i+1)
	}
	return r.free(i+1) && r.Tokens[i+1].Owns
}

// assign gives each value to an input, or narrows a list by it.
func (r names) assign() {
	for _, e := range r.entities() {
		text, id := r.textFor(e), r.idFor(e)
		switch {
		case r.Tool.Writes() && r.namesOther(e):
			continue
		case r.waits() && (e.owns || e.at > r.Target.at): // "Ben's team", "who reports to Ben"
			r.Target.Entity = e
		case r.Target == nil && id != nil:
			r.Target = &Target{Tool: r.Tool, Input: id, Entity: e}
		case text != nil && (e.Column == "" || !r.mayFilter(e)):
			r.Args[text.Name] = e.Text
		case r.Tool.Lists() && r.mayFilter(e):
			r.filter(e)
		default:
			continue
		}
		r.take(e.at, e.end-e.at, 1)
	}
}

// filter narrows the list by a value.
func (r names) filter(e Entity) {
	if r.Filters = append(r.Filters, e); e.Column != "" {
		r.uses[e.at-2] = meant
	}
}

// mayFilter allows one value that could be a name, and places beside it.
func (r names) mayFilter(e Entity) bool {
	return e.place && len(r.Filters) < 3 || r.Target == nil && !slices.ContainsFunc(r.Filters, func(other Entity) bool { return !other.place })
}

// namesOther reports whether a value names the sort of thing that another tool
// is about: an order to change a ticket means no invoice.
func (r names) namesOther(e Entity) bool {
	return slices.ContainsFunc(r.Tokens[e.at:e.end], func(t language.Token) bool {
		if t.Kind != language.Word || t.Capital || r.Tool.name[t.Stem] {
			return false
		}
		return e.Code || len(t.Low) > 2 && slices.ContainsFunc(r.c.All(), func(other *Tool) bool { return other.name[t.Stem] })
	})
}

// idFor is the id that a value would be looked up for: a required one, or, in a
// tool without text inputs, an optional one.
func (r names) idFor(e Entity) *Field {
	if e.place {
		return nil
	}
	needed := r.Tool.First(func(f *Field) bool { return f.Is(ID) && f.Required && !r.taken(f) })
	if needed != nil || r.Tool.Writes() || r.Tool.First((*Field).IsText) != nil {
		return needed
	}
	return r.Tool.First(func(f *Field) bool { return f.Is(ID) && !f.Required })
}

// textFor is the required text that a value fills, or the one that is named beside it.
func (r names) textFor(e Entity) *Field {
	return r.Tool.First(func(f *Field) bool {
		if !f.IsText() || r.taken(f) || f.All != "" && e.owns {
			return false // the rows say whose they are: a search for the name finds other things
		}
		for _, i := range []int{e.at - 1, e.end} {
			if s := language.Stem(r.low(i)); f.stems[s] && (e.Code || !r.Tool.name[s]) && !f.Is(Title, Search) {
				return true
			}
		}
		return f.Required && (r.Tool.Writes() && (!f.Is(Prose) || r.Tokens[e.at].Kind == language.Quoted) || f.Is(Title, Search) || e.Code)
	})
}

// FilterInputs lists the inputs that a value may be for.
func (r *Reading) FilterInputs(e Entity, args map[string]any) []*Field {
	return slices.DeleteFunc(slices.Clone(r.Tool.Inputs), func(f *Field) bool { return !f.IsText() || args[f.Name] != nil || e.Column != "" })
}

// selves gives "my" and "me" their meaning: the person who asks is the thing
// that is asked for, or a tool that answers for its caller needs nothing.
func (r names) selves() {
	for i := range r.Tokens {
		if !r.free(i) || !r.x.Is(r.low(i), "self") {
			continue
		}
		email := strings.ToLower(r.c.Person.Email)
		id, e := r.idFor(Entity{}), Entity{at: i, Text: email, Words: []string{email}, Column: r.columnBefore(i)}
		switch {
		case r.waits():
			r.Target.Self = true
		case e.Column != "" && email != "" && r.mayFilter(e):
			r.filter(e)
		case r.Target != nil && r.Target.Self, r.Tool.Own && r.Target == nil && (id == nil || !id.Required):
		case r.Target == nil && id != nil && !r.Tool.Writes():
			r.Target = &Target{Tool: r.Tool, Input: id, Self: true}
		default:
			continue
		}
		r.take(i, 1, 1)
	}
}

// waits reports whether a relation still waits for its person.
func (r names) waits() bool {
	return r.Target != nil && r.Target.Entity.end == 0 && !r.Target.Self
}

// relations finds a word that asks for a relation of people ("my team", "who
// reports to Ben"): of the rows of this list, or of another one by whose rows
// this one is narrowed. Its person is found later.
func (r names) relations() {
	if !r.Tool.Lists() {
		return
	}
	for _, from := range append([]*Tool{r.Tool}, r.c.Open...) {
		f, score := from.Relation(), 5
		if from != r.Tool {
			score = 1 // it does not tell what is asked for
		}
		for i, t := range r.Tokens {
			if f == nil || !r.free(i) || !f.also[t.Stem] || r.Tool.name[t.Stem] || from != r.Tool && r.Tool.IDOf(from) == nil {
				continue
			}
			if r.take(i, 1, score); r.Target == nil {
				r.Target = &Target{Tool: from, Input: f, at: i}
			}
		}
	}
}
