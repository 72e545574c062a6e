// Package agent runs one turn of a conversation: it offers the model the tools
// that the person may use, runs the calls that the model requests, and yields
// one stream of events.
//
// It knows no HTTP, no vendor and no MCP: a [Model] answers, a [Toolbox] runs
// calls, and the caller that ranges over [Run] encodes the events. Start there.
package agent

import (
	"context"
	"encoding/json"
	"iter"
	"time"

	"countersign.dev/internal/result"
	"countersign.dev/internal/tokens"
)

// Limits of a turn.
const (
	MaxRounds   = 12   // model calls in one turn
	MaxQuestion = 2048 // characters of a question
)

// Model is a language model behind any vendor.
type Model interface {
	// Name is shown to people, in the start event and in stored answers.
	Name() string
	// Stream answers one request piece by piece. An error ends the stream.
	Stream(ctx context.Context, r Request) iter.Seq2[Delta, error]
}

// Choice is a model that can be chosen for a conversation, with its limits.
type Choice struct {
	Model    // its name is the configured one
	Provider string
	Default  bool
	Timeout  time.Duration // of one answer; 0: the gateway's default
	Budget   int           // tokens of one request: instructions, tools and messages; 0: the gateway's default
	Language bool          // a language model: it reads rows as tables, and can summarise and search
	Price    Price
}

// Toolbox offers and runs tools for the principal in the context.
type Toolbox interface {
	// Tools lists what the principal may call, what they may not, and which
	// servers could not be asked.
	Tools(ctx context.Context) Toolset
	// Call runs one tool. Its outcome is never a Go error: a failure is a fault.
	Call(ctx context.Context, name string, args json.RawMessage) result.Outcome
}

// Toolset is the tools of one person.
type Toolset struct {
	Open   []Tool       // sorted by name
	Closed []ClosedTool // exist, but not for this person; they explain refusals
	Down   []Warning    // servers that did not answer
}

// Tool is a callable tool and its server.
type Tool struct {
	result.ToolInfo
	Server    string    `json:"server"`
	Arguments Arguments `json:"-"` // nil: only that they are an object is checked
}

// Arguments check those of one tool, before it is called.
type Arguments interface {
	// Wrong returns the fault of arguments that do not fit, and the fields that
	// are wrong; nil when they fit.
	Wrong(args json.RawMessage) (fields []string, f error)
}

// ClosedTool is a tool that the person may not call, and who may.
type ClosedTool struct {
	Name     string
	Server   string
	Sentence string // the first sentence of its description
	Roles    []string
	Info     result.ToolInfo // the whole declaration; no part of a prompt
}

// Warning says that a server could not be used.
type Warning struct {
	Server  string `json:"server"`
	Code    string `json:"code"`
	Message string `json:"message"`
}

// Person is what a prompt says about the person who asks.
type Person struct {
	Name     string
	Username string
	Email    string
	Roles    []string
}

// Request is everything that a model gets.
type Request struct {
	System   string // the instructions, as plain text
	Person   Person
	Now      time.Time
	Messages []Message // the conversation so far; the last one is the question or tool results
	Tools    []Tool
	Closed   []ClosedTool
}

// Turn is one question in its conversation.
type Turn struct {
	Model    Model
	Toolbox  Toolbox
	Person   Person
	System   string
	History  []Message // the conversation before the question
	Language bool      // see Choice
	Budget   int       // tokens of one request (instructions, tools, messages), as Tokens counts them; 0: no limit
	Memory   Memory    // of the conversation
	Tokens   *tokens.Counter
	Retain   int  // messages of the history that are kept in any case, the newest
	Kept     Kept // of each result in Done
	Question string
	Now      time.Time

	MaxMessages    int // of the history; older ones are summarised or left out. 0: no limit
	SummariseAbove int // tokens of the history above which older turns are summarised; 0: when they no longer fit

	AnswerTimeout time.Duration // of one answer of the model, from first to last word; 0: none of its own
}

// Kept bounds the result of a call as the conversation keeps it. The model of the
// running turn reads it whole.
type Kept struct{ Rows, Bytes int } // zero: all

// Event is one step of a turn. The set is closed: Started,
// TextDelta, Note, ToolStarted, ToolProgress, ToolFinished, Pending, Truncated,
// Unavailable, Failed, Done.
type Event interface{ event() }

// Started opens a turn.
type Started struct{ Model string }

// TextDelta is a piece of the answer. Source is empty for the model's words and
// "gateway" for a line that was added because the model left it out.
type TextDelta struct{ Text, Source string }

// ToolStarted says that a call began.
type ToolStarted struct {
	Call   Call
	Server string
}

// ToolProgress reports the progress of a call: at most one a second and a hundred
// in all. Its message is for people; a model never reads it.
type ToolProgress struct {
	Call     Call
	Server   string
	Progress result.Progress
}

// ToolFinished has the outcome of a call.
type ToolFinished struct {
	Call    Call
	Server  string
	Outcome result.Outcome
}

// Pending is a change that waits for the person. The turn ends after the calls
// of the same step.
type Pending struct {
	Server  string
	Outcome result.Outcome
}

// Truncated says that a tool's answer was incomplete.
type Truncated struct{ Tool, Hint string }

// Unavailable names servers that could not be used.
type Unavailable struct{ Warnings []Warning }

// Failed says that the turn could not be finished.
type Failed struct{ Outcome result.Outcome }

// Done closes a turn, always last. Messages is what the turn adds to the
// conversation's history, the question included, its results clipped to Kept.
type Done struct {
	Usage    Usage
	Messages []Message
	Memory   Memory // of the conversation, from now on
}

// Memory is what a conversation keeps for its models besides its messages.
type Memory struct {
	Summary   string `json:"summary,omitempty"`   // of the oldest messages
	Covered   int    `json:"covered,omitempty"`   // how many messages the summary replaces
	Untrusted bool   `json:"untrusted,omitempty"` // one of them held untrusted text: the summary is a marked block

	Found []string `json:"found,omitempty"` // tools that were found and are offered, in their order
}

func (Started) event()      {}
func (TextDelta) event()    {}
func (Note) event()         {}
func (ToolStarted) event()  {}
func (ToolProgress) event() {}
func (ToolFinished) event() {}
func (Pending) event()      {}
func (Truncated) event()    {}
func (Unavailable) event()  {}
func (Failed) event()       {}
func (Done) event()         {}

// open returns the callable tool of that name, or nil.
func (s Toolset) open(name string) *Tool {
	for i := range s.Open {
		if s.Open[i].Name == name {
			return &s.Open[i]
		}
	}
	return nil
}
