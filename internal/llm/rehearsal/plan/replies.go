package plan

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"countersign.dev/internal/llm/rehearsal/language"
	"countersign.dev/internal/llm/rehearsal/match"
	"countersign.dev/internal/llm/rehearsal/speak"
)

// decline says what cannot be done, and the three likeliest things to ask instead.
func decline(c *match.Catalog, tokens []language.Token) string {
	clause, obstacle := match.NewClause(c.Words, tokens, ""), ""
	weights := map[*match.Tool]int{}
	for _, t := range c.Open {
		r := c.Attempt(t, clause)
		if weights[t] = 2 * r.Score; !t.Writes() {
			weights[t]++ // of two that are as likely, the one that only reads
		}
		if obstacle == "" && r.Obstacle() != "" {
			obstacle = fmt.Sprintf(": I cannot keep the %s to %q", t.Noun, speak.Clean(r.Obstacle()))
		}
	}
	likely := slices.Clone(c.Open)
	slices.SortStableFunc(likely, func(a, b *match.Tool) int { return cmp.Compare(weights[b], weights[a]) })
	var offers []string
	for _, t := range likely[:min(3, len(likely))] {
		offers = append(offers, "“"+purpose(t)+"”")
	}
	if len(offers) == 0 {
		return "I can't do that here: there is nothing that you may use."
	}
	return "I can't do that here" + obstacle + "; you may ask me instead to " + speak.Join(offers, "or") + "."
}

// offer lists what the open tools say of themselves.
func offer(c *match.Catalog) string {
	const most = 12
	if len(c.Open) == 0 {
		return "There is nothing here that you may use."
	}
	text := "I can:\n"
	for _, t := range c.Open[:min(most, len(c.Open))] {
		text += "\n- " + purpose(t) + "."
	}
	return text
}

var bracketed = regexp.MustCompile(`\s*\([^()]*\)`)

// purpose is a tool's first sentence without what it says in brackets.
func purpose(t *match.Tool) string {
	text, _, _ := strings.Cut(cmp.Or(t.Info.Description, strings.ReplaceAll(t.Info.Name, "_", " ")), ". ")
	return speak.Clean(strings.TrimSuffix(bracketed.ReplaceAllString(text, ""), "."))
}

// refuse says what is closed to this person, and to whom it is open.
func refuse(c *match.Catalog, t *match.Tool) string {
	text := "I'm sorry, that is not open to you"
	if len(t.Info.Roles) > 0 {
		text = "I'm sorry, you may not see or do that here. It takes one of these roles: " + speak.Join(t.Info.Roles, "or")
	}
	text += fmt.Sprintf(" (%q).", purpose(t))
	if len(c.Person.Roles) > 0 {
		text += fmt.Sprintf(" Yours: %s.", speak.Join(c.Person.Roles, "and"))
	}
	return text
}

// smallTalk answers what is no question to a tool.
func (p *planner) smallTalk(c conversation) (step, bool) {
	words := language.Lows(p.Words.Read(c.said, p.Today))
	says := func(section string) bool { return p.Words.Is(strings.Join(words, " "), section) }
	switch {
	case len(words) == 0:
		return say("Please ask a question. " + offer(p.Catalog)), true
	case says("hello"):
		return say("Hello. " + offer(p.Catalog)), true
	case says("help"):
		return say(offer(p.Catalog)), true
	case len(c.answers) > 0 && says("no"):
		return say("All right. Nothing was changed."), true
	case c.waiting && says("yes"):
		return say("I cannot approve anything: only you can, on the card above, with its own buttons."), true
	case c.waiting && says("no"):
		return say("Nothing is changed until you approve it on the card above; you can deny it there."), true
	case len(c.answers) > 0:
		return step{}, false
	}
	return p.nextPage(c, words, says("more"))
}

// nextPage goes on with the last list that was incomplete, with its filters: for
// "next page", and for "get more employees" after a list of employees.
func (p *planner) nextPage(c conversation, words []string, asked bool) (step, bool) {
	i := slices.IndexFunc(p.Open, func(t *match.Tool) bool { return c.page != nil && t.Info.Name == c.page.Tool })
	if i < 0 {
		return say("There is no further page."), asked
	}
	t := p.Open[i]
	other := func(w string) bool {
		return !p.Words.Is(w, "idle", "self", "reading", "further") && !t.Names(language.Stem(w)) && w != "page"
	}
	further := func(w string) bool { return p.Words.Is(w, "further") }
	if !asked && (!slices.ContainsFunc(words, further) || slices.ContainsFunc(words, other)) {
		return step{}, false
	}
	a, ok := p.fetch(t, with(c.page.Args, "cursor", c.page.Next))
	if !ok {
		return wait, true
	}
	return say(speak.List(p.Attempt(t, match.Clause{Order: -1}), speak.Thing{}, nil, a)), true
}

// mostWords bounds how many words of a question are tried one by one.
const mostWords = 6

// instruct answers a question for instructions ("how do I …?"), which orders
// nothing, by a tool that says that it keeps them.
func (p *planner) instruct(tokens []language.Token) (step, bool) {
	words := soughtWords(p.Catalog, tokens)
	for _, t := range p.All() {
		search := t.First(func(f *match.Field) bool { return f.Is(match.Search) })
		switch {
		case len(words) == 0 || search == nil || !t.Lists() || t.Mentions(p.Words.Stems("guide")) < 2:
		case t.Closed:
			return say(refuse(p.Catalog, t)), true
		default:
			return p.lookUp(t, search.Name, words), true
		}
	}
	return step{}, false
}

// soughtWords are the words of a how-to question that say what it is about.
func soughtWords(c *match.Catalog, tokens []language.Token) (words []string) {
	low := language.Lows(match.NewClause(c.Words, tokens, "").Tokens)
	n, last := c.Words.Phrase("howto", low), len(low)-1
	if last >= 0 && c.Words.Is(low[last], "instructions") {
		low = low[:last]
	} else if n == 0 {
		return nil
	}
	for _, w := range low[n:] {
		if !c.Words.Is(w, "idle", "self") && !slices.Contains(words, w) {
			words = append(words, w)
		}
	}
	if strong := slices.DeleteFunc(slices.Clone(words), func(w string) bool { return c.Words.Is(w, "vague") }); len(strong) > 0 {
		words = strong
	}
	return words[:min(len(words), mostWords)]
}

// lookUp searches for each of the words, and shows the text that most of them
// lead to, if that is more than half of them.
func (p *planner) lookUp(t *match.Tool, search string, words []string) step {
	var rows []speak.Row
	complete := true
	for _, w := range words {
		a, ok := p.fetch(t, map[string]any{search: w})
		switch complete = complete && ok; {
		case ok && a.Failed:
			return say(speak.Failure(a))
		case ok:
			rows = append(rows, a.Rows...)
		}
	}
	weight := func(r speak.Row) int { return counted(words, wordsIn(r)) }
	slices.SortStableFunc(rows, func(a, b speak.Row) int { return cmp.Compare(weight(b), weight(a)) })
	switch {
	case !complete:
		return wait
	case len(rows) == 0 || 2*weight(rows[0]) <= len(words):
		return say(fmt.Sprintf("I found nothing about %q in the %s.", strings.Join(words, " "), t.Noun))
	}
	return say(speak.Article(t, rows[0]))
}
