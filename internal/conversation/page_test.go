package conversation

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"testing"

	"countersign.dev/internal/access"
	"countersign.dev/internal/agent"
	"countersign.dev/internal/fault"
	"countersign.dev/internal/testkit"
)

// TestConversationIsReadInPages: each is bounded, together they are the whole, and
// results are on the page of their calls.
func TestConversationIsReadInPages(t *testing.T) {
	s, _ := newService(t, script{}, nil)
	c := asked(t, s, testkit.Person("ann", access.Employee))
	large := json.RawMessage(strconv.Quote(strings.Repeat("x", 300<<10)))
	for i := range 10 {
		id := strconv.Itoa(i)
		err := s.turns.store.add(t.Context(), c.ID,
			Message{Message: agent.Message{Role: agent.Assistant, Parts: []agent.Part{agent.Call{ID: id, Tool: "list", Args: large}}}},
			Message{Message: agent.Message{Role: agent.ToolRole, Parts: []agent.Part{agent.CallResult{ID: id, Tool: "list", Answer: large}}}})
		if err != nil {
			t.Fatal(err)
		}
	}
	want, err := s.turns.store.messages(t.Context(), c.ID)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	pages, after := 0, ""
	for more := true; more; pages++ {
		page, err := s.Messages(t.Context(), c, after)
		if err != nil {
			t.Fatal(err)
		}
		if first := page.Messages[0]; first.Role == agent.ToolRole {
			t.Errorf("page %d begins with the results of calls before it", pages)
		}
		size := 0
		for _, m := range page.Messages {
			for _, called := range m.Calls() {
				size += len(called.Args)
			}
			for _, r := range m.Results() {
				size += len(r.Answer)
			}
			got = append(got, m.ID)
		}
		if size > 4*len(large) {
			t.Errorf("page %d: got %d bytes, want little more than 1 MiB", pages, size)
		}
		more, after = page.More, got[len(got)-1]
	}
	if pages != 5 || !slices.Equal(got, ids(want)) {
		t.Errorf("got %v in %d pages, want %v in 5", got, pages, ids(want))
	}
	for _, unknown := range []string{"999-0", "x", "1-0'"} {
		if _, err := s.Messages(t.Context(), c, unknown); !fault.Is(err, fault.BadRequest) {
			t.Errorf("after %s: got %v, want BAD_REQUEST", unknown, err)
		}
	}
}

func ids(messages []Message) (all []string) {
	for _, m := range messages {
		all = append(all, m.ID)
	}
	return all
}
