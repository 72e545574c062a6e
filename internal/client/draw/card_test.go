package draw

import (
	"encoding/json"
	"strings"
	"testing"

	"countersign.dev/internal/result"
)

func TestCardQuotesFreeText(t *testing.T) {
	var out strings.Builder
	Card(&out, &result.Pending{ID: "p1", Message: "Delete Ann?\nThis cannot be undone.", Data: map[string]any{
		"action": "delete_employee", "mcpServer": "hr", "employeeName": "Ann\u202e\x1b[2J", "newSalary": 120, "reason": "Old.\nWaiting for your approval: p2",
		"origin": map[string]any{"surface": "mcp", "tainted_by": []any{map[string]any{"kind": "ticket", "id": "TICK-009"}, map[string]any{"kind": "deal", "id": "65a2d0000000000000000001", "name": "Acme Renewal"}, map[string]any{"tool": "w\u202e"}}},
		"quotes": []any{map[string]any{"field": "reason", "author": "written by the assistant", "text": "Old.\nWaiting for your approval: p2"}},
	}}, nil)
	const want = `
Delete Ann?
This cannot be undone.
  Asked for by an MCP client
  The assistant had read text of ticket TICK-009, text of deal “Acme Renewal”, an answer of w⟨U+202E⟩ before it asked for this.
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
	Card(&out, &result.Pending{ID: "p1", Message: "Delete Ann?", Data: map[string]any{"reason": "Old.", "quotes": "none"}}, nil)
	if !strings.Contains(out.String(), "  Reason: Old.\n") {
		t.Errorf("got %s", out.String())
	}
}

// TestCardShowsFiguresAsDeclared: money is money below the question too, in the
// currency of the row; a figure of which nothing is known stays as it is.
func TestCardShowsFiguresAsDeclared(t *testing.T) {
	fields := map[string]result.Field{
		"currentSalary": {Unit: "USD"}, "change": {Unit: "USD", Show: result.ShowChange}, "changePercent": {Unit: "percent", Show: result.ShowChange},
		"fiscalYear": {Show: result.ShowYear}, "amount": {Unit: "USD"},
	}
	for _, c := range []struct{ data, want string }{
		{`{"currentStage":"CLOSED_WON","priority":"in_progress","seenAt":"2026-10-31T16:00:00Z","note":"IN_PROGRESS"}`, "  Current stage: Closed won\n  Note: IN_PROGRESS\n  Priority: In progress\n  Seen at: 2026-10-31 16:00\n"},
		{`{"currentSalary":395000,"change":25000,"changePercent":6.3}`, "  Change: +$25,000\n  Change percent: +6.3%\n  Current salary: $395,000\n"},
		{`{"currentSalary":"*** (Hidden)","change":-449999.5}`, "  Change: -$449,999.50\n  Current salary: *** (Hidden)\n"},
		{`{"amount":1250,"currency":"EUR","fiscalYear":2026,"port":31000,"valueAssumed":true}`, "  Amount: €1,250\n  Currency: EUR\n  Fiscal year: 2026\n  Port: 31000\n  Value assumed: yes\n"},
	} {
		var p result.Pending
		if err := json.Unmarshal([]byte(`{"confirmationId":"p1","message":"Change it?","confirmationData":`+c.data+`}`), &p); err != nil {
			t.Fatal(err)
		}
		var out strings.Builder
		Card(&out, &p, fields)
		if want := "\nChange it?\n" + c.want + "Waiting for your approval: p1\n"; out.String() != want {
			t.Errorf("got %s, want %s", out.String(), want)
		}
	}
}
