package tool_test

import (
	"encoding/json"
	"testing"

	"countersign.dev/internal/access"
	"countersign.dev/internal/audit"
	"countersign.dev/internal/audit/rowid"
	"countersign.dev/internal/testkit"
)

// TestRecordLeadsFromARowToItsCalls: to a list that showed it, and to a call that was
// refused when it named it, for its caller's role. What an input that is wrong holds is
// no id: it may be a secret that was typed into another field.
func TestRecordLeadsFromARowToItsCalls(t *testing.T) {
	h := newHarness(t, nil, someNotes(3)...)
	ann := testkit.As(t, "ann", access.Employee)
	h.Call(ann, "list_notes", json.RawMessage(`{"limit":2}`))
	h.Call(ann, "burn_note", json.RawMessage(`{"id":2}`))
	h.Call(ann, "get_note", json.RawMessage(`{"id":2,"nonsense":true}`))
	h.Call(ann, "get_note", json.RawMessage(`{"id":`))
	events := h.sink.Events()
	if len(events) != 4 {
		t.Fatalf("got %d events, want 4", len(events))
	}
	for id, want := range map[string]bool{"1": true, "2": true, "3": false} {
		if shown, sure := rowid.Held(events[0].Shown, id); shown != want || !sure {
			t.Errorf("note %s in a list of two: got %t, %t", id, shown, sure)
		}
	}
	for i, want := range []string{"", "2", "", ""} {
		if e := events[i]; e.Row != want || i > 0 && (e.Shown != "" || e.Outcome == "success") {
			t.Errorf("event %d names %q and shows %q, want %q: %+v", i, e.Row, e.Shown, want, e)
		}
	}
	if events[1].Kind != audit.Denial {
		t.Errorf("a call without the role is of kind %s", events[1].Kind)
	}
}
