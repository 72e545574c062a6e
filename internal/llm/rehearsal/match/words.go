package match

import (
	"cmp"
	"slices"
	"strings"

	"countersign.dev/internal/english"
	"countersign.dev/internal/language"
	"countersign.dev/internal/language/lexicon"
	"countersign.dev/internal/result"
	"countersign.dev/internal/schema"
	"countersign.dev/internal/schema/declared"
)

// Read reads a clause as the tool would; nil unless every word is explained.
func (c *Catalog) Read(t *declared.Tool, clause lexicon.Clause) *Reading {
	if r := c.sought(t, clause); r != nil {
		return r
	}
	commands := slices.ContainsFunc(c.All(), func(t *declared.Tool) bool { // which asks nothing
		return t.Writes() && t.Verb == clause.Verb || t.IsOrdered(c.Words, clause) && c.Words.Is(clause.Verb, "action") && !c.Words.Is(clause.Verb, "present", "reading")
	})
	if t.Writes() && !t.IsOrdered(c.Words, clause) || !t.Writes() && commands {
		return nil
	}
	r := c.Attempt(t, clause)
	presents := !t.Writes() && r.Target != nil && r.Target.Input.Required && c.Words.Is(r.Verb, "present")
	r.Vague = !r.anchored && !(r.Target != nil && r.Target.Entity.Self && r.Low(r.Target.Entity.at-1) == "about") // and so it only presents
	ofMany := t.Writes() && !english.Plural(t.Noun) && (r.Bulk || r.Target == nil && r.Plural)                    // one thing is changed at a time
	noun := !t.Writes() && r.Order >= 0 && r.Low(r.Order+1) != "of" && r.uses[r.Order] >= given && t.Columns.Named(r.Verb+"_"+r.Low(r.Order+1)) == nil && c.Words.Is(r.Verb, "action") && !c.Words.Is(r.Verb, "reading", "present")
	// of whom one's own record tells nothing
	others := clause.Bulk && clause.Any(func(s string) bool { return r.x.Stems["person"][s] }) || clause.Has("they", "them", "their", "he", "him", "his", "she", "her")
	if others && t.Own && r.Target == nil && !clause.Any(func(s string) bool { return r.x.Stems["self"][s] }) || !t.Lists() && t.Missing(r.Args).Is(schema.Search) && !r.OpensAnew(c.Words) || r.Negations > 0 || len(r.left(unread)) > 0 || r.waits() || ofMany || r.Vague && !presents || noun || t.Closed && !r.Strong && r.Has("who") && !r.x.IsOurs(t.Head) { // "email Ada" asks for no address, "email of Ada" does
		return nil
	}
	return r
}

func (c *Catalog) reading(t *declared.Tool, clause lexicon.Clause) *Reading {
	clause.Tokens = slices.Clone(clause.Tokens)
	return &Reading{Clause: clause, Tool: t, Args: map[string]any{}, Asked: english.Set{}, c: c, x: c.Words, uses: make([]use, len(clause.Tokens)), heads: make([]bool, len(clause.Tokens))}
}

// Attempt reads a clause as far as it goes: each step explains more of its words.
func (c *Catalog) Attempt(t *declared.Tool, clause lexicon.Clause) *Reading {
	r := reader{c.reading(t, clause)}
	if t.IsOrdered(c.Words, clause) {
		onlyIDs := t.Inputs.First(func(f *declared.Field) bool { return f.Required && !f.Is(schema.ID) }) == nil
		named := t.Inputs.First(func(f *declared.Field) bool { return f.Required && f.Also[english.Stem(r.Verb)] }) != nil // by the word for what it sets: "raise"
		r.uses[r.Order], r.Score, r.anchored = meant, declared.InNoun.Weight(), onlyIDs || named || t.Verb == r.Verb && !c.Words.Is(r.Verb, "vague")
	}
	r.choices()
	for i := range r.Tokens {
		if r.uses[i] == given && r.x.Is(r.Low(i), "self") && t.Lists() { // "did I close" is of one's own
			r.Filters = append(r.Filters, Filter{Entity: r.entity(i)})
		}
	}
	for _, explain := range []func(i int){r.topic, r.value, r.relation, r.measure, r.word, r.name} {
		for i := range r.Tokens {
			if r.uses[i] == unread {
				explain(i)
			}
		}
	}
	r.remark()
	r.judge()
	r.Asked[english.Stem("where")] = r.Has("where")
	r.topFirst()
	if f := t.Inputs.First(func(f *declared.Field) bool { return f.Is(schema.Number) && f.Has("year") && !r.taken(f) }); f != nil && t.Lists() && !slices.Contains([]string{"", "count", "newest", "oldest"}, r.Measure.Kind) {
		r.Args[f.Name], r.Assumed = c.Today.Year(), c.Today.Format("2006") // years are not added up
	}
	return r.Reading
}

// Answer is the value that a person's answer gives to an input, read like an order that only misses it; or nil.
func (r *Reading) Answer(f *declared.Field, text string) any {
	if f.IsText() && text != "" {
		return text
	}
	answer := r.x.Clause(language.Read(text, r.c.Today), "")
	answer.Verb, answer.Order = r.Verb, -1
	return r.c.Attempt(&declared.Tool{Info: result.ToolInfo{Kind: result.Write}, Inputs: []*declared.Field{f}}, answer).Args[f.Name]
}

// sought takes "how do I reset a password?" as the query of a tool that keeps guides, and "where do we seal cursors?" as that of one that finds where and how, if no other tool is about a word of it; else it is nil.
func (c *Catalog) sought(t *declared.Tool, clause lexicon.Clause) *Reading {
	words, x := language.Lows(clause.Tokens), c.Words
	text := strings.Join(words, " ")
	m, opening := append(lexicon.Deed.FindStringSubmatch(language.Text(clause.Tokens)), "", "", ""), lexicon.HowTo.FindString(text)
	measured := slices.ContainsFunc(words, func(w string) bool { return x.Is(w, lexicon.Measures...) }) // "the most helpful article"
	named := clause.Negations == 0 && len(words) > 0 && !measured && !x.Is(clause.Verb, "action") && x.Is(words[len(words)-1], "guide") && !slices.ContainsFunc(words, func(w string) bool { return x.Is(w, "topic") })
	guides := (opening != "" || named) && t.Lists() && t.Mentions(x.Stems["guide"]) > 1
	f := t.Inputs.First(func(f *declared.Field) bool { return f.Is(schema.Search) && (guides || f.Also[strings.ToLower(m[1])]) })
	other := slices.ContainsFunc(clause.Tokens, func(w language.Token) bool {
		known := func(t2 *declared.Tool) bool {
			return t2 != t && t2.Said(w.Stem) >= declared.InColumns && !x.Is(w.Low, "idle")
		}
		named := w.Capital && w.Text[1:] == w.Low[1:] && w.Low != clause.Verb
		return x.Is(w.Low, "pronoun") || !guides && (named || w.Owns || x.Is(w.Low, "self") || w.Low == "much" || w.Low == "many" || slices.ContainsFunc(c.All(), known))
	})
	words = slices.DeleteFunc(strings.Fields(text[len(opening):]), func(w string) bool { return x.Is(w, "idle", "self", "guide") || guides && x.Is(w, "vague") })
	if f == nil || other || len(words) == 0 || !guides && len(words) < 2 && m[2] == "" {
		return nil
	}
	r := c.reading(t, clause)
	words = words[:min(len(words), 6)]
	if r.Args[f.Name] = cmp.Or(m[2], strings.Join(words, " ")); guides {
		r.Guide = words
	}
	r.Strong, r.Vague, r.Score = guides, !guides, 5*declared.InNoun.Weight() // more than any guess at a name
	return r
}

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
		r.Filters, r.uses[e.at-2] = append(r.Filters, Filter{Entity: e}), meant
	case e.Self && r.Tool.Own && r.Target == nil:
	case r.Target == nil && id != nil && (!e.Self || (!r.Tool.Writes() || len(r.Args) > 0) && r.x.IsOurs(english.Stem(id.Noun))):
		r.Target = &Target{Tool: r.Tool, Input: id, Entity: e}
	case e.Self && (r.Tool.Writes() || r.Tool.Inputs.First(r.Tool.Relates) != nil || r.Tool.Inputs.First(func(f *declared.Field) bool { return f.Is(schema.ID) && f.Required }) != nil):
		return
	case e.Self && (!r.Tool.Lists() || slices.ContainsFunc(r.c.Open, teams)): // its figures are of the asker's rows, or it tells itself whose team's
	case text != nil && !e.Self:
		r.Args[text.Name] = e.Text
	case r.mayFilter(e):
		r.Filters = append(r.Filters, Filter{Entity: e, Whose: e.owns || r.Low(e.at-1) == "of" && !(r.x.IsOurs(r.Tool.Head) && r.isAnchor(e.at-2)), Named: (e.owns || r.Low(e.at-1) == "does" || r.Low(e.at-1) == "of" && r.Tokens[e.at].Kind == language.Quoted) && r.x.IsOurs(r.Tool.Head)}) // "what does Ada earn?" asks for none whose manager she is
	default:
		return
	}
	if second(r, e.at) && !r.Tool.Writes() && r.Target == nil { // "in Seattle or Austin", "in Sales and in IT" are two questions
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

// second reports whether an "and" joins the i-th token to a value.
func second(r *Reading, i int) bool {
	i--
	if r.x.Is(r.Low(i), "place") {
		i--
	}
	return (r.Low(i) == "and" || r.Low(i) == "or") && i > 0 && r.uses[i-1] == given
}

// begins reports whether a value may begin at a token: at any word that nothing explains.
func (r *Reading) begins(i int) bool {
	t := r.Tokens[i]
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
		if goesOn := t.Kind == language.Code || t.Kind == language.Word && (t.Capital || r.x.MayBeValue(t.Low) || r.x.IsOurs(r.Tool.Head) && lexicon.Doers.MatchString(t.Low)); e.end > i && !titled && (r.uses[e.end] != unread || !goesOn) {
			break
		}
		e.Text = strings.TrimSpace(e.Text + " " + t.Text)
		e.owns, e.Code = t.Owns, e.Code || t.Kind == language.Code
		if e.end++; !t.Owns && r.lacksApostrophe(e.end-1) {
			e.Text, e.owns = e.Text[:len(e.Text)-1], true
		}
	}
	if before, last, found := strings.Cut(e.Text, " "); found && r.x.Is(strings.ToLower(last), "unit") { // "Finance department"
		e.Text = before
	}
	if e.Words = english.Prose(e.Text); len(e.Words) == 0 { // "2026-13-45"
		e.Words = []string{strings.ToLower(e.Text)}
	}
	e.sort = r.Tokens[i].Sort
	before := r.beforeValue(i)
	for r.isAnchor(before) {
		before = r.beforeValue(before)
	}
	e.Located = r.x.Is(r.Low(before), "place")
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
	behind := r.isAnchor(e.at-1) && !r.Tool.Writes() // "the sales department"
	return (r.Tool.Writes() || e.guess || behind || e.owns || english.Plural(r.Low(e.at))) && slices.ContainsFunc(r.Tokens[e.at:e.end], func(w language.Token) bool {
		known := func(t *declared.Tool) bool { return t.Names(w.Stem) || behind && t.Said(w.Stem) >= declared.InColumns }
		return w.Kind == language.Word && !w.Capital && slices.ContainsFunc(r.c.All(), known)
	})
}

// Knows reports whether a stem is in the vocabulary of some tool.
func (c *Catalog) Knows(stem string) bool {
	return slices.ContainsFunc(c.All(), func(t *declared.Tool) bool { return t.Said(stem) > declared.Nowhere })
}

// word explains a word that the tool itself uses, or an idle one.
func (r reader) word(i int) {
	t := r.Tokens[i]
	if t.Kind != language.Word || t.Owns && i > 0 && r.Tokens[i-1].Owns {
		return
	}
	weight, anchor := r.weigh(t)
	undeclared := len(r.Tool.Columns) == 0 && r.x.Is(r.Low(i-1), lexicon.Measures...) // a column
	weight = max(weight, map[bool]int{true: declared.InMore.Weight()}[undeclared])
	topic := r.Low(i-1) == "about" && r.Low(i+1) == "" && weight < declared.InColumns.Weight()                                                                                                                                                                                                                                                                                               // which of no other tool's texts
	place := r.x.Is(r.Low(i-1), "place") && !t.Capital && !r.x.Is(t.Low, "idle") && !r.isAnchor(i+1) && (r.Tool.Said(t.Stem) == declared.InSynonym || r.Tool.Said(t.Stem) == declared.InAbout || r.Has("who") && r.Tool.Said(t.Stem) < declared.InNoun) || r.x.Is(r.Low(i-1), "place") && t.Capital && (!r.isAnchor(i) || t.Stem != t.Low && !english.Plural(t.Low) || r.Has("who", "many")) // "who works in Sales?", "in Personal"
	another := (t.Owns || english.Plural(t.Low) && !r.Tool.Lists()) && r.x.Is(r.Low(i-1), "self") && r.x.Stems["person"][t.Stem]                                                                                                                                                                                                                                                             // "my manager's email" is not mine
	switch {
	case r.Low(i-1) == "their" && r.Tool.Columns.First(func(f *declared.Field) bool { return f.Has(t.Low) }) != nil: // "with their managers"
		r.uses[i], r.Asked[t.Stem] = meant, true
	case english.Plural(t.Low) && r.x.Is(english.Singular(t.Low), "superior"): // are some of the rows, and a column of them
	case lexicon.Doers.MatchString(r.Low(i+1)) && !r.x.IsOurs(r.Tool.Head) && r.Tool.Said(r.Tokens[i+1].Stem) < declared.InColumns && (i == 0 || r.x.Is(r.Low(i-1), "idle", "bulk")): // "account executives" are people
	case r.Tool.Lists() && r.x.IsOurs(r.Tool.Head) && lexicon.Doers.MatchString(t.Low) && !r.x.Is(t.Low, "idle") && weight < declared.InColumns.Weight(): // "all engineers" are people
		r.Score, r.anchored, r.Strong = r.Score+declared.InSynonym.Weight(), true, true
	case topic, place, r.Low(i-1) == "and" && r.Low(i+1) == "" && r.x.Is(t.Low, "reading", "present"), another && r.Tool.Columns.Named(t.Low+"_"+r.Low(i+1)) == nil:
	case t.Low == "date" && r.Low(i-1) == "by" && !slices.Contains(language.Lows(r.Tokens[:i-1]), "by") && r.Measure.Kind == "sort" && r.Tool.DateColumn() != "":
		r.Measure.Kind, r.uses[i] = map[bool]string{true: "oldest", false: "newest"}[r.Has("ascending", "asc")], read
	case t.Low == "amount" && weight == 0 && r.Measure.Kind == "sort":
		r.uses[i] = read
	case weight > 0:
		r.uses[i], r.Asked[t.Stem] = meant, true
		r.Score, r.anchored = r.Score+weight, r.anchored || anchor
	case t.Low == "it" && (t.Text == "IT" || r.isAnchor(i+1)): // a department
	case slices.Contains([]string{"they", "them", "its", "their"}, t.Low) && !r.anchored: // of whom nothing was said before
	case t.Low == "as" && r.Low(i+1) == "a" && !r.Tool.Writes(): // "who has Ada as a manager?" turns the question round
		r.Negations++
	case r.x.Is(t.Low, "idle"), t.Owns && r.x.Is(t.Low, "bulk"), r.x.Is(t.Low, "compare") && r.Tool.Amount() != "":
		r.uses[i] = read
	}
}

// weigh says how much a word speaks for the tool, and whether it can be what the question is about.
func (r reader) weigh(w language.Token) (weight int, anchor bool) {
	t, s := r.Tool, w.Stem
	at := t.Said(s)
	people, outsiders := r.x.Stems["person"], r.x.Stems["outsider"]
	whose := t.Inputs.First(func(f *declared.Field) bool {
		return f.Is(schema.ID) && english.Stem(f.Noun) == s && (!f.Required || t.Writes()) || f.IsText() && english.Stem(f.Name) == s && t.Columns.Named(f.Name+"_id") != nil
	}) != nil
	switch {
	case strings.HasSuffix(strings.TrimSuffix(w.Low, "s"), "tant") && !r.x.IsOurs(t.Head): // accountants are no accounts
		return 0, false
	case at == declared.InNoun:
		return at.Weight(), true
	case r.x.Is(w.Low, "idle") && t.Columns.First(func(f *declared.Field) bool { return f.Name == w.Low || f.Also[s] && f.Is(schema.Number) }) == nil:
		return 0, false
	case whose: // "customers" asks for the rows that name them where no list is of them
		return declared.InMore.Weight(), t.Lists() && !r.others(s) && !r.x.IsOurs(s) && english.Plural(w.Low)
	case people[s] && at != declared.InSynonym && people[t.Head] && outsiders[t.Head] == outsiders[s]:
		return declared.InSynonym.Weight(), true
	case r.x.IsOurs(s) && at != declared.InSynonym && t.Inputs.First(func(f *declared.Field) bool { return f.Is(schema.ID) && r.x.IsOurs(english.Stem(f.Noun)) }) != nil:
		return declared.InMore.Weight(), false
	}
	for _, other := range english.Same(s) {
		at = max(at, min(declared.InSynonym, t.Said(other)))
	}
	return at.Weight(), at >= declared.InColumns
}

// judge prefers the tool whose kind fits: people for "who", one thing or many.
func (r reader) judge() {
	searched := func(f *declared.Field) bool {
		return f.Is(schema.Search) && f.Required && r.Args[f.Name] != nil && !r.anchored
	}
	of := func(w string) bool { return r.x.Is(w, "person", "holder") }
	asked := func(f *declared.Field) bool { return slices.ContainsFunc(f.Words, of) && r.Any(f.Says) } // approved_by for "who approved"
	tellsWho := r.Tool.Inputs.First(searched) == nil && (r.Tool.Mentions(r.x.Stems["person"]) > 0 || r.Measure.By != "" || len(r.Tool.Columns) == 0 || r.Tool.Columns.Found(asked).Name != "" || (r.Measure.Kind != "" || r.anchored && len(r.uses) > 1 && r.uses[1] == given) && r.Tool.Columns.Found(func(f *declared.Field) bool { return f.Is(schema.Title) && r.x.IsOurs(english.Stem(f.Words[0])) }).Name != "")
	for i := range r.Tokens {
		switch {
		case r.Tool.Writes(), !r.x.Is(r.Low(i), "who") && !(r.Low(i) == "which" && english.Plural(r.Low(i+1)) && r.Tokens[i+1].Capital && r.Low(i+2) == "are"): // "which Smiths are there?"
		case r.Tool.Own && r.Target == nil || !tellsWho: // of the asker only, of no person, or of texts with a word
			r.uses[i] = unread
		default:
			r.Score, r.anchored = r.Score+map[bool]int{true: 2, false: 1}[r.x.IsOurs(r.Tool.Head)], true
		}
	}
	r.Strong = r.Strong || r.Measure.By != ""
	for i, t := range r.Tokens {
		if r.uses[i] != unread && r.isAnchor(i) && (i != r.Order || !r.Tool.Writes()) {
			r.Strong, r.Plural = true, r.Plural || r.uses[i] == meant && !t.Owns && english.Plural(t.Low)
		}
	}
	many, required := r.Bulk || r.Plural, r.Target != nil && r.Target.Input.Required
	switch {
	case required && many && !r.Tool.Writes(), r.Target == nil && !r.Tool.Lists() && r.Tool.Missing(r.Args) != nil:
		r.Score -= 3
	case required, r.Tool.Lists() && r.Target == nil && (many || !slices.ContainsFunc(r.Filters, func(f Filter) bool { return f.Text != "" })):
		r.Score += 2
	}
}

// remark keeps the text behind a colon or "because" in the input for it. A tool without one is not meant.
func (r reader) remark() {
	texts := func(f *declared.Field) bool { return f.Is(schema.Prose, schema.Title) && f.Required && !r.taken(f) }
	notes := func(f *declared.Field) bool { return f.IsText() && !r.taken(f) && f.Has("reason", "comment", "note") }
	if f := cmp.Or(r.Tool.Inputs.First(texts), r.Tool.Inputs.First(notes)); f != nil && r.Remark != "" && r.Tool.Writes() {
		r.Args[f.Name] = r.Remark
		for _, f := range r.Tool.Inputs { // "because it is a duplicate"
			if i := slices.IndexFunc(f.Phrased, func(p result.Phrase) bool { return english.Affirms(r.Remark, p.Words) }); i >= 0 && f.Is(schema.Choice) && f.Type != "boolean" && !r.taken(f) {
				r.Args[f.Name] = f.Phrased[i].Values[0]
			}
		}
	} else {
		r.anchored = r.anchored && r.Remark == ""
	}
}
