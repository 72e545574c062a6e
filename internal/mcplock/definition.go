package mcplock

import (
	"bytes"
	"encoding/json"

	"countersign.dev/internal/result"
)

// Definition is what a server says about one tool, as far as it is pinned.
type Definition struct {
	Title        string             `json:"title,omitempty"`
	Description  string             `json:"description"`
	InputSchema  json.RawMessage    `json:"inputSchema,omitempty"`
	OutputSchema json.RawMessage    `json:"outputSchema,omitempty"`
	Annotations  result.Annotations `json:"annotations"`
}

// sorted writes JSON with sorted names, so that an order means nothing.
func sorted(raw json.RawMessage) json.RawMessage {
	if len(raw) == 0 {
		return nil
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var value any
	if d.Decode(&value) != nil {
		return raw
	}
	out, err := json.Marshal(value)
	if err != nil {
		return raw
	}
	return out
}
