// Package rehearsal is a model without a language model: a small deterministic planner that shows a newcomer the whole flow with no key and no network.
//
// It picks tools by their declarations, fills in arguments from the question, finds an id by a list whose rows carry it, asks when several match, and
// writes the answer from the results. It knows English and no sentence, person, tool or field by heart. What it does not understand whole, it declines.
package rehearsal

import (
	"context"
	"fmt"
	"iter"

	"countersign.dev/internal/agent"
	"countersign.dev/internal/language/lexicon"
	"countersign.dev/internal/llm/rehearsal/match"
	"countersign.dev/internal/llm/rehearsal/plan"
	"countersign.dev/internal/memo"
	"countersign.dev/internal/result"
	"countersign.dev/internal/schema/declared"
)

// Name is how the model is labelled wherever it shows.
const Name = "rehearsal"

// Model is the planner behind agent.Model. It is safe for concurrent use.
type Model struct {
	words *lexicon.Lexicon
	tools *memo.Memo[any, *declared.Tool] // as read from their declarations; never changed after
}

// New makes a rehearsal model.
func New() *Model {
	return &Model{words: lexicon.English(), tools: memo.New[any, *declared.Tool](2000)}
}

func (m *Model) tool(t result.ToolInfo, closed bool) *declared.Tool {
	declaration := [...]any{t.Name, t.Title, t.Description, t.Kind, string(t.InputSchema), string(t.OutputSchema), t.Fields, closed}
	return m.tools.Of(declaration, func() *declared.Tool { return declared.NewTool(m.words, t, closed) })
}

// Name is "rehearsal".
func (m *Model) Name() string { return Name }

// Stream yields the answer, then the calls. Its only error is the context's.
func (m *Model) Stream(ctx context.Context, r agent.Request) iter.Seq2[agent.Delta, error] {
	return func(yield func(agent.Delta, error) bool) {
		text, calls := m.think(ctx, r)
		agent.Whole(ctx, text, calls)(yield)
	}
}

func (m *Model) think(ctx context.Context, r agent.Request) (string, []agent.Call) {
	c := match.Catalog{Words: m.words, Person: r.Person, Today: r.Now}
	for _, t := range r.Tools {
		c.Open = append(c.Open, m.tool(t.ToolInfo, false))
	}
	for _, t := range r.Closed {
		c.Closed = append(c.Closed, m.tool(t.Info, true))
	}
	text, calls := plan.Next(ctx, c, r.Messages)
	for i := range calls {
		calls[i].ID = fmt.Sprintf("call_%d_%d", len(r.Messages), i+1)
	}
	return text, calls
}
