package agent

import (
	"strings"

	"countersign.dev/internal/guard"
	"countersign.dev/internal/result"
)

// corrections are the lines with which the gateway corrects the answer.
func corrections(r *run) []string {
	return guard.Check(guard.Answer{Before: r.written[0].String(), After: r.written[1].String()}, evidenceOf(r))
}

// evidenceOf returns what the answer of the turn may rest on.
func evidenceOf(r *run) guard.Evidence {
	e := guard.Evidence{Question: r.turn.Question, Today: r.turn.Now, Known: []string{r.system, r.turn.Memory.Summary}}
	for _, step := range r.outcomes {
		for _, o := range step {
			e.Calls = append(e.Calls, r.tools.evidence(o))
		}
	}
	for _, m := range r.turn.History {
		r.tools.addEarlier(&e, m)
	}
	for _, t := range r.tools.Open {
		e.Words = append(e.Words, t.Name, t.Title, t.Description, string(t.InputSchema))
	}
	return e
}

func (s Toolset) evidence(o toolOutcome) guard.Call {
	c := guard.Call{Tool: o.call.Tool, Args: o.call.Args, Outcome: o.Outcome, Clipped: o.clipped}
	if t := s.open(o.call.Tool); t != nil {
		c.Title, c.Kind, c.Untrusted = t.Title, t.Kind, t.Untrusted
	}
	return c
}

// addEarlier adds a message of an earlier turn. What the model said then was
// compared then: its figures count unless they were corrected.
func (s Toolset) addEarlier(e *guard.Evidence, m Message) {
	switch text := m.Text(); m.Role {
	case User:
		e.Asked = append(e.Asked, text)
	case System:
		e.Reported = append(e.Reported, text)
	case Assistant:
		if !strings.Contains(text, guard.Invented) {
			e.Known = append(e.Known, text)
		}
	}
	for _, answer := range m.Results() {
		o, err := result.DecodeEnvelope(answer.Answer)
		if err != nil { // marked as a whole
			e.Known = append(e.Known, string(answer.Answer))
			continue
		}
		e.Earlier = append(e.Earlier, s.evidence(toolOutcome{Outcome: o, call: Call{Tool: answer.Tool}}))
	}
}
