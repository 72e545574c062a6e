package chat

import (
	"context"
	"encoding/json"
	"iter"
	"slices"
	"strings"
	"time"

	"countersign.dev/internal/agent"
	"countersign.dev/internal/conversation"
	"countersign.dev/internal/fault"
	"countersign.dev/internal/gate"
	"countersign.dev/internal/httpx"
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
	noteEvent struct {
		Type   string            `json:"type"` // note
		Kind   string            `json:"kind"`
		Ranges []agent.TextRange `json:"spans,omitempty"`
		Text   string            `json:"text"`
	}
	toolEvent struct {
		Type    string          `json:"type"`  // tool
		State   string          `json:"state"` // processing, complete
		Tool    string          `json:"tool"`
		Server  string          `json:"server"`
		Message string          `json:"message"`
		CallID  string          `json:"callId,omitempty"`
		Args    json.RawMessage `json:"args,omitempty"` // what a next page is asked for with
		// and data, the envelope: withData adds it
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
		Type   string           `json:"type"`             // stop
		Reason string           `json:"reason,omitempty"` // cancelled, when the person stopped it
		Usage  *agent.UsageView `json:"usage,omitempty"`
	}
	messageEvent struct { // an outcome, whenever it comes
		Type           string     `json:"type"` // message
		Role           agent.Role `json:"role"` // system
		Content        string     `json:"content"`
		ConfirmationID string     `json:"confirmationId"`
		At             time.Time  `json:"at"`
	}
)

// dataOf encodes an event as a data object.
func dataOf(e conversation.Event) []byte {
	switch e.Type {
	case conversation.Started:
		return httpx.Compact(startEvent{"start", e.Conversation, e.Model})
	case conversation.Text:
		return httpx.Compact(textEvent{"text", e.Text, e.Source})
	case conversation.Note:
		return httpx.Compact(noteEvent{"note", e.Kind, e.Ranges, e.Text})
	case conversation.ToolStarted:
		return httpx.Compact(toolEvent{"tool", "processing", e.Tool, e.Server, e.Message, e.CallID, e.Args})
	case conversation.ToolProgress:
		return httpx.Compact(toolEvent{"tool", "processing", e.Tool, e.Server, e.Message, e.CallID, nil})
	case conversation.ToolFinished:
		return withData(httpx.Compact(toolEvent{"tool", "complete", e.Tool, e.Server, e.Message, e.CallID, nil}), result.ForPeople(e.Data))
	case conversation.Pending:
		return e.Data
	case conversation.Truncated:
		return httpx.Compact(truncationEvent{"truncation", e.Tool, e.Text})
	case conversation.Unavailable:
		return httpx.Compact(unavailableEvent{"service_unavailable", e.Warnings})
	case conversation.Failed:
		return httpx.Compact(errorEvent{"error", e.Text, e.Code})
	case conversation.Stopped:
		return httpx.Compact(stopEvent{"stop", strings.ToLower(e.Code), e.Usage.View()})
	case conversation.Done:
		return []byte(done)
	case conversation.Answered:
		return httpx.Compact(messageEvent{"message", agent.System, e.Text, e.Confirmation, e.At})
	}
	return nil
}

// withData adds the field data, which is encoded already, to an object.
func withData(object []byte, data json.RawMessage) []byte {
	if len(data) == 0 {
		return object
	}
	return slices.Concat(object[:len(object)-1], []byte(`,"data":`), data, []byte("}"))
}

// send sends events until last returns true for one, the client leaves, the
// caller's right ends (with live), or the events end with an error. An error is
// sent without an id: a client resumes after the last event that has one.
func send(s *httpx.Stream, live context.Context, events iter.Seq2[conversation.Event, error], last func(conversation.Event) bool) error {
	for e, err := range events {
		if live.Err() != nil { // the caller's right has ended, or the client has disconnected
			if why := gate.Ended(live); why != nil {
				_ = ended(s, why)
			}
			return nil
		}
		if err != nil {
			return ended(s, err)
		}
		data := dataOf(e)
		if data == nil {
			continue
		}
		if s.Send(httpx.Event{ID: e.ID, Data: data}) != nil || last(e) {
			return nil // the client has left, or has everything
		}
	}
	return nil
}

// ended sends the error that ends a stream, if it has begun, and returns it.
func ended(s *httpx.Stream, err error) error {
	f := fault.From(err)
	if s != nil {
		_ = s.Send(httpx.Event{Data: httpx.Compact(errorEvent{"error", f.Message, f.Code.Name})})
		_ = s.Send(httpx.Event{Data: []byte(done)})
	}
	return f
}
