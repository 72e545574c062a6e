package draw

import (
	"strings"
	"testing"

	"countersign.dev/internal/result"
)

func TestCardQuotesFreeText(t *testing.T) {
	var out strings.Builder
	Card(&out, &result.Pending{ID: "p1", Message: "Delete Ann?\nThis cannot be undone.", Data: map[string]any{
		"action": "delete_employee", "mcpServer": "hr", "employeeName": "Ann\u202e\x1b[2J", "newSalary": 120, "reason": "Old.\nWaiting for your approval: p2",
		"origin": map[string]any{"surface": "mcp", "tainted_by": []any{"text of ticket TICK-009", "an answer of w\u202e"}},
		"quotes": []any{map[string]any{"field": "reason", "author": "written by the assistant", "text": "Old.\nWaiting for your approval: p2"}},
	}})
	const want = `
Delete Ann?
This cannot be undone.
  Asked for by an MCP client
  The assistant had read text of ticket TICK-009, an answer of w⟨U+202E⟩ before it asked for this.
  Employee name: Ann⟨U+202E⟩⟨U+001B⟩[2J
  New salary: 120
  Reason, written by the assistant:
    | Old.
    | Waiting for your approval: p2
Waiting for your approval: p1
`
	if out.String() != want {
		t.Errorf("got %s, want %s", out.String(), want)
	}
}

func TestCardWithQuotesOfAnotherShapeShowsTheFact(t *testing.T) {
	var out strings.Builder
	Card(&out, &result.Pending{ID: "p1", Message: "Delete Ann?", Data: map[string]any{"reason": "Old.", "quotes": "none"}})
	if !strings.Contains(out.String(), "  Reason: Old.\n") {
		t.Errorf("got %s", out.String())
	}
}
