package mcpserver

import (
	"encoding/json"
	"testing"

	"countersign.dev/internal/strictjson"
)

func FuzzUnwrap(f *testing.F) {
	for _, s := range []string{`{}`, `{"input":{"a":1},"userContext":{"username":"x"}}`, `{"a":1,"userContext":null}`, `{"input":1}`, `[]`, `null`, `{"input":{},"b":2}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		if strictjson.Check(body) != nil {
			return // the gate lets nothing else through
		}
		input, _, err := unwrap(body)
		if err != nil {
			return
		}
		var fields map[string]json.RawMessage
		if err := json.Unmarshal(input, &fields); err != nil || fields == nil {
			t.Fatalf("got input %q of %q, want an object: %v", input, body, err)
		}
		if err := strictjson.Check(input); err != nil {
			t.Fatalf("got input %q of %q, want it as strict as the body: %v", input, body, err)
		}
	})
}

func TestCamel(t *testing.T) {
	for snake, want := range map[string]string{"employee_id": "employeeId", "a_b_c": "aBC", "limit": "limit", "q4_budget": "q4Budget"} {
		if got := camel(snake); got != want {
			t.Errorf("%s: got %s, want %s", snake, got, want)
		}
	}
}
