package audit_test

import (
	"encoding/json"
	"strings"
	"testing"

	"countersign.dev/internal/audit"
)

// TestOnlyIDsAreKeptOfArguments: texts that people wrote are none, whatever they are called.
func TestOnlyIDsAreKeptOfArguments(t *testing.T) {
	for arguments, want := range map[string]string{
		`{"employee_id":"e1-7","new_salary":5,"reason":"because"}`: "e1-7",
		`{"task_id":7,"entityId":"a_b","id":"K:1"}`:                "7 K:1 a_b",
		`{"note_id":"two words","name":"Ann","paid":"yes"}`:        "",
		`{"long_id":"` + strings.Repeat("x", 65) + `","id":""}`:    "",
		`{"list_id":["a"],"object_id":{"id":"b"},"no_id":null}`:    "",
		`[1]`: "", ``: "",
	} {
		if got := audit.RowsOf(json.RawMessage(arguments)); got != want {
			t.Errorf("%s: got %q, want %q", arguments, got, want)
		}
	}
}
