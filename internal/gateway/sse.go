package gateway

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"

	"countersign.dev/internal/agent"
	"countersign.dev/internal/result"
)

// done closes the events of a turn, always last.
const done = "[DONE]"

// The data objects of a stream. Their shapes are promises to clients; a pending
// confirmation is the raw envelope.
type (
	startEvent struct {
		Type           string `json:"type"` // start
		ConversationID string `json:"conversationId"`
		Model          string `json:"model"`
	}
	textEvent struct {
		Type   string `json:"type"` // text
		Text   string `json:"text"`
		Source string `json:"source,omitempty"`
	}
	toolEvent struct {
		Type    string          `json:"type"`  // tool
		State   string          `json:"state"` // processing, complete
		Tool    string          `json:"tool"`
		Server  string          `json:"server"`
		Message string          `json:"message"`
		CallID  string          `json:"callId,omitempty"`
		Args    json.RawMessage `json:"args,omitempty"` // what a next page is asked for with
		Data    json.RawMessage `json:"data,omitempty"` // the envelope
	}
	truncationEvent struct {
		Type string `json:"type"` // truncation
		Tool string `json:"tool"`
		Hint string `json:"hint"`
	}
	unavailableEvent struct {
		Type     string          `json:"type"` // service_unavailable
		Warnings []agent.Warning `json:"warnings"`
	}
	errorEvent struct {
		Type  string `json:"type"` // error
		Error string `json:"error"`
		Code  string `json:"code"`
	}
	stopEvent struct {
		Type  string       `json:"type"` // stop
		Usage *agent.Usage `json:"usage,omitempty"`
	}
	messageEvent struct { // an outcome, whenever it comes
		Type           string     `json:"type"` // message
		Role           agent.Role `json:"role"` // system
		Content        string     `json:"content"`
		ConfirmationID string     `json:"confirmationId"`
		At             time.Time  `json:"at"`
	}
)

// encoder draws a turn's events.
type encoder struct {
	rows, bytes int // of a tool's answer
}

// encode draws one event as data objects; none for what is told otherwise.
func (c encoder) encode(e agent.Event) [][]byte {
	switch e := e.(type) {
	case agent.TextDelta:
		return one(textEvent{"text", e.Text, e.Source})
	case agent.ToolStarted:
		return one(toolEvent{
			Type: "tool", State: "processing", Tool: e.Call.Tool, Server: e.Server,
			Message: "Calling " + e.Call.Tool + "…", CallID: e.Call.ID, Args: argsOf(e.Call),
		})
	case agent.ToolFinished:
		return one(c.finished(e))
	case agent.Pending:
		return [][]byte{result.EncodeEnvelope(e.Outcome)}
	case agent.Truncated:
		return one(truncationEvent{"truncation", e.Tool, e.Hint})
	case agent.Unavailable:
		return one(unavailableEvent{"service_unavailable", e.Warnings})
	case agent.Failed:
		return one(errorEvent{"error", e.Outcome.Fault().Message, e.Outcome.Fault().Code.Name})
	case agent.Done:
		return append(one(stopEvent{"stop", usageOf(e.Usage)}), []byte(done))
	}
	return nil // Started: the gateway opened the stream itself
}

func (c encoder) finished(e agent.ToolFinished) toolEvent {
	t := toolEvent{Type: "tool", State: "complete", Tool: e.Call.Tool, Server: e.Server, CallID: e.Call.ID, Message: summary(e)}
	if e.Outcome.Pending() == nil { // that envelope follows by itself
		t.Data = result.EncodeClipped(e.Outcome, c.rows, c.bytes)
	}
	return t
}

// summary says in a line what a call came to.
func summary(e agent.ToolFinished) string {
	o := e.Outcome
	switch {
	case o.Fault() != nil:
		return o.Fault().Message
	case o.Pending() != nil:
		return e.Call.Tool + " waits for your approval"
	case o.Page() == nil:
		return e.Call.Tool + " answered"
	case o.Page().Returned == 1:
		return e.Call.Tool + " found 1 row"
	}
	return fmt.Sprintf("%s found %d rows", e.Call.Tool, o.Page().Returned)
}

func argsOf(c agent.Call) json.RawMessage {
	if !json.Valid(c.Args) { // a model's slip must not spoil the event
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

func one(v any) [][]byte { return [][]byte{object(v)} }

// object encodes a data object, as short as it gets: these are no web pages, so
// < and > may stay. Our own types with valid JSON inside cannot fail.
func object(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}
