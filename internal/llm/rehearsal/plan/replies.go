package plan

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"countersign.dev/internal/llm/rehearsal/language"
	"countersign.dev/internal/llm/rehearsal/match"
	"countersign.dev/internal/llm/rehearsal/speak"
	"countersign.dev/internal/result"
)

// decline says what cannot be done, and the three likeliest questions to ask instead.
func decline(c *match.Catalog, tokens []language.Token) string {
	var likely []*match.Reading
	clause := match.NewClause(c.Words, tokens, "")
	for _, t := range c.All() {
		likely = append(likely, c.Attempt(t, clause))
	}
	slices.SortStableFunc(likely, func(a, b *match.Reading) int { return cmp.Compare(b.Score, a.Score) })
	if len(likely) > 0 && likely[0].Tool.Closed && (likely[0].Ordered() || likely[0].Strong && !likely[0].Tool.Writes()) {
		return refuse(c, likely[0].Tool, clause)
	}
	likely = slices.DeleteFunc(likely, func(r *match.Reading) bool { return r.Tool.Closed || r.Tool.Writes() })
	var offers []string
	for _, r := range likely[:min(3, len(likely))] {
		offers = append(offers, "“"+purpose(r.Tool)+"”")
	}
	if len(offers) == 0 {
		return "I can't do that here: there is nothing that you may use."
	}
	why := ""
	if unread := likely[0].Unread(); unread != "" {
		why = fmt.Sprintf(" because I do not understand %q", speak.Clean(unread))
	}
	return "I can't do that here" + why + "; you may ask me instead to " + result.Join(offers, "or") + "."
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

// purpose is a tool's first sentence without what it says in brackets.
func purpose(t *match.Tool) string {
	text, _, _ := strings.Cut(cmp.Or(t.Info.Description, strings.ReplaceAll(t.Info.Name, "_", " ")), ". ")
	return speak.Clean(strings.TrimSuffix(match.Plainly(text), "."))
}

// refuse names what is closed, the roles that it takes, and what one may ask about oneself.
func refuse(c *match.Catalog, t *match.Tool, clause match.Clause) string {
	text, roles := fmt.Sprintf("I'm sorry, “%s” is not open to you.", speak.Clean(language.Text(clause.Tokens))), t.Info.Roles
	shown := t.Column(speak.Column(c.Attempt(t, clause))).Roles
	if len(shown) > 0 {
		roles = shown // who may list people need not see their pay
	}
	if len(roles) > 0 {
		text += " It takes one of these roles: " + result.Join(roles, "or") + "."
	}
	if len(c.Person.Roles) > 0 {
		text += " Yours: " + result.Join(c.Person.Roles, "and") + "."
	}
	for _, own := range c.Open {
		key := speak.Column(c.Attempt(own, clause))
		if len(shown) > 0 && !own.Writes() && key != "" && own.First(func(f *match.Field) bool { return f.Is(match.ID) }) != nil {
			return text + " You can ask for your own " + speak.Label(own, key) + "."
		}
	}
	return text
}

// smallTalk answers what is no question to a tool.
func (p *planner) smallTalk() (string, bool) {
	tokens := p.Words.Read(p.said, p.Today)
	words := strings.Join(language.Lows(tokens), " ")
	says := func(section string) bool { return p.Words.Is(words, section) }
	switch {
	case words == "":
		return "Please ask a question. " + offer(p.Catalog), true
	case says("thanks"):
		return "You are welcome.", true
	case says("hello"), says("help"):
		return offer(p.Catalog), true
	case len(p.answers) > 0 && says("no"):
		return "All right. Nothing was changed.", true
	case p.waiting && (says("yes") || says("no")):
		return "Nothing is changed until you approve it, and only you can: on the card above, with its own buttons.", true
	case len(p.answers) > 0:
		return "", false
	}
	return p.nextPage(tokens, says("more"))
}

// nextPage goes on with the last list that was incomplete, with its filters, when
// the words say no more than that: "next page", "and the rest?", "get more employees".
func (p *planner) nextPage(tokens []language.Token, asked bool) (string, bool) {
	i := slices.IndexFunc(p.Open, func(t *match.Tool) bool { return p.page != nil && goesOn(p.page) && t.Info.Name == p.page.Tool })
	further, other := asked, false
	for _, t := range tokens {
		further = further || p.Words.Is(t.Low, "further")
		other = other || p.Words.Is(t.Low, "condition") || t.Kind == language.Word && !p.Words.Is(t.Low, "idle", "self", "reading", "further", "polite") && (i < 0 || !p.Open[i].Names(t.Stem))
	}
	switch {
	case !asked && (!further || other):
		return "", false
	case i < 0:
		return "There is no further page.", true
	}
	a := p.fetchPages(p.Open[i], following(p.page, p.page.Args), 1)
	return speak.List(p.Attempt(p.Open[i], match.Clause{Order: -1}), speak.Thing{}, a, p.shown), true
}

// instruct answers "how do I …?", which orders nothing, by a tool that keeps guides.
func (p *planner) instruct(tokens []language.Token) (string, bool) {
	clause := match.NewClause(p.Words, tokens, "")
	sought := language.Lows(clause.Tokens)
	n, last := p.Words.Phrase("howto", sought), len(sought)-1
	if last >= 0 && p.Words.Is(sought[last], "instructions") {
		n, sought = 0, sought[:last]
	} else if n == 0 {
		return "", false
	}
	words := slices.DeleteFunc(sought[n:], func(w string) bool { return p.Words.Is(w, "idle", "self", "vague") })
	query := strings.Join(words[:min(len(words), 6)], " ")
	for _, t := range p.All() {
		search := t.First(func(f *match.Field) bool { return f.Is(match.Search) })
		switch {
		case query == "" || search == nil || !t.Lists() || t.Mentions(p.Words.Stems("guide")) < 2:
			continue
		case t.Closed:
			return "Instructions are in the " + t.Noun + ". " + refuse(p.Catalog, t, clause), true
		}
		rows := p.fetchPages(t, map[string]any{search.Name: query}, 1).Rows
		if len(rows) == 0 || 2*counted(words, wordsIn(rows[0])) <= len(words) {
			return nearest(query, t, rows), true
		}
		return speak.Record(t, rows[0].Title(), rows[0]), true
	}
	return "", false
}

// nearest names what was found instead of instructions.
func nearest(query string, t *match.Tool, rows []speak.Row) string {
	var titles []string
	for _, one := range rows[:min(3, len(rows))] {
		titles = append(titles, "“"+one.Title()+"”")
	}
	if len(titles) == 0 {
		return fmt.Sprintf("I found nothing about %q in the %s.", query, t.Noun)
	}
	return fmt.Sprintf("I found nothing about just %q in the %s; the nearest is %s.", query, t.Noun, result.Join(titles, "or"))
}
