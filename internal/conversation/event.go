package conversation

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"countersign.dev/internal/agent"
	"countersign.dev/internal/fault"
	"countersign.dev/internal/result"
)

// Type says what an event is about.
type Type string

// The events of a conversation's log. A turn is Started … Stopped, Done.
const (
	Started      Type = "started"       // Request, Text (the question), Model
	Text         Type = "text"          // Text, Source
	Note         Type = "note"          // Kind, Text, Ranges: what the gateway corrects in the answer
	ToolStarted  Type = "tool_started"  // CallID, Tool, Server, Args, Message
	ToolProgress Type = "tool_progress" // CallID, Tool, Server, Message
	ToolFinished Type = "tool_finished" // CallID, Tool, Server, Message, Data
	Pending      Type = "pending"       // Server, Data: the envelope
	Truncated    Type = "truncated"     // Tool, Text: the hint
	Unavailable  Type = "unavailable"   // Warnings
	Failed       Type = "failed"        // Text: the sentence, Code
	Stopped      Type = "stopped"       // Usage, Code: CANCELLED when the person stopped it
	Done         Type = "done"          // nothing: the turn is over
	Answered     Type = "answered"      // Confirmation, Text: the outcome, Status, At
)

// The events of a person's log.
const (
	Titled Type = "titled" // Conversation, Text: its title
	Change Type = "change" // Confirmation, Server, Tool, Status: the confirmation's state, Expires
	Turn   Type = "turn"   // Conversation, Status: Running or Ended
)

// The states of a turn in a person's log.
const (
	Running = "running"
	Ended   = "ended"
)

// Event is one entry of an event log. Its type says which fields it has.
type Event struct {
	ID           string // SEQ-0; SEQ grows by one with each event of a log
	Type         Type
	Conversation string
	Request      string // the id that logs have
	Text         string
	Source, Kind string // an empty source: the model
	Ranges       []agent.TextRange
	Model        string
	CallID       string
	Tool         string
	Server       string
	Message      string
	Args         json.RawMessage
	Data         json.RawMessage
	Warnings     []agent.Warning
	Code         string
	Usage        *agent.Usage
	Confirmation string
	Status       string
	At           time.Time
	Expires      time.Time
}

// eventVersion is the format of stored events.
const eventVersion = 1

// The stored form of an event, which nothing outside of this file sees.
type (
	storedEvent struct {
		Version int `json:"v"`
		eventFields
	}
	eventFields struct {
		ID           string            `json:"-"`
		Type         Type              `json:"type"`
		Conversation string            `json:"conversation,omitempty"`
		Request      string            `json:"request,omitempty"`
		Text         string            `json:"text,omitempty"`
		Source       string            `json:"source,omitempty"`
		Kind         string            `json:"kind,omitempty"`
		Ranges       []agent.TextRange `json:"spans,omitempty"`
		Model        string            `json:"model,omitempty"`
		CallID       string            `json:"callId,omitempty"`
		Tool         string            `json:"tool,omitempty"`
		Server       string            `json:"server,omitempty"`
		Message      string            `json:"message,omitempty"`
		Args         json.RawMessage   `json:"args,omitempty"`
		Data         json.RawMessage   `json:"-"`
		Warnings     []agent.Warning   `json:"warnings,omitempty"`
		Code         string            `json:"code,omitempty"`
		Usage        *agent.Usage      `json:"usage,omitempty"`
		Confirmation string            `json:"confirmation,omitempty"`
		Status       string            `json:"status,omitempty"`
		At           time.Time         `json:"at,omitzero"`
		Expires      time.Time         `json:"expires,omitzero"`
	}
)

// MarshalBinary writes the event as a log keeps it: a line of JSON, and after it
// the data as it is, which is large and already encoded.
func (e Event) MarshalBinary() ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false) // shorter, and no browser reads it
	if err := enc.Encode(storedEvent{eventVersion, eventFields(e)}); err != nil {
		return nil, err
	}
	b.Write(e.Data)
	return b.Bytes(), nil
}

// UnmarshalBinary reads what MarshalBinary wrote. An event of another version is
// an error that says so.
func (e *Event) UnmarshalBinary(b []byte) error {
	line, data, ok := bytes.Cut(b, []byte("\n"))
	if !ok {
		return unreadableEvent("it has no line")
	}
	var stored storedEvent
	if err := json.Unmarshal(line, &stored); err != nil {
		return unreadableEvent("it is damaged").Because(err)
	}
	if stored.Version != eventVersion {
		return unreadableEvent(fmt.Sprintf("its format is version %d and this program reads version %d", stored.Version, eventVersion))
	}
	*e = Event(stored.eventFields)
	if len(data) > 0 {
		e.Data = data
	}
	return nil
}

func unreadableEvent(reason string) *fault.Error {
	return unreadable.New("An event cannot be read: %s.", reason).
		Instruct("Read the conversation again and follow it from its lastEventId.")
}

// withAdvice is what a person reads of a failed turn: why, and what to do, where that is
// of this failure and not of its code. A code's advice is for programs.
func withAdvice(f *fault.Error) string {
	message, advice := f.ForPeople()
	if advice == f.Code.Suggest {
		return message
	}
	return strings.TrimSpace(message + " " + advice)
}

// EventOf makes the event of a turn's step. ok is false for steps that have
// none of their own.
func (l Limits) EventOf(e agent.Event) (event Event, ok bool) {
	switch e := e.(type) {
	case agent.TextDelta:
		return Event{Type: Text, Text: e.Text, Source: e.Source}, true
	case agent.Note:
		return Event{Type: Note, Kind: e.Kind, Text: e.Text, Ranges: e.Ranges}, true
	case agent.ToolStarted:
		return Event{
			Type: ToolStarted, CallID: e.Call.ID, Tool: e.Call.Tool, Server: e.Server, Args: argsOf(e.Call),
			Message: displayName(e.Call.Tool) + "…",
		}, true
	case agent.ToolProgress:
		return Event{Type: ToolProgress, CallID: e.Call.ID, Tool: e.Call.Tool, Server: e.Server, Message: progress(e)}, true
	case agent.ToolFinished:
		return l.finished(e), true
	case agent.Pending:
		return Event{Type: Pending, Server: e.Server, Data: result.EncodeEnvelope(e.Outcome)}, true
	case agent.Truncated:
		return Event{Type: Truncated, Tool: e.Tool, Text: e.Hint}, true
	case agent.Unavailable:
		return Event{Type: Unavailable, Warnings: e.Warnings}, true
	case agent.Failed:
		f := e.Outcome.Fault()
		return Event{Type: Failed, Text: withAdvice(f), Code: f.Code.Name}, true
	case agent.Done:
		return Event{Type: Stopped, Usage: usageOf(e.Usage)}, true
	}
	return Event{}, false // Started: the turn wrote it before
}

func (l Limits) finished(e agent.ToolFinished) Event {
	event := Event{Type: ToolFinished, CallID: e.Call.ID, Tool: e.Call.Tool, Server: e.Server, Message: summary(e)}
	if e.Outcome.Pending() == nil { // that envelope is an event of its own
		event.Data = result.EncodeClipped(e.Outcome, l.Rows, l.Data)
	}
	return event
}

// displayName is a tool's name for people: list_employees is "List employees". A connected
// server's tool keeps the name of its server: "notes.add note".
func displayName(tool string) string {
	words := strings.ReplaceAll(tool, "_", " ")
	if words == "" || strings.Contains(words, ".") {
		return words
	}
	return strings.ToUpper(words[:1]) + words[1:]
}

// summary says the call's outcome in a line. Why a server refused what a model asked is for
// the answer to say: the model may have guessed, and asks better next.
func summary(e agent.ToolFinished) string {
	o, name := e.Outcome, displayName(e.Call.Tool)
	switch f := o.Fault(); {
	case f != nil && (f.Kind() == fault.Invalid || f.Kind() == fault.NotFound):
		return name + ": refused"
	case f != nil:
		message, _ := f.ForPeople()
		return message
	case o.Pending() != nil:
		return name + " waits for your approval"
	case o.Page() == nil:
		return name + ": answered"
	case o.Page().Returned == 1:
		return name + ": 1 row"
	}
	return fmt.Sprintf("%s: %d rows", name, o.Page().Returned)
}

// maxProgress bounds the characters of a server's words about its progress.
const maxProgress = 200

// progress says how far a call has come, in its server's words if it has some.
func progress(e agent.ToolProgress) string {
	p := e.Progress
	if words := []rune(p.Message); len(words) > maxProgress {
		return string(words[:maxProgress]) + "…"
	} else if len(words) > 0 {
		return p.Message
	}
	message := fmt.Sprintf("%s… %s", displayName(e.Call.Tool), strconv.FormatFloat(p.Done, 'f', -1, 64))
	if p.Total > 0 {
		message += " of " + strconv.FormatFloat(p.Total, 'f', -1, 64)
	}
	return message
}

// argsOf returns the arguments of a call, unless a model wrote no JSON.
func argsOf(c agent.Call) json.RawMessage {
	if !json.Valid(c.Args) {
		return nil
	}
	return c.Args
}

func usageOf(u agent.Usage) *agent.Usage {
	if u == (agent.Usage{}) {
		return nil
	}
	return &u
}
