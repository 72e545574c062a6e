// Package plan works out the calls that answer a question, and the answer. It
// keeps nothing between two requests: each replays the question against the
// answers that the conversation holds, until a call is missing or the answer is
// there.
package plan

import (
	"cmp"
	"fmt"
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
	answers
	misfit bool // an answer did not answer
}

// answers are the person's answers to our questions, still to be used.
type answers []string

func (a *answers) next() (string, bool) {
	if len(*a) == 0 {
		return "", false
	}
	first := (*a)[0]
	*a = (*a)[1:]
	return first, true
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
	p := &planner{Catalog: &c, calls: &calls{known: talk.since}}
	s, done := p.smallTalk(talk)
	switch {
	case done:
	case len(talk.answers) > 0:
		q := &planner{Catalog: &c, calls: &calls{known: talk.known}, answers: talk.answers}
		again := q.answer(talk.question)
		if s = again; q.misfit {
			s = p.answer(talk.said)
		}
		if s.state == declined || !q.misfit {
			s, p = again, q
		}
	default:
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
	if c := p.remarked(tokens); !c.empty() {
		return p.performAll([]choice{c})
	}
	if s, ok := p.instruct(tokens); ok {
		return s
	}
	sentences, clauses := split(tokens, " ? . ; ! "), split(tokens, " ? . ; ! and then also plus , ")
	for _, parts := range [][][]language.Token{sentences, clauses} {
		if plans := p.chooseAll(parts); plans != nil {
			return p.performAll(plans)
		}
	}
	if s, ok := p.inPart(clauses); ok {
		return s
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

// remarked plans an order with a remark ("close it: the cable was loose"), or
// nothing when the question is none. The remark is one text for one input, never
// read as part of the order.
func (p *planner) remarked(tokens []language.Token) choice {
	i := slices.IndexFunc(tokens, func(t language.Token) bool { return t.Kind == language.Mark && t.Text == ":" && t.Rest != "" })
	if i < 1 {
		return choice{}
	}
	c := p.choose(tokens[:i], tokens[i].Rest)
	if slices.ContainsFunc(c.readings, func(r *match.Reading) bool { return !r.Tool.Writes() }) {
		return choice{}
	}
	return c
}

// inPart answers those parts of a question that ask to read something and names
// the others. Nothing is changed on the strength of half a question.
func (p *planner) inPart(parts [][]language.Token) (step, bool) {
	var plans []choice
	var left []string
	for _, part := range parts {
		c := p.choose(part, "")
		switch {
		case len(c.readings) > 0 && !c.readings[0].Tool.Writes() && c.readings[0].Strong():
			plans = append(plans, c)
		case !match.Harmless(p.Words, part):
			return step{}, false
		default:
			left = append(left, strings.TrimSpace(language.Text(part)))
		}
	}
	if len(plans) == 0 || len(parts) < 2 {
		return step{}, false
	}
	s := p.performAll(plans)
	if s.state == said {
		s.text += fmt.Sprintf("\n\nI can't answer %q here at the moment: that part is missing.", speak.Join(left, "and"))
	}
	return s, true
}

// choice is what a part may mean, best first, or why it may not be.
type choice struct {
	readings []*match.Reading
	refused  *match.Tool
	bulk     bool
}

func (c choice) empty() bool { return len(c.readings) == 0 && c.refused == nil && !c.bulk }

func (c choice) writes() bool { return len(c.readings) > 0 && c.readings[0].Tool.Writes() }

func (p *planner) chooseAll(parts [][]language.Token) (plans []choice) {
	for i, part := range parts {
		c := p.choose(part, "")
		if c.empty() || i > 0 && plans[i-1].writes() && !match.OpensAnew(p.Words, part) {
			return nil
		}
		plans = append(plans, c)
	}
	return plans
}

// choose finds the tools that explain every word of a part. A remark belongs to
// the order before it.
func (p *planner) choose(tokens []language.Token, remark string) choice {
	part, intent := match.ReadIntent(p.Words, tokens)
	intent.Remark = cmp.Or(remark, intent.Remark)
	if len(language.Lows(part)) == 0 {
		return choice{}
	}
	var c choice
	var closedList *match.Tool
	for _, t := range p.Open {
		r := p.Read(t, part, intent)
		switch {
		case r == nil:
		case r.Many():
			c.bulk = c.bulk || t.Writes()
			if !t.Writes() && closedList == nil {
				closedList = closedListFor(p.Catalog, t)
			}
		default:
			c.readings = append(c.readings, r)
		}
	}
	byScore := func(a, b *match.Reading) int { return cmp.Compare(b.Score, a.Score) }
	slices.SortStableFunc(c.readings, byScore)
	if len(c.readings) > 0 || c.bulk {
		return c
	}
	var closed []*match.Reading
	for _, t := range p.Closed {
		r := p.Read(t, part, intent)
		if r != nil && (r.Strong() || r.Target != nil) && !(t.Writes() && r.Many()) {
			closed = append(closed, r)
		}
	}
	slices.SortStableFunc(closed, byScore)
	if c.refused = closedList; len(closed) > 0 {
		c.refused = closed[0].Tool
	}
	return c
}

// closedListFor is the list of what a tool reads one by one, when that list is
// closed to the person.
func closedListFor(c *match.Catalog, t *match.Tool) *match.Tool {
	id := t.First(func(in *match.Field) bool { return in.Is(match.ID) && in.Required })
	if id == nil || listerOf(c, c.Open, t, id) != nil {
		return nil
	}
	return listerOf(c, c.Closed, t, id)
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
	reads := slices.DeleteFunc(slices.Clone(p.wanted), func(c Call) bool { return c.writes })
	if len(reads) > 0 {
		p.wanted = reads
		return wait
	}
	if text != "" {
		text += "\n\n"
	}
	return step{waiting, text}
}

// perform tries the meanings of a part in their order until one finds what it
// looks for.
func (p *planner) perform(c choice) step {
	if c.refused != nil {
		return say(refuse(p.Catalog, c.refused))
	}
	if len(c.readings) == 0 {
		return say("I change one at a time here. Please name the one that you mean.")
	}
	if s, settled := p.settle(c.readings); settled {
		return s
	}
	first := step{}
	for i, r := range c.readings[:min(3, len(c.readings))] {
		s := p.carryOut(r)
		if s.state != missed {
			return s
		}
		if i == 0 {
			first = s
		}
	}
	return first
}

// settle handles an order that could mean things of several sorts ("delete
// Kestrel", when a boat and a keeper are called so): if more than one sort has
// such a thing, the person has to say which is meant.
func (p *planner) settle(readings []*match.Reading) (step, bool) {
	tied := slices.DeleteFunc(slices.Clone(readings), func(r *match.Reading) bool {
		return !r.Tool.Writes() || r.Score < readings[0].Score || r.Target == nil || r.Target.Entity.Text == "" || r.Strong()
	})
	if len(tied) < 2 {
		return step{}, false
	}
	var meant []string
	complete := true
	for _, r := range tied {
		try := *p // a trial: it uses up no answer
		about, s := try.identify(r.Tool, r.Target)
		complete = complete && s.state != waiting
		if s.state == said && about.ID != nil || s.state == asking {
			meant = append(meant, "the "+r.Target.Input.Noun()+" "+speak.Clean(r.Target.Entity.Text))
		}
	}
	switch {
	case !complete:
		return wait, true
	case len(meant) > 1:
		return say("That could be " + speak.Join(meant, "or") + ". Please ask again and say which sort of thing you mean."), true
	}
	return step{}, false
}
