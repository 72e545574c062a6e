// Package dialect writes and reads the answers of a task server as its founding
// document has them: pages of limit and offset, and errors as objects with code,
// message and details. It also holds the budget of an answer in tokens. It knows no
// store and no person. Start with [Dialect] and [Fit].
package dialect

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"countersign.dev/internal/domain/tasks/record"
	"countersign.dev/internal/fault"
	"countersign.dev/internal/result"
	"countersign.dev/internal/schema/envelope"
	"countersign.dev/internal/tool"
)

// Dialect is the dialect of document 002: the data itself, a page, or an error. A
// change that waits, which that document does not know, is the envelope of the
// others.
type Dialect struct{}

type page struct {
	TotalCount    int             `json:"total_count"`
	ReturnedCount int             `json:"returned_count"`
	Limit         int             `json:"limit"`
	Offset        int             `json:"offset"`
	Items         json.RawMessage `json:"items"`
}

type failure struct {
	Error      failed `json:"error"`
	Suggestion string `json:"suggestion,omitempty"`
}

type failed struct {
	Code    string         `json:"code"`
	Message string         `json:"message"`
	Details map[string]any `json:"details"`
}

// Encode writes an outcome.
func (Dialect) Encode(o result.Outcome) json.RawMessage {
	switch p := o.Page(); {
	case o.Raw() != nil:
		return o.Raw()
	case p != nil:
		return encode(page{p.Total, p.Returned, p.Limit, p.Offset, o.Data()})
	case o.Data() != nil:
		return o.Data()
	case o.Pending() != nil || o.Denied() != nil:
		return result.EncodeEnvelope(o)
	}
	return encode(failureOf(o.Fault()))
}

func failureOf(f *fault.Error) failure {
	details := f.Details
	if details == nil {
		details = map[string]any{}
	}
	e := failure{Error: failed{f.Code.Name, f.Message, details}}
	switch f.Code {
	case record.ErrResponseSize: // the one suggestion that the document has
		e.Suggestion = f.SuggestedAction
	case fault.ValidationError:
		e.Error.Message = strings.TrimSuffix(e.Error.Message, ".") + ": " + f.SuggestedAction
	}
	return e
}

func encode(v any) json.RawMessage {
	b, err := json.Marshal(v)
	if err != nil { // only details can fail, and they are ours
		b, _ = json.Marshal(failureOf(fault.From(fmt.Errorf("encoding an outcome: %w", err))))
	}
	return b
}

// Decode reads what Encode wrote. A code that is not shared is an error of the
// caller's.
func (Dialect) Decode(raw json.RawMessage) (result.Outcome, error) {
	var shape struct {
		Status string  `json:"status"`
		Error  *failed `json:"error"`
		page
	}
	if err := json.Unmarshal(raw, &shape); err != nil {
		return result.Outcome{}, fmt.Errorf("reading an answer: %w", err)
	}
	switch {
	case shape.Error != nil && shape.Error.Code == "":
		return result.Outcome{}, errors.New("reading an answer: its error has no code")
	case shape.Error != nil:
		return result.Failed(&fault.Error{Code: codeNamed(shape.Error.Code), Message: shape.Error.Message, Details: shape.Error.Details}).WithRaw(raw), nil
	case shape.Status == result.StatusPending || shape.Status == result.StatusCancelled:
		return result.DecodeEnvelope(raw)
	case shape.Items != nil:
		p := &result.Page{Limit: shape.Limit, Returned: shape.ReturnedCount, Offset: shape.Offset, Total: shape.TotalCount, Counted: true, Later: shape.Offset > 0}
		p.More = p.Offset+p.Returned < p.Total
		return result.Success(shape.Items, p, "").WithRaw(raw), nil
	}
	return result.Success(raw, nil, "").WithRaw(raw), nil
}

func codeNamed(name string) *fault.Code {
	for _, c := range append(record.Codes(), fault.Shared()...) {
		if c.Name == name {
			return c
		}
	}
	return &fault.Code{Name: name, Kind: fault.Invalid, Status: 200}
}

type object = map[string]any

// Schema describes the answer of a tool.
func (Dialect) Schema(d envelope.Described) map[string]any {
	text, count := object{"type": "string"}, object{"type": "integer", "minimum": 0}
	data := d.Data
	if d.Kind == result.List {
		data = object{
			"type": "object", "title": "Page",
			"properties": object{"total_count": count, "returned_count": count, "limit": count, "offset": count, "items": d.Data},
			"required":   []string{"total_count", "returned_count", "limit", "offset", "items"},
		}
	}
	code := object{"type": "string"}
	if d.Codes != nil {
		code["enum"] = d.Codes
	}
	branches := []any{data, object{
		"type": "object", "title": "Error", "required": []string{"error"},
		"properties": object{"suggestion": text, "error": object{
			"type": "object", "required": []string{"code", "message", "details"},
			"properties": object{"code": code, "message": text, "details": object{"type": "object"}},
		}},
	}}
	if d.Kind == result.Write {
		branches = append(branches, object{
			"type": "object", "title": "Pending", "required": []string{"status", "confirmationId", "message", "confirmationData"},
			"properties": object{"status": object{"const": result.StatusPending}, "confirmationId": text, "message": text, "confirmationData": object{"type": "object"}},
		}, object{
			"type": "object", "title": "Denied", "required": []string{"status", "message"},
			"properties": object{"status": object{"const": result.StatusCancelled}, "message": text},
		})
	}
	schema := object{"type": "object", "oneOf": branches}
	if len(d.Definitions) > 0 {
		schema["$defs"] = d.Definitions
	}
	return schema
}

var _ tool.Dialect = Dialect{}
