package match

import (
	"maps"
	"slices"
	"strings"

	"countersign.dev/internal/llm/rehearsal/language"
)

// Entity is a run of words that no tool's vocabulary explains, in a place
// where a value is expected: somebody's name, a place, the number of an order.
type Entity struct {
	Text   string   // as written
	Words  []string // in lower case
	Prep   string   // the preposition before it
	Owns   bool     // possessive
	Code   bool     // looks like an id
	Place  bool     // follows a preposition of place
	Column string   // the column of the rows that it is a value of: "assigned to …"
	at     int      // its first token
	end    int      // the token after its last
}

// NewEntity reads a whole answer as one value.
func NewEntity(answer string) Entity {
	text := strings.TrimSuffix(language.Trim(answer), "'s")
	return Entity{Text: text, Words: language.Prose(text), Code: IsUUID(text)}
}

// entities finds the values among the unread tokens. A lower-case word is a
// value only beside something that says so.
func (r *Reading) entities() (out []Entity) {
	for i := 0; i < len(r.part); {
		if !r.mayBeValue(i) {
			i++
			continue
		}
		e := Entity{at: i, Prep: r.prepositionBefore(i)}
		var texts []string
		for i < len(r.part) && (i == e.at || r.continues(i)) && !e.Owns {
			t := r.part[i]
			texts, e.Owns, e.Code = append(texts, t.Text), t.Owns, e.Code || t.Kind == language.Code
			e.Words = append(e.Words, valueWords(t)...)
			i++
		}
		if n := len(texts) - 1; n > 0 && e.Owns && r.Tool.First(func(p *Input) bool { return !p.Paging() && r.x.Among(p.stems, r.part[i-1].Stem) }) != nil {
			texts, e.Words = texts[:n], e.Words[:n] // "the Sales department's"
		}
		e.Text, e.end = strings.Join(texts, " "), i
		e.Place = r.x.Is("place", e.Prep)
		e.Column = r.columnOf(e)
		e.Owns = e.Owns || r.low(e.at-1) == "does" && r.low(e.end) == "have"
		out = append(out, e)
	}
	return out
}

func valueWords(t language.Token) []string {
	if t.Kind == language.Code {
		return []string{t.Low}
	}
	return language.Prose(t.Text)
}

// columnOf finds the column that a value belongs to by the words before it, when
// no input narrows the list by that column: assigned_to for "assigned to Ben".
func (r *Reading) columnOf(e Entity) string {
	if prep := r.low(e.at - 1); e.at < 2 || prep != "to" && prep != "by" || !r.Tool.Lists() {
		return ""
	}
	for _, c := range slices.Sorted(maps.Keys(r.Tool.Columns)) {
		w, last := language.Identifier(c), language.LastWord(c)
		if len(w) > 0 && r.Tool.Input(c) == nil && (len(w) == 1 || last == "to" || last == "by") && r.x.Among(language.Set{language.Stem(w[0]): true}, r.part[e.at-2].Stem) {
			return c
		}
	}
	return ""
}

func (r *Reading) continues(i int) bool {
	t := r.part[i]
	return r.uses[i] == unread && (t.Kind == language.Word && t.Capital && !r.shouting || (t.Kind == language.Word || t.Kind == language.Code) && r.x.MayBeValue(t))
}

func (r *Reading) mayBeValue(i int) bool {
	t := r.part[i]
	switch {
	case r.uses[i] != unread || t.Kind == language.Number || t.Kind == language.Date || t.Kind == language.Mark || r.x.Is("self", t.Low):
		return false
	case t.Kind == language.Code || t.Kind == language.Quoted || t.Owns:
		return true
	case i == 0 || i == r.Intent.Order:
		return r.opensWithValue(i)
	case t.Capital && !r.shouting:
		return true
	}
	return r.x.MayBeValue(t) && r.besideAnchor(i)
}

// opensWithValue reports whether a first word is a value: "Gardening
// employees", "Ada Byron's record". A verb is far more common there.
func (r *Reading) opensWithValue(i int) bool {
	if !r.x.MayBeValue(r.part[i]) || i+1 >= len(r.part) {
		return false
	}
	next := r.part[i+1]
	if r.part[i].Capital && r.uses[i+1] == unread && next.Capital && !r.shouting {
		return true
	}
	return len(language.Lows(r.part)) <= 3 && r.uses[i+1] == meant && (language.Plural(next.Low) || r.isAnchor(i+1) && r.Tool.Lists())
}

// besideAnchor reports whether the words around a lower-case word make a value
// of it: a preposition, a noun that the tool knows, or the verb of an order.
func (r *Reading) besideAnchor(i int) bool {
	before := i - 1
	for before >= 0 && slices.Contains([]string{"the", "our", "a"}, r.low(before)) {
		before--
	}
	if before >= 0 && (r.x.Any(r.part[before].Low, "place", "title", "owner") || r.isAnchor(before) || r.Tool.Writes() && before == r.Intent.Order) {
		return true
	}
	if i+1 < len(r.part) && (r.isAnchor(i+1) || r.uses[i+1] == meant) && before != r.Intent.Order-1 {
		return before == i-1 || r.isAnchor(i+1)
	}
	return r.free(i+1) && r.part[i+1].Owns
}

// prepositionBefore is the preposition before a value.
func (r *Reading) prepositionBefore(i int) string {
	for i--; i >= 0 && r.part[i].Kind == language.Word; i-- {
		if low := r.part[i].Low; r.x.Any(low, "place", "title", "owner") {
			return low
		} else if !slices.Contains([]string{"the", "our", "a", "an"}, low) && !r.isAnchor(i) {
			break
		}
	}
	return ""
}

// assign gives each value to an input: the thing that the tool needs, or a
// filter of a list.
func (r *Reading) assign(entities []Entity) {
	for _, e := range entities {
		switch {
		case r.Tool.Writes() && r.namesOther(e):
			continue
		case r.Target == nil && r.idFor(e) != nil:
			r.Target = &Target{Input: r.idFor(e), Entity: e}
		case r.awaits(e):
			r.Target.Entity = e
		case r.Target != nil && e.Place && !r.Tool.Writes() && !r.Tool.Lists():
			r.Target.Entity.Words = append(r.Target.Entity.Words, e.Words...)
		case e.Column != "" && r.mayFilter(e):
			r.Filters = append(r.Filters, e)
			r.uses[e.at-2] = meant
		case r.textFor(e) != nil:
			r.Args[r.textFor(e).Name] = e.Text
		case r.Tool.Lists() && r.mayFilter(e):
			r.Filters = append(r.Filters, e)
		default:
			continue
		}
		r.take(e.at, e.end-e.at, 1)
	}
}

// namesOther reports whether a value names the sort of thing that another tool
// is about: an order to change a ticket means no invoice.
func (r *Reading) namesOther(e Entity) bool {
	for _, t := range r.part[e.at:e.end] {
		if t.Kind != language.Word || t.Capital && !r.shouting || r.Tool.name[t.Stem] {
			continue
		}
		if e.Code || len(t.Low) > 2 && slices.ContainsFunc(r.c.All(), func(other *Tool) bool { return other.name[t.Stem] }) {
			return true // a code with a noun that no tool knows: "box B-17"
		}
	}
	return false
}

// awaits reports whether a relation waits for its person and this is the one:
// an owner before the word that asks ("Ben's team"), or the value behind it.
func (r *Reading) awaits(e Entity) bool {
	if r.Target == nil || r.Target.Entity.end > 0 || r.Target.Self || e.Place && !e.Owns && r.relation > e.at {
		return false
	}
	return e.Owns || e.at > r.relation
}

// mayFilter allows one value that could be a name, and places beside it.
func (r *Reading) mayFilter(e Entity) bool {
	if r.Target != nil && !e.Place || len(r.Filters) >= 3 {
		return false
	}
	return e.Place || !slices.ContainsFunc(r.Filters, func(other Entity) bool { return !other.Place })
}

// idFor is the id that a value would be looked up for: a required one, or, in a
// tool without text inputs, an optional one.
func (r *Reading) idFor(e Entity) *Input {
	if e.Place {
		return nil
	}
	needed := r.Tool.First(func(p *Input) bool {
		return p.IsID() && p.Required && !r.taken(p) && !(e.Code && p.unlike(e.Text))
	})
	if needed != nil || r.Tool.Writes() || r.Tool.First((*Input).IsText) != nil {
		return needed
	}
	return r.Tool.First(func(p *Input) bool { return p.IsID() && !p.Required })
}

// textFor is the required text that a value fills, or the one whose name is
// beside it.
func (r *Reading) textFor(e Entity) *Input {
	return r.Tool.First(func(p *Input) bool {
		if _, all := r.Tool.Everything(p); !p.IsText() || r.taken(p) || all && e.Owns {
			return false // the rows say whose they are: a search for the name finds other things
		}
		names := func(i int) bool {
			s := language.Stem(r.low(i))
			return p.stems[s] && (e.Code || !r.Tool.name[s])
		}
		beside := names(e.at-1) || names(e.end)
		return beside && !p.IsTitle() || p.Required && (r.Tool.Writes() && (!p.isProse() || r.part[e.at].Kind == language.Quoted) || p.IsTitle() || e.Code)
	})
}

// FilterInputs lists the inputs that a value may be for, by its context: a
// place is no name, what is "called" so is one.
func (r *Reading) FilterInputs(e Entity, args map[string]any) []*Input {
	var titles, others []*Input
	for _, p := range r.Tool.Inputs {
		switch {
		case !p.IsText() || args[p.Name] != nil || e.Column != "":
		case p.IsTitle():
			titles = append(titles, p)
		default:
			others = append(others, p)
		}
	}
	switch {
	case r.x.Is("title", e.Prep) && len(titles) > 0, e.Owns && len(titles) > 0 && !e.Place && e.Prep != "by":
		return titles
	case (e.Place || e.Prep == "by") && len(others) > 0:
		return others
	}
	return append(others, titles...)
}

// selves gives "my" and "me" their meaning: the person who asks is the thing
// that is asked for, or a tool that answers for its caller needs nothing.
func (r *Reading) selves() {
	for i := range r.part {
		if !r.free(i) || !r.x.Is("self", r.part[i].Low) {
			continue
		}
		p, e := r.idFor(Entity{}), Entity{at: i, Text: r.c.Person.Email, Words: []string{r.c.Person.Email}}
		e.Column = r.columnOf(e)
		switch {
		case e.Column != "" && e.Text != "" && r.mayFilter(e):
			r.Filters = append(r.Filters, e)
			r.uses[i-2] = meant
		case r.Target != nil && r.Target.Self, r.Tool.Own && r.Target == nil && (p == nil || !p.Required):
		case r.Target != nil && r.Target.Entity.end == 0:
			r.Target.Self = true
		case r.Target == nil && p != nil && !r.Tool.Writes():
			r.Target = &Target{Input: p, Self: true}
		default:
			continue
		}
		r.take(i, 1, 1)
	}
}

// triggers reports whether a word asks for a relation. The name of the other
// side ("manager") does not: it asks who that is.
func (t *Tool) triggers(x *language.Lexicon, p *Input, s string) bool {
	declared := len(p.Meta.Synonyms) > 0 && slices.ContainsFunc(p.Meta.Synonyms, func(w string) bool { return language.Stem(w) == s })
	return declared || !t.name[s] && !p.stems[s] && !x.Stems("person")[s] && s != "identifi" && s != "uniqu" && s != "filter" && p.about[s]
}

// relations finds a word that asks for a relation of the list. Its value is the
// person who asks when "my" or "me" is close, or the value that follows.
func (r *Reading) relations() {
	p := r.Tool.Relation()
	last := r.low(len(language.Lows(r.part)) - 1)
	if p == nil || r.has("does", "do") && last == "to" { // "who does Ben report to" asks for the other side
		return
	}
	for i := range r.part {
		if !r.free(i) || !r.Tool.triggers(r.x, p, r.part[i].Stem) && !r.ledBy(p, i) {
			continue
		}
		if r.take(i, 1, 5); r.Target == nil {
			r.Target, r.relation = &Target{Input: p}, i
		}
	}
}

// ledBy reports "managed by Ben", "whose manager is Ben" and "works for Ben".
func (r *Reading) ledBy(p *Input, i int) bool {
	after := r.low(i + 1)
	if r.x.Is("serve", r.part[i].Low) && (after == "for" || after == "under") && i+2 < len(r.part) {
		for noun := range r.x.Stems("superior") {
			if p.stems[noun] {
				return !r.x.Is("idle", r.part[i+2].Low)
			}
		}
	}
	return r.x.Among(p.stems, r.part[i].Stem) && !r.part[i].Owns && (after == "by" || after == "is" && r.has("whose", "with"))
}

// TurnUpwards rewrites "who does Ben report to" as "who is Ben's manager".
func (c *Catalog) TurnUpwards(part []language.Token) []language.Token {
	end := len(part)
	for end > 0 && part[end-1].Kind == language.Mark {
		end--
	}
	if end < 5 || part[end-1].Low != "to" || part[1].Low != "does" && part[1].Low != "do" || !c.Words.Is("upwards", part[end-2].Low) {
		return part
	}
	out := append([]language.Token{part[0], language.NewWord("is")}, part[2:end-2]...)
	if last := &out[len(out)-1]; last.Low == "i" {
		*last = language.NewWord("my")
	} else {
		last.Owns = true
	}
	for noun := range c.Words.Stems("superior") {
		out = append(out, language.NewWord(noun))
	}
	return out
}

// groups explains "my team" or "Ben's reports" in a question to a list that has
// no such input, as a group that another list knows. The answer is then kept to
// the rows of that group.
func (r *Reading) groups() {
	if !r.Tool.Lists() {
		return
	}
	for _, from := range r.c.Open {
		rel := from.Relation()
		if rel == nil || from == r.Tool || r.Tool.IDOf(from) == nil {
			continue
		}
		if within, at, n := r.groupIn(from, rel); n > 0 {
			r.Within, r.From = within, from
			r.take(at, n, 1)
			return
		}
	}
}

// IDOf is the input for the id of what another list is of: by it the rows of
// both meet.
func (t *Tool) IDOf(other *Tool) *Input {
	return t.First(func(p *Input) bool { return p.IsID() && language.Stem(p.Noun()) == other.Head })
}

// groupIn finds "my" or an owner right before words that ask for the other
// list's relation: "my direct reports".
func (r *Reading) groupIn(from *Tool, rel *Input) (within *Target, at, n int) {
	for i, t := range r.part {
		mine := r.x.Is("self", t.Low)
		if r.uses[i] != unread || !mine && !t.Owns {
			continue
		}
		n := 1
		for r.free(i+n) && from.triggers(r.x, rel, r.part[i+n].Stem) && !r.Tool.name[r.part[i+n].Stem] {
			n++
		}
		if n == 1 {
			continue
		}
		at, e := i, Entity{Text: t.Text, Words: valueWords(t)}
		for !mine && at > 1 && r.part[at-1].Capital && r.uses[at-1] == unread {
			at, n = at-1, n+1
			e.Text, e.Words = r.part[at].Text+" "+e.Text, append(valueWords(r.part[at]), e.Words...)
		}
		return &Target{Input: rel, Self: mine, Entity: e}, at, n
	}
	return nil, 0, 0
}
