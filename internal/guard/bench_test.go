package guard_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"countersign.dev/internal/guard"
	"countersign.dev/internal/result"
)

// largeTurn is an answer of 30 KB over 10,000 rows. Every tenth figure of it is
// invented, so that each is searched for in all ways.
func largeTurn() (guard.Answer, guard.Evidence) {
	var rows []map[string]any
	var answer strings.Builder
	answer.WriteString("| Invoice | Vendor | Amount | Due |\n|---|---|---|---|\n")
	for i := range 10_000 {
		amount := 1000 + i*7919%90_000
		day := time.Date(2026, 1, 1+i%365, 0, 0, 0, 0, time.UTC).Format(time.DateOnly)
		rows = append(rows, map[string]any{
			"invoice_id": fmt.Sprintf("1f000000-0000-0000-0000-%012d", i), "number": fmt.Sprintf("INV-2026-%05d", i), "vendor": fmt.Sprint("Vendor ", i%900), "amount": amount,
			"department": []string{"Sales", "Legal", "Support", "Finance", "Operations"}[i%5], "status": []string{"pending", "approved", "paid"}[i%3], "due_date": day, "quantity": i % 50, "rate": i % 100,
		})
		if answer.Len() < 30<<10 {
			if i%10 == 0 {
				amount = amount*3 + 1_000_003
			}
			fmt.Fprintf(&answer, "| INV-2026-%05d | Vendor %d | $%d | %s |\n", i, i%900, amount, day)
		}
	}
	data, _ := json.Marshal(rows)
	call := guard.Call{Tool: "list_invoices", Kind: result.List, Outcome: result.Success(data, &result.Page{Returned: len(rows)}, "")}
	return guard.Answer{After: answer.String()}, guard.Evidence{Calls: []guard.Call{call}, Question: "list all pending invoices of Sales", Today: time.Date(2026, 11, 22, 0, 0, 0, 0, time.UTC)}
}

// How long does the largest turn take that a conversation can have?
func BenchmarkCheck(b *testing.B) {
	answer, evidence := largeTurn()
	b.ReportAllocs()
	for b.Loop() {
		guard.Check(answer, evidence)
	}
}

// TestLargeTurn: an answer of 30 KB over 10,000 rows is checked, and its inventions
// are found.
func TestLargeTurn(t *testing.T) {
	lines := guard.Check(largeTurn())
	if len(lines) != 1 || !strings.HasPrefix(lines[0].Text, guard.Invented+"$1003003, ") || !strings.Contains(lines[0].Text, " more ") {
		t.Errorf("corrections: %q", lines)
	}
}
