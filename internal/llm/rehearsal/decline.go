package rehearsal

import (
	"fmt"
	"maps"
	"regexp"
	"strings"
)

// decline says honestly what cannot be done, and what can.
func (p *planner) decline(tokens []token) string {
	return "I can't do that here. " + p.obstacle(tokens) + p.offer()
}

// obstacle names what alone keeps a question from being answered by a list, or
// says nothing.
func (p *planner) obstacle(tokens []token) string {
	const fewest = 4
	part, m := p.en.listen(tokens)
	for _, f := range p.forms {
		if !f.lists() {
			continue
		}
		r := p.attempt(f, part, m)
		if r == nil || !r.strong() || r.target != nil {
			continue
		}
		left := r.leftover()
		if n := len(left); n > 0 && left[n-1]-left[0] < fewest {
			first := left[0]
			for first > 0 && r.uses[first-1] != meant {
				first--
			}
			return fmt.Sprintf("I cannot keep the %s to %q. ", f.noun, clean(textOf(part[first:left[n-1]+1])))
		}
	}
	return ""
}

// offer lists what the open tools say of themselves.
func (p *planner) offer() string {
	const most = 12
	if len(p.forms) == 0 {
		return "There is nothing here that you may use."
	}
	var b strings.Builder
	b.WriteString("I can:\n\n")
	for i, f := range p.forms {
		if i == most {
			fmt.Fprintf(&b, "- and %d other things.\n", len(p.forms)-most)
			break
		}
		b.WriteString("- " + clean(briefly(f)) + "\n")
	}
	return strings.TrimRight(b.String(), "\n")
}

func firstSentence(f *form) string {
	text := f.tool.Description
	if i := strings.Index(text, ". "); i >= 0 {
		text = text[:i+1]
	}
	if text == "" {
		text = strings.Join(identifierWords(f.tool.Name), " ")
	}
	return text
}

// refuse tells kindly what is closed to this person, and to whom it is open.
func (p *planner) refuse(f *form) string {
	text := "I'm sorry, that is not open to you"
	if len(f.tool.Roles) > 0 {
		text = fmt.Sprintf("I'm sorry, you may not see or do that here. It takes one of these roles: %s", joinOr(f.tool.Roles))
	}
	text += fmt.Sprintf(" (%q).", strings.TrimSuffix(clean(briefly(f)), "."))
	if len(p.person.Roles) > 0 {
		text += fmt.Sprintf(" Yours: %s.", joinAnd(p.person.Roles))
	}
	return text
}

var bracketed = regexp.MustCompile(`\s*\([^()]*\)`)

// briefly is a tool's first sentence without what it says in brackets.
func briefly(f *form) string { return bracketed.ReplaceAllString(firstSentence(f), "") }

// smallTalk answers what is no question to a tool.
func (p *planner) smallTalk(t talk) (outcome, bool) {
	words := lows(p.en.read(t.said, p.today))
	switch {
	case len(words) == 0:
		return say("Please ask a question. " + p.offer()), true
	case p.en.says("hello", words):
		return say("Hello. " + p.offer()), true
	case p.en.says("help", words):
		return say(p.offer()), true
	case len(t.answers) > 0 && p.en.says("no", words):
		return say("All right. Nothing was changed."), true
	case t.waiting && p.en.says("yes", words):
		return say("I cannot approve anything: only you can, on the card above, with its own buttons."), true
	case t.waiting && p.en.says("no", words):
		return say("Nothing is changed until you approve it on the card above; you can deny it there."), true
	case p.en.says("more", words) && len(t.answers) == 0:
		return p.nextPage(t), true
	}
	return outcome{}, false
}

// nextPage goes on with the last list that was incomplete, with its filters.
func (p *planner) nextPage(t talk) outcome {
	if t.page == nil {
		return say("There is no further page.")
	}
	for _, f := range p.forms {
		if f.tool.Name != t.page.tool || f.writes() {
			continue
		}
		args := maps.Clone(t.page.args)
		args["cursor"] = t.page.next
		rep, ok := p.fetch(f, args)
		if !ok {
			return wait
		}
		r := &reading{p: p, f: f, asked: set{}}
		return p.tellList(r, found{}, nil, listing{rows: rep.rows(), last: rep, first: rep, more: rep.more})
	}
	return say("There is no further page.")
}
