// Package plan works out the calls that answer a question, and the answer. It keeps nothing: each request
// replays the question against the answers in the conversation, until a call is missing or the answer is there.
package plan

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"countersign.dev/internal/agent"
	"countersign.dev/internal/calendar"
	"countersign.dev/internal/english"
	"countersign.dev/internal/language"
	"countersign.dev/internal/llm/rehearsal/match"
	"countersign.dev/internal/llm/rehearsal/speak"
	"countersign.dev/internal/schema"
)

// Next returns the text and the calls that answer the last message. Changes wait until all else is known: one ends the turn.
func Next(c match.Catalog, messages []agent.Message) (text string, wanted []agent.Call) {
	p := &planner{Catalog: &c, named: map[string]int{}}
	p.read(messages)
	e := run(func() string {
		if text := p.smallTalk(); text != "" {
			return text
		}
		return p.answer(p.question)
	})
	if len(p.reads) > 0 {
		return "", p.reads
	}
	return e.text, p.writes
}

// Asking recognises the planner's own questions in the next turn.
var Asking = regexp.MustCompile(`(^|\n)(Which|What|Why) [^\n]*\?$`)

// What an answer names last ("Your manager is Ada Lovelace.", "Acme Pilot (Acme) is the highest: …") and in its lines, and words for what it lists.
var (
	pointing = regexp.MustCompile(`^(?:Your|.+'s) [a-z ]+ is ([A-Z][^.]+)\.$|^(?:([A-Z]+-\d+) )?([^:\n]*?)(?: \(.*\))? is the (?:highest|lowest|latest|earliest)|^([^\n]+?)'s [a-z ]+ (?:is|are):? [^A-Z]|^\*\*(?:([A-Z]+-\d[-\d]*)[^*]*|([^*\n]+))\*\*: |^([A-Z]+-\d[-\d]*): [a-z]`)
	naming   = regexp.MustCompile(`(?m)^- (?:([A-Z]+-\d[-\d]*)\b ?)?([^:\n]*?)(?: 20\d\d)?(?: \(|:|$)`)
	teams    = regexp.MustCompile(`(?i)^((?:(?:show|list|see|view|get|give|find) )?(?:me )?)(team(?:[^ \w]|$| [^o]| o[^f]))`)
	unsaid   = regexp.MustCompile(`\n- and \d+ more|^The \d+ [^\n]*:\n`)
)

// read finds the open question, of which an answer that is a question itself is none.
func (p *planner) read(messages []agent.Message) {
	first, last := agent.LastOf(agent.User, messages), agent.LastOf(agent.User, messages)
	p.answered = messages[max(0, last-1)].Text()
	counts := false // what is read to be counted is not shown
	for i, m := range messages[:last] {
		if m.Role == agent.User {
			counts = p.Words.Only("count", language.Lows(language.Read(m.Text(), p.Today)))
		}
		for _, res := range m.Results() {
			a := speak.NewAnswer(agent.CallOf(messages[max(0, i-1)], res), res)
			p.subject = cmp.Or(append(naming.FindStringSubmatch("- "+a.One().Title()), "", "")[1], a.One().Name(), p.subject)
			if _, list := a.Data.([]any); list && !counts && (len(a.Rows) != 1 || a.More) { // one was looked up, mostly
				p.lists, p.nouns = append(p.lists, a), slices.Insert(p.nouns, 0, p.Named(a.Tool).Rows)
			}
		}
	}
	pointed := append(pointing.FindStringSubmatch(p.answered), "", "", "", "", "", "", "", "")[1:8:8]
	if about := language.Read(messages[max(0, agent.LastOf(agent.User, messages[:last]))].Text(), p.Today); p.subject == "" || !slices.ContainsFunc(about, func(t language.Token) bool { return p.Words.Is(t.Low, "possessive", "pronoun") }) {
		p.subject = cmp.Or(append(pointed, p.subject)...) // of "who is his manager?" the next "his" is not the manager
	}
	p.single = cmp.Or(pointed...) != ""
	p.waiting = slices.ContainsFunc(answersIn(messages[max(0, last-2):last]), func(a *speak.Answer) bool { return a.Pending })
	for first > 1 && messages[first-1].Role == agent.Assistant && Asking.MatchString(messages[first-1].Text()) {
		answer := language.Read(messages[first].Text(), p.Today)
		if c := p.choose(answer, ""); len(c) > 0 && c[0].OpensAnew(p.Words) || p.Words.Is(match.NewClause(p.Words, answer, "").Verb, "present") {
			break
		}
		p.answers = append([]string{messages[first].Text()}, p.answers...)
		first = agent.LastOf(agent.User, messages[:first])
	}
	for i, m := range messages[:first] {
		said := language.Read(m.Text(), p.Today)
		said = slices.DeleteFunc(said, func(t language.Token) bool { return t.Kind == language.Number }) // "next 10"
		switch {
		case m.Role == agent.Assistant:
			listed := english.Listed(m.Text(), p.nouns)
			p.several = p.several || len(listed) > 1
			for noun, n := range listed {
				p.named[noun] += n
			}
		case m.Role == agent.User && p.before != "" && others(p.Words, said): // means the one before it about somebody else
			q := &planner{Catalog: p.Catalog, before: p.before, known: answersIn(messages[i:])}
			_ = run(func() string { return q.answer(m.Text()) })
			p.before, p.sorted, p.named, p.several = cmp.Or(q.meant, p.before), "", map[string]int{}, false
		case m.Role == agent.User && slices.ContainsFunc(p.lists, func(a *speak.Answer) bool { return further(p.Words, p.Named(a.Tool), said, p.before) }):
		case m.Role == agent.User && (p.before == "" || !measures(p.Words, language.Lows(said), "further", "more")):
			p.before, p.sorted, p.named, p.several = p.onward(m.Text()), "", map[string]int{}, false
		case m.Role == agent.User && p.Words.Phrase("sort", language.Lows(said)) > 0:
			p.sorted, p.named = m.Text(), map[string]int{}
		}
	}
	p.question, p.said, p.known = messages[first].Text(), messages[last].Text(), answersIn(messages[first:])
}

// answer plans a whole question: as one, or else as parts that each stand alone.
func (p *planner) answer(question string) string {
	tokens := p.tokens(question)
	n := p.Words.Phrase("follow", language.Lows(tokens))
	if before := p.before; before != "" && others(p.Words, tokens) {
		if e := run(func() string { return p.goOn(tokens, language.Text(tokens[n:n+1])) }); !e.none || !tokens[n].Capital {
			return e.orWait()
		}
		p.before = before
	}
	if m := joint.FindStringSubmatch(language.Text(tokens)); m != nil && p.Lists(m[2]) && p.Lists(m[3]) {
		if e := run(func() string { return all(2, func(i int) string { return p.answer(m[1] + m[2+i] + " " + m[4]) }) }); !e.none {
			return e.orWait()
		}
	}
	const sentences, parts = " ? . ; ! ", " ? . ; ! and then also plus , "
	for i, separators := range []string{sentences, parts, parts, ""} {
		p.guesses = i >= 2
		if plans := p.parts(tokens, separators); len(plans) > 0 {
			if !plans[0][0].Tool.Writes() && !plans[0][0].Topic && lacking(p.Catalog, tokens) != "" {
				return decline(p.Catalog, tokens)
			}
			if slices.ContainsFunc(plans, func(c choice) bool {
				return c[0].Tool.Closed && len(slices.DeleteFunc(language.Lows(c[0].Tokens), func(w string) bool { return p.Words.Is(w, "idle") })) == 1 || !c[0].Strong && (len(c[0].Tokens) == 1 || !c[0].OpensAnew(p.Words))
			}) {
				if text := p.both(tokens); text != "" {
					return text
				}
				if closed := plans[0][0].Tool.Closed; closed && n > 0 && p.before != "" { // "and sales?"
					return p.goOn(tokens, language.Text(tokens[n:]))
				}
			}
			return all(len(plans), func(i int) string { return p.perform(plans[i]) })
		}
	}
	if text := p.both(tokens); text != "" {
		return text
	}
	if n > 0 && p.before != "" {
		return p.goOn(tokens, language.Text(tokens[n:]))
	}
	if places := everywhere(p.Catalog, tokens); len(places) > 0 {
		return all(len(places), func(i int) string { return p.answer(places[i]) })
	}
	panic(end{none: true, text: decline(p.Catalog, tokens)})
}

// both answers for each of two values that one "and" joins: "compare engineering and marketing budgets". It is empty where one has no answer.
func (p *planner) both(tokens []language.Token) (text string) {
	is := func(t language.Token) bool { return t.Low == "and" || t.Low == "or" }
	k := slices.IndexFunc(tokens, is)
	if k < 1 || k > len(tokens)-2 || slices.ContainsFunc(tokens[k+1:], is) || p.Words.Is(match.NewClause(p.Words, tokens, "").Verb, "action") {
		return ""
	}
	for _, one := range [][]language.Token{slices.Concat(tokens[:k], tokens[k+2:]), slices.Concat(tokens[:k-1], tokens[k+1:])} {
		e := run(func() string { return p.answer(language.Text(one)) })
		if e.none {
			return ""
		}
		text += e.orWait() + "\n\n"
	}
	return strings.TrimSpace(text)
}

// tokens reads a question, with what was named before for a pronoun, and numbers of things as their ids.
func (p *planner) tokens(question string) []language.Token {
	tokens := language.Read(teams.ReplaceAllString(question, "${1}my $2"), p.Today)
	for i, t := range tokens {
		named, n, next := p.subject, calendar.Ordinal(t.Low), append(slices.Clone(tokens[i+1:min(i+2, len(tokens))]), language.Token{Kind: language.Mark})[0]
		ofPerson := func(t *match.Tool) bool { return p.Words.Is(t.Noun, "person") && t.Columns.Named(next.Low) != nil }
		asks := func(w string) bool { return w != next.Low && !p.Words.Is(w, "idle", "self", "who") }
		switch shown := naming.FindAllStringSubmatch(p.answered, n); {
		case n > 0 && n == len(shown) && next.Low == "one":
			if named = cmp.Or(shown[n-1][1], shown[n-1][2]); shown[n-1][1] == "" && len(p.lists) > 0 {
				tokens[i+1] = language.Read(english.Singular(english.LastWord(p.Named(p.lists[len(p.lists)-1].Tool).Rows)), p.Today)[0]
			}
		case p.Words.Is(t.Low, "self") && (next.Owns && p.Words.Stems["person"][next.Stem] || p.Words.Is(next.Low, "superior") && slices.ContainsFunc(language.Lows(tokens), asks) && (!p.Words.Is(match.NewClause(p.Words, tokens, "").Verb, "action") || slices.Contains(language.Lows(tokens), "of")) || i > 0 && p.Words.Is(tokens[i-1].Low, "place") && slices.ContainsFunc(p.Open, ofPerson)): // "my manager's email", "what does my boss earn?", "in my department"
			said := run(func() string { return p.answer("what is my " + next.Text) }).orWait()
			if named = append(pointing.FindStringSubmatch(said), "", "")[1]; named != "" {
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
	p.Identify(tokens)
	return tokens
}

// goOn answers "and in Seattle?": the question before it with that value, or with it in the place of one.
func (p *planner) goOn(tokens []language.Token, more string) string {
	before := strings.TrimRight(p.before, " ?!.")
	p.before, p.guesses = "", true
	attempts, dated := []string{before + " in " + more}, func(t language.Token) bool { return t.Kind == language.Date }
	if slices.ContainsFunc(tokens, dated) { // another period takes the place of one
		attempts[0] = language.Text(slices.DeleteFunc(language.Read(before, p.Today), dated)) + " in " + more
	}
	for _, c := range p.choose(p.tokens(before), "") {
		if c.Tool.Writes() {
			break
		}
		for _, value := range slices.Concat(c.Values, c.Said()) {
			text, self := language.Text(c.Tokens), p.Words.Is(strings.ToLower(more), "self")
			attempts = append(attempts, strings.Replace(text, value, strings.TrimSuffix(more, "'s"), 1))
			if own := strings.NewReplacer(value+"'s", "my", "does "+value, "do I", value, "I").Replace(text); self && slices.Contains(c.Values, value) { // "what about mine?"
				attempts = append([]string{own}, attempts...)
			}
		}
	}
	for _, question := range attempts {
		if e := run(func() string { return p.answer(question) }); !e.none {
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
		names := t.Low == "into" && p.Knows(next.Stem) || t.Low == "with" && !slices.ContainsFunc(p.Open, func(t *match.Tool) bool { return t.Writes() && t.Inputs.Named(next.Low).Is(schema.Prose) }) // "into three subtasks", "into subtasks A and B"
		if t.Rest != "" && !names && slices.Contains([]string{",", "as", "into", "to"}, t.Low) == (separators == "") && i-start <= longest {
			remark := english.Remark(t.Rest, map[bool]string{true: next.Text}[t.Low == "with"]) // "with resolution replaced the cable"
			prose := func(f *match.Field) bool {
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
		return refuse(p.Catalog, c[max(0, i)])
	case c[0].Tool.Writes():
		return p.order(c)
	case len(c) > 1 && p.rank(c[0]) == p.rank(c[1]) && !c[0].Strong && len(c[0].Values) == 0: // "what is open?"
		panic(end{none: true, text: decline(p.Catalog, c[0].Tokens)})
	}
	var first, refused end
	for _, r := range c[:min(4, len(c))] {
		e := run(func() string { return p.carryOut(r) })
		if e.shut && !e.none && !e.waits && refused.text == "" { // it may be another sort of thing, which is open
			refused = e
			continue
		}
		if !e.none {
			return e.orWait()
		}
		if first.text, first.shut = cmp.Or(first.text, e.text), first.shut || e.shut && first.text == ""; r.Target != nil && r.Target.Entity.Code && !strings.Contains(r.Target.Entity.Text, "@") {
			break // what looks like an id is found as one
		}
	}
	if refused.text != "" {
		return strings.TrimSpace(first.text + "\n\n" + refused.text)
	}
	known := func(text string) bool { return p.Knows(english.Stem(strings.ToLower(text))) } // it may be no value
	located := slices.ContainsFunc(c[0].Filters, func(f match.Filter) bool { return f.Located }) && c[0].Tool.Inputs.First(func(f *match.Field) bool { return f.Is(schema.Text) && !f.Required }) != nil
	nowhere := !located && !c[0].Topic && slices.ContainsFunc(c[0].Filters, func(f match.Filter) bool { return f.Located }) // its rows have no such column
	if first.none, first.vague = true, nowhere || c[0].Guesses() || slices.ContainsFunc(c[0].Values, known) && !located; first.vague && !first.shut {
		first.text = decline(p.Catalog, c[0].Tokens)
	}
	panic(first)
}

// order carries an order out. One that may mean things of several sorts ("delete Kestrel") is looked up in each, and the person has to say which if several have it. A full name is a person's if somebody has it.
func (p *planner) order(c choice) string {
	same := slices.DeleteFunc(slices.Clone(c), func(r *match.Reading) bool { return r.Score < c[0].Score || r.Strong || r.Target == nil })
	missing := func(r *match.Reading) bool { return run(func() string { return p.identify(r, r.Target).Name }).none }
	i := slices.IndexFunc(same, func(r *match.Reading) bool { return r.MeansPerson(2) })
	if i >= 0 && !missing(same[i]) {
		return p.carryOut(same[i])
	}
	found := slices.DeleteFunc(slices.Clone(same), missing)
	closed := slices.IndexFunc(p.Closed, func(t *match.Tool) bool {
		r := p.Read(t, c[0].Clause)
		return r != nil && (r.MeansPerson(1) || r.MeansPerson(2))
	})
	switch {
	case len(p.reads) > 0:
		panic(end{waits: true})
	case len(found) == 0 && len(same) > 0 && i < 0 && closed >= 0: // a person, whom this one may not change
		return refuse(p.Catalog, p.Read(p.Closed[closed], c[0].Clause))
	case len(found) > 1:
		return "That could be the " + found[0].Tool.Noun + " or the " + found[1].Tool.Noun + ". Please ask again and say which sort of thing you mean."
	}
	return p.carryOut(append(found, c[0])[0])
}

// nextPage goes on with the last list when the words say no more than that: "get more employees".
func (p *planner) nextPage(tokens []language.Token, asked bool) string {
	of, last, shown := &match.Tool{}, &speak.Answer{}, 0 // that no word names
	for _, a := range p.lists {
		if t := p.Named(a.Tool); t.Info.Name != "" && len(a.Rows) > 0 && (asked || further(p.Words, t, tokens, p.before)) {
			first := a.Args["cursor"] == nil && a.Args["offset"] == nil
			of, last, shown = t, a, len(a.Rows)+map[bool]int{false: shown}[first]
		}
	}
	goesOn := asked || further(p.Words, of, tokens, p.before)
	if i := slices.IndexFunc(tokens, func(t language.Token) bool { return t.Kind == language.Number }); goesOn && i >= 0 && tokens[max(0, i-1)].Low != "page" { // "20 more"
		p.few = int(min(50, tokens[i].Value))
	}
	switch input, value := last.Following(); {
	case !goesOn:
		return ""
	case of.Info.Name == "" && !asked && (slices.Contains(language.Lows(tokens), "who") || !p.Words.Only("further", language.Lows(tokens))): // "who else works in IT?"
		return ""
	case of.Info.Name == "":
		return "There is no list here that could go on: ask for one first."
	case (input == "" || p.several) && (unsaid.MatchString(p.answered) || strings.Contains(p.answered, `Say "next page"`) || p.named[of.Rows] < shown && strings.HasPrefix(p.answered, "There are ")): // the first of them were named
		if p.paging = true; p.lists[len(p.lists)-1].Tool != of.Info.Name { // another list came since
			p.sorted, p.before = "", "list "+of.Rows
		}
		rest := run(func() string { return p.answer(strings.TrimSpace(strings.Trim(p.sorted, " ?!.") + " " + p.before)) }).orWait()
		return cmp.Or(rest, "There is no further page: that was all of it.")
	case input == "":
		return "There is no further page: that was all of it."
	default:
		r := p.Attempt(of, match.NewClause(p.Words, p.tokens(p.before), "")) // what was asked for is named on each page
		r.Measure, r.Skip = match.Measure{}, 0
		if left := slices.ContainsFunc(tokens, func(t language.Token) bool { return t.Low == "rest" || t.Low == "others" }); of.Inputs.Named("limit") != nil && (p.few > 0 || left) {
			last.Args["limit"] = cmp.Or(p.few, 50)
		}
		return speak.List(r, speak.Thing{}, p.fetchPages(of, with(last.Args, input, value), 1), shown)
	}
}

// smallTalk answers what asks nothing of any tool; empty for anything else. A greeting is met with questions to ask.
func (p *planner) smallTalk() string {
	tokens := language.Read(p.said, p.Today)
	words := language.Lows(tokens)
	says := func(section string) bool { return p.Words.Only(section, words) }
	switch {
	case says("thanks") && (len(p.lists) == 0 || !slices.ContainsFunc(words, func(w string) bool { return p.Words.Is(w, "further") })):
		return "You are welcome."
	case len(words) == 0, says("hello"), says("help"):
		return map[bool]string{false: "Please ask a question; ", true: "I answer from this company's data what you may see, and pass on the changes that you ask for, for you to approve; "}[says("help")] + offer(p.Catalog, match.Clause{Order: -1})
	case len(p.answers) > 0 && says("no"):
		return "All right. Nothing was changed."
	case p.waiting && (says("yes") || says("no")):
		return "Nothing is changed until you approve it, and only you can: on the card above, with its own buttons."
	case len(p.answers) > 0:
		return ""
	}
	if asked := ofOne(p, words); asked != "" {
		if e := run(func() string { return p.answer(asked) }); !e.none {
			return e.orWait()
		}
	}
	if page := p.nextPage(tokens, says("more") || strings.Contains(p.answered, `Say "next page"`) && says("sure")); page != "" || len(p.lists) == 0 || p.onward(p.said) == p.said {
		return page
	}
	e := run(func() string { return p.answer(p.onward(p.said)) })
	return map[bool]string{false: e.orWait()}[e.none]
}
