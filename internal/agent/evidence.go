package agent

import (
	"strings"
	"unicode/utf8"

	"countersign.dev/internal/guard"
	"countersign.dev/internal/result"
)

// correct adds the corrections of the answer. A hint about an incomplete list becomes a
// line of the answer; the others become notes about it.
func (r *run) correct() {
	answer := guard.Answer{Before: r.written[0].String(), After: r.written[1].String()}
	for _, c := range guard.Check(answer, evidenceOf(r)) {
		if c.Kind == guard.Incomplete {
			r.addLine(string(c.Kind), c.Text)
			continue
		}
		note := Note{Kind: string(c.Kind), Text: c.Text, Ranges: rangesOf(answer.Before+answer.After, c.About)}
		r.keepNote(note)
		r.emit(note)
	}
}

// rangesOf returns where the words are in a text, at their first place. Words that
// the model wrote in another form, such as in bold, have none.
func rangesOf(text string, words []string) (ranges []TextRange) {
	for _, w := range words {
		if at := strings.Index(text, w); at >= 0 {
			start := utf8.RuneCountInString(text[:at])
			ranges = append(ranges, TextRange{start, start + utf8.RuneCountInString(w)})
		}
	}
	return ranges
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
		corrected := strings.Contains(text, guard.Invented) // as conversations were stored before notes were
		for _, n := range m.Notes {
			if n.Kind == string(guard.OfTheModel) || n.Kind == string(guard.Computed) {
				corrected = true
			} else {
				e.Known = append(e.Known, n.Text)
			}
		}
		if !corrected {
			e.Known = append(e.Known, text)
		}
	}
	for _, answer := range m.Results() {
		o, err := result.DecodeEnvelope(answer.Answer)
		if err != nil { // the whole answer is one marked text
			e.Known = append(e.Known, string(answer.Answer))
			continue
		}
		e.Earlier = append(e.Earlier, s.evidence(toolOutcome{Outcome: o, call: Call{Tool: answer.Tool}}))
	}
}
