package gateway

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"countersign.dev/internal/agent"
)

func TestEntriesAreReadAsTheyWereStored(t *testing.T) {
	e := entry{
		At: time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC), Model: "m", Servers: map[string]string{"list_animals": "zoo"},
		Message: agent.Message{Role: agent.Assistant, Parts: []agent.Part{
			agent.Opaque{Provider: "acme", Model: "acme-1", Data: json.RawMessage(`{ "a" : "<" }`)},
			agent.Text("Leo <lives> here."),
			agent.Call{ID: "1", Tool: "list_animals", Args: json.RawMessage(`{"cut":`)}, // models make mistakes
			agent.CallResult{ID: "1", Tool: "list_animals", Answer: json.RawMessage(`{"n": 1.10}`), Failed: true, Guarded: true},
		}},
	}
	b, err := encodeEntry(e)
	if err != nil {
		t.Fatal(err)
	}
	got, err := decodeEntry(b)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(e, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}
