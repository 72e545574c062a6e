package result

import (
	"encoding/json"
	"strings"
	"time"
)

// Kind is the kind of a tool.
type Kind string

// The kinds of tools.
const (
	Read  Kind = "read"  // one thing
	List  Kind = "list"  // pages
	Write Kind = "write" // two steps: preview, countersign, apply
	Edit  Kind = "edit"  // an immediate change that its caller can undo, in their own workspace
)

// Annotations are MCP's four hints. All four are always sent.
type Annotations struct {
	ReadOnly    bool `json:"readOnlyHint"`
	Destructive bool `json:"destructiveHint"`
	Idempotent  bool `json:"idempotentHint"`
	OpenWorld   bool `json:"openWorldHint"`
}

// ToolInfo describes a tool to packages that may not import its declaration.
type ToolInfo struct {
	Name         string          `json:"name"`
	Title        string          `json:"title"`
	Description  string          `json:"description"`
	Kind         Kind            `json:"kind"`
	Roles        []string        `json:"roles,omitempty"`
	InputSchema  json.RawMessage `json:"inputSchema"`
	OutputSchema json.RawMessage `json:"outputSchema,omitempty"` // of the envelope (or the dialect's answer)
	Annotations  Annotations     `json:"annotations"`
	Untrusted    []string        `json:"untrusted,omitempty"` // names of result fields with unverified text
	Fields       *Fields         `json:"fields,omitempty"`    // for the planner, the page and the documentation; never for a model
}

// Camel spells a field as document 000 does: employee_id is employeeId.
func Camel(snake string) string {
	var b strings.Builder
	up := false
	for _, c := range snake {
		switch {
		case c == '_':
			up = true
			continue
		case up:
			b.WriteString(strings.ToUpper(string(c)))
		default:
			b.WriteRune(c)
		}
		up = false
	}
	return b.String()
}

// Reliability says how well a tool's server answers its calls, as one process has
// seen it since it started.
type Reliability struct {
	Server, Tool string        // as offered
	Kind         Kind          // of the tool
	Transport    string        // "http" or "stdio"
	Calls        int64         // that were sent, each attempt counted
	Failures     int64         // of them, without an answer
	Average      time.Duration // of an attempt
	LastUsed     time.Time     // zero: never
	Breaker      string        // "closed", "open", or "half-open": the next call is the probe
}

// Prompt is a text that a server offers to people: they read it, and decide whether to
// ask it. No model gets it in any other way.
type Prompt struct {
	Name        string           `json:"name"`
	Title       string           `json:"title,omitempty"`
	Description string           `json:"description,omitempty"`
	Server      string           `json:"server"`
	Arguments   []PromptArgument `json:"arguments,omitempty"`
}

// PromptArgument is a blank of the text.
type PromptArgument struct {
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
	Required    bool   `json:"required,omitempty"`
}

// Resource is what clients of MCP can read by its address: a link in an answer, or a
// kind of addresses, whose URI is a template.
type Resource struct {
	URI         string
	Name        string
	Title       string
	Description string
	MIMEType    string
}
