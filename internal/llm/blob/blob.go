// Package blob gives tools to a model whose provider has none: the tools are in
// its instructions, and it calls one by writing a JSON object in its text, as the
// founding document of the chat server has it:
//
//	{ "tool": "name", "arguments": {...} }
//
// It wraps a model and knows no vendor. Start with [New].
package blob

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"strings"

	"countersign.dev/internal/agent"
	"countersign.dev/internal/llm/vendor"
)

// Model is a model that calls tools in its text.
type Model struct{ agent.Model }

// New wraps a model.
func New(m agent.Model) Model { return Model{m} }

// Stream answers one request. Text comes as it is written, without the calls.
func (m Model) Stream(ctx context.Context, r agent.Request) iter.Seq2[agent.Delta, error] {
	return func(yield func(agent.Delta, error) bool) {
		called := false
		p := &parser{
			text: func(text string) bool { return yield(agent.Delta{Text: text}, nil) },
			call: func(c agent.Call) bool { called = true; return yield(agent.Delta{Call: &c}, nil) },
		}
		for d, err := range m.Model.Stream(ctx, plain(r)) {
			if err != nil {
				yield(d, err)
				return
			}
			if d.Text != "" && !p.write(d.Text) {
				return
			}
			if d.Usage != nil && !yield(agent.Delta{Usage: d.Usage}, nil) {
				return
			}
			if d.Stop == "" {
				continue
			}
			if p.end(); p.stopped {
				return
			}
			if called && d.Stop == agent.StopEnd {
				d.Stop = agent.StopCalls
			}
			yield(agent.Delta{Stop: d.Stop}, nil)
			return
		}
	}
}

// format is how a model is asked to call.
const format = `

You can use the tools below. To use one, write a JSON object of exactly this form, on lines of its own and without a code fence:

{ "tool": "name", "arguments": {...} }

The arguments must fit the tool's schema. Several objects are several calls. After the last object write nothing: the results come in the next message, as "Result of NAME". Never write a result yourself. When a result is an error, read what it says and correct the call, or tell the person. When you have what you need, answer in plain text without such an object.`

// plain is the request as a model without tools reads it.
func plain(r agent.Request) agent.Request {
	if len(r.Tools) > 0 {
		var b strings.Builder
		b.WriteString(r.System + format)
		for _, t := range r.Tools {
			fmt.Fprintf(&b, "\n\n## %s\n%s\nArguments: %s", t.Name, t.Description, t.InputSchema)
		}
		r.System = b.String()
	}
	r.Tools = nil
	r.Messages = asText(r.Messages)
	return r
}

// asText are the messages as text. Those that the model reads one after the other
// are one: some models' templates want question and answer in turn.
func asText(messages []agent.Message) (out []agent.Message) {
	for _, m := range messages {
		role, text := agent.User, textOf(m)
		if m.Role == agent.Assistant {
			role = agent.Assistant
		}
		if text == "" {
			continue
		}
		if last := len(out) - 1; last >= 0 && out[last].Role == role {
			text = out[last].Text() + "\n\n" + text
			out = out[:last]
		}
		out = append(out, agent.TextMessage(role, text))
	}
	return out
}

// textOf writes a message as text. Parts of a provider are left out: there are no
// calls that they could belong to.
func textOf(m agent.Message) string {
	if m.Role == agent.System {
		return vendor.Outcome(m.Text())
	}
	var pieces []string
	for _, p := range m.Parts {
		switch p := p.(type) {
		case agent.Text:
			pieces = append(pieces, string(p))
		case agent.Call:
			pieces = append(pieces, written(p))
		case agent.CallResult:
			pieces = append(pieces, "Result of "+p.Tool+":\n"+p.Read())
		}
	}
	return strings.Join(pieces, "\n\n")
}

// written is a call as the model writes it.
func written(c agent.Call) string {
	args := c.Args
	if !json.Valid(args) { // it was answered with an error
		args, _ = json.Marshal(string(args)) // a text encodes
	}
	tool, _ := json.Marshal(c.Tool) // a text encodes
	return fmt.Sprintf(`{ "tool": %s, "arguments": %s }`, tool, args)
}
