package record

import (
	"encoding/json"
	"slices"
	"testing"

	"countersign.dev/internal/fault"
)

// TestEveryChangeOfStatus tries each status after each other one.
func TestEveryChangeOfStatus(t *testing.T) {
	allowed := map[string]string{
		"todo":          `["in_progress","blocked","cancelled","to_be_deleted"]`,
		"in_progress":   `["blocked","done","cancelled","to_be_deleted"]`,
		"blocked":       `["in_progress","cancelled","to_be_deleted"]`,
		"done":          `[]`,
		"cancelled":     `[]`,
		"to_be_deleted": `[]`,
	}
	for from, list := range allowed {
		var next []string
		if err := json.Unmarshal([]byte(list), &next); err != nil {
			t.Fatal(err)
		}
		for to := range allowed {
			err := CheckTransition(7, from, to)
			if from == to || slices.Contains(next, to) {
				if err != nil {
					t.Errorf("%s to %s: %v", from, to, err)
				}
				continue
			}
			if err == nil {
				t.Errorf("%s to %s is no error", from, to)
				continue
			}
			f := fault.From(err)
			if got, _ := json.Marshal(f.Details["allowed"]); f.Code != ErrTransition || string(got) != list || f.Details["from"] != from || f.Details["to"] != to || f.Details["task_id"] != int64(7) {
				t.Errorf("%s to %s: got %s %v", from, to, f.Code.Name, f.Details)
			}
		}
	}
}
