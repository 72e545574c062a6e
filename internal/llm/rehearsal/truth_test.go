package rehearsal

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"countersign.dev/internal/company"
	"countersign.dev/internal/testkit"
)

// TestAnswersAreThoseOfTheRows counts in the company's rows what the questions ask for. An answer begins with that, or it
// declines.
func TestAnswersAreThoseOfTheRows(t *testing.T) {
	testkit.Alone(t)
	b, c := build(t), company.At(today)
	money, tickets := c.Finance(), c.Support().Tickets
	reports := func(keep func(company.ExpenseReport) bool) int {
		return len(slices.DeleteFunc(slices.Clone(money.Reports), func(r company.ExpenseReport) bool { return !keep(r) }))
	}
	invoices := func(keep func(company.Invoice) bool) (n int) {
		for one := range money.Invoices {
			n += map[bool]int{true: 1}[keep(one)]
		}
		return n
	}
	bug := func(keep func(company.Ticket) bool) (n int) {
		for one := range tickets {
			n += map[bool]int{true: 1}[keep(one)]
		}
		return n
	}
	month := func(t time.Time) string { return t.Format("2006-01") }
	for _, q := range []struct {
		who, question string
		want          int
	}{
		{"bob", "expense reports since February", reports(func(r company.ExpenseReport) bool { return r.Month >= "2026-02" })},
		{"bob", "expense reports before 2026", reports(func(r company.ExpenseReport) bool { return r.Month < "2026-01" })},
		{"bob", "expense reports from January to March", reports(func(r company.ExpenseReport) bool { return r.Month >= "2026-01" && r.Month <= "2026-03" })},
		{"bob", "expense reports submitted last month", reports(func(r company.ExpenseReport) bool { return month(r.SubmittedAt) == "2026-02" })},
		{"bob", "expense reports approved by me", reports(func(r company.ExpenseReport) bool { return r.ApprovedBy == "bob@tamshai.local" })},
		{"nina", "my approved expenses", reports(func(r company.ExpenseReport) bool { return r.EmployeeName == "Nina Patel" && r.Status == "approved" })},
		{"bob", "budgets before 2026", len(slices.DeleteFunc(slices.Clone(money.Budgets), func(b company.Budget) bool { return b.FiscalYear >= 2026 }))},
		{"eve", "invoices approved by Bob", invoices(func(i company.Invoice) bool { return i.ApprovedBy == "bob@tamshai.local" })},
		{"eve", "invoices approved last month", invoices(func(i company.Invoice) bool { return month(i.ApprovedAt) == "2026-02" })},
		{"dan", "how many tickets did we resolve last month?", bug(func(t company.Ticket) bool { return month(t.Resolved) == "2026-02" })},
		{"dan", "tickets resolved last month", bug(func(t company.Ticket) bool { return month(t.Resolved) == "2026-02" })},
		{"dan", "tickets closed last month", bug(func(t company.Ticket) bool { return t.Status == "closed" && month(t.Resolved) == "2026-02" })},
	} {
		s := ask(t, b.as(t, q.who), b.as(t, q.who).fakeHR.person.Person, nil, q.question)
		if found := strings.HasPrefix(s.text, fmt.Sprintf("I found %d ", q.want)) || strings.HasPrefix(s.text, fmt.Sprintf("There are %d ", q.want)); !found && (q.want > 0 || !strings.HasPrefix(s.text, "I found no ")) {
			t.Errorf("%s asked %q, want %d: calls %v: %s", q.who, q.question, q.want, s.calls, cut(s.text))
		}
	}
}
