package result

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// Row is a JSON object in its own order. Its values are those of [ParseData].
type Row struct {
	Keys   []string
	Values map[string]any
}

// ParseData reads the data of an answer: a Row, []any, string, json.Number, bool
// or nil, so that objects keep their order and numbers their spelling.
func ParseData(raw json.RawMessage) (any, error) {
	return parseWith(raw, func(text string) string { return text })
}

// ParseMarked is [ParseData] for an answer as a model gets it: it takes the marks
// around untrusted text off.
func ParseMarked(raw json.RawMessage) (any, error) { return parseWith(raw, Unmark) }

func parseWith(raw json.RawMessage, read func(text string) string) (any, error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	return parse(d, read)
}

func parse(d *json.Decoder, read func(text string) string) (any, error) {
	token, err := d.Token()
	if text, ok := token.(string); ok {
		return read(text), err
	}
	open, isDelim := token.(json.Delim)
	if !isDelim || err != nil {
		return token, err
	}
	list, row := []any{}, Row{Values: map[string]any{}}
	for d.More() {
		if open == '{' {
			token, _ = d.Token() // a failure repeats when the value is read
			row.Keys = append(row.Keys, fmt.Sprint(token))
		}
		value, err := parse(d, read)
		if err != nil {
			return nil, err
		}
		if list = append(list, value); open == '{' {
			row.Values[fmt.Sprint(token)] = value
		}
	}
	if _, err = d.Token(); open == '{' {
		return row, err
	}
	return list, err
}
