package match

import (
	"cmp"
	"slices"
	"strings"

	"countersign.dev/internal/english"
	"countersign.dev/internal/language"
	"countersign.dev/internal/language/lexicon"
	"countersign.dev/internal/schema"
	"countersign.dev/internal/schema/declared"
)

// name gives the value that begins at a token to an input, or narrows a list by it.
func (r *Reading) name(i int) {
	if !r.begins(i) {
		return
	}
	e := r.entity(i)
	ids := func(f *declared.Field) bool {
		return f.Is(schema.ID) && !r.taken(f) && (!e.Located || e.Code && e.sort == english.Stem(f.Noun))
	}
	needed := func(f *declared.Field) bool { return ids(f) && f.Required }
	ofSort := func(f *declared.Field) bool { return ids(f) && e.Code && e.sort == english.Stem(f.Noun) } // "task 12"
	only := func(f *declared.Field) bool {
		return ids(f) && !r.Tool.Writes() && r.Tool.Inputs.First((*declared.Field).IsText) == nil
	}
	own := map[bool]*declared.Field{true: r.Tool.Inputs.First(func(f *declared.Field) bool { return ids(f) && r.x.IsOurs(english.Stem(f.Noun)) })}[e.Self && !r.Tool.Lists() && len(r.Args) > 0] // "my October report"
	id := cmp.Or(r.Tool.Inputs.First(needed), own, r.Tool.Inputs.First(ofSort), r.Tool.Inputs.First(only))
	ofTeam := func(t *declared.Tool) bool { return t.Relation(r.Tokens[i].Stem) != nil }          // "my team's expenses"
	teams := func(t *declared.Tool) bool { return t.Relation(english.Stem(r.Low(e.end))) != nil } // "deals of my team"
	text := r.Tool.Inputs.First(func(f *declared.Field) bool {                                    // the rows themselves say whose they are: a search for the name would find other things
		named := !r.Tool.Lists() && f.Says(english.Stem(r.Low(e.at-1))) // "the workspace Atlas"
		return f.IsText() && (f.Required || named) && !r.taken(f) && (f.All == "" || !e.owns) && (e.sort == "" || !f.Is(schema.Prose))
	})
	switch {
	case e.turned && e.sort != "" && !r.Tool.Writes() && !r.Has("who"), r.Low(i-1) == "by" && !r.Tokens[i].Capital && r.c.Knows(r.Tokens[i].Stem), r.ofOther(e), r.x.Is(r.Low(i-1), "self") && slices.ContainsFunc(r.c.Open, ofTeam), e.Self && r.x.Bounds(r.Clause, i).Beyond: // "more than me" is not about me
		return
	case r.waits() && (e.Self || e.owns || e.at > r.Target.at): // "Ben's team", "who reports to Ben"
		r.Target.Entity = e
	case e.Column != "" && r.mayFilter(e):
		if r.Filters, r.uses[e.at-2] = append(r.Filters, Filter{Entity: e, Not: r.Low(e.at-3) == "not"}), meant; r.Low(e.at-3) == "not" {
			r.take(given, e.at-3, 3, 0)
		}
	case e.Self && r.Tool.Own && r.Target == nil:
	case r.Target == nil && id != nil && (!e.Self || (!r.Tool.Writes() || len(r.Args) > 0) && r.x.IsOurs(english.Stem(id.Noun))):
		r.Target = &Target{Tool: r.Tool, Input: id, Entity: e}
	case e.Self && (r.Tool.Writes() || r.Tool.Inputs.First(r.Tool.Relates) != nil || r.Tool.Inputs.First(func(f *declared.Field) bool { return f.Is(schema.ID) && f.Required }) != nil):
		return
	case e.Self && (!r.Tool.Lists() || slices.ContainsFunc(r.c.Open, teams)): // its figures are of the asker's rows, or it tells itself whose team's
	case text != nil && !e.Self:
		r.Args[text.Name] = e.Text
	case r.mayFilter(e):
		r.Filters = append(r.Filters, Filter{Entity: e, Whose: e.owns || r.Tokens[e.at].Capital && r.x.IsOurs(r.Tool.Head) && !r.isAnchor(e.at-2) || r.Low(e.at-1) == "of" && !(r.x.IsOurs(r.Tool.Head) && r.isAnchor(e.at-2)), Named: (e.owns || r.Low(e.at-1) == "does" || slices.Contains([]string{"named", "called"}, r.Low(e.at-1)) || r.Low(e.at-1) == "of" && r.Tokens[e.at].Kind == language.Quoted) && r.x.IsOurs(r.Tool.Head)}) // "what does Ada earn?" asks for none whose manager she is
	default:
		return
	}
	if second(r, e.at) && !r.Tool.Writes() && (r.Target == nil || r.Target.Entity.at != e.at) { // "in Seattle or Austin", "in Sales and in IT" are two questions
		r.Negations++
	}
	if e.Code && e.sort != "" {
		r.Strong, r.anchored = true, true
	}
	if !e.Self {
		r.Values = append(r.Values, e.Text)
	}
	as, points := given, 1
	if e.guess {
		as, points = guessed, -1
	} else if e.Self || r.Target != nil && r.Target.Entity.at == e.at {
		as = read
	}
	r.take(as, e.at, e.end-e.at, points)
}

// ofAnother reports whether an order says first another sort of thing than the tool changes: "delete the Acme deal" deletes no customer.
func (r reader) ofAnother() bool {
	for i := r.Order + 1; i < len(r.Tokens); i++ {
		t := r.Tokens[i]
		things := func(of *declared.Tool) bool { return of.Head == t.Stem && (of.Lists() || of.Writes()) }
		if t.Kind == language.Word && !t.Owns && slices.ContainsFunc(r.c.All(), things) {
			return r.Tool.Said(t.Stem) < declared.InSynonym && r.uses[i] != given
		}
	}
	return false
}

// second reports whether an "and" joins the i-th token to a value.
func second(r *Reading, i int) bool {
	i--
	if r.x.Is(r.Low(i), "place") {
		i--
	}
	return (r.Low(i) == "and" || r.Low(i) == "or") && i > 0 && (r.uses[i-1] == given || r.Target != nil && r.Target.Entity.end == i)
}

// begins reports whether a value may begin at a token: at any word that nothing explains.
func (r *Reading) begins(i int) bool {
	t := r.Tokens[i]
	if done := strings.HasSuffix(t.Low, "ed") || strings.HasSuffix(t.Low, "en"); done && !t.Capital && t.Kind == language.Word && r.x.Dated(r.Clause, i) { // "received in May" is no name
		return false
	}
	if t.Kind != language.Word || t.Owns || r.x.Is(t.Low, "self") || t.Capital && i != r.Order {
		return t.Kind != language.Number && t.Kind != language.Date && t.Kind != language.Mark
	}
	return (r.x.MayBeValue(t.Low) || strings.HasSuffix(t.Low, "ing") && r.isAnchor(i+1)) && (i != r.Order || r.beforeValue(i+2) != i) // "billing tickets", not "burn the books"
}

// beforeValue is the first token before the i-th that is no article.
func (r *Reading) beforeValue(i int) int {
	for i--; slices.Contains([]string{"the", "our", "a", "an"}, r.Low(i)); i-- {
	}
	return i
}

func (r *Reading) entity(i int) Entity {
	e := Entity{at: i, end: i, Column: r.columnBefore(i), Self: r.x.Is(r.Low(i), "self")}
	if who := r.c.Person; e.Self { // a list finds them by their name, and its rows have their address
		e.Text, e.Words, e.end = cmp.Or(who.Name, who.Email), []string{strings.ToLower(who.Email)}, i+1
		return e
	}
	for e.end < len(r.Tokens) && !e.owns {
		t := r.Tokens[e.end]
		titled := r.Tool.Writes() && r.Low(i-1) == "called" && r.Low(e.end) != "" && r.uses[e.end] <= read && !r.x.Is(t.Low, "place") // "called Test the pump"
		if goesOn := t.Kind == language.Code || t.Kind == language.Word && (t.Capital || !reader{r}.others(t.Stem) && !(r.Tool.Closed && r.c.opens(t.Stem))) && (t.Capital || r.x.MayBeValue(t.Low) || r.x.IsOurs(r.Tool.Head) && lexicon.Doers.MatchString(t.Low)); e.end > i && !titled && (r.uses[e.end] != unread || !goesOn) {
			break
		}
		e.Text = strings.TrimSpace(e.Text + " " + t.Text)
		e.owns, e.Code = t.Owns, e.Code || t.Kind == language.Code
		if e.end++; !t.Owns && r.lacksApostrophe(e.end-1) {
			e.Text, e.owns = e.Text[:len(e.Text)-1], true
		}
	}
	united := false
	if before, last, found := strings.Cut(e.Text, " "); found && r.x.Is(strings.ToLower(last), "unit") { // "Finance department"
		e.Text, united = before, true
	}
	if e.Words = english.Prose(e.Text); len(e.Words) == 0 { // "2026-13-45"
		e.Words = []string{strings.ToLower(e.Text)}
	}
	e.sort = r.Tokens[i].Sort
	before := r.beforeValue(i)
	for r.isAnchor(before) {
		before = r.beforeValue(before)
	}
	e.Located = united || r.x.Is(r.Low(before), "place")
	e.turned = before > 0 && r.Tool.Columns.Found(func(f *declared.Field) bool {
		return len(f.Words) == 2 && f.Words[1] == r.Low(before) && english.Stem(f.Words[0]) == r.Tokens[before-1].Stem
	}).Name != ""
	sure := r.x.Is(r.Low(r.beforeValue(i)), "place", "owner") || r.isAnchor(r.beforeValue(i)) || r.isAnchor(e.end) || r.Tool.Writes() && before == r.Order || r.Low(r.beforeValue(i)) == "on" && r.Has("spend", "spent", "pay", "paid")
	e.guess = !sure && !e.owns && r.Tokens[i].Kind == language.Word && (!r.Tokens[i].Capital || i == r.Order)
	e.owns = e.owns || r.Low(i-1) == "did" || r.Low(i-1) == "does" && r.Low(e.end) == "have"
	return e
}

// lacksApostrophe finds "sarahs" in "sarahs salary": a word of no tool, and one that asks for something.
func (r *Reading) lacksApostrophe(i int) bool {
	narrows := func(f *declared.Field) bool { return f.Says(r.Tokens[i+1].Stem) }
	return strings.HasSuffix(r.Low(i), "s") && r.Low(i+1) != "" && !r.Tokens[i].Capital && !r.c.Knows(r.Tokens[i].Stem) &&
		r.Tool.Said(r.Tokens[i+1].Stem) >= declared.InColumns && r.Tool.Inputs.First(narrows) == nil
}

// columnBefore finds assigned_to for "assigned to Ben", when no input is for it.
func (r *Reading) columnBefore(at int) string {
	stem, prep := english.Stem(r.Low(at-2)), r.Low(at-1)
	if prep != "to" && prep != "by" || r.Tokens[at].Sort != "" {
		return ""
	}
	return r.Tool.Columns.Found(func(f *declared.Field) bool {
		_, end := schema.SideOf(english.LastWord(f.Name))
		return (len(f.Words) == 1 || end == upper) && r.Tool.Inputs.Named(f.Name) == nil && english.Stems(f.Words[0]).Means(stem)
	}).Name
}

// mayFilter allows places, and one value that could be a name when no other thing is meant.
func (r *Reading) mayFilter(e Entity) bool {
	other := func(f Filter) bool {
		return f.Text != "" && !f.Located && !lexicon.Doers.MatchString(strings.ToLower(f.Text)) && !(f.Self && (r.Tokens[e.at].Capital || r.Low(r.beforeValue(e.at)) == "on"))
	}
	return r.Tool.Lists() && (r.Target == nil || e.Located || r.Tool.Relates(r.Target.Input) && !r.waits() && !e.owns && !r.Tokens[e.at-1].Owns) && !slices.ContainsFunc(r.Filters, other)
}

// ofOther reports whether a value is of another sort than the tool is about, by its form or, in an order, its name.
func (r *Reading) ofOther(e Entity) bool {
	if e.sort != "" {
		identified := r.Tool.Inputs.First(func(f *declared.Field) bool { return f.Is(schema.ID) && english.Stem(f.Noun) == e.sort }) != nil
		return !identified && (e.Text[0] <= '9' || !r.Tool.Names(e.sort))
	}
	behind := r.isAnchor(e.at-1) && !r.Tool.Writes()                                                                                                      // "the sales department"
	undone := r.Low(e.at-1) == "by" && strings.HasSuffix(r.Low(e.at-2), "ed") && !r.Tool.Writes() && !declared.Keeps(r.Tool, english.Stem(r.Low(e.at-2))) // who created it is not kept
	return undone || (r.Tool.Writes() || e.guess || behind || e.owns || english.Plural(r.Low(e.at))) && slices.ContainsFunc(r.Tokens[e.at:e.end], func(w language.Token) bool {
		known := func(t *declared.Tool) bool { return t.Names(w.Stem) || behind && t.Said(w.Stem) >= declared.InColumns }
		return w.Kind == language.Word && !w.Capital && slices.ContainsFunc(r.c.All(), known)
	})
}
