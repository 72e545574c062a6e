// Package speak writes answers: names, values, rows and figures in sentences. It
// draws no tables, because the page and the terminal draw the rows themselves;
// alone, its text names up to ten rows and the figures that were asked for.
package speak

import (
	"bytes"
	"encoding/json"
	"strings"

	"countersign.dev/internal/agent"
	"countersign.dev/internal/result"
)

// Answer is the outcome of a call.
type Answer struct {
	Tool    string
	Args    map[string]any
	Failed  bool
	Pending bool
	Code    string
	Message string
	Advice  string
	Data    any // Row, []any, string, json.Number, bool or nil
	More    bool
	Next    string
	Hint    string
}

// Row is a JSON object in its own order.
type Row struct {
	Keys   []string
	Values map[string]any
}

// NewAnswer reads the result of a call. Marks around untrusted text are taken
// off: here it is only shown.
func NewAnswer(call agent.Call, res agent.CallResult) *Answer {
	a := &Answer{Tool: call.Tool, Args: map[string]any{}, Failed: res.Failed}
	_ = json.Unmarshal(call.Args, &a.Args) // the planner wrote them
	o, err := result.DecodeEnvelope(res.Answer)
	if err != nil { // another dialect: all of it is data
		a.Data, a.Message = decode(res.Answer), string(res.Answer)
		return a
	}
	if a.Pending = o.Pending() != nil; o.Data() != nil {
		a.Data = decode(o.Data())
	}
	if f := o.Fault(); f != nil {
		a.Failed, a.Code, a.Message, a.Advice = true, f.Code.Name, result.Unmark(f.Message), result.Unmark(f.SuggestedAction)
	}
	if p := o.Page(); p != nil {
		a.More, a.Next, a.Hint = p.More, p.Next, p.Hint
	}
	return a
}

// Rows returns the rows of an answer: its data when that is an array, or the
// only array of objects in it.
func (a *Answer) Rows() (found []Row) {
	switch d := a.Data.(type) {
	case []any:
		return rowsOf(d)
	case Row:
		for _, k := range d.Keys {
			if list, ok := d.Values[k].([]any); ok {
				if found != nil {
					return nil
				}
				found = rowsOf(list)
			}
		}
	}
	return found
}

func rowsOf(list []any) (out []Row) {
	for _, v := range list {
		if r, ok := v.(Row); ok {
			out = append(out, r)
		}
	}
	return out
}

// Listing is a list as far as it was read.
type Listing struct {
	Rows []Row
	Last *Answer
	More bool // the list goes on
}

// Thing is a thing that was looked up.
type Thing struct {
	ID   any
	Row  Row
	Name string
	Self bool // it is the person who asks
}

// decode reads JSON and keeps its numbers and the order of its objects. What is
// no JSON is a text; text that holds an object is read as one.
func decode(raw json.RawMessage) any {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	v, err := decodeNext(dec)
	if err != nil {
		return string(raw)
	}
	if text, ok := v.(string); ok && strings.HasPrefix(strings.TrimSpace(text), "{") {
		return decode(json.RawMessage(text))
	}
	return v
}

func decodeNext(dec *json.Decoder) (any, error) {
	tok, err := dec.Token()
	if err != nil {
		return nil, err
	}
	switch v := tok.(type) {
	case string:
		return result.Unmark(v), nil
	case json.Delim:
		return decodeInside(dec, v)
	}
	return tok, nil
}

func decodeInside(dec *json.Decoder, open json.Delim) (any, error) {
	list, r := []any{}, Row{Values: map[string]any{}}
	for dec.More() {
		key := ""
		if open == '{' {
			tok, err := dec.Token()
			if err != nil {
				return nil, err
			}
			key, _ = tok.(string)
		}
		v, err := decodeNext(dec)
		if err != nil {
			return nil, err
		}
		if _, twice := r.Values[key]; !twice {
			r.Keys = append(r.Keys, key)
		}
		r.Values[key] = v
		list = append(list, v)
	}
	if _, err := dec.Token(); err != nil || open == '{' {
		return r, err
	}
	return list, nil
}
