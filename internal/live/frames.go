package live

import (
	"cmp"
	"encoding/json"
	"strconv"
	"strings"

	"countersign.dev/internal/agent"
	"countersign.dev/internal/conversation"
	"countersign.dev/internal/fault"
	"countersign.dev/internal/httpx"
	"countersign.dev/internal/result"
)

// frame is a message of the server. Seq is the number of the event that it shows,
// with which a client resumes: the SSE id of the same event is SEQ-0. It grows with
// each event; one without a frame of its own is skipped. A frame that shows no
// event of the conversation has none.
type frame struct {
	Type    string `json:"type"`
	Seq     int64  `json:"seq,omitempty"`
	Payload any    `json:"payload,omitempty"`
}

// The payloads. Their shapes are promises to clients; that of confirmation is the
// raw envelope of the pending change.
type (
	connectionPayload struct {
		State     string  `json:"state"` // connected, reconnected, reconnecting
		Message   string  `json:"message"`
		SessionID string  `json:"sessionId"`
		ClientID  string  `json:"clientId,omitempty"`
		Gap       bool    `json:"gap,omitempty"` // events are missing: read the conversation's messages
		Resume    *resume `json:"resume,omitempty"`
	}
	resume struct { // how to go on at any replica
		SessionID string `json:"sessionId"`
		After     int64  `json:"after"`
		InMS      int64  `json:"inMs"` // earliest
	}
	startPayload struct {
		RequestID string `json:"requestId,omitempty"`
		Text      string `json:"text"` // the question
		Model     string `json:"model"`
	}
	textPayload struct {
		Content string `json:"content"`
		Source  string `json:"source,omitempty"` // gateway: a line that the model left out
	}
	notePayload struct { // what the gateway corrects in the answer
		Kind   string            `json:"kind"`
		Ranges []agent.TextRange `json:"spans,omitempty"`
		Text   string            `json:"text"`
	}
	statusPayload struct {
		State   string          `json:"state"` // processing, complete
		Tool    string          `json:"tool,omitempty"`
		Server  string          `json:"server,omitempty"`
		CallID  string          `json:"callId,omitempty"`
		Message string          `json:"message"`
		Args    json.RawMessage `json:"args,omitempty"`
		Data    any             `json:"data,omitempty"` // the envelope of a call
	}
	truncatedData struct {
		Truncated bool   `json:"truncated"`
		Hint      string `json:"hint"`
	}
	unavailableData struct {
		Warnings []agent.Warning `json:"warnings"`
	}
	outcomePayload struct {
		ConfirmationID string `json:"confirmationId"`
		Status         string `json:"status"` // success, cancelled, or the code of a failure
		Message        string `json:"message"`
		ReplyTo        string `json:"replyTo,omitempty"` // id of the message that is answered
	}
	errorPayload struct {
		Code    string `json:"code"`
		Message string `json:"message"`
		Suggest string `json:"suggestedAction,omitempty"`
		RetryMS int64  `json:"retryAfterMs,omitempty"`
		ReplyTo string `json:"replyTo,omitempty"` // id of the message that is answered
	}
	endPayload struct {
		Reason string           `json:"reason,omitempty"` // cancelled, when the person stopped it
		Usage  *agent.UsageView `json:"usage,omitempty"`
	}
)

// frameOf encodes an event. ok is false for one that has no frame.
func frameOf(e conversation.Event) (f frame, ok bool) {
	f.Seq = seqOf(e.ID)
	switch e.Type {
	case conversation.Started:
		f.Type, f.Payload = "start", startPayload{e.Request, e.Text, e.Model}
	case conversation.Text:
		f.Type, f.Payload = "text", textPayload{e.Text, e.Source}
	case conversation.Note:
		f.Type, f.Payload = "note", notePayload{e.Kind, e.Ranges, e.Text}
	case conversation.ToolStarted, conversation.ToolProgress:
		f.Type, f.Payload = "status", statusPayload{"processing", e.Tool, e.Server, e.CallID, e.Message, e.Args, nil}
	case conversation.ToolFinished:
		f.Type, f.Payload = "status", statusPayload{"complete", e.Tool, e.Server, e.CallID, e.Message, nil, data(e.Data)}
	case conversation.Truncated:
		f.Type, f.Payload = "status", statusPayload{State: "complete", Tool: e.Tool, Message: e.Text, Data: truncatedData{true, e.Text}}
	case conversation.Unavailable:
		f.Type, f.Payload = "status", statusPayload{State: "complete", Message: "Some servers could not be used.", Data: unavailableData{e.Warnings}}
	case conversation.Pending:
		f.Type, f.Payload = "confirmation", e.Data
	case conversation.Answered:
		f.Type, f.Payload = "outcome", outcomePayload{e.Confirmation, e.Status, e.Text, ""}
	case conversation.Failed:
		f.Type, f.Payload = "error", errorPayload{Code: e.Code, Message: e.Text}
	case conversation.Stopped:
		f.Type, f.Payload = "end", endPayload{strings.ToLower(e.Code), e.Usage.View()}
	default:
		return frame{}, false
	}
	return f, true
}

// data is the envelope of a call, or nothing.
func data(envelope json.RawMessage) any {
	if len(envelope) == 0 {
		return nil
	}
	return result.ForPeople(envelope)
}

// errorFrame encodes a fault for a program that shows it to its person.
func errorFrame(f *fault.Error, replyTo string) frame {
	message, advice := f.ForPeople()
	return frame{Type: "error", Payload: errorPayload{f.Code.Name, message, cmp.Or(advice, f.SuggestedAction), f.RetryAfter.Milliseconds(), replyTo}}
}

func (f frame) encode() []byte { return httpx.Compact(f) }

// seqOf is the number in an event's id.
func seqOf(id string) int64 {
	number, _, _ := strings.Cut(id, "-")
	seq, _ := strconv.ParseInt(number, 10, 64) // the service made it
	return seq
}

// idOf is the id of the event with that number.
func idOf(seq int64) string { return strconv.FormatInt(seq, 10) + "-0" }
