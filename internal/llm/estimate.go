package llm

import (
	"context"
	"strings"

	"countersign.dev/internal/agent"
	"countersign.dev/internal/tokens"
)

// meter keeps what is known of one answer's usage. Providers report it at the end,
// so that of an answer that was cut off nothing, or the input alone, is known.
type meter struct {
	request agent.Request
	written strings.Builder
	used    agent.Usage
}

func (m *meter) take(d agent.Delta) {
	m.used.Add(d.Usage)
	m.written.WriteString(d.Text)
	if d.Call != nil {
		m.written.WriteString(d.Call.Tool)
		m.written.Write(d.Call.Args)
	}
}

// missing estimates what an answer used that ended with its context or in the
// middle, and that its provider did not report. A provider that refused a request
// charges nothing for it; one that was at work may.
func (m *meter) missing(ctx context.Context, counter *tokens.Counter) *agent.Usage {
	if ctx.Err() == nil && m.written.Len() == 0 {
		return nil
	}
	var u agent.Usage
	if m.used.InputTokens == 0 {
		u.InputTokens = sizeOf(m.request, counter)
	}
	if m.used.OutputTokens == 0 {
		u.OutputTokens = counter.Count(m.written.String())
	}
	if u == (agent.Usage{}) {
		return nil
	}
	u.Estimated = true
	return &u
}

// sizeOf estimates the tokens of a request: its texts, without the frame that a
// provider puts around them.
func sizeOf(r agent.Request, counter *tokens.Counter) (n int) {
	n = counter.Count(r.System)
	for _, t := range r.Tools {
		n += counter.Count(t.Name) + counter.Count(t.Description) + counter.Count(string(t.InputSchema))
	}
	for _, m := range r.Messages {
		n += counter.Count(m.Text())
		for _, c := range m.Calls() {
			n += counter.Count(c.Tool) + counter.Count(string(c.Args))
		}
		for _, a := range m.Results() {
			n += counter.Count(string(a.Answer))
		}
	}
	return n
}
