package result

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"countersign.dev/internal/fault"
	"countersign.dev/internal/strictjson"
)

// Envelope is the answer of a tool on the wire (documents 000 and 003).
// [EncodeEnvelope] makes it from an outcome, [DecodeEnvelope] reads it.
type Envelope struct {
	Status           string          `json:"status"`
	Data             json.RawMessage `json:"data,omitempty"`
	Metadata         *Metadata       `json:"metadata,omitempty"`
	Code             string          `json:"code,omitempty"`
	Message          string          `json:"message,omitempty"`
	SuggestedAction  string          `json:"suggestedAction,omitempty"`
	Details          map[string]any  `json:"details,omitempty"`
	People           *fault.Words    `json:"people,omitempty"` // what people read of an error, where that is something else
	ConfirmationID   string          `json:"confirmationId,omitempty"`
	ConfirmationData PreviewData     `json:"confirmationData,omitempty"`
}

// Metadata is set on every list, complete or not. Truncated, TotalCount and
// Warning are document 003's older names of HasMore, TotalEstimate and Hint. On the
// last page of several there is no estimate, since no page knows how many rows the
// others had, and no warning: the hint says that these are the last.
type Metadata struct {
	HasMore       bool   `json:"hasMore"`
	ReturnedCount int    `json:"returnedCount"`
	NextCursor    string `json:"nextCursor,omitempty"`
	TotalEstimate string `json:"totalEstimate,omitempty"`
	Hint          string `json:"hint,omitempty"`
	Truncated     bool   `json:"truncated"`
	TotalCount    string `json:"totalCount,omitempty"`
	Warning       string `json:"warning,omitempty"`
	NextOffset    int    `json:"nextOffset,omitempty"` // offset pages: where the next one begins
}

// EncodeEnvelope writes an outcome as documents 000 and 003 have it.
func EncodeEnvelope(o Outcome) json.RawMessage {
	if o.raw != nil {
		return o.raw
	}
	if len(o.of.data) > 0 {
		return encodeSuccess(o.of)
	}
	return marshal(envelopeOf(o))
}

// encodeSuccess puts data that is encoded already into an envelope, without
// reading it again. It writes what marshal would.
func encodeSuccess(s success) json.RawMessage {
	const head, middle = `{"status":"` + StatusSuccess + `","data":`, `,"metadata":`
	var metadata json.RawMessage
	if s.page != nil {
		metadata, _ = json.Marshal(metadataOf(s.page)) // texts, numbers and booleans always encode
	}
	b := make([]byte, 0, len(head)+len(s.data)+len(middle)+len(metadata)+1)
	b = append(append(b, head...), s.data...)
	if metadata != nil {
		b = append(append(b, middle...), metadata...)
	}
	return append(b, '}')
}

func marshal(e Envelope) json.RawMessage {
	b, err := json.Marshal(e)
	if err != nil { // only details or card data can fail, and they are ours
		b, _ = json.Marshal(envelopeOf(Failed(fmt.Errorf("encoding an outcome: %w", err))))
	}
	return b
}

func envelopeOf(o Outcome) Envelope {
	switch v := o.is.(type) {
	case succeeded:
		return Envelope{Status: StatusSuccess, Data: o.of.data, Metadata: metadataOf(o.of.page)}
	case *Pending:
		return Envelope{Status: StatusPending, ConfirmationID: v.ID, Message: v.Message, ConfirmationData: v.Data}
	case *Denied:
		return Envelope{Status: StatusCancelled, Message: v.Message}
	}
	f := o.Fault()
	return Envelope{Status: StatusError, Code: f.Code.Name, Message: f.Message, SuggestedAction: f.SuggestedAction, Details: f.Details, People: f.People}
}

func metadataOf(p *Page) *Metadata {
	if p == nil {
		return nil
	}
	m := &Metadata{HasMore: p.More, ReturnedCount: p.Returned, Truncated: p.More, NextCursor: p.Next, Hint: p.Hint, Warning: p.Hint}
	switch {
	case !p.More && (!p.Later || p.Before > 0):
		m.TotalEstimate = strconv.Itoa(p.Before + p.Returned)
	case p.More && p.Limit > 0:
		m.TotalEstimate = strconv.Itoa(p.Before+p.Limit) + "+"
	}
	if p.Later && !p.More {
		m.Hint = p.ending()
	}
	if p.Counted {
		m.TotalEstimate = strconv.Itoa(p.Total)
	}
	if p.Counted && p.More {
		m.NextOffset = p.Offset + p.Returned
	}
	m.TotalCount = m.TotalEstimate
	m.Hint = strings.TrimSpace(p.Remark + " " + m.Hint)
	return m
}

// DecodeEnvelope reads an envelope that another server wrote. The outcome keeps
// the bytes, so that encoding it again changes nothing; they must not be changed
// later. Bytes that are not an envelope are an error.
func DecodeEnvelope(raw json.RawMessage) (Outcome, error) {
	if o, ok := readSuccess(raw); ok {
		return o.WithRaw(raw), nil
	}
	return decodeEnvelope(raw)
}

// readSuccess reads the envelope of a success in one pass, in which all of it is
// checked to be JSON. The data is not decoded: it stays a span of raw. ok is false
// for any other text, also for one that encoding/json would read as a success.
func readSuccess(raw json.RawMessage) (_ Outcome, ok bool) {
	var status, data, metadata json.RawMessage
	ok = strictjson.Members(raw, func(name, value []byte) bool {
		var part *json.RawMessage
		switch string(name) {
		case "status":
			part = &status
		case "data":
			part = &data
		case "metadata":
			part = &metadata
		}
		if part == nil || *part != nil {
			return false
		}
		*part = slices.Clip(value)
		return true
	})
	if !ok || string(status) != `"`+StatusSuccess+`"` || data == nil {
		return Outcome{}, false
	}
	page, ok := readPage(metadata)
	return Success(data, page, ""), ok
}

// readPage reads the metadata of a success; without any, there is no page.
func readPage(metadata json.RawMessage) (*Page, bool) {
	if metadata == nil {
		return nil, true
	}
	var m *Metadata
	err := json.Unmarshal(metadata, &m)
	return m.page(), err == nil
}

// decodeEnvelope decodes an envelope of any kind.
func decodeEnvelope(raw json.RawMessage) (Outcome, error) {
	var e Envelope
	if err := json.Unmarshal(raw, &e); err != nil {
		return Outcome{}, fmt.Errorf("reading an envelope: %w", err)
	}
	o, err := e.outcome()
	if err != nil {
		return Outcome{}, err
	}
	return o.WithRaw(raw), nil
}

func (e *Envelope) outcome() (Outcome, error) {
	switch e.Status {
	case StatusSuccess:
		return Success(e.Data, e.Metadata.page(), ""), nil
	case StatusPending:
		p := Pending{ID: e.ConfirmationID, Message: e.Message, Data: e.ConfirmationData}
		if n, ok := e.ConfirmationData["expiresAt"].(json.Number); ok {
			if ms, err := n.Int64(); err == nil {
				p.Expires = time.UnixMilli(ms)
			}
		}
		return Waiting(p), nil
	case StatusCancelled:
		return Cancelled(e.Message), nil
	case StatusError:
		return Failed(&fault.Error{Code: codeNamed(e.Code), Message: e.Message, SuggestedAction: e.SuggestedAction, Details: e.Details, People: e.People}), nil
	}
	return Outcome{}, fmt.Errorf("reading an envelope: unknown status %q", e.Status)
}

func (m *Metadata) page() *Page {
	if m == nil {
		return nil
	}
	p := &Page{Returned: m.ReturnedCount, More: m.HasMore, Next: m.NextCursor, Later: !m.HasMore && m.TotalEstimate == ""}
	if m.NextOffset > 0 {
		p.Offset, p.Counted = m.NextOffset-m.ReturnedCount, true
		p.Total, _ = strconv.Atoi(m.TotalCount) // another text is no number of rows
	}
	if total, _ := strconv.Atoi(m.TotalEstimate); !m.HasMore && total > m.ReturnedCount {
		p.Later, p.Before = true, total-m.ReturnedCount
	}
	if !m.HasMore && !p.Later {
		p.Remark = m.Hint
	}
	if m.HasMore {
		p.Hint = cmp.Or(m.Hint, m.Warning)
		p.Limit, _ = strconv.Atoi(strings.TrimSuffix(m.TotalEstimate, "+")) // another estimate is none
	}
	return p
}

// PreviewData is the data of a pending confirmation on the wire. Its numbers keep their
// spelling, so that encoding it again changes none.
type PreviewData map[string]any

// UnmarshalJSON reads numbers as [json.Number].
func (c *PreviewData) UnmarshalJSON(raw []byte) error {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	return d.Decode((*map[string]any)(c))
}

// codeNamed returns the shared code of the name, or makes one for a code that another server
// declares. An envelope has no kinds: the name says that of what does not exist.
func codeNamed(name string) *fault.Code {
	for _, c := range fault.Shared() {
		if c.Name == name {
			return c
		}
	}
	kind := fault.Invalid
	if strings.HasSuffix(name, "_NOT_FOUND") {
		kind = fault.NotFound
	}
	return &fault.Code{Name: name, Kind: kind, Status: 200, Meaning: "Declared by another server."}
}
