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
	deals := func(keep func(company.Deal) bool) (n int) {
		for one := range c.Sales().Deals {
			n += map[bool]int{true: 1}[keep(one)]
		}
		return n
	}
	staff := func(keep func(company.Employee) bool) int {
		return len(slices.DeleteFunc(slices.Clone(c.Active()), func(e company.Employee) bool { return !keep(e) }))
	}
	dan, _ := c.ByEmail("dan@tamshai.local")
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
		{"dan", "tickets not assigned to me", bug(func(t company.Ticket) bool { return t.AssignedTo != "dan@tamshai.local" })},
		{"dan", "tickets not assigned to Emily", bug(func(t company.Ticket) bool { return t.AssignedTo != "emily.clark@tamshai.local" })},
		{"dan", "open and in progress tickets", bug(func(t company.Ticket) bool { return t.Status == "open" || t.Status == "in_progress" })},
		{"dan", "how many tickets are open or in progress?", bug(func(t company.Ticket) bool { return t.Status == "open" || t.Status == "in_progress" })},
		{"dan", "open and pending tickets", bug(func(t company.Ticket) bool { return t.Status == "open" || t.Status == "pending" })},
		{"eve", "how many invoices did Bob approve?", invoices(func(i company.Invoice) bool { return i.ApprovedBy == "bob@tamshai.local" })},
		{"dan", "tickets opened since Wednesday", bug(func(t company.Ticket) bool { return t.Created.Format(time.DateOnly) >= "2026-02-25" })},
		{"dan", "tickets opened last Monday", bug(func(t company.Ticket) bool { return t.Created.Format(time.DateOnly) == "2026-02-23" })},
		{"eve", "invoices due by Friday", invoices(func(i company.Invoice) bool { return i.Unpaid() && i.Due.Format(time.DateOnly) <= "2026-03-06" })},
		{"carol", "deals expected to close last month", deals(func(d company.Deal) bool { return month(d.ExpectedClose) == "2026-02" })},
		{"carol", "deals won or lost", deals(func(d company.Deal) bool { return strings.HasPrefix(d.Stage, "CLOSED") })},
		{"alice", "employees whose manager is Dan Williams", staff(func(e company.Employee) bool { return e.ManagerID == dan.ID })},
		{"alice", "employees with manager Dan Williams", staff(func(e company.Employee) bool { return e.ManagerID == dan.ID })},
		{"eve", "invoices approved by Bob Martinez", -1}, // the rows say bob@
		{"eve", "how many invoices did Bob Martinez approve?", -1},
		{"dan", "tickets assigned to Dan Williams", -1},
		{"bob", "invoices paid last month", -1},
		{"bob", "invoices received last month", -1},
		{"bob", "how many invoices per month?", -1},
		{"dan", "how many tickets were opened each month?", -1},
		{"alice", "how many people did we hire each year?", -1},
		{"alice", "latest review of each employee", -1},
		{"alice", "who has the most direct reports?", -1},
		{"alice", "how many people have Dan Williams as manager?", -1},
		{"eve", "departments with less than 10% of the budget left", -1},
		{"eve", "customers with more than one open deal", -1},
		{"eve", "customers with more than 2 open deals", -1},
		{"eve", "did we win more deals this quarter than last quarter?", -1},
		{"eve", "Engineering's budget and headcount", -1},
		{"dan", "who opened the most tickets?", -1},
	} {
		s := ask(t, b.as(t, q.who), b.as(t, q.who).fakeHR.person.Person, nil, q.question)
		if q.want < 0 { // not answered
			if !strings.HasPrefix(s.text, "I can't do that here") && !strings.HasPrefix(s.text, "I cannot tell: ") {
				t.Errorf("%s asked %q: calls %v: %s", q.who, q.question, s.calls, cut(s.text))
			}
			continue
		}
		if found := strings.HasPrefix(s.text, fmt.Sprintf("I found %d ", q.want)) || strings.HasPrefix(s.text, fmt.Sprintf("There are %d ", q.want)); !found && (q.want > 0 || !strings.HasPrefix(s.text, "I found no ")) {
			t.Errorf("%s asked %q, want %d: calls %v: %s", q.who, q.question, q.want, s.calls, cut(s.text))
		}
	}
}
