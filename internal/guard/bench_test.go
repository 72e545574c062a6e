package guard_test

import (
	"encoding/json"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"countersign.dev/internal/guard"
	"countersign.dev/internal/result"
	"countersign.dev/internal/testkit"
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

// pageTurn is a page of 50 rows with an answer about it.
func pageTurn(answer string) (guard.Answer, guard.Evidence) {
	rows := make([]map[string]any, 50)
	for i := range rows {
		rows[i] = map[string]any{
			"employee_id": fmt.Sprintf("00000000-0000-0000-0000-%012d", i), "first_name": "Ada", "last_name": "Lovelace", "email": "ada@example.com",
			"salary": 145_000 + i*1000, "notes": "Wrote the first program, and said so.", "hire_date": time.Date(2020, 2, i, 0, 0, 0, 0, time.UTC).Format(time.DateOnly),
		}
	}
	data, _ := json.Marshal(rows)
	call := guard.Call{Tool: "list_employees", Kind: result.List, Outcome: result.Success(data, &result.Page{Returned: len(rows)}, "")}
	return guard.Answer{After: answer}, guard.Evidence{Calls: []guard.Call{call}, Question: "which employees are there", Today: time.Date(2026, 11, 22, 0, 0, 0, 0, time.UTC)}
}

// What does an answer over a page cost that states nothing, what one that states a
// figure, and what one with a name, a date and a sum? And how long does the largest turn
// take that a conversation can have?
func BenchmarkCheck(b *testing.B) {
	answers := map[string]string{"nothing": "Here they are.", "figure": "These are the first 50 rows.", "facts": "Of those, Ada Lovelace has been here since February 20, 2020, and has $164,000. Together they have $8,475,000."}
	for _, name := range []string{"nothing", "figure", "facts", "largest"} {
		b.Run(name, func(b *testing.B) {
			answer, evidence := pageTurn(answers[name])
			if name == "largest" {
				answer, evidence = largeTurn()
			}
			b.ReportAllocs()
			for b.Loop() {
				guard.Check(answer, evidence)
			}
		})
	}
}

// TestPageCostsLittle: an answer that states nothing does not have its results read, and
// one that does costs few allocations a row. A page of 50 rows once took 19,000.
func TestPageCostsLittle(t *testing.T) {
	testkit.Alone(t) // the race detector allocates, too
	for answer, most := range map[string]float64{"Here they are.": 200, "These are the first 50 rows.": 1500} {
		if n := testing.AllocsPerRun(5, func() { guard.Check(pageTurn(answer)) }) - testing.AllocsPerRun(5, func() { pageTurn(answer) }); n > most {
			t.Errorf("%s: %.0f allocations, %.0f at most", answer, n, most)
		}
	}
}

// TestLargeTurn: an answer of 30 KB over 10,000 rows is checked, and its inventions
// are found.
func TestLargeTurn(t *testing.T) {
	testkit.Alone(t) // the race detector adds to what is allocated
	answer, evidence := largeTurn()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	lines := guard.Check(answer, evidence)
	runtime.ReadMemStats(&after)
	if used := (after.TotalAlloc - before.TotalAlloc) >> 20; used > 80 { // 39; 362 when complements were built before they were affordable
		t.Errorf("the check took %d MB, 80 at most", used)
	}
	if len(lines) != 1 || !strings.HasPrefix(lines[0].Text, guard.Invented+"$1003003, ") || !strings.Contains(lines[0].Text, " more ") {
		t.Errorf("corrections: %q", lines)
	}
}

// TestColumnsAreBounded: a row with hundreds of numbers, as a connected server may return it, costs little more than
// one with a hundred. Each column was compared with each: without a bound.
func TestColumnsAreBounded(t *testing.T) {
	cost := func(columns int) (bytes uint64) {
		row := map[string]any{}
		for i := range columns {
			row[fmt.Sprintf("gauge%d", i)], row[fmt.Sprintf("day%d", i)] = float64(i%97)+3.5, time.Date(2026, 1, 1+i, 0, 0, 0, 0, time.UTC).Format(time.DateOnly)
		}
		data, err := json.Marshal(row)
		if err != nil {
			t.Fatal(err)
		}
		e := guard.Evidence{Calls: []guard.Call{{Tool: "read", Kind: result.Read, Outcome: result.Success(data, nil, ""), Untrusted: []string{result.Everything}}}, Today: time.Date(2026, 11, 22, 0, 0, 0, 0, time.UTC)}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		guard.Check(guard.Answer{After: "It is $987,654,321 now, 40 % more than gauge3."}, e)
		runtime.ReadMemStats(&after)
		return after.TotalAlloc - before.TotalAlloc
	}
	cost(100) // what is computed once
	if few, many := cost(100), cost(400); many > 3*few {
		t.Errorf("100 columns allocate %d bytes, 400 allocate %d", few, many)
	}
}
