package result

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode"
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

// Refusal says in people's words that one of a tool's roles is needed, and which
// roles see the fields that are hidden from others.
func (i ToolInfo) Refusal() string {
	what := inSentence(i.Title)
	if got, gets := strings.CutPrefix(what, "get "); gets {
		what = "see " + got
	}
	sentence := fmt.Sprintf("You do not have permission to %s: that needs the role %s.", what, Join(i.Roles, "or"))
	for _, seen := range i.hidden() {
		sentence += " " + seen
	}
	return sentence
}

// hidden says who sees the hidden fields of a tool's rows, a sentence for each set
// of roles.
func (i ToolInfo) hidden() (sentences []string) {
	if i.Fields == nil || i.Kind == Write { // what a change would show is not what was asked for
		return nil
	}
	labels := map[string][]string{}
	for _, name := range slices.Sorted(maps.Keys(i.Fields.Output)) {
		if f := i.Fields.Output[name]; len(f.Roles) > 0 {
			labels[Join(f.Roles, "or")] = append(labels[Join(f.Roles, "or")], f.Head(name))
		}
	}
	for _, roles := range slices.Sorted(maps.Keys(labels)) {
		label := strings.Join(labels[roles], " and ")
		verb := " is"
		if len(labels[roles]) > 1 || strings.HasSuffix(label, "s") {
			verb = " are"
		}
		sentences = append(sentences, strings.ToUpper(label[:1])+label[1:]+verb+" shown to "+roles+".")
	}
	return sentences
}

// Head is a field's name for people, in the middle of a sentence.
func (f Field) Head(name string) string {
	if f.Label != "" {
		return inSentence(f.Label)
	}
	return strings.ReplaceAll(name, "_", " ")
}

// inSentence writes a title or label in the middle of a sentence: its first word is
// small unless it is an abbreviation.
func inSentence(title string) string {
	if len(title) > 1 && unicode.IsUpper(rune(title[1])) {
		return title
	}
	return strings.ToLower(title[:min(1, len(title))]) + title[min(1, len(title)):]
}

// Join lists words as people do: "hr-read, manager or executive".
func Join(words []string, last string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	n := len(words) - 1
	return strings.Join(words[:n], ", ") + " " + last + " " + words[n]
}
