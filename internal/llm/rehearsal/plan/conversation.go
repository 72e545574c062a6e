// Package plan works out the calls that answer a question, and the answer. It keeps nothing: each request
// replays the question against the answers in the conversation, until a call is missing or the answer is there.
package plan

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"countersign.dev/internal/agent"
	"countersign.dev/internal/english"
	"countersign.dev/internal/facts"
	"countersign.dev/internal/language"
	"countersign.dev/internal/language/lexicon"
	"countersign.dev/internal/llm/rehearsal/match"
	"countersign.dev/internal/llm/rehearsal/speak"
	"countersign.dev/internal/schema/declared"
)

// Next returns the text and the calls that answer the last message; nothing when the context ends before that. Changes wait until all else is known: one ends the turn.
func Next(ctx context.Context, c match.Catalog, messages []agent.Message) (text string, wanted []agent.Call) {
	defer func() {
		if early := recover(); early != nil && early != (stopped{}) {
			panic(early)
		}
	}()
	p := &planner{Catalog: &c, ended: ctx.Err, thread: thread{named: map[string]int{}}}
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

func answersIn(messages []agent.Message) (out []*speak.Answer) {
	for i, m := range messages {
		for _, res := range m.Results() {
			out = append(out, speak.NewAnswer(agent.CallOf(messages[max(0, i-1)], res), res))
		}
	}
	return out
}

// read finds the open question, of which an answer that is a question itself is none.
func (p *planner) read(messages []agent.Message) {
	first, last := agent.LastOf(agent.User, messages), agent.LastOf(agent.User, messages)
	p.waiting = slices.ContainsFunc(answersIn(messages[max(0, last-2):last]), func(a *speak.Answer) bool { return a.Pending })
	for first > 1 && messages[first-1].Role == agent.Assistant && lexicon.Asks(messages[first-1].Text()) && !opensAnew(p, messages[first].Text()) {
		p.answers = append([]string{messages[first].Text()}, p.answers...)
		first = agent.LastOf(agent.User, messages[:first])
	}
	p.answered = messages[max(0, first-1)].Text() // "close the second one" is of what was shown before that, whatever was asked since
	pages := shown(p, messages[:first])
	p.single = lexicon.Subject(p.answered) != ""
	for i, m := range messages[:first] {
		said := slices.DeleteFunc(language.Read(m.Text(), p.Today), func(t language.Token) bool { return t.Kind == language.Number }) // "next 10"
		switch {
		case m.Role == agent.Assistant:
			listed, lists := english.Listed(m.Text(), p.nouns)
			p.listing = cmp.Or(map[bool]string{true: m.Text()}[lists > 0], p.listing)
			if lists > 0 && p.fresh != "" {
				p.fresh, p.asked, p.named, p.several = "", p.fresh, map[string]int{}, false
			}
			p.several = p.several || lists > 1
			for noun, n := range listed {
				p.named[noun] += n
			}
			if a := pages[max(0, i-1)]; a != nil && lists > 0 && a.Page.Before > 0 { // its table has all, and the pages before it had the others
				p.named[p.Named(a.Tool).Rows] = a.Page.Before + len(a.Rows)
			}
		case m.Role == agent.User && p.Words.Only("which", language.Lows(said)) && !lexicon.Keeps(m.Text()) && p.before != "":
		case m.Role == agent.User && p.Words.Only("back", language.Lows(said)):
			p.named = map[string]int{}
		case m.Role == agent.User && p.before != "" && p.Words.Only("more", language.Lows(said)):
		case m.Role == agent.User && p.before != "" && slices.ContainsFunc(p.lists, func(a *speak.Answer) bool { return p.Named(a.Tool).Goes(p.Words, said, p.before) }):
		case m.Role == agent.User && follows(p, said, upToNext(messages[i:])):
		case m.Role == agent.User && (p.before == "" || lexicon.Keeps(m.Text()) || instead(p, cmp.Or(p.basis, p.before), strings.Join(lexicon.Narrowed(language.Lows(said)), " ")) != "" || !p.Words.Measured(language.Lows(said), "further", "more")):
			whole, basis := p.onward(m.Text()), cmp.Or(p.basis, p.before)
			narrowing := func(q string) int {
				return len(append(p.choose(language.Read(q, p.Today), ""), &match.Reading{})[0].Said())
			}
			p.wide = map[bool]string{true: cmp.Or(p.wide, basis)}[lexicon.CountsSome(m.Text()) != ""]
			if basis == "" || narrowing(whole) > narrowing(basis) || !lexicon.AsksOfThem(m.Text(), strings.Trim(whole, " ?!."), strings.Trim(basis, " ?!.")) {
				basis = whole
			}
			p.fresh, p.before, p.basis, p.sorted = whole, whole, basis, ""
		case m.Role == agent.User && (p.Words.Phrase("sort", language.Lows(said)) > 0 || slices.ContainsFunc(language.Lows(said), func(w string) bool { return p.Words.Is(w, "highest", "lowest", "newest", "oldest") })):
			p.sorted = strings.Trim(m.Text(), " ?!.")
			p.fresh = p.sorted + " " + p.before
		case m.Role == agent.User: // its total names the same rows again
			p.fresh = strings.TrimSpace(p.sorted + " " + p.before)
		}
	}
	p.question, p.said, p.known = lexicon.Usual(messages[first].Text()), lexicon.Usual(messages[last].Text()), answersIn(messages[first:])
}

// opensAnew reports whether an answer to a question of ours is another question or order.
func opensAnew(p *planner, answer string) bool {
	tokens := language.Read(answer, p.Today)
	declared.Identify(p.All(), tokens)
	clause, plans := p.Words.Clause(tokens, ""), p.parts(tokens, " ? . ; ! ")
	return clause.Asks || p.Words.Is(clause.Verb, "present") || len(plans) > 0 && plans[0][0].OpensAnew(p.Words)
}

// follows reports whether a question goes on with the one before it ("and next week?", "and Ada's?"), and keeps the whole question that it means.
func follows(p *planner, words []language.Token, turn []agent.Message) bool {
	if lexicon.Keeps(turn[0].Text()) || p.wide != "" && lexicon.CountsSome(turn[0].Text()) != "" || p.before == "" || p.Words.Phrase("follow", language.Lows(words)) == 0 || p.Words.Phrase("narrow", language.Lows(words)) > 0 {
		return false
	}
	q := &planner{Catalog: p.Catalog, ended: p.ended, thread: thread{before: p.before}, known: answersIn(turn)}
	_ = run(func() string { return q.answer(turn[0].Text()) })
	if q.meant != "" {
		p.before, p.basis, p.fresh, p.sorted = q.meant, q.meant, q.meant, ""
	}
	return q.meant != ""
}

// upToNext is a person's message with what was answered to it.
func upToNext(messages []agent.Message) []agent.Message {
	next := slices.IndexFunc(messages[1:], func(m agent.Message) bool { return m.Role == agent.User })
	if next < 0 {
		return messages
	}
	return messages[:next+1]
}

// shown keeps the lists in messages, and returns those that are a further page, by the message that has them. What is read to be counted is not shown.
func shown(p *planner, messages []agent.Message) (pages map[int]*speak.Answer) {
	counts, asked, begun := false, "", map[string]bool{}
	pages = map[int]*speak.Answer{}
	for i, m := range messages {
		if m.Role == agent.User {
			words := language.Lows(language.Read(m.Text(), p.Today))
			asked = m.Text()
			begun, counts = map[string]bool{}, len(p.lists) > 0 && slices.ContainsFunc(words, func(w string) bool { return p.Words.Is(w, "average") }) || p.Words.Only("count", slices.DeleteFunc(words, func(w string) bool { return p.Words.Is(w, "sum") }))
		}
		if m.Role == agent.Assistant {
			p.subject = p.Words.Meant(p.subject, asked, m.Text())
		}
		for _, res := range m.Results() {
			a := speak.NewAnswer(agent.CallOf(messages[max(0, i-1)], res), res)
			id, _ := lexicon.Shown("- "+facts.Title(a.One()), 1)
			p.subject = cmp.Or(id, facts.Name(a.One()), p.subject)
			later := a.Args["cursor"] != nil || a.Args["offset"] != nil
			if _, list := a.Data.([]any); list && !counts && (len(a.Rows) != 1 || a.More || later) { // one was looked up, mostly
				p.lists, p.nouns = append(p.lists, a), slices.Insert(p.nouns, 0, p.Named(a.Tool).Rows)
				if begun[a.Tool] = begun[a.Tool] || !later; !begun[a.Tool] {
					pages[i] = a
				}
			}
		}
	}
	return pages
}

// nextPage goes on with the last list when the words say no more than that: "get more employees".
func (p *planner) nextPage(tokens []language.Token, asked bool) string {
	of, last, shown := &declared.Tool{}, &speak.Answer{}, 0 // that no word names
	for _, a := range p.lists {
		if t := p.Named(a.Tool); t.Info.Name != "" && len(a.Rows) > 0 && (asked || t.Goes(p.Words, tokens, p.before)) {
			first := a.Args["cursor"] == nil && a.Args["offset"] == nil
			of, last, shown = t, a, len(a.Rows)+map[bool]int{false: shown}[first]
		}
	}
	goesOn := asked || of.Info.Name != "" || latest(p).Goes(p.Words, tokens, p.before)
	if i := slices.IndexFunc(tokens, func(t language.Token) bool { return t.Kind == language.Number }); goesOn && i >= 0 && tokens[max(0, i-1)].Low != "page" { // "20 more"
		p.few = int(max(0, min(50, tokens[i].Value)))
	}
	switch input, value := last.Following(); {
	case !goesOn:
		return ""
	case of.Info.Name == "" && !asked && (slices.Contains(language.Lows(tokens), "who") || !p.Words.Only("further", language.Lows(slices.DeleteFunc(slices.Clone(tokens), func(t language.Token) bool { return t.Kind == language.Number })))): // "who else works in IT?"
		return ""
	case of.Info.Name == "":
		return "There is no list here that could go on: ask for one first."
	case (input == "" || p.several) && (lexicon.Unsaid(p.answered) || p.named[of.Rows] < shown): // the first of them were named
		asked := strings.TrimSpace(p.sorted + " " + p.before)
		p.last = slices.Contains(language.Lows(tokens), "last")
		if p.paging = true; p.named[of.Rows] > 0 {
			asked = p.asked
		} else if latest(p) != of { // another list came since
			asked = "list " + of.Rows
		}
		for _, t := range tokens { // "more deals", of two lists
			asked = cmp.Or(language.Text(p.Joint().About(language.Read(asked, p.Today), t.Low)), asked)
		}
		rest := run(func() string { return p.answer(asked) }).orWait()
		return cmp.Or(rest, "There is no further page: that was all of it.")
	case input == "":
		return "There is no further page: that was all of it."
	default:
		r := p.Attempt(of, p.Words.Clause(p.tokens(language.Read(p.before, p.Today)), "")) // what was asked for is named on each page
		r.Measure, r.Skip, r.Few = match.Measure{}, 0, p.few
		if left := slices.ContainsFunc(tokens, func(t language.Token) bool { return t.Low == "rest" || t.Low == "others" }); of.Inputs.Named("limit") != nil && (p.few > 0 || left) {
			last.Args["limit"] = cmp.Or(p.few, 50)
		}
		return speak.List(r, declared.Thing{}, p.fetchPages(of, with(last.Args, input, value), 1), shown)
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
		return map[bool]string{false: "Please ask a question; ", true: "I answer from this company's data what you may see, and pass on the changes that you ask for, for you to approve; "}[says("help")] + offer(p.Catalog, p.Words.Clause(nil, ""))
	case len(p.answers) > 0 && says("no") && (len(words) < 4 || p.Words.Phrase("no", words) > 0): // "they have no money" is a reason
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
	more := p.Words.Only("more", language.Lows(slices.DeleteFunc(slices.Clone(tokens), func(t language.Token) bool { return t.Kind == language.Number })))
	anew := p.fresh != "" && p.fresh != p.asked && (more || says("further")) // what was counted was not listed
	if (anew || says("which") && !says("further")) && !lexicon.Keeps(p.said) && p.before != "" && lexicon.Counted(p.answered) {
		return run(func() string { return p.answer(lexicon.Counts.ReplaceAllString(p.before, "list ")) }).orWait()
	}
	if says("back") && len(p.lists) > 0 && p.before != "" {
		return run(func() string { return p.answer(cmp.Or(p.asked, p.before)) }).orWait()
	}
	if lexicon.NthPage.MatchString(p.said) && len(p.lists) > 0 {
		return "I read a list from its beginning, one page after the other: say \"next page\", or \"from the beginning\"."
	}
	if lexicon.Inside.MatchString(p.said) || lexicon.LastOne.MatchString(p.said) {
		return "" // of one, not more of them
	}
	if page := p.nextPage(tokens, more || lexicon.Unsaid(p.answered) && says("sure")); page != "" || len(p.lists) == 0 && !lexicon.Theirs.MatchString(p.said) || p.onward(p.said) == p.said {
		return page
	}
	asked := p.onward(p.said)
	p.refers = p.refers || p.Words.Measured(words) // of the same list
	e := run(func() string { return p.answer(asked) })
	narrowed := !e.vague && (p.Words.Phrase("narrow", words) > 0 || lexicon.Keeps(p.said)) || lexicon.Keeps(p.said) && lexicon.OfThem.MatchString(p.said) || words[0] == "by" || lacking(p.Catalog, language.Read(asked, p.Today)) != "" // to what nothing is
	return map[bool]string{false: e.orWait(), true: map[bool]string{true: e.text}[narrowed]}[e.none]
}
