package oracle

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
)

// WithoutOwnInput decodes an answer and removes what it repeats of its reader's own
// input: the arguments of calls, and what the refusal of an unknown id is about. It
// takes JSON or an event stream of it; texts that are JSON, such as the stored
// result of a tool, are read too. What cannot be decoded is an error.
func WithoutOwnInput(answer string) (string, error) {
	if !strings.HasPrefix(answer, "{") {
		return eventsWithoutOwnInput(answer)
	}
	decoded, err := decode(answer)
	if err != nil {
		return "", err
	}
	return encode(withoutOwn(decoded))
}

func eventsWithoutOwnInput(stream string) (string, error) {
	var kept strings.Builder
	for line := range strings.Lines(stream) {
		data, ok := strings.CutPrefix(strings.TrimSpace(line), "data: ")
		if !ok || data == "[DONE]" {
			kept.WriteString(line)
			continue
		}
		event, err := WithoutOwnInput(data)
		if err != nil {
			return "", fmt.Errorf("the event %s: %w", data, err)
		}
		kept.WriteString("data: " + event + "\n")
	}
	return kept.String(), nil
}

func withoutOwn(v any) any {
	switch v := v.(type) {
	case map[string]any:
		code, _ := v["code"].(string)
		for key, part := range v {
			if key == "args" || key == "details" && strings.HasSuffix(code, "_NOT_FOUND") {
				delete(v, key)
				continue
			}
			v[key] = withoutOwn(part)
		}
	case []any:
		for i := range v {
			v[i] = withoutOwn(v[i])
		}
	case string:
		if inner, err := decode(v); err == nil && strings.HasPrefix(v, "{") {
			return withoutOwn(inner)
		}
	}
	return v
}

// decode reads one value; numbers stay as they are written.
func decode(text string) (v any, err error) {
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		return nil, err
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, fmt.Errorf("more than one value in %.40q", text)
	}
	return v, nil
}

func encode(v any) (string, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return strings.TrimSpace(b.String()), err
}
