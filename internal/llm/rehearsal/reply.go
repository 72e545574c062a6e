package rehearsal

import (
	"bytes"
	"encoding/json"
	"strings"

	"countersign.dev/internal/agent"
)

// reply is what a call came to, as the planner reads it.
type reply struct {
	tool    string
	args    map[string]any
	failed  bool
	pending bool
	code    string
	message string
	advice  string
	data    any // row, []any, string, json.Number, bool or nil
	more    bool
	next    string
	hint    string
}

// row is a JSON object in its own order.
type row struct {
	keys   []string
	values map[string]any
}

func (r row) get(key string) any { return r.values[key] }

func readReply(call agent.Call, res agent.CallResult) *reply {
	out := &reply{tool: call.Tool, args: argsOf(call.Args), failed: res.Failed}
	v, err := decodeOrdered(res.Answer)
	if err != nil {
		out.data = string(res.Answer)
		return out
	}
	top, ok := v.(row)
	status, _ := top.get("status").(string)
	if !ok || !enveloped(top, status) {
		out.data = v
		return out
	}
	out.readEnvelope(top, status)
	return out
}

func enveloped(top row, status string) bool {
	switch status {
	case "success", "error", "pending_confirmation", "cancelled":
		return true
	}
	return len(top.keys) == 1 && top.values["error"] != nil
}

func (out *reply) readEnvelope(top row, status string) {
	if inner, ok := top.get("error").(row); ok {
		top, status = inner, "error"
	}
	out.pending = status == "pending_confirmation"
	out.failed = out.failed || status == "error"
	out.code, _ = top.get("code").(string)
	out.message, _ = top.get("message").(string)
	out.advice, _ = top.get("suggestedAction").(string)
	out.data = top.get("data")
	if text, ok := out.data.(string); ok && strings.HasPrefix(strings.TrimSpace(text), "{") {
		if v, err := decodeOrdered(json.RawMessage(text)); err == nil {
			out.data = v
		}
	}
	if meta, ok := top.get("metadata").(row); ok {
		out.more, _ = meta.get("hasMore").(bool)
		out.next, _ = meta.get("nextCursor").(string)
		out.hint, _ = meta.get("hint").(string)
	}
}

// rows returns the rows of an answer: its data when that is an array, or the
// only array of objects in it.
func (out *reply) rows() []row {
	switch d := out.data.(type) {
	case []any:
		return rowsOf(d)
	case row:
		var found []row
		for _, k := range d.keys {
			if list, ok := d.values[k].([]any); ok {
				if found != nil {
					return nil
				}
				found = rowsOf(list)
			}
		}
		return found
	}
	return nil
}

func rowsOf(list []any) []row {
	var out []row
	for _, v := range list {
		if r, ok := v.(row); ok {
			out = append(out, r)
		}
	}
	return out
}

// decodeOrdered reads JSON with its objects' order and its numbers kept, and
// takes the marks off text that nobody vouches for: here it is only shown.
func decodeOrdered(raw json.RawMessage) (any, error) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	return decodeNext(dec)
}

func decodeNext(dec *json.Decoder) (any, error) {
	tok, err := dec.Token()
	if err != nil {
		return nil, err
	}
	switch v := tok.(type) {
	case string:
		return agent.Unguard(v), nil
	case json.Delim:
		if v == '[' {
			return decodeArray(dec)
		}
		return decodeObject(dec)
	}
	return tok, nil
}

func decodeArray(dec *json.Decoder) (any, error) {
	list := []any{}
	for dec.More() {
		v, err := decodeNext(dec)
		if err != nil {
			return nil, err
		}
		list = append(list, v)
	}
	_, err := dec.Token()
	return list, err
}

func decodeObject(dec *json.Decoder) (any, error) {
	r := row{values: map[string]any{}}
	for dec.More() {
		tok, err := dec.Token()
		if err != nil {
			return nil, err
		}
		key, _ := tok.(string)
		v, err := decodeNext(dec)
		if err != nil {
			return nil, err
		}
		if _, twice := r.values[key]; !twice {
			r.keys = append(r.keys, key)
		}
		r.values[key] = v
	}
	_, err := dec.Token()
	return r, err
}

func argsOf(raw json.RawMessage) map[string]any {
	args := map[string]any{}
	_ = json.Unmarshal(raw, &args) // the planner wrote it
	return args
}

// callKey is the same for the same call, whoever encoded its arguments.
func callKey(tool string, args map[string]any) string {
	b, _ := json.Marshal(args) // keys sorted; plain values always encode
	return tool + " " + string(b)
}
