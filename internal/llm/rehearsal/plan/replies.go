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
	likely := ranked(c, clause)
	if len(likely) > 0 && likely[0].Tool.Closed && (likely[0].Tool.IsOrdered(c.Words, clause) || likely[0].Strong && !likely[0].Tool.Writes()) {
		return refuse(c, likely[0].Tool, clause)
	}
	invents := c.Words.Is(clause.Verb, "inventing")
	likely = slices.DeleteFunc(likely, func(r *match.Reading) bool {
		return r.Tool.Closed || r.Tool.Writes() && !(invents && r.Tool.IsOrdered(c.Words, clause))
	})
	if invents {
		why = " because I invent no texts: I only pass yours on"
	} else if len(likely) > 0 && likely[0].Unread() != "" {
		why = fmt.Sprintf(" because I do not understand %q", speak.Clean(likely[0].Unread()))
	}
	return "I can't do that here" + why + "; you may ask me instead: " + offer(likely)
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

// offer names the three likeliest questions; what a tool does where too few declare one.
func offer(likely []*match.Reading) string {
	const most = 3
	declared := slices.DeleteFunc(slices.Clone(likely), func(r *match.Reading) bool { return r.Tool.Ask == "" && !r.Tool.Writes() })
	if len(declared) >= most {
		likely = declared
	}
	var offers []string
	for _, r := range likely[:min(most, len(likely))] {
		offers = append(offers, "“"+speak.Clean(cmp.Or(r.Tool.Ask, r.Tool.Purpose()))+"”")
	}
	return cmp.Or(result.Join(offers, "or"), "nothing is open to you") + "."
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
	for _, own := range c.Open {
		key := speak.Column(c.Attempt(own, clause))
		if len(shown) > 0 && !own.Writes() && key != "" && own.Inputs.First(func(f *match.Field) bool { return f.Is(match.ID) }) != nil {
			return text + " You can ask for your own " + speak.Label(own, key) + "."
		}
	}
	return text
}

// smallTalk answers what asks nothing of any tool. A greeting is met with questions to ask.
func (p *planner) smallTalk() (string, bool) {
	tokens := p.Words.Read(p.said, p.Today)
	words := language.Lows(tokens)
	says := func(section string) bool { return p.Words.Only(section, words) }
	switch {
	case says("thanks"):
		return "You are welcome.", true
	case len(words) == 0, says("hello"), says("help"):
		open := match.Catalog{Words: p.Words, Open: slices.DeleteFunc(slices.Clone(p.Open), (*match.Tool).Writes)}
		return "Please ask a question. I can answer: " + offer(ranked(&open, match.Clause{Order: -1})), true
	case len(p.answers) > 0 && says("no"):
		return "All right. Nothing was changed.", true
	case p.waiting && (says("yes") || says("no")):
		return "Nothing is changed until you approve it, and only you can: on the card above, with its own buttons.", true
	case len(p.answers) > 0:
		return "", false
	}
	return p.nextPage(tokens, says("more"))
}
