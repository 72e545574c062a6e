package result

import (
	"encoding/json"
	"time"

	"countersign.dev/internal/fault"
)

// Outcome is what a call came to: exactly one of data (with or without a page),
// a pending confirmation, or a fault. Every surface is an encoder of it.
type Outcome struct {
	Data    json.RawMessage // masked and encoded; nil unless the call succeeded
	Page    *Page           // set on lists
	Pending *Pending
	Fault   *fault.Error
	Message string          // what people are told of an effect, on an applied write
	Wire    json.RawMessage // the whole answer as another server encoded it: passed on as it is
}

// Rows counts the rows that an outcome hands out, for the audit.
func (o Outcome) Rows() int {
	switch {
	case o.Page != nil:
		return o.Page.Returned
	case o.Data != nil:
		return 1
	}
	return 0
}

// Code is the outcome in one word for audit and metrics: success,
// pending_confirmation, or the fault's code.
func (o Outcome) Code() string {
	switch {
	case o.Fault != nil:
		return o.Fault.Code.Name
	case o.Pending != nil:
		return StatusPending
	}
	return StatusSuccess
}

// Failed makes an outcome of an error.
func Failed(err error) Outcome { return Outcome{Fault: fault.From(err)} }

// Page says which part of a list an outcome holds. Keyset pages set Next when
// there is more; offset pages set Total and Offset.
type Page struct {
	Limit    int    // rows asked for
	Returned int    // rows given
	More     bool   // more rows follow
	Next     string // sealed cursor of the next keyset page; empty on the last one
	Noun     string // what the rows are, for hints: "employees"
	Narrow   string // which filters make the list shorter: "department or name"
	Offset   int    // offset pages only
	Total    int    // offset pages only: rows in all
}

// Pending is a change that waits for its human.
type Pending struct {
	ID      string         `json:"confirmationId"`
	Message string         `json:"message"`          // one or two lines: what will change, for whom, from what to what
	Data    map[string]any `json:"confirmationData"` // camelCase; what an approval card shows
	Expires time.Time      `json:"-"`
}

// Kind is the kind of a tool.
type Kind string

// The kinds of tools.
const (
	Read  Kind = "read"  // one thing
	List  Kind = "list"  // pages
	Write Kind = "write" // two steps: preview, countersign, apply
	Edit  Kind = "edit"  // an immediate change that its caller can undo, in their own workspace
)

// Annotations are MCP's four hints, all always told.
type Annotations struct {
	ReadOnly    bool `json:"readOnlyHint"`
	Destructive bool `json:"destructiveHint"`
	Idempotent  bool `json:"idempotentHint"`
	OpenWorld   bool `json:"openWorldHint"`
}

// ToolInfo describes a tool to those who may not import its declaration.
type ToolInfo struct {
	Name         string          `json:"name"`
	Title        string          `json:"title"`
	Description  string          `json:"description"`
	Kind         Kind            `json:"kind"`
	Roles        []string        `json:"roles,omitempty"`
	InputSchema  json.RawMessage `json:"inputSchema"`
	OutputSchema json.RawMessage `json:"outputSchema,omitempty"` // of the envelope (or the dialect's answer)
	Annotations  Annotations     `json:"annotations"`
	Untrusted    []string        `json:"untrusted,omitempty"` // names of result fields whose text nobody vouches for
	Fields       *Fields         `json:"fields,omitempty"`    // for the planner, the page and the documentation; never for a model
}
