package oracle_test

import (
	"testing"

	"countersign.dev/internal/testkit/oracle"
)

// Only what the reader sent is removed: a row, a card and another refusal stay.
func TestWithoutOwnInput(t *testing.T) {
	const refused = `{"status":"error","code":"EMPLOYEE_NOT_FOUND","details":{"employee_id":"1"}}`
	for given, want := range map[string]string{
		`{"args":{"a":{"b":1}},"tool":"t"}`: `{"tool":"t"}`,
		refused:                             `{"code":"EMPLOYEE_NOT_FOUND","status":"error"}`,
		`{"code":"EMPLOYEE_HAS_REPORTS","details":{"employee_id":"1"}}`:   `{"code":"EMPLOYEE_HAS_REPORTS","details":{"employee_id":"1"}}`,
		`{"content":"{\"employee_id\":\"1\",\"salary\":1500000}"}`:        `{"content":{"employee_id":"1","salary":1500000}}`,
		`{"messages":[{"text":"{} is no record"}]}`:                       `{"messages":[{"text":"{} is no record"}]}`,
		"event: tool\ndata: {\"data\":" + refused + "}\n\ndata: [DONE]\n": "event: tool\ndata: {\"data\":{\"code\":\"EMPLOYEE_NOT_FOUND\",\"status\":\"error\"}}\n\ndata: [DONE]\n",
	} {
		if got, err := oracle.WithoutOwnInput(given); err != nil || got != want {
			t.Errorf("%s: got %s, %v; want %s", given, got, err, want)
		}
	}
	for _, broken := range []string{"data: {\n", `{"a":1} {"b":2}`, "data: {}{}\n"} {
		if got, err := oracle.WithoutOwnInput(broken); err == nil {
			t.Errorf("%q: got %q", broken, got)
		}
	}
}
