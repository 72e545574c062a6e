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
}

// next uses up the person's next answer.
func (p *planner) next() (answer string, given bool) {
	if len(p.answers) > 0 {
		answer, p.answers, given = p.answers[0], p.answers[1:], true
	}
	return answer, given
}

// state is how a plan ended.
type state uint8

const (
	said    state = iota // the text is the answer
	waiting              // calls are missing
	asking               // the person has to say more
	missed               // what was looked for was not found
)

// end is how a plan ended, and what it said. A plan is straight code that is
// replayed: where it cannot go on, it panics with its end, and run recovers that.
type end struct {
	state state
	text  string
}

// run carries a plan out as far as it goes.
func run(plan func() string) (e end) {
	defer func() {
		if early := recover(); early != nil {
			e = early.(end)
		}
	}()
	return end{said, plan()}
}

// Next returns the text and the calls that answer the last message of a person.
func Next(c match.Catalog, messages []agent.Message) (text string, wanted []Call) {
	p := &planner{Catalog: &c}
	talk := read(messages, p.isQuestion)
	p.calls, p.answers = &talk.known, talk.answers
	e := run(func() string {
		if text, ok := p.smallTalk(talk); ok {
			return text
		}
		return p.answer(talk.question)
	})
	if e.state != waiting {
		return e.text, nil
	}
	return e.text, p.wanted
}

// isQuestion reports whether an answer of the person is a question by itself.
func (p *planner) isQuestion(text string) bool {
	tokens := p.Words.Read(text, p.Today)
	return match.NewClause(p.Words, tokens, "").OpensAnew(p.Words) && len(p.choose(tokens, "")) > 0
}

// answer plans a whole question: as one, or else as parts that each stand alone.
func (p *planner) answer(question string) string {
	tokens := p.Words.Read(question, p.Today)
	if i := slices.IndexFunc(tokens, func(t language.Token) bool { return t.Rest != "" }); i > 0 {
		// "close it: the cable was loose": the remark is one text for one input, never read as part of the order
		if c := p.choose(tokens[:i], tokens[i].Rest); len(c) > 0 && c[0].Tool.Writes() {
			return p.performAll([]choice{c})
		}
	}
	if text, ok := p.instruct(tokens); ok {
		return text
	}
	for _, separators := range []string{" ? . ; ! ", " ? . ; ! and then also plus , "} {
		if plans := p.chooseAll(split(tokens, separators)); len(plans) > 0 {
			return p.performAll(plans)
		}
	}
	return decline(p.Catalog, tokens)
}

// split cuts a question at separators; a part stays a question.
func split(tokens []language.Token, separators string) (parts [][]language.Token) {
	start := 0
	for i, t := range append(tokens, language.Token{Text: ".", Low: "."}) {
		if t.Kind == language.Quoted || !strings.Contains(separators, " "+t.Low+" ") {
			continue
		}
		end := i
		if t.Text == "?" {
			end++
		}
		if len(language.Lows(tokens[start:end])) > 0 {
			parts = append(parts, tokens[start:end])
		}
		start = i + 1
	}
	return parts
}

// choice is what a part may mean, best first; all open to the person, or all closed.
type choice []*match.Reading

// chooseAll chooses for each part; nothing when a part is not explained, has no
// verb and so goes on with the order before it, or when there are too many.
func (p *planner) chooseAll(parts [][]language.Token) (plans []choice) {
	const most = 6
	for i, part := range parts {
		c := p.choose(part, "")
		if len(c) == 0 || i == most || i > 0 && plans[i-1][0].Tool.Writes() && !match.NewClause(p.Words, part, "").OpensAnew(p.Words) {
			return nil
		}
		plans = append(plans, c)
	}
	return plans
}

// choose finds the tools that explain every word of a part and use its remark.
func (p *planner) choose(tokens []language.Token, remark string) choice {
	clause := match.NewClause(p.Words, tokens, remark)
	var open, closed choice
	many := false // something is asked of many that a tool tells of one
	for _, t := range p.All() {
		switch r := p.Read(t, clause); {
		case r == nil:
		case t.Closed && (many && t.Lists() || r.Strong || r.Target != nil):
			closed = append(closed, r)
		case t.Closed:
		case !t.Writes() && r.Vague():
			many = true
		default:
			open = append(open, r)
		}
	}
	if len(open) == 0 {
		open = closed
	}
	slices.SortStableFunc(open, func(a, b *match.Reading) int { return cmp.Compare(b.Score, a.Score) })
	return open
}

// performAll carries the parts out side by side. Changes wait until everything
// else is known, because a change ends the turn.
func (p *planner) performAll(plans []choice) string {
	var texts []string
	pending := false
	for _, c := range plans {
		switch e := p.perform(c); e.state {
		case asking:
			panic(e)
		case waiting:
			pending = true
		default:
			texts = append(texts, e.text)
		}
	}
	text := strings.Join(texts, "\n\n")
	if !pending {
		return text
	}
	if reads := slices.DeleteFunc(slices.Clone(p.wanted), func(c Call) bool { return c.writes }); len(reads) > 0 {
		p.wanted = reads
		panic(end{state: waiting})
	}
	panic(end{waiting, strings.TrimPrefix(text+"\n\n", "\n\n")})
}

// perform tries the meanings of a part in their order until one finds what it
// looks for. An order that could mean things of several sorts ("delete Kestrel")
// is not tried: the person has to say which sort is meant.
func (p *planner) perform(c choice) (e end) {
	if c[0].Tool.Closed {
		return end{said, refuse(p.Catalog, c[0].Tool, c[0].Clause)}
	}
	if len(c) > 1 && c[0].Tool.Writes() && c[1].Tool.Writes() && c[0].Score == c[1].Score && !c[0].Strong {
		nouns := []string{"the " + c[0].Tool.Noun, "the " + c[1].Tool.Noun}
		return end{said, "That could be " + speak.Join(nouns, "or") + ". Please ask again and say which sort of thing you mean."}
	}
	for i, r := range c[:min(3, len(c))] {
		if next := run(func() string { return p.carryOut(r) }); i == 0 || next.state != missed {
			e = next
		}
		if e.state != missed {
			break
		}
	}
	return e
}
