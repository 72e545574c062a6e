// Package plan works out the calls that answer a question, and the answer. It
// keeps nothing: each request replays the question against the answers that the
// conversation holds, until a call is missing or the answer is there.
package plan

import (
	"cmp"
	"slices"
	"strings"

	"countersign.dev/internal/agent"
	"countersign.dev/internal/llm/rehearsal/language"
	"countersign.dev/internal/llm/rehearsal/match"
	"countersign.dev/internal/llm/rehearsal/speak"
)

// planner works out one question against what is known so far.
type planner struct {
	*match.Catalog
	*calls
	answers []string // the person's answers to our questions, still to be used
	misfit  bool     // an answer did not answer
}

// next uses up the person's next answer.
func (p *planner) next() (answer string, given bool) {
	if len(p.answers) > 0 {
		answer, p.answers, given = p.answers[0], p.answers[1:], true
	}
	return answer, given
}

// state is how far a plan got.
type state uint8

const (
	declined state = iota // no tool is meant
	waiting               // calls are missing
	said                  // the text is the answer
	asking                // the person has to say more
	missed                // what was looked for was not found
	failed                // a lookup was refused: the text ends the plan
)

type step struct {
	state state
	text  string
}

func say(text string) step { return step{said, text} }

var (
	done = say("")
	wait = step{state: waiting}
)

// Next returns the text and the calls that answer the last message of a person.
func Next(c match.Catalog, messages []agent.Message) (text string, wanted []Call) {
	talk := read(messages)
	p := &planner{Catalog: &c, calls: &talk.since}
	s, done := p.smallTalk(talk)
	if !done && len(talk.answers) > 0 {
		q := &planner{Catalog: &c, calls: &talk.known, answers: talk.answers}
		again := q.answer(talk.question)
		if s = again; q.misfit { // then it may be a new question
			s = p.answer(talk.said)
		}
		if s.state == declined || !q.misfit {
			s, p = again, q
		}
	} else if !done {
		s = p.answer(talk.said)
	}
	if s.state != waiting {
		return s.text, nil
	}
	return s.text, p.wanted
}

// answer plans a whole question: as one, or else as parts that each stand alone.
func (p *planner) answer(question string) step {
	tokens := p.Words.Read(question, p.Today)
	if i := slices.IndexFunc(tokens, func(t language.Token) bool { return t.Rest != "" }); i > 0 {
		// "close it: the cable was loose": the remark is one text for one input, never read as part of the order
		if c := p.choose(tokens[:i], tokens[i].Rest); len(c) > 0 && !slices.ContainsFunc(c, func(r *match.Reading) bool { return !r.Tool.Writes() }) {
			return p.performAll([]choice{c})
		}
	}
	if s, ok := p.instruct(tokens); ok {
		return s
	}
	for _, separators := range []string{" ? . ; ! ", " ? . ; ! and then also plus , "} {
		if plans := p.chooseAll(split(tokens, separators)); len(plans) > 0 {
			return p.performAll(plans)
		}
	}
	return step{declined, decline(p.Catalog, tokens)}
}

// split cuts a question at separators; none of more than six parts is planned.
func split(tokens []language.Token, separators string) (parts [][]language.Token) {
	start := 0
	for i := 0; i <= len(tokens); i++ {
		if i < len(tokens) && (tokens[i].Kind == language.Quoted || !strings.Contains(separators, " "+tokens[i].Low+" ")) {
			continue
		}
		end := i
		if i < len(tokens) && tokens[i].Text == "?" {
			end++ // a part stays a question
		}
		if len(language.Lows(tokens[start:end])) > 0 {
			parts = append(parts, tokens[start:end])
		}
		start = i + 1
	}
	if len(parts) > 6 {
		return nil
	}
	return parts
}

// choice is what a part may mean, best first; all open to the person, or all closed.
type choice []*match.Reading

// chooseAll chooses for each part; nothing when a part is not explained, or has
// no verb and so goes on with the order before it.
func (p *planner) chooseAll(parts [][]language.Token) (plans []choice) {
	for i, part := range parts {
		c := p.choose(part, "")
		if len(c) == 0 || i > 0 && plans[i-1][0].Tool.Writes() && !match.NewClause(p.Words, part, "").OpensAnew(p.Words) {
			return nil
		}
		plans = append(plans, c)
	}
	return plans
}

// choose finds the tools that explain every word of a part and use its remark.
func (p *planner) choose(tokens []language.Token, remark string) choice {
	clause := match.NewClause(p.Words, tokens, remark)
	if len(language.Lows(clause.Tokens)) == 0 {
		return nil
	}
	var one, bulk, closed choice
	many := false // something is asked of many that a tool reads one by one
	for _, t := range p.All() {
		switch r := p.Read(t, clause); {
		case r == nil || t.Closed && t.Writes() && r.Many():
		case t.Closed && (many && t.Lists() || r.Strong || r.Target != nil):
			closed = append(closed, r)
		case t.Closed:
		case r.Many() && t.Writes():
			bulk = append(bulk, r)
		case r.Many():
			many = true
		default:
			one = append(one, r)
		}
	}
	for _, c := range []choice{one, bulk, closed} {
		if len(c) > 0 {
			slices.SortStableFunc(c, func(a, b *match.Reading) int { return cmp.Compare(b.Score, a.Score) })
			return c
		}
	}
	return nil
}

// performAll carries the parts out side by side. Changes wait until everything
// else is known, because a change ends the turn.
func (p *planner) performAll(plans []choice) step {
	var texts []string
	pending := false
	for _, c := range plans {
		switch s := p.perform(c); s.state {
		case asking, failed:
			return s
		case waiting:
			pending = true
		default:
			texts = append(texts, s.text)
		}
	}
	text := strings.Join(texts, "\n\n")
	if !pending {
		return say(text)
	}
	if reads := slices.DeleteFunc(slices.Clone(p.wanted), func(c Call) bool { return c.writes }); len(reads) > 0 {
		p.wanted = reads
		return wait
	}
	return step{waiting, strings.TrimPrefix(text+"\n\n", "\n\n")}
}

// perform tries the meanings of a part in their order until one finds what it
// looks for. An order that could mean things of several sorts ("delete Kestrel")
// is not tried: the person has to say which sort is meant.
func (p *planner) perform(c choice) (s step) {
	var sorts []string
	for _, r := range c {
		if r.Tool.Writes() && r.Score == c[0].Score && r.Target != nil && !r.Strong {
			sorts = append(sorts, "the "+r.Target.Input.Noun()+" "+speak.Clean(r.Target.Entity.Text))
		}
	}
	switch {
	case c[0].Tool.Closed:
		return say(refuse(p.Catalog, c[0].Tool))
	case c[0].Many():
		return say("I change one at a time here. Please name the one that you mean.")
	case len(sorts) > 1:
		return say("That could be " + speak.Join(sorts, "or") + ". Please ask again and say which sort of thing you mean.")
	}
	for i, r := range c[:min(3, len(c))] {
		if next := p.carryOut(r); i == 0 || next.state != missed {
			s = next
		}
		if s.state != missed {
			break
		}
	}
	return s
}
