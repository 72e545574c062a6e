package rehearsal

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"countersign.dev/internal/agent"
)

// planner works out one question against what is known so far.
type planner struct {
	en       *english
	person   agent.Person
	today    civil
	forms    []*form // the tools that may be used
	closed   []*form // the others
	known    map[string]*reply
	answers  []string // the person's answers to our questions, still to be used
	capitals set      // abbreviations that the tools write in capitals
	misfit   bool     // an answer did not answer
	wanted   []want
}

// want is a call that has to be made before the plan can go on.
type want struct {
	form *form
	args map[string]any
}

// verdict is how far a plan got.
type verdict uint8

const (
	declined verdict = iota // no tool is meant
	waiting                 // calls are missing
	said                    // here is the answer
	asking                  // the person has to say more
	missed                  // what was looked for was not found
)

type outcome struct {
	verdict verdict
	text    string
}

func say(text string) outcome  { return outcome{said, text} }
func miss(text string) outcome { return outcome{missed, text} }

var wait = outcome{verdict: waiting}

func (m *Model) planner(r agent.Request, known map[string]*reply, answers []string) *planner {
	p := &planner{en: m.en, person: r.Person, today: day(r.Now), known: known, answers: answers, capitals: set{}}
	for _, t := range r.Tools {
		p.forms = append(p.forms, m.form(t))
		for _, w := range abbreviation.FindAllString(t.Description, -1) {
			p.capitals[strings.ToLower(w)] = true
		}
	}
	for _, c := range r.Closed {
		p.closed = append(p.closed, m.en.closedForm(c))
	}
	return p
}

var abbreviation = regexp.MustCompile(`\b[A-Z]{2,5}\b`)

func (p *planner) everyForm() []*form { return append(slices.Clone(p.forms), p.closed...) }

// answer plans a whole question: as one, or else as parts that each stand
// alone.
func (p *planner) answer(question string) outcome {
	tokens := p.en.read(question, p.today)
	if c := p.remarked(tokens); !c.empty() {
		return p.performAll([]choice{c})
	}
	if o, ok := p.guided(tokens); ok {
		return o
	}
	for _, parts := range splits(tokens) {
		if plans := p.chooseAll(parts); plans != nil {
			return p.performAll(plans)
		}
	}
	if o, ok := p.inPart(tokens); ok {
		return o
	}
	return outcome{declined, p.decline(tokens)}
}

// inPart answers those parts of a question that ask to read something and says
// of the others that it cannot. Nothing is changed on the strength of half a
// question.
func (p *planner) inPart(tokens []token) (outcome, bool) {
	splitting := splits(tokens)
	if len(splitting) < 2 {
		return outcome{}, false
	}
	var plans []choice
	var left []string
	for _, part := range splitting[1] {
		c := p.choose(part, "")
		switch {
		case len(c.readings) > 0 && !c.readings[0].f.writes() && c.readings[0].strong():
			plans = append(plans, c)
		case !p.en.harmless(part):
			return outcome{}, false
		default:
			left = append(left, strings.TrimSpace(textOf(part)))
		}
	}
	if len(plans) == 0 {
		return outcome{}, false
	}
	o := p.performAll(plans)
	if o.verdict == said {
		o.text += fmt.Sprintf("\n\nI can't answer %q here at the moment: that part is missing.", joinAnd(left))
	}
	return o, true
}

// strong reports whether the part names what the tool is about.
func (r *reading) strong() bool {
	for i, t := range r.part {
		if r.f.name[t.stem] && r.uses[i] != unread {
			return true
		}
	}
	return false
}

// harmless reports whether a part orders nothing and takes nothing back.
func (en *english) harmless(part []token) bool {
	for _, t := range part {
		if en.is("action", t.low) && !en.is("reading", t.low) && t.low != "open" || en.is("negation", t.low) || en.is("condition", t.low) {
			return false
		}
	}
	return len(lows(part)) > 1
}

// choice is what a part may mean, best first, or why it may not be.
type choice struct {
	readings []*reading
	refused  *form
	bulk     bool
}

func (c choice) empty() bool { return len(c.readings) == 0 && c.refused == nil && !c.bulk }

func (p *planner) chooseAll(parts [][]token) []choice {
	var plans []choice
	for _, part := range parts {
		c := p.choose(part, "")
		if c.empty() || len(plans) > 0 && plans[len(plans)-1].writes() && !p.en.opensAnew(part) {
			return nil
		}
		plans = append(plans, c)
	}
	return plans
}

// writes reports whether the part may change something.
func (c choice) writes() bool { return len(c.readings) > 0 && c.readings[0].f.writes() }

// opensAnew reports whether a part has its own verb. One without goes on with
// what the part before it ordered.
func (en *english) opensAnew(part []token) bool {
	_, m := en.listen(part)
	return m.asks || en.is("reading", m.verb) || en.is("action", m.verb)
}

// choose finds the tools that explain every word of a part.
// A remark belongs to the order before it.
func (p *planner) choose(tokens []token, remark string) choice {
	part, m := p.en.listen(tokens)
	m.remark = remark
	if len(lows(part)) == 0 {
		return choice{}
	}
	part = p.turnUpwards(part)
	var c choice
	var closedList *form
	for _, f := range p.forms {
		r := p.understand(f, part, m)
		switch {
		case r == nil:
		case r.ofMany():
			c.bulk = c.bulk || f.writes()
			if !f.writes() && closedList == nil {
				closedList = p.closedListFor(f)
			}
		default:
			c.readings = append(c.readings, r)
		}
	}
	slices.SortStableFunc(c.readings, func(a, b *reading) int { return cmp.Compare(b.score, a.score) })
	if len(c.readings) == 0 && !c.bulk {
		if c.refused = p.forbidden(part, m); c.refused == nil {
			c.refused = closedList
		}
	}
	return c
}

// closedListFor is the list of what a tool reads one by one, when that list is
// closed to the person.
func (p *planner) closedListFor(f *form) *form {
	for _, prop := range f.props {
		if prop.isID() && prop.required && p.lister(f, prop) == nil {
			return listerAmong(p.en, p.closed, f, prop)
		}
	}
	return nil
}

// ofMany reports whether one thing is needed and many are spoken of.
func (r *reading) ofMany() bool {
	need := r.f.writes() && r.mood.bulk
	for _, p := range r.f.props {
		need = need || p.isID() && p.required && r.args[p.name] == nil
	}
	if !need {
		return false
	}
	if r.target != nil {
		return r.f.writes() && r.mood.bulk
	}
	many := r.mood.bulk
	for _, t := range r.part {
		many = many || t.kind == word && singular(t.low) != t.low && !t.owns && r.f.name[t.stem]
	}
	return many || r.measure.kind != "" || !r.f.writes() && len(lows(r.part)) > 0 && r.asksOfMany()
}

// asksOfMany reports a plural of something else than the tool's own noun, as in
// "show salaries".
func (r *reading) asksOfMany() bool {
	for i, t := range r.part {
		if r.uses[i] == meant && !t.owns && singular(t.low) != t.low {
			return true
		}
	}
	return false
}

// forbidden is the closed tool that would be meant.
func (p *planner) forbidden(part []token, m mood) *form {
	var best *reading
	for _, f := range p.closed {
		if r := p.understand(f, part, m); r != nil && r.plainlyMeant() && (best == nil || r.score > best.score) {
			best = r
		}
	}
	if best == nil {
		return nil
	}
	return best.f
}

// splits lists the ways to cut a question into parts: by sentences, and then by
// "and" within them. A full sentence is never read together with the next.
func splits(tokens []token) [][][]token {
	var out [][][]token
	for _, seps := range []string{" ? . ; ! ", " ? . ; ! and then also plus , "} {
		if parts := splitAt(tokens, seps); len(parts) > 0 && len(parts) <= 6 {
			out = append(out, parts)
		}
	}
	return out
}

func splitAt(tokens []token, seps string) [][]token {
	var parts [][]token
	start := 0
	for i := 0; i <= len(tokens); i++ {
		if i < len(tokens) && (tokens[i].kind == quoted || !strings.Contains(seps, " "+tokens[i].low+" ")) {
			continue
		}
		end := i
		if i < len(tokens) && tokens[i].text == "?" {
			end++ // a part stays a question
		}
		if len(lows(tokens[start:end])) > 0 {
			parts = append(parts, tokens[start:end])
		}
		start = i + 1
	}
	return parts
}

// performAll carries the parts out side by side. Changes wait until everything
// else is known, because a change ends the turn.
func (p *planner) performAll(plans []choice) outcome {
	var texts []string
	pending := false
	for _, c := range plans {
		o := p.perform(c)
		switch o.verdict {
		case asking:
			return o
		case waiting:
			pending = true
		default:
			texts = append(texts, o.text)
		}
	}
	text := strings.Join(texts, "\n\n")
	if !pending {
		return say(text)
	}
	reads := slices.DeleteFunc(slices.Clone(p.wanted), func(w want) bool { return w.form.writes() })
	if len(reads) > 0 {
		p.wanted = reads
		return wait
	}
	if text != "" {
		text += "\n\n"
	}
	return outcome{waiting, text}
}

// perform tries the meanings of a part in their order until one finds what it
// looks for.
func (p *planner) perform(c choice) outcome {
	if c.refused != nil {
		return say(p.refuse(c.refused))
	}
	if len(c.readings) == 0 {
		return say("I change one at a time here. Please name the one that you mean.")
	}
	if o, settled := p.plainest(c.readings); settled {
		return o
	}
	first := outcome{}
	for i, r := range c.readings[:min(3, len(c.readings))] {
		o := p.carryOut(r)
		if o.verdict != missed {
			return o
		}
		if i == 0 {
			first = o
		}
	}
	return first
}
