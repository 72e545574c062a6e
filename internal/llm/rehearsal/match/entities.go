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

var articles = []string{"the", "our", "a", "an"}

// entities finds the values among the unread tokens. A lower-case word is a
// value only beside something that says so.
func (r *Reading) entities() (out []Entity) {
	for i := 0; i < len(r.part); i++ {
		if !r.mayBeValue(i) {
			continue
		}
		e := Entity{at: i, end: i}
		var texts []string
		for e.end < len(r.part) && (e.end == i || r.continues(e.end)) && !e.owns {
			t := r.part[e.end]
			texts, e.owns, e.Code = append(texts, t.Text), t.Owns, e.Code || t.Kind == language.Code
			e.Words = append(e.Words, valueWords(t)...)
			e.end++
		}
		last := r.part[e.end-1].Stem
		if n := len(texts) - 1; n > 0 && e.owns && r.Tool.First(func(f *Field) bool { return !f.Is(Paging) && r.x.Among(f.stems, last) }) != nil {
			texts, e.Words = texts[:n], e.Words[:n] // "the Sales department's"
		}
		before := i - 1
		for slices.Contains(articles, r.low(before)) || r.isAnchor(before) {
			before--
		}
		e.Text, e.place, e.Column = strings.Join(texts, " "), r.x.Is(r.low(before), "place"), r.columnBefore(i)
		e.owns = e.owns || r.low(i-1) == "does" && r.low(e.end) == "have"
		out = append(out, e)
		i = e.end - 1
	}
	return out
}

func valueWords(t language.Token) []string {
	if t.Kind == language.Code {
		return []string{t.Low}
	}
	return language.Prose(t.Text)
}

// columnBefore finds the column that a value belongs to by the words before it,
// when no input narrows the list by it: assigned_to for "assigned to Ben".
func (r *Reading) columnBefore(at int) string {
	if prep := r.low(at - 1); at < 2 || prep != "to" && prep != "by" || !r.Tool.Lists() {
		return ""
	}
	for _, f := range r.Tool.columns(func(f *Field) bool { return len(f.Words) > 0 && r.Tool.Input(f.Name) == nil }) {
		last := f.Words[len(f.Words)-1]
		if (len(f.Words) == 1 || last == "to" || last == "by") && r.x.Among(language.Stems(f.Words[0]), r.part[at-2].Stem) {
			return f.Name
		}
	}
	return ""
}

func (r *Reading) continues(i int) bool {
	t := r.part[i]
	word := t.Kind == language.Word
	return r.uses[i] == unread && (word && t.Capital || (word || t.Kind == language.Code) && r.x.MayBeValue(t))
}

// mayBeValue reports whether a value may begin at a token. A first word is rarely
// one: it takes another capital behind it, or a plain noun phrase, as in
// "Gardening employees".
func (r *Reading) mayBeValue(i int) bool {
	t, next := r.part[i], language.Token{}
	if i+1 < len(r.part) {
		next = r.part[i+1]
	}
	switch {
	case r.uses[i] != unread || t.Kind == language.Number || t.Kind == language.Date || t.Kind == language.Mark || r.x.Is(t.Low, "self"):
		return false
	case t.Kind == language.Code || t.Kind == language.Quoted || t.Owns:
		return true
	case i == 0 || i == r.Intent.Order:
		if !r.x.MayBeValue(t) || next.Text == "" {
			return false
		}
		return t.Capital && next.Capital && r.uses[i+1] == unread ||
			len(language.Lows(r.part)) <= 3 && r.uses[i+1] == meant && (language.Plural(next.Low) || r.isAnchor(i+1) && r.Tool.Lists())
	case t.Capital:
		return true
	}
	return r.x.MayBeValue(t) && r.besideAnchor(i)
}

// besideAnchor reports whether the words around a lower-case word make a value
// of it: a preposition, a noun that the tool knows, or the verb of an order.
func (r *Reading) besideAnchor(i int) bool {
	before := i - 1
	for slices.Contains(articles, r.low(before)) {
		before--
	}
	if r.x.Is(r.low(before), "place", "title", "owner") || r.isAnchor(before) || r.Tool.Writes() && before == r.Intent.Order {
		return true
	}
	if i+1 < len(r.part) && (r.isAnchor(i+1) || r.uses[i+1] == meant) && before != r.Intent.Order-1 {
		return before == i-1 || r.isAnchor(i+1)
	}
	return r.free(i+1) && r.part[i+1].Owns
}

// assign gives each value to an input: the thing that the tool needs, or a
// filter of a list.
func (r *Reading) assign() {
	for _, e := range r.entities() {
		text := r.textFor(e)
		switch t := r.Target; {
		case r.Tool.Writes() && r.namesOther(e):
			continue
		case t == nil && r.idFor(e) != nil:
			r.Target = &Target{Input: r.idFor(e), Entity: e}
		case r.awaits() && (e.owns || e.at > r.relation): // "Ben's team", "who reports to Ben"
			t.Entity = e
		case text != nil && (e.Column == "" || !r.mayFilter(e)):
			r.Args[text.Name] = e.Text
		case r.Tool.Lists() && r.mayFilter(e):
			if r.Filters = append(r.Filters, e); e.Column != "" {
				r.uses[e.at-2] = meant
			}
		default:
			continue
		}
		r.take(e.at, e.end-e.at, 1)
	}
}

// namesOther reports whether a value names the sort of thing that another tool
// is about: an order to change a ticket means no invoice.
func (r *Reading) namesOther(e Entity) bool {
	return slices.ContainsFunc(r.part[e.at:e.end], func(t language.Token) bool {
		if t.Kind != language.Word || t.Capital || r.Tool.name[t.Stem] {
			return false
		}
		return e.Code || len(t.Low) > 2 && slices.ContainsFunc(r.c.All(), func(other *Tool) bool { return other.name[t.Stem] })
	})
}

// awaits reports whether a relation still waits for its person.
func (r *Reading) awaits() bool {
	return r.Target != nil && r.Target.Entity.end == 0 && !r.Target.Self
}

// mayFilter allows one value that could be a name, and places beside it.
func (r *Reading) mayFilter(e Entity) bool {
	return e.place && len(r.Filters) < 3 || r.Target == nil && !slices.ContainsFunc(r.Filters, func(other Entity) bool { return !other.place })
}

// idFor is the id that a value would be looked up for: a required one, or, in a
// tool without text inputs, an optional one.
func (r *Reading) idFor(e Entity) *Field {
	if e.place {
		return nil
	}
	needed := r.Tool.First(func(f *Field) bool {
		return f.Is(ID) && f.Required && !r.taken(f) && !(e.Code && f.resembles(e.Text) < 0)
	})
	if needed != nil || r.Tool.Writes() || r.Tool.First((*Field).IsText) != nil {
		return needed
	}
	return r.Tool.First(func(f *Field) bool { return f.Is(ID) && !f.Required })
}

// textFor is the required text that a value fills, or the one whose name is
// beside it.
func (r *Reading) textFor(e Entity) *Field {
	return r.Tool.First(func(f *Field) bool {
		if _, all := r.Tool.Everything(f); !f.IsText() || r.taken(f) || all && e.owns {
			return false // the rows say whose they are: a search for the name finds other things
		}
		for _, i := range []int{e.at - 1, e.end} {
			if s := language.Stem(r.low(i)); f.stems[s] && (e.Code || !r.Tool.name[s]) && !f.Is(Title, Search) {
				return true
			}
		}
		return f.Required && (r.Tool.Writes() && (!f.Is(Prose) || r.part[e.at].Kind == language.Quoted) || f.Is(Title, Search) || e.Code)
	})
}

// FilterInputs lists the inputs that a value may be for: the texts, and last those
// that search for names, which a place is not.
func (r *Reading) FilterInputs(e Entity, args map[string]any) (out []*Field) {
	for _, kinds := range [][]Kind{{Text, Prose}, {Title, Search}} {
		for _, f := range r.Tool.Inputs {
			if f.Is(kinds...) && args[f.Name] == nil && e.Column == "" && !(e.place && f.Is(Title, Search) && len(out) > 0) {
				out = append(out, f)
			}
		}
	}
	return out
}

// selves gives "my" and "me" their meaning: the person who asks is the thing
// that is asked for, or a tool that answers for its caller needs nothing.
func (r *Reading) selves() {
	for i := range r.part {
		if !r.free(i) || !r.x.Is(r.low(i), "self") {
			continue
		}
		id, e := r.idFor(Entity{}), Entity{at: i, Text: r.c.Person.Email, Words: []string{strings.ToLower(r.c.Person.Email)}, Column: r.columnBefore(i)}
		switch {
		case e.Column != "" && e.Text != "" && r.mayFilter(e):
			r.Filters = append(r.Filters, e)
			r.uses[i-2] = meant
		case r.Target != nil && r.Target.Self, r.Tool.Own && r.Target == nil && (id == nil || !id.Required):
		case r.awaits():
			r.Target.Self = true
		case r.Target == nil && id != nil && !r.Tool.Writes():
			r.Target = &Target{Input: id, Self: true}
		default:
			continue
		}
		r.take(i, 1, 1)
	}
}

// triggers reports whether a word asks for a relation of the list. The name of
// the other side ("manager") does not: it asks who that is.
func (t *Tool) triggers(x *language.Lexicon, f *Field, s string) bool {
	return f.also[s] || f.about[s] && !t.name[s] && !f.stems[s] && !x.Stems("person")[s] && !strings.Contains(" identifi uniqu filter ", " "+s+" ")
}

// relations finds a word that asks for a relation. Its value is the person who
// asks when "my" or "me" is close, or the value that follows.
func (r *Reading) relations() {
	f := r.Tool.Relation()
	if f == nil || r.has("does", "do") && r.low(len(language.Lows(r.part))-1) == "to" { // "who does Ben report to" asks for the other side
		return
	}
	for i := range r.part {
		if !r.free(i) || !r.Tool.triggers(r.x, f, r.part[i].Stem) {
			continue
		}
		if r.take(i, 1, 5); r.Target == nil {
			r.Target, r.relation = &Target{Input: f}, i
		}
	}
}

// groups explains "my team" or "Ben's reports" in a question to a list that has
// no such input, as a group that another list knows. The answer is then kept to
// the rows of that group.
func (r *Reading) groups() {
	for _, from := range r.c.Open {
		rel := from.Relation()
		if rel == nil || from == r.Tool || !r.Tool.Lists() || r.Tool.IDOf(from) == nil {
			continue
		}
		for i, t := range r.part {
			mine, end := r.x.Is(t.Low, "self"), i+1
			for r.free(end) && from.triggers(r.x, rel, r.part[end].Stem) && !r.Tool.name[r.part[end].Stem] {
				end++
			}
			if r.uses[i] != unread || !mine && !t.Owns || end == i+1 {
				continue
			}
			at := i
			for !mine && at > 1 && r.part[at-1].Capital && r.uses[at-1] == unread {
				at--
			}
			whole := strings.TrimSuffix(language.Text(r.part[at:i+1]), "'s")
			r.Within, r.From = &Target{Input: rel, Self: mine, Entity: Entity{Text: whole, Words: language.Prose(whole)}}, from
			r.take(at, end-at, 1)
			return
		}
	}
}
