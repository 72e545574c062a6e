// Package rehearsal is a model without a language model: a small deterministic
// planner that lets a newcomer see the whole flow with no key and no network.
//
// It picks tools by their names, descriptions and schemas, fills in arguments
// from the question, finds an id that it needs by calling a list whose rows
// carry it, asks when several rows match, and writes the answer from the
// results. It knows English (english.txt) and nothing else: no sentence, no
// person, no tool and no company's field by heart, so it works with any MCP
// server. What it does not understand whole, it declines.
//
// It keeps nothing between two requests: a round replays the question against
// the results that the conversation holds, until a call is missing or the
// answer is there. Start reading at [Model.Stream], then plan.go.
package rehearsal

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"strings"
	"sync"

	"countersign.dev/internal/agent"
)

// Name is how the model is labelled wherever it shows.
const Name = "rehearsal"

// Model is the planner behind agent.Model. It is safe for concurrent use.
type Model struct {
	en *english

	mu    sync.Mutex
	forms map[declaration]*form // read once per declaration; never changed after
}

// declaration is all of a tool that a form is read from.
type declaration struct{ name, title, description, kind, input, output string }

// maxForms bounds the memory of declarations that were seen.
const maxForms = 2000

// New makes a rehearsal model.
func New() *Model { return &Model{en: readEnglish(), forms: map[declaration]*form{}} }

// form reads a tool's declaration, or remembers it.
func (m *Model) form(t agent.Tool) *form {
	d := declaration{t.Name, t.Title, t.Description, string(t.Kind), string(t.InputSchema), string(t.OutputSchema)}
	m.mu.Lock()
	defer m.mu.Unlock()
	f := m.forms[d]
	if f == nil {
		if len(m.forms) >= maxForms {
			clear(m.forms)
		}
		f = m.en.form(t)
		m.forms[d] = f
	}
	return f
}

// Name is "rehearsal".
func (m *Model) Name() string { return Name }

// Stream yields the answer word by word, and then the calls, if any. Its only
// error is the context's.
func (m *Model) Stream(ctx context.Context, r agent.Request) iter.Seq2[agent.Delta, error] {
	return func(yield func(agent.Delta, error) bool) {
		text, calls := m.think(r)
		for _, piece := range strings.SplitAfter(text, " ") {
			if err := ctx.Err(); err != nil {
				yield(agent.Delta{}, err)
				return
			}
			if piece != "" && !yield(agent.Delta{Text: piece}, nil) {
				return
			}
		}
		for i := range calls {
			if !yield(agent.Delta{Call: &calls[i]}, nil) {
				return
			}
		}
		stop := agent.StopEnd
		if len(calls) > 0 {
			stop = agent.StopCalls
		}
		yield(agent.Delta{Stop: stop}, nil)
	}
}

// think answers one request: some text, some calls, or both.
func (m *Model) think(r agent.Request) (string, []agent.Call) {
	t := hear(r.Messages)
	o, p := m.reply(r, t)
	if o.verdict != waiting {
		return o.text, nil
	}
	calls := make([]agent.Call, len(p.wanted))
	for i, w := range p.wanted {
		args, _ := json.Marshal(w.args) // plain values always encode
		calls[i] = agent.Call{ID: fmt.Sprintf("call_%d_%d", len(r.Messages), i+1), Tool: w.form.tool.Name, Args: args}
	}
	return o.text, calls
}

// reply decides what the person's last message is: small talk, a wish for more,
// an answer to our question, or a question.
func (m *Model) reply(r agent.Request, t talk) (outcome, *planner) {
	p := m.planner(r, t.since, nil)
	if o, done := p.smallTalk(t); done {
		return o, p
	}
	if len(t.answers) > 0 {
		q := m.planner(r, t.known, t.answers)
		again := q.answer(t.question)
		if !q.misfit {
			return again, q
		}
		if o := p.answer(t.said); o.verdict != declined {
			return o, p
		}
		return again, q
	}
	return p.answer(t.said), p
}
