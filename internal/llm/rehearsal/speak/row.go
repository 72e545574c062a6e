// Package speak writes answers in sentences. It draws no tables, as the page and the terminal draw the rows themselves; alone, its text names up to ten rows and the figures that were asked for.
package speak

import (
	"encoding/json"

	"countersign.dev/internal/agent"
	"countersign.dev/internal/result"
)

// Answer is the outcome of a call, or of the calls for the pages of a list.
type Answer struct {
	result.Answer
	Tool string
	Args map[string]any
}

// NewAnswer reads the result of a call, without marks around untrusted text: it is only shown.
func NewAnswer(call agent.Call, res agent.CallResult) *Answer {
	a := &Answer{Answer: result.ReadAnswer(res.Answer, res.Failed), Tool: call.Tool, Args: map[string]any{}}
	_ = json.Unmarshal(call.Args, &a.Args) // the planner wrote them
	return a
}
