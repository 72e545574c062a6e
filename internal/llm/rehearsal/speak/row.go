// Package speak writes answers in sentences. It draws no tables, as the page and the terminal draw the rows themselves; alone, its text names up to ten rows and the figures that were asked for.
package speak

import (
	"cmp"
	"encoding/json"
	"strings"

	"countersign.dev/internal/agent"
	"countersign.dev/internal/fault"
	"countersign.dev/internal/result"
)

// Answer is the outcome of a call, or of the calls for the pages of a list.
type Answer struct {
	result.Page // of a list
	Tool        string
	Args        map[string]any
	Fault       *fault.Error // of a failed call
	Pending     bool
	Data        any // as result.ParseMarked reads it
	Rows        []result.Row
}

// Thing is a thing that was looked up.
type Thing struct {
	ID   any
	Row  result.Row
	Name string
}

// NewAnswer reads the result of a call, without marks around untrusted text: it is only shown.
func NewAnswer(call agent.Call, res agent.CallResult) *Answer {
	a := &Answer{Tool: call.Tool, Args: map[string]any{}}
	_ = json.Unmarshal(call.Args, &a.Args) // the planner wrote them
	o, err := result.DecodeEnvelope(res.Answer)
	data := o.Data()
	if a.Fault = o.Fault(); err != nil {
		data = res.Answer
	}
	if res.Failed && a.Fault == nil {
		a.Fault = &fault.Error{Message: string(res.Answer)}
	}
	a.Pending = o.Pending() != nil
	a.Page = *cmp.Or(o.Page(), &result.Page{})
	if a.Data, err = result.ParseMarked(data); err != nil && len(data) > 0 {
		a.Data = string(data)
	}
	a.Rows = result.RowsWithin(a.Data)
	return a
}

// Clean makes 300 characters of a text safe in markdown: no layout, link or picture.
func Clean(t string) string {
	return markdown.Replace(fault.Clip(strings.Join(strings.Fields(t), " "), 300))
}

var markdown = strings.NewReplacer(`\`, `\\`, "|", `\|`, "`", "\\`", "[", `\[`, "<", `\<`, "![", `!\[`)
