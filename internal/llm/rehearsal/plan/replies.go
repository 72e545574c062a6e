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

// decline says what cannot be done, and what to ask instead.
func decline(c *match.Catalog, tokens []language.Token) string {
	clause, why := match.NewClause(c.Words, tokens, ""), ""
	for i, r := range ranked(c, clause) {
		unread := speak.Clean(r.Unread())
		switch closed := r.Tool.Closed && (r.Tool.IsOrdered(c.Words, clause) || r.Strong && !r.Tool.Writes()); {
		case i == 0 && closed && len(c.Open) > 0: // to one for whom nothing is open, no role tells what is missing
			return refuse(c, r)
		case c.Words.Is(clause.Verb, "inventing"):
			why = " because I invent no texts: I only pass yours on"
		case why == "" && unread != "" && !r.Tool.Closed && !r.Tool.Writes():
			why = fmt.Sprintf(" because I do not understand %q", unread)
		}
	}
	return "I can't do that here" + why + "; you may ask me instead: " + offer(c, clause)
}

// ranked are the readings of a clause by all tools, the likeliest first.
func ranked(c *match.Catalog, clause match.Clause) (likely []*match.Reading) {
	for _, t := range c.All() {
		likely = append(likely, c.Attempt(t, clause))
	}
	slices.SortStableFunc(likely, func(a, b *match.Reading) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), strings.Compare(b.Tool.Ask, a.Tool.Ask))
	})
	return likely
}

// offer names the three likeliest questions that tools declare, before what others do.
func offer(c *match.Catalog, clause match.Clause) string {
	const most = 3
	var asks, others []string
	for _, r := range ranked(c, clause) {
		switch t := r.Tool; {
		case t.Closed, t.Writes():
		case t.Ask == "":
			others = append(others, "“"+speak.Clean(t.Purpose())+"”")
		default:
			asks = append(asks, "“"+speak.Clean(t.Ask)+"”")
		}
	}
	asks = append(asks, others...)
	return cmp.Or(result.Join(asks[:min(most, len(asks))], "or"), "nothing, because no tool is open to you") + "."
}

// refuse names what is closed, the roles that it takes, and what one may ask instead.
func refuse(c *match.Catalog, r *match.Reading) string {
	key := speak.Column(r)
	what, roles, instead := map[bool]string{true: "change of the "}[r.Tool.Writes()]+r.Tool.Noun, r.Tool.Info.Roles, "You may ask me instead: "+offer(c, r.Clause)
	if shown := r.Tool.Column(key); len(shown.Roles) > 0 { // who may list people need not see their pay
		what, roles = shown.Head(key), shown.Roles
		ofOne := func(t *match.Tool) bool { return t.Columns.Named(key) != nil && t.Inputs.First(t.Identified) != nil }
		if slices.ContainsFunc(c.Open, ofOne) {
			instead = "You can ask for your own " + what + "."
		}
	}
	asked := speak.Clean(language.Text(r.Tokens))
	return fmt.Sprintf("I'm sorry, “%s” is not open to you. For the %s it takes one of these roles: %s. %s", asked, what, result.Join(roles, "or"), instead)
}

// smallTalk answers what asks nothing of any tool; empty for anything else. A greeting is met with questions to ask.
func (p *planner) smallTalk() string {
	tokens := p.Words.Read(p.said, p.Today)
	words := language.Lows(tokens)
	says := func(section string) bool { return p.Words.Only(section, words) }
	switch {
	case says("thanks"):
		return "You are welcome."
	case len(words) == 0, says("hello"), says("help"):
		return "Please ask a question. I can answer: " + offer(p.Catalog, match.Clause{Order: -1})
	case len(p.answers) > 0 && says("no"):
		return "All right. Nothing was changed."
	case p.waiting && (says("yes") || says("no")):
		return "Nothing is changed until you approve it, and only you can: on the card above, with its own buttons."
	case len(p.answers) > 0:
		return ""
	}
	return p.nextPage(tokens, says("more") || p.offered && says("sure"))
}
