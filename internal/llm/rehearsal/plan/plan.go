package plan

import (
	"cmp"
	"slices"
	"strings"

	"countersign.dev/internal/calendar"
	"countersign.dev/internal/english"
	"countersign.dev/internal/language"
	"countersign.dev/internal/language/lexicon"
	"countersign.dev/internal/llm/rehearsal/match"
	"countersign.dev/internal/llm/rehearsal/speak"
	"countersign.dev/internal/schema"
	"countersign.dev/internal/schema/declared"
)

// answer plans a whole question, which may be several.
func (p *planner) answer(question string) string {
	question = lexicon.Usual(question)
	if p.single && p.subject != "" {
		question = lexicon.Inside.ReplaceAllString(question, "show it")
	}
	if of := lexicon.Pays.FindStringSubmatch(question); of != nil {
		if c := p.choose(language.Read(question, p.Today), ""); len(c) > 0 && c[0].Tool.Closed {
			question = "what does " + of[1] + " earn"
		}
	}
	return p.reply(language.Read(question, p.Today))
}

// reply answers each of several questions, or else one: as one, or as parts that each stand alone.
func (p *planner) reply(words []language.Token) string {
	if text := joined(p, words); text != "" {
		return text
	}
	tokens := p.tokens(words)
	var more []language.Token // behind "and" or "what about"
	if n := p.Words.Phrase("follow", language.Lows(tokens)); n > 0 {
		more = language.After(tokens, n)
	}
	one := len(language.Lows(more)) == 1 && !p.Joint().Noun(more[0]) // "and sales?"
	if before := p.before; before != "" && (one || p.Words.Others(tokens) || p.Words.Another(before, language.Lows(more)) != "") {
		if e := run(func() string { return p.goOn(tokens, language.Text(more[:min(2, len(more))])) }); !e.none || !one && !more[0].Capital {
			return e.orWait()
		}
		p.before = before
	}
	const sentences, parts = " ? . ; ! ", " ? . ; ! and then also plus , "
	for i, separators := range []string{sentences, parts, parts, ""} {
		p.guesses = i >= 2
		if plans := p.parts(tokens, separators); len(plans) > 0 {
			if first := plans[0][0]; (!first.Tool.Writes() || first.Tool.Closed && !first.Strong) && !first.Topic && lacking(p.Catalog, tokens) != "" {
				return decline(p.Catalog, tokens)
			}
			if slices.ContainsFunc(plans, func(c choice) bool {
				return c[0].Tool.Closed && len(slices.DeleteFunc(language.Lows(c[0].Tokens), func(w string) bool { return p.Words.Is(w, "idle") })) == 1 || !c[0].Strong && (len(c[0].Tokens) == 1 || !c[0].OpensAnew(p.Words)) || len(plans) > 1 && c[0].Verb == "compare"
			}) {
				if text := both(p, tokens); text != "" {
					return text
				}
				if closed := plans[0][0].Tool.Closed; closed && len(more) > 0 && p.before != "" { // "and sales?"
					return p.goOn(tokens, language.Text(more))
				}
			}
			return all(len(plans), func(i int) string { return p.perform(plans[i]) })
		}
	}
	if text := both(p, tokens); text != "" {
		return text
	}
	if len(more) > 0 && p.before != "" {
		return p.goOn(tokens, language.Text(more))
	}
	places, asked := declared.Everywhere(p.Words, p.Open, p.Knows, tokens, p.Today)
	if asked {
		return all(len(places), func(i int) string { return p.reply(places[i]) })
	}
	found := slices.DeleteFunc(places, func(one []language.Token) bool {
		e := run(func() string { return p.reply(one) })
		return e.none || e.fails || !e.waits && (strings.HasPrefix(e.text, "I found no ") || lexicon.Asks(e.text))
	})
	if text := each(p, found, false, p.reply); text != "" {
		return text
	}
	panic(end{none: true, vague: true, text: decline(p.Catalog, tokens)})
}

// joined answers each of the questions of one sentence: "show employees and deals of Acme". It is empty where that asks one.
func joined(p *planner, words []language.Token) string {
	if verb := p.Words.Clause(words, "").Verb; p.Words.Is(verb, "action") && !p.Words.Is(verb, "present", "reading") {
		return "" // an order has one remark
	}
	ways := p.Joint().Split(words)
	if len(ways) > 0 && !refersTo(p, ways[0][0], ways[0][1]) {
		ways = ofRows(p, ways[0][0], language.Text(ways[0][1]))
	}
	for i, way := range ways {
		if text := each(p, way, i < len(ways)-1, p.reply); text != "" {
			return text
		}
	}
	for _, way := range ways { // one of them is not understood with the name that both have
		if len(p.reads) == 0 && p.Joint().Shares(way) {
			panic(end{none: true, vague: true, text: decline(p.Catalog, words)})
		}
	}
	return ""
}

// ofRows is how a sentence asks for something, and for something of its rows: "how many are late and what is their total?"
func ofRows(p *planner, left []language.Token, right string) (ways [][][]language.Token) {
	if !lexicon.Theirs.MatchString(right) && !lexicon.Them.MatchString(right) {
		return nil
	}
	q := &planner{Catalog: p.Catalog, ended: p.ended, thread: thread{before: language.Text(left)}}
	both := [][]language.Token{left, language.Read(q.onward(right), p.Today)}
	if strings.HasPrefix(language.Text(both[1]), q.before) { // with one field more
		both = both[1:]
	}
	return append(ways, both)
}

// refersTo reports whether a question has no pronoun, or one for what the question before it names, or its answer: "who is my manager and what is his email?"
func refersTo(p *planner, left, right []language.Token) bool {
	says := func(section string) bool {
		return slices.ContainsFunc(right, func(t language.Token) bool { return p.Words.Is(t.Low, section) })
	}
	if !says("pronoun") {
		return true
	}
	before, name := p.subject, language.Name(left)
	p.subject, p.guesses = cmp.Or(name, before, "Somebody"), false
	if len(p.choose(p.tokens(left), "")) > 0 && len(p.choose(p.tokens(right), "")) > 0 {
		if name != "" && !says("people") {
			return true
		}
		if p.subject = lexicon.Subject(run(func() string { return p.reply(left) }).orWait()); p.subject != "" {
			return true
		}
	}
	p.subject = before
	return false
}

// both answers for each of the values that "and" joins: "compare engineering and marketing budgets". It is empty where none has an answer.
func both(p *planner, tokens []language.Token) string {
	if p.Words.Is(p.Words.Clause(tokens, "").Verb, "action") {
		return ""
	}
	for _, way := range language.Each(tokens) {
		if text := each(p, way, false, p.reply); text != "" {
			return text
		}
	}
	return ""
}

// tokens are the words of a question with what was named before for a pronoun, and numbers of things as their ids.
func (p *planner) tokens(words []language.Token) []language.Token {
	tokens := slices.Clone(words)
	for i, t := range tokens {
		named, n, next := p.subject, calendar.Ordinal(t.Low)-map[string]int{"last": 1}[t.Low], append(slices.Clone(tokens[i+1:min(i+2, len(tokens))]), language.Token{Kind: language.Mark})[0]
		switch id, name := lexicon.Shown(p.listing, n); {
		case id+name != "" && next.Low == "one":
			if named = cmp.Or(id, name); id == "" && len(p.lists) > 0 {
				tokens[i+1] = language.Read(english.Singular(english.LastWord(latest(p).Rows)), p.Today)[0]
			}
		case ofMine(p, tokens, i):
			said := run(func() string { return p.answer("what is my " + next.Text) }).orWait()
			if named = lexicon.NameIn(said); named != "" {
				tokens[i+1] = language.Token{Kind: language.Mark}
				t = next
			}
		case strings.HasPrefix(t.Low, "the") && len(p.lists) > 0 && !p.single, !p.Words.Is(t.Low, "pronoun") && (t.Text != "it" || i == 0 || next.Kind != language.Mark && !slices.Contains([]string{"is", "was", "does", "did", "has"}, tokens[i-1].Low)):
			continue
		}
		if p.refers = p.refers || named != ""; named != "" { // an id, or a name
			tokens[i] = language.Token{Text: named, Kind: map[bool]language.Kind{true: language.Code, false: language.Quoted}[strings.Contains(named, "-") && !strings.Contains(named, " ")], Owns: t.Owns || p.Words.Is(t.Low, "possessive")}
		}
	}
	declared.Identify(p.All(), tokens)
	return tokens
}

// ofMine reports whether a question is about somebody or something of the asker's, the word behind the i-th: "my manager's email", "what does my boss earn?", "in my department".
func ofMine(p *planner, tokens []language.Token, i int) bool {
	if !p.Words.Is(tokens[i].Low, "self") || i+1 == len(tokens) {
		return false
	}
	next, words := tokens[i+1], language.Lows(tokens)
	superior := p.Words.Is(next.Low, "superior")
	ofPerson := func(t *declared.Tool) bool { return p.Words.Is(t.Noun, "person") && t.Columns.Named(next.Low) != nil }
	asks := func(w string) bool { return w != next.Low && !p.Words.Is(w, "idle", "self", "who") }
	orders := p.Words.Is(p.Words.Clause(tokens, "").Verb, "action") && !slices.Contains(words, "of")
	switch {
	case next.Owns && (p.Words.Stems["person"][next.Stem] || superior):
		return true
	case superior && slices.ContainsFunc(words, asks) && !orders:
		return true
	}
	return i > 0 && p.Words.Is(tokens[i-1].Low, "place") && slices.ContainsFunc(p.Open, ofPerson)
}

// goOn answers "and in Seattle?": the question before it with that value, or with it in the place of one.
func (p *planner) goOn(tokens []language.Token, more string) string {
	before := strings.TrimRight(p.before, " ?!.")
	p.before, p.guesses = "", true
	attempts, dated := []string{before + " in " + more}, func(t language.Token) bool { return t.Kind == language.Date }
	if slices.ContainsFunc(tokens, dated) { // another period takes the place of one
		attempts[0] = language.Text(slices.DeleteFunc(language.Read(before, p.Today), dated)) + " in " + more
	}
	if strings.HasSuffix(more, "'s") && strings.Contains(before, "my ") { // "what is my salary?", "and Ada's?"
		attempts = append(attempts, strings.Replace(before, "my ", more+" ", 1))
	}
	var likelier []string
	for _, c := range p.choose(p.tokens(language.Read(before, p.Today)), "") {
		if c.Tool.Writes() {
			break
		}
		for _, value := range slices.Concat(c.Values, c.Said()) {
			text, self := language.Text(c.Tokens), p.Words.Is(strings.ToLower(more), "self")
			if own := strings.NewReplacer(value+"'s", "my", "does "+value, "do I", value, "I").Replace(text); self && slices.Contains(c.Values, value) { // "what about mine?"
				likelier = append(likelier, own)
			}
			put := strings.Replace(text, value, strings.TrimSuffix(more, "'s"), 1)
			if attempts = append(attempts, put); c.Tool.Takes(value, more) || strings.Contains(text, " in "+value) && slices.ContainsFunc(tokens[:min(2, len(tokens))], func(t language.Token) bool { return p.Words.Is(t.Low, "place") }) { // another takes its place
				likelier = append(likelier, put)
			}
		}
	}
	if other := p.Words.Another(before, strings.Fields(more)); other != "" { // "vacation days of Ada", "and sick days?"
		likelier, attempts = []string{other}, nil
	}
	for _, question := range append(likelier, attempts...) {
		e := run(func() string { return p.answer(question) })
		head, _, _ := strings.Cut(strings.ToLower(e.text), "\n") // says by what it was narrowed
		added := question == before+" in "+more && !e.waits && (strings.HasPrefix(head, "i found no ") || !strings.Contains(head, strings.ToLower(more)))
		if !e.none && !(added && len(attempts) > 1) {
			p.meant = question
			return e.orWait()
		}
	}
	panic(end{none: true, text: decline(p.Catalog, tokens)})
}

// parts chooses for each part of a question; nothing when one is not explained, or goes on with an order, or when there are too many. A remark ("close it: the cable was loose") is one text for one input, never an order or a part.
func (p *planner) parts(tokens []language.Token, separators string) (plans []choice) {
	const most, longest = 6, 60 // parts, and words of an order before its remark
	start := 0
	for i, t := range append(tokens, language.Token{Text: ".", Low: "."}) {
		next := slices.Concat(tokens[min(i+1, len(tokens)):], []language.Token{{}})[0]
		names := t.Low == "into" && p.Knows(next.Stem) || t.Low == "with" && !slices.ContainsFunc(p.Open, func(t *declared.Tool) bool { return t.Writes() && t.Inputs.Named(next.Low).Is(schema.Prose) }) // "into three subtasks", "into subtasks A and B"
		if t.Rest != "" && !names && slices.Contains([]string{",", "as", "into", "to"}, t.Low) == (separators == "") && i-start <= longest {
			remark := english.Remark(t.Rest, map[bool]string{true: next.Text}[t.Low == "with"]) // "with resolution replaced the cable"
			prose := func(f *declared.Field) bool {
				return t.Low != "," && t.Low != "as" && t.Low != "to" || f.Required && (f.Is(schema.Prose) || t.Low == "to" && f.Is(schema.Title))
			}
			if c := p.choose(tokens[start:i], remark); len(c) > 0 && c[0].Tool.Writes() && c[0].Tool.Inputs.First(prose) != nil {
				return append(plans, c)
			}
		}
		if t.Kind == language.Quoted || !strings.Contains(separators, " "+t.Low+" ") {
			continue
		}
		part := tokens[start : i+map[bool]int{true: 1}[t.Text == "?"]]
		if start = i + 1; len(language.Lows(part)) == 0 {
			continue
		}
		c, n := p.choose(part, ""), len(plans)
		if len(c) == 0 || n == most || n > 0 && plans[n-1][0].Tool.Writes() && !c[0].OpensAnew(p.Words) {
			return nil
		}
		owned := n > 0 && (slices.ContainsFunc(plans[0][0].Tokens, func(t language.Token) bool { return t.Owns }) || strings.ToLower(strings.Join(plans[0][0].Values, "")) != strings.Join(plans[0][0].Values, ""))
		if r := c[0]; owned && !r.OpensAnew(p.Words) && r.Tool.Lists() && len(r.Said())+len(r.Filters) == 0 && r.Target == nil { // "Ada's budget and invoices"
			return nil
		}
		plans = append(plans, c)
	}
	return plans
}

// perform carries out the likeliest meaning of a part by whose values something is found.
func (p *planner) perform(c choice) string {
	switch {
	case c[0].Tool.Closed: // a reading of a person when there is one
		all := func(t language.Token) bool {
			return p.Words.Is(t.Low, "bulk") && p.Words.Is(t.Low, "person") || t.Low == "who" && c[0].Tokens[0].Low == "who" // everyone's
		}
		i := slices.IndexFunc(c, func(r *match.Reading) bool {
			return (r.MeansPerson(1) || r.MeansPerson(2)) && r.Score+4 > c[0].Score || slices.ContainsFunc(r.Tokens, all) && p.Words.Stems["person"][english.Stem(english.LastWord(r.Tool.Noun))]
		})
		return refuse(p.Catalog, cmp.Or(listed(p, c), c[max(0, i)]))
	case c[0].Tool.Writes():
		return p.order(c)
	case len(c) > 1 && p.rank(c[0]) == p.rank(c[1]) && !c[0].Strong && len(c[0].Values) == 0: // "what is open?"
		panic(end{none: true, text: decline(p.Catalog, c[0].Tokens)})
	}
	first, refused, personal := end{}, end{}, false
	for _, r := range c[:min(4, len(c))] {
		e := run(func() string { return p.carryOut(r) })
		if e.shut && !e.none && !e.waits && refused.text == "" { // it may be another sort of thing, which is open
			if refused = e; first.text != "" && (r.Score < c[0].Score || r.Target != nil && r.Target.Entity.Code) { // and likelier
				refused.text = ""
			}
			continue
		}
		if !e.none {
			return e.orWait()
		}
		if c[0].Target != nil && r.MeansPerson(2) && !personal { // whom a full name says
			first.text, personal = "", true
		}
		if first.text, first.shut = cmp.Or(first.text, e.text), first.shut || e.shut && first.text == ""; r.Target != nil && r.Target.Entity.Code && !strings.Contains(r.Target.Entity.Text, "@") {
			break // what looks like an id is found as one
		}
	}
	if refused.text != "" {
		return strings.TrimSpace(first.text + "\n\n" + refused.text)
	}
	known := func(text string) bool { return p.Knows(english.Stem(strings.ToLower(text))) } // it may be no value
	located := slices.ContainsFunc(c[0].Filters, func(f match.Filter) bool { return f.Located }) && c[0].Tool.Inputs.First(func(f *declared.Field) bool { return f.Is(schema.Text) && !f.Required }) != nil
	nowhere := !located && !c[0].Topic && slices.ContainsFunc(c[0].Filters, func(f match.Filter) bool { return f.Located }) // its rows have no such column
	asked := c[0].Tool.Column(speak.Column(c[0]))                                                                           // somebody's salary, whatever the name
	sees := func(role string) bool { return slices.Contains(p.Person.Roles, role) }
	somebody := len(asked.Roles) > 0 && !slices.ContainsFunc(asked.Roles, sees) && (c[0].MeansPerson(1) || c[0].MeansPerson(2))
	if first.none, first.vague = true, !somebody && (nowhere || c[0].Guesses() || slices.ContainsFunc(c[0].Values, known) && !located); first.vague && !first.shut {
		first.text = decline(p.Catalog, c[0].Tokens)
	} else if !first.shut {
		first.text += elsewhere(p, c[0])
	}
	panic(first)
}
