package plan

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"countersign.dev/internal/llm/rehearsal/language"
	"countersign.dev/internal/llm/rehearsal/match"
	"countersign.dev/internal/llm/rehearsal/speak"
)

// decline says in one sentence what cannot be done, and the three most likely
// things that the person may ask instead.
func decline(c *match.Catalog, tokens []language.Token) string {
	part, intent := match.ReadIntent(c.Words, tokens)
	scores, obstacle := map[*match.Tool]int{}, ""
	for _, t := range c.Open {
		r := c.Attempt(t, part, intent)
		if r == nil {
			continue
		}
		if scores[t] = r.Score; obstacle == "" && r.Obstacle() != "" {
			obstacle = fmt.Sprintf(": I cannot keep the %s to %q", t.Noun, speak.Clean(r.Obstacle()))
		}
	}
	likely := slices.Clone(c.Open)
	weight := func(t *match.Tool) int { // of two that are as likely, the one that only reads
		if t.Writes() {
			return 2 * scores[t]
		}
		return 2*scores[t] + 1
	}
	slices.SortStableFunc(likely, func(a, b *match.Tool) int { return cmp.Compare(weight(b), weight(a)) })
	var offers []string
	for _, t := range likely[:min(3, len(likely))] {
		offers = append(offers, "“"+strings.TrimSuffix(speak.Clean(firstSentence(t)), ".")+"”")
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
	var b strings.Builder
	b.WriteString("I can:\n")
	for _, t := range c.Open[:min(most, len(c.Open))] {
		b.WriteString("\n- " + speak.Clean(firstSentence(t)))
	}
	if more := len(c.Open) - most; more > 0 {
		fmt.Fprintf(&b, "\n- and %d other things.", more)
	}
	return b.String()
}

var bracketed = regexp.MustCompile(`\s*\([^()]*\)`)

// firstSentence is a tool's first sentence without what it says in brackets.
func firstSentence(t *match.Tool) string {
	text := t.Info.Description
	if i := strings.Index(text, ". "); i >= 0 {
		text = text[:i+1]
	}
	if text == "" {
		text = strings.Join(language.Identifier(t.Info.Name), " ")
	}
	return bracketed.ReplaceAllString(text, "")
}

// refuse says what is closed to this person, and to whom it is open.
func refuse(c *match.Catalog, t *match.Tool) string {
	text := "I'm sorry, that is not open to you"
	if len(t.Info.Roles) > 0 {
		text = "I'm sorry, you may not see or do that here. It takes one of these roles: " + speak.Join(t.Info.Roles, "or")
	}
	text += fmt.Sprintf(" (%q).", strings.TrimSuffix(speak.Clean(firstSentence(t)), "."))
	if len(c.Person.Roles) > 0 {
		text += fmt.Sprintf(" Yours: %s.", speak.Join(c.Person.Roles, "and"))
	}
	return text
}

// smallTalk answers what is no question to a tool.
func (p *planner) smallTalk(c conversation) (step, bool) {
	words := language.Lows(p.Words.Read(c.said, p.Today))
	says := func(section string) bool { return p.Words.Says(section, words...) }
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
	case len(c.answers) == 0 && (says("more") || p.asksMore(c, words)):
		return p.nextPage(c), true
	}
	return step{}, false
}

// asksMore reports "get more employees" after an incomplete list of employees.
func (p *planner) asksMore(c conversation, words []string) bool {
	i := slices.IndexFunc(p.Open, func(t *match.Tool) bool { return c.page != nil && t.Info.Name == c.page.Tool })
	if i < 0 {
		return false
	}
	more := false
	rest := slices.DeleteFunc(words, func(w string) bool {
		more = more || p.Words.Is(w, "further")
		return p.Words.Is(w, "idle", "self", "reading", "further") || p.Open[i].Names(language.Stem(w)) || w == "page"
	})
	return more && len(rest) == 0
}

// nextPage goes on with the last list that was incomplete, with its filters.
func (p *planner) nextPage(c conversation) step {
	for _, t := range p.Open {
		if c.page == nil || t.Info.Name != c.page.Tool || t.Writes() {
			continue
		}
		args := maps.Clone(c.page.Args)
		args["cursor"] = c.page.Next
		a, ok := p.fetch(t, args)
		if !ok {
			return wait
		}
		r := p.Attempt(t, nil, match.Intent{Order: -1})
		return say(speak.List(r, speak.Thing{}, nil, speak.Listing{Rows: a.Rows(), Last: a, More: a.More}))
	}
	return say("There is no further page.")
}

// mostWords bounds how many words of a question are tried one by one.
const mostWords = 6

// instruct answers a question for instructions ("how do I …?"): it orders
// nothing and asks for no rows. It is looked up where a tool says that it keeps
// instructions.
func (p *planner) instruct(tokens []language.Token) (step, bool) {
	words := soughtWords(p.Catalog, tokens)
	if len(words) == 0 {
		return step{}, false
	}
	for _, t := range p.All() {
		search := t.First(func(f *match.Field) bool { return f.Is(match.Search) })
		if search == nil || !t.Lists() || t.Mentions(p.Words.Stems("guide")) < 2 {
			continue
		}
		if t.Closed {
			return say(refuse(p.Catalog, t)), true
		}
		return p.lookUp(t, search.Name, words), true
	}
	return step{}, false
}

// soughtWords are the words of a how-to question that say what it is about.
func soughtWords(c *match.Catalog, tokens []language.Token) (words []string) {
	part, _ := match.ReadIntent(c.Words, tokens)
	low := language.Lows(part)
	n := c.Words.Phrase("howto", low)
	if last := len(low) - 1; last >= 0 && c.Words.Is(low[last], "instructions") {
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

// lookUp searches for a text with all the words, or else with more than half.
func (p *planner) lookUp(t *match.Tool, search string, words []string) step {
	a, ok := p.fetch(t, map[string]any{search: strings.Join(words, " ")})
	switch {
	case !ok:
		return wait
	case a.Failed:
		return say(speak.Failure(a))
	}
	rows, least, inside := a.Rows(), 0, (speak.Row).Name
	if len(rows) == 0 { // then with each word alone: the text that most of them lead to
		least, inside = len(words)/2+1, allText
		complete := true
		for _, w := range words {
			a, ok := p.fetch(t, map[string]any{search: w})
			if complete = complete && ok; ok {
				rows = append(rows, a.Rows()...)
			}
		}
		if !complete {
			return wait
		}
	}
	weight := func(r speak.Row) int { return counted(words, language.Prose(inside(r))) }
	slices.SortStableFunc(rows, func(a, b speak.Row) int { return cmp.Compare(weight(b), weight(a)) })
	if len(rows) == 0 || weight(rows[0]) < least {
		return say(fmt.Sprintf("I found nothing about %q in the %s.", strings.Join(words, " "), t.Noun))
	}
	if least > 0 {
		rows = rows[:1]
	}
	return say(speak.Article(rows))
}

func allText(r speak.Row) (all string) {
	for _, k := range r.Keys {
		all += r.Text(k) + " "
	}
	return all
}
