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
	slices.SortStableFunc(likely, func(a, b *match.Reading) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), strings.Compare(b.Tool.Ask, a.Tool.Ask))
	})
	if len(likely) > 0 && likely[0].Tool.Closed && (likely[0].Tool.IsOrdered(c.Words, clause) || likely[0].Strong && !likely[0].Tool.Writes()) {
		return refuse(c, likely[0].Tool, clause)
	}
	invents := c.Words.Is(clause.Verb, "inventing")
	likely = slices.DeleteFunc(likely, func(r *match.Reading) bool {
		return r.Tool.Closed || r.Tool.Writes() && !(invents && r.Tool.IsOrdered(c.Words, clause))
	})
	var offers []string
	for _, r := range likely[:min(3, len(likely))] {
		offers = append(offers, "“"+cmp.Or(r.Tool.Ask, purpose(r.Tool))+"”")
	}
	if len(offers) == 0 {
		return "I can't do that here. " + offer(c)
	}
	why := ""
	if unread := likely[0].Unread(); invents {
		why = " because I invent no texts: I only pass yours on"
	} else if unread != "" {
		why = fmt.Sprintf(" because I do not understand %q", speak.Clean(unread))
	}
	return "I can't do that here" + why + "; you may ask me instead: " + result.Join(offers, "or") + "."
}

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
	for _, own := range c.Open {
		key := speak.Column(c.Attempt(own, clause))
		if len(shown) > 0 && !own.Writes() && key != "" && own.Inputs.First(func(f *match.Field) bool { return f.Is(match.ID) }) != nil {
			return text + " You can ask for your own " + speak.Label(own, key) + "."
		}
	}
	return text
}

func (p *planner) smallTalk() (string, bool) {
	tokens := p.Words.Read(p.said, p.Today)
	words := strings.Join(language.Lows(tokens), " ")
	says := func(section string) bool { return p.Words.Is(words, section) }
	switch {
	case says("thanks"):
		return "You are welcome.", true
	case words == "":
		return "Please ask a question. " + offer(p.Catalog), true
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
