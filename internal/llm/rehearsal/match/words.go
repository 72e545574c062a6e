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
	r.Vague = !r.anchored && !(r.Target != nil && r.Target.Entity.Self && r.Low(r.Target.Entity.at-1) == "about")                                                                                                                   // and so it only presents
	ofMany := t.Writes() && !english.Plural(t.Noun) && (r.Bulk || r.Target == nil && r.Plural)                                                                                                                                      // one thing is changed at a time
	noun := !t.Writes() && r.Order >= 0 && r.Low(r.Order+1) != "of" && r.uses[r.Order] >= given && t.Columns.Named(r.Verb+"_"+r.Low(r.Order+1)) == nil && c.Words.Is(r.Verb, "action") && !c.Words.Is(r.Verb, "reading", "present") // "email Ada" asks for no address, "email of Ada" does
	anyone := func(s string) bool { return r.x.Stems["person"][s] }
	self := func(s string) bool { return r.x.Stems["self"][s] }
	others := clause.Bulk && clause.Any(anyone) || clause.Has("they", "them", "their", "he", "him", "his", "she", "her")
	switch {
	case !t.Writes() && !t.Lists() && clause.Has("who", "which") && clause.Has("most", "fewest"), // of all, of which one tells nothing
		r.Negations > 0, len(r.left(unread)) > 0, r.waits(), ofMany, noun, r.Vague && !presents,
		t.Writes() && (reader{r}.ofAnother() || clause.Has("them", "those", "these")), // of which several were shown
		others && t.Own && r.Target == nil && !clause.Any(self),                       // of whom one's own record tells nothing
		!t.Lists() && t.Missing(r.Args).Is(schema.Search) && !r.OpensAnew(c.Words),
		t.Closed && !r.Strong && r.Has("who") && !r.x.IsOurs(t.Head):
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
		known := slices.ContainsFunc(r.Filters, func(f Filter) bool { return f.Self && f.at == i })
		if r.uses[i] == given && r.x.Is(r.Low(i), "self") && t.Lists() && !known { // "did I close" is of one's own
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

// word explains a word that the tool itself uses, or an idle one.
func (r reader) word(i int) {
	t := r.Tokens[i]
	if t.Kind != language.Word || t.Owns && i > 0 && r.Tokens[i-1].Owns {
		return
	}
	weight, anchor := r.weigh(t)
	undeclared := len(r.Tool.Columns) == 0 && r.x.Is(r.Low(i-1), lexicon.Measures...) // a column
	weight = max(weight, map[bool]int{true: declared.InMore.Weight()}[undeclared])
	topic := r.Low(i-1) == "about" && r.Low(i+1) == "" && weight < declared.InColumns.Weight()                                   // which of no other tool's texts
	another := (t.Owns || english.Plural(t.Low) && !r.Tool.Lists()) && r.x.Is(r.Low(i-1), "self") && r.x.Stems["person"][t.Stem] // "my manager's email" is not mine
	switch {
	case r.Low(i-1) == "their" && r.Tool.Columns.First(func(f *declared.Field) bool { return f.Has(t.Low) }) != nil: // "with their managers"
		r.uses[i], r.Asked[t.Stem] = meant, true
	case english.Plural(t.Low) && r.x.Is(english.Singular(t.Low), "superior"): // are some of the rows, and a column of them
	case weight > 0 && lexicon.Doers.MatchString(r.Low(i+1)) && !r.x.IsOurs(r.Tool.Head) && r.Tool.Said(r.Tokens[i+1].Stem) < declared.InColumns && (i == 0 || r.x.Is(r.Low(i-1), "idle", "bulk")): // "account executives" are people
	case r.Tool.Lists() && r.x.IsOurs(r.Tool.Head) && lexicon.Doers.MatchString(t.Low) && !r.x.Is(t.Low, "idle") && weight < declared.InColumns.Weight(): // "all engineers" are people
		r.Score, r.anchored, r.Strong = r.Score+declared.InSynonym.Weight(), true, true
	case t.Low == "one" && r.x.Is(r.Low(i-2)+" "+r.Low(i-1), "over", "under", "from", "upto"): // "more than one" is a number of something
	case topic, isLocated(r, i), r.Low(i-1) == "and" && r.Low(i+1) == "" && r.x.Is(t.Low, "reading", "present"), another && r.Tool.Columns.Named(t.Low+"_"+r.Low(i+1)) == nil:
	case t.Low == "date" && r.Low(i-1) == "by" && !slices.Contains(language.Lows(r.Tokens[:i-1]), "by") && r.Measure.Kind == "sort" && r.Tool.DateColumn() != "":
		r.Measure.Kind, r.uses[i] = map[bool]string{true: "oldest", false: "newest"}[r.Has("ascending", "asc")], read
	case t.Low == "amount" && weight == 0 && r.Measure.Kind == "sort":
		r.uses[i] = read
	case weight > 0:
		r.uses[i], r.Asked[t.Stem] = meant, true
		r.Score, r.anchored = r.Score+weight, r.anchored || anchor
	case t.Low == "open" && i == r.Order && r.Tool.Lists() && r.isAnchor(i+1) && english.Plural(r.Low(i+1)): // which no row of it is
	case t.Low == "it" && (t.Text == "IT" || r.isAnchor(i+1)): // a department
	case slices.Contains([]string{"they", "them", "its", "their"}, t.Low) && !r.anchored: // of whom nothing was said before
	case t.Low == "as" && (r.Low(i+1) == "a" || r.x.Is(r.Low(i+1), "superior")) && !r.Tool.Writes(): // "who has Ada as a manager?" turns the question round
		r.Negations++
	case r.x.Is(t.Low, "idle"), t.Owns && r.x.Is(t.Low, "bulk"), r.x.Is(t.Low, "compare") && r.Tool.Amount() != "":
		r.uses[i] = read
	}
}

// isLocated reports whether the i-th word is where something is, whatever else the tool means by it: "who works in Sales?", "in Personal".
func isLocated(r reader, i int) bool {
	t, said := r.Tokens[i], r.Tool.Said(r.Tokens[i].Stem)
	switch {
	case !r.x.Is(r.Low(i-1), "place"):
		return false
	case t.Capital:
		return !r.isAnchor(i) || t.Stem != t.Low && !english.Plural(t.Low) || r.Has("who", "many")
	case r.x.Is(t.Low, "idle"), r.isAnchor(i + 1):
		return false
	}
	return said == declared.InSynonym || said == declared.InAbout || r.Has("who") && said < declared.InNoun
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
	for i := range r.Tokens {
		switch {
		case r.Tool.Writes(), !r.x.Is(r.Low(i), "who") && !(r.Low(i) == "which" && english.Plural(r.Low(i+1)) && r.Tokens[i+1].Capital && r.Low(i+2) == "are"): // "which Smiths are there?"
		case r.Tool.Own && r.Target == nil || !tellsWho(r): // of the asker only, of no person, or of texts with a word
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

// tellsWho reports whether the tool answers who: it is about people, or its rows name them and are asked for by that name or by figures.
func tellsWho(r reader) bool {
	searched := func(f *declared.Field) bool {
		return f.Is(schema.Search) && f.Required && r.Args[f.Name] != nil && !r.anchored
	}
	of := func(w string) bool { return r.x.Is(w, "person", "holder") }
	asked := func(f *declared.Field) bool { return slices.ContainsFunc(f.Words, of) && r.Any(f.Says) } // approved_by for "who approved"
	ours := func(f *declared.Field) bool { return f.Is(schema.Title) && r.x.IsOurs(english.Stem(f.Words[0])) }
	behind := r.anchored && len(r.uses) > 1 && r.uses[1] == given
	switch {
	case r.Tool.Inputs.First(searched) != nil:
		return false
	case r.Tool.Mentions(r.x.Stems["person"]) > 0, r.Measure.By != "", len(r.Tool.Columns) == 0, r.Tool.Columns.First(asked) != nil:
		return true
	}
	return (r.Measure.Kind != "" || behind) && r.Tool.Columns.First(ours) != nil
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
