package conversation

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"countersign.dev/internal/fault"
)

func TestOwnCodesAreListed(t *testing.T) {
	names := make(map[string]int)
	for _, c := range Codes() {
		if names[c.Name] = c.Status; c.Meaning == "" || c.Suggestion() == "" {
			t.Errorf("%s does not say what it means, or what to do", c.Name)
		}
	}
	if diff := cmp.Diff(map[string]int{"CONVERSATION_NOT_FOUND": 404, "EVENTS_GONE": 404, "CONVERSATION_UNREADABLE": 409}, names); diff != "" {
		t.Errorf("codes (-want +got):\n%s", diff)
	}
	if got := fault.From(errNotFound("c1")).Details["conversationId"]; got != "c1" {
		t.Errorf("what is not found is %v", got)
	}
	for _, c := range fault.Shared() {
		if names[c.Name] != 0 {
			t.Errorf("%s is declared twice", c.Name)
		}
	}
}
