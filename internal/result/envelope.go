package result

import (
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"countersign.dev/internal/fault"
)

// The values of an envelope's status.
const (
	StatusSuccess   = "success"
	StatusError     = "error"
	StatusPending   = "pending_confirmation"
	StatusCancelled = "cancelled" // only as the answer to a denial
)

// Envelope is the answer of a tool on the wire (documents 000 and 003). It
// stays plain data, so that a schema can be derived of it; [EncodeEnvelope] is
// the only way that it is made of an outcome.
type Envelope struct {
	Status           string          `json:"status"`
	Data             json.RawMessage `json:"data,omitempty"`
	Metadata         *Metadata       `json:"metadata,omitempty"`
	Code             string          `json:"code,omitempty"`
	Message          string          `json:"message,omitempty"`
	SuggestedAction  string          `json:"suggestedAction,omitempty"`
	Details          map[string]any  `json:"details,omitempty"`
	ConfirmationID   string          `json:"confirmationId,omitempty"`
	ConfirmationData map[string]any  `json:"confirmationData,omitempty"`
}

// Metadata stands on every list, complete or not. The last three fields are
// document 003's older names for the same facts.
type Metadata struct {
	HasMore       bool   `json:"hasMore"`
	ReturnedCount int    `json:"returnedCount"`
	NextCursor    string `json:"nextCursor,omitempty"`
	TotalEstimate string `json:"totalEstimate,omitempty"`
	Hint          string `json:"hint,omitempty"`
	Truncated     bool   `json:"truncated"`
	TotalCount    string `json:"totalCount,omitempty"`
	Warning       string `json:"warning,omitempty"`
}

// EncodeEnvelope writes an outcome as documents 000 and 003 have it.
func EncodeEnvelope(o Outcome) json.RawMessage {
	if o.Wire != nil {
		return o.Wire
	}
	b, err := json.Marshal(envelopeOf(o))
	if err != nil { // only details or card data can fail, and they are ours
		b, _ = json.Marshal(envelopeOf(Failed(fmt.Errorf("encoding an outcome: %w", err))))
	}
	return b
}

func envelopeOf(o Outcome) Envelope {
	switch {
	case o.Fault != nil:
		f := o.Fault
		return Envelope{Status: StatusError, Code: f.Code.Name, Message: f.Message, SuggestedAction: f.SuggestedAction, Details: f.Details}
	case o.Pending != nil:
		return Envelope{Status: StatusPending, ConfirmationID: o.Pending.ID, Message: o.Pending.Message, ConfirmationData: o.Pending.Data}
	}
	return Envelope{Status: StatusSuccess, Data: o.Data, Metadata: metadataOf(o.Page)}
}

func metadataOf(p *Page) *Metadata {
	if p == nil {
		return nil
	}
	m := &Metadata{HasMore: p.More, ReturnedCount: p.Returned, Truncated: p.More, NextCursor: p.Next}
	if !p.More {
		m.TotalEstimate = strconv.Itoa(p.Returned)
		m.TotalCount = m.TotalEstimate
		return m
	}
	m.TotalEstimate = strconv.Itoa(p.Limit) + "+"
	m.TotalCount = m.TotalEstimate
	m.Hint = fmt.Sprintf("Showing %d of %s %s. Results are incomplete.", p.Returned, m.TotalEstimate, p.Noun)
	if p.Narrow != "" {
		m.Hint += " Narrow by " + p.Narrow + "."
	}
	m.Warning = m.Hint
	return m
}

// DecodeEnvelope reads an envelope that another server wrote. The bytes are
// kept in Wire, so that passing the outcome on changes nothing. An answer that
// is no envelope is an error.
func DecodeEnvelope(raw json.RawMessage) (Outcome, error) {
	var e Envelope
	if err := json.Unmarshal(raw, &e); err != nil {
		return Outcome{}, fmt.Errorf("reading an envelope: %w", err)
	}
	o := Outcome{Wire: raw}
	switch e.Status {
	case StatusSuccess:
		o.Data, o.Message = e.Data, messageIn(e.Data)
		if m := e.Metadata; m != nil {
			o.Page = &Page{Returned: m.ReturnedCount, More: m.HasMore, Next: m.NextCursor}
		}
	case StatusPending:
		o.Pending = &Pending{ID: e.ConfirmationID, Message: e.Message, Data: e.ConfirmationData}
		if ms, ok := e.ConfirmationData["expiresAt"].(float64); ok {
			o.Pending.Expires = time.UnixMilli(int64(ms))
		}
	case StatusError:
		o.Fault = &fault.Error{Code: codeNamed(e.Code), Message: e.Message, SuggestedAction: e.SuggestedAction, Details: e.Details}
	default:
		return Outcome{}, fmt.Errorf("reading an envelope: unknown status %q", e.Status)
	}
	return o, nil
}

// messageIn finds the sentence that an applied write tells people.
func messageIn(data json.RawMessage) string {
	var said struct {
		Message string `json:"message"`
	}
	if len(data) == 0 || data[0] != '{' || json.Unmarshal(data, &said) != nil {
		return ""
	}
	return said.Message
}

// codeNamed gives a shared code, or one of the same name that another server
// declares for itself.
func codeNamed(name string) *fault.Code {
	for _, c := range fault.Shared() {
		if c.Name == name {
			return c
		}
	}
	return &fault.Code{Name: name, Kind: fault.Invalid, Status: 200, Meaning: "Declared by another server."}
}
