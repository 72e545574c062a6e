package match

import "countersign.dev/internal/llm/rehearsal/language"

// reader explains the words of a clause by those of the tool.
type reader struct{ *Reading }

// take gives n tokens a use as arguments, for so many points.
func (r reader) take(at, n, score int) {
	for i := range n {
		r.uses[at+i] = given
	}
	r.Score += score
	r.anchored = r.anchored || score >= inNoun.weight()
}

// free reports whether a token is a word that nothing has explained yet.
func (r reader) free(i int) bool { return r.low(i) != "" && r.uses[i] == unread }

func (r reader) taken(f *Field) bool { return r.Args[f.Name] != nil }

// word explains a word that the tool itself uses, or an idle one.
func (r reader) word(i int) {
	t := r.Tokens[i]
	if t.Kind != language.Word || t.Owns && i > 0 && r.Tokens[i-1].Owns {
		return
	}
	weight, anchor := r.weigh(t)
	if len(r.Tool.Columns) == 0 && r.x.Is(r.low(i-1), language.Measures...) {
		weight = max(weight, inMore.weight()) // an undeclared column
	}
	switch {
	case weight > 0:
		r.uses[i], r.Asked[t.Stem] = meant, true
		r.Score, r.anchored = r.Score+weight, r.anchored || anchor
	case r.x.Is(t.Low, "idle"), r.x.Is(t.Low, "versus") && r.Tool.Amount() != "":
		r.uses[i] = idle
	}
}

// weigh says how much a word speaks for the tool, and whether it can be what the
// question is about. One that only names whose it is ("employee" for employee_id)
// counts little; one that owns another ("manager's") must be the tool's noun.
func (r reader) weigh(w language.Token) (weight int, anchor bool) {
	t, s := r.Tool, w.Stem
	at := t.place[s]
	whose := t.First(func(f *Field) bool {
		return f.Is(ID) && language.Stem(f.Noun()) == s && (!f.Required || t.Writes()) || f.IsText() && language.Stem(f.Name) == s && t.Columns[f.Name+"_id"] != nil
	}) != nil
	switch people, outsiders := r.x.Stems("person"), r.x.Stems("outsider"); {
	case at == inNoun:
		return at.weight(), true
	case w.Owns && !whose, r.x.Is(w.Low, "idle") && t.Columns[w.Low] == nil:
		return 0, false
	case whose:
		return inMore.weight(), false
	case people[s] && at != inSynonym && people[t.head] && outsiders[t.head] == outsiders[s]:
		return inSynonym.weight(), true
	case people[s] && at != inSynonym && t.Mentions(people) > 0:
		return inMore.weight(), !t.Lists() && at == inAbout
	}
	for _, other := range r.x.Same(s) {
		at = max(at, min(inSynonym, t.place[other]))
	}
	return at.weight(), at >= inColumns
}

// judge prefers the tool whose kind fits the question: people for "who", one
// thing or many.
func (r reader) judge() {
	if r.has("who", "whom", "whose") && !r.Tool.Writes() && r.Tool.Mentions(r.x.Stems("person")) > 0 {
		r.Score, r.anchored = r.Score+1, true
	}
	r.Strong = r.Measure.By != ""
	for i, t := range r.Tokens {
		if r.uses[i] != unread && r.isAnchor(i) {
			r.Strong, r.Plural = true, r.Plural || r.uses[i] == meant && !t.Owns && language.Plural(t.Low)
		}
	}
	many := r.Bulk || r.Plural
	required := r.Target != nil && r.Target.Input.Required
	switch {
	case required && many && !r.Tool.Writes(), r.Target == nil && !r.Tool.Lists() && r.Tool.Missing(r.Args) != nil:
		r.Score -= 3
	case required, r.Tool.Lists() && r.Target == nil && (many || len(r.Filters) == 0):
		r.Score += 2
	}
}

// remark keeps the text behind a colon or "because" in the input for it. Without
// such an input it would be lost, and the tool is not meant.
func (r reader) remark() {
	for _, fits := range []func(f *Field) bool{
		func(f *Field) bool { return f.Is(Prose) && f.Required },
		func(f *Field) bool { return f.IsText() && f.has("reason", "comment", "note") },
	} {
		if f := r.Tool.First(fits); f != nil && r.Remark != "" && r.Tool.Writes() && !r.taken(f) {
			r.Args[f.Name] = r.Remark
			return
		}
	}
	r.anchored = r.anchored && r.Remark == ""
}
