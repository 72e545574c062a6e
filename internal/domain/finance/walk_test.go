package finance_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"countersign.dev/internal/testkit/domaintest"
)

// TestWalkInvoicesWhileOthersWrite pages through all invoices while others come
// in and go between the pages. What was there all the time appears exactly once;
// nothing appears twice.
func TestWalkInvoicesWhileOthersWrite(t *testing.T) {
	h := openCrowd(t)
	r := rand.New(rand.NewPCG(7, 7))
	gone := map[string]bool{}
	seen := h.walk("list_invoices", "invoice_id", func(page int) {
		for i := range 3 {
			h.Admin(`
				insert into finance.invoices (id, number, vendor_id, description, amount_cents, department, status, invoice_date, due_date, submitted_by, submitted_at)
				select gen_random_uuid(), 'NEW-' || $1, vendor_id, '', 1, department, 'pending', invoice_date, due_date, submitted_by, submitted_at
				from finance.invoices where number = $2`, fmt.Sprint(page*3+i), fmt.Sprintf("INV-S-%07d", r.IntN(crowdSize)))
		}
		victim := h.papers.invoices[r.IntN(crowdSize)]
		gone[victim.ID] = true
		h.Admin(`update finance.invoices set status = 'rejected', deleted_at = now(), deleted_by = 'x@y' where id = $1`, victim.ID)
	})
	for _, i := range h.papers.invoices {
		if !gone[i.ID] && seen[i.ID] != 1 {
			t.Errorf("%s appears %d times, want once", i.Number, seen[i.ID])
		}
	}
}

// The same with budgets: years are added before, behind and between.
func TestWalkBudgetsWhileOthersWrite(t *testing.T) {
	h := open(t)
	for year := 2000; year < 2100; year += 2 {
		h.addBudgets(year, "ENG", "MKT", "IT")
	}
	before := map[string]bool{}
	for id := range h.walk("list_budgets", "budget_id", func(int) {}) {
		before[id] = true
	}
	gone := map[string]bool{}
	seen := h.walk("list_budgets", "budget_id", func(page int) {
		h.addBudgets(2099-page*20, "SALES", "OPS", "EXEC")
		id := fmt.Sprintf("0b000000-0000-0000-%04d-000000000001", 2020+page*2)
		gone[id] = true
		h.Admin(`delete from finance.budgets where id = $1`, id)
	})
	for id := range before {
		if !gone[id] && seen[id] != 1 {
			t.Errorf("%s appears %d times, want once", id, seen[id])
		}
	}
	if len(before) < 150 {
		t.Errorf("only %d budgets were walked", len(before))
	}
}

func (h *house) addBudgets(year int, departments ...string) {
	h.Helper()
	for i, d := range departments {
		h.Admin(`insert into finance.budgets (id, department, fiscal_year, status) values ($1, $2, $3, 'draft') on conflict do nothing`,
			fmt.Sprintf("0b000000-0000-0000-%04d-%012d", year, i+1), d, year)
	}
}

// walk pages through a list to its end, small pages first, and counts how often
// each row appears. Between two pages it lets others write.
func (h *house) walk(tool, id string, write func(page int)) map[string]int {
	h.Helper()
	ctx := domaintest.SignedIn(h.Context(), "x@y", "finance-read")
	seen, in := map[string]int{}, args{"limit": 40}
	for page := 0; ; page++ {
		o := h.Ask(ctx, tool, in)
		for _, row := range domaintest.Decode[[]map[string]any](h, o) {
			seen[row[id].(string)]++
		}
		if !o.Page().More {
			break
		}
		in["cursor"] = o.Page().Next
		write(page)
	}
	for id, times := range seen {
		if times > 1 {
			h.Errorf("%s appears %d times", id, times)
		}
	}
	return seen
}
