package finance_test

import (
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"countersign.dev/internal/access"
	"countersign.dev/internal/testkit/domaintest"
)

// The founding question: what's our Q4 budget vs actual spend? One page holds
// all departments, and its rows add up to the company.
func TestCompanyWideQuarterAddsUp(t *testing.T) {
	t.Parallel()
	h := open(t)
	o := h.Ask(h.As("eve.thompson"), "list_budgets", args{"fiscal_year": 2026, "quarter": "Q4"})
	rows := domaintest.Decode[[]budget](h, o)
	var allocated, spent, wantAllocated, wantSpent float64
	for _, b := range rows {
		allocated, spent = allocated+b.AllocatedAmount, spent+b.SpentAmount
		if b.Quarter != "Q4" || len(b.Quarters) != 1 || b.Quarters[0].AllocatedAmount != b.AllocatedAmount || b.RemainingAmount != b.AllocatedAmount-b.SpentAmount {
			t.Errorf("%s: %+v", b.Department, b)
		}
	}
	for _, b := range h.fixture.budgets {
		if b.FiscalYear == 2026 {
			wantAllocated, wantSpent = wantAllocated+float64(b.Quarters[3].Allocated)/100, wantSpent+float64(b.Quarters[3].Spent)/100
		}
	}
	if len(rows) != 10 || o.Page().More || allocated != wantAllocated || spent != wantSpent || allocated != 2_620_800 || spent <= 0 || spent >= allocated {
		t.Errorf("%d departments, %.2f allocated, %.2f spent; want 10, %.2f, %.2f", len(rows), allocated, spent, wantAllocated, wantSpent)
	}
	if current := get[[]budget](h, h.As("eve.thompson"), "list_budgets", args{"quarter": "Q4"}); len(current) != 10 || current[0].FiscalYear != 2026 {
		t.Errorf("a quarter without a year gives %d rows", len(current))
	}
}

func TestBudgetOfADepartment(t *testing.T) {
	t.Parallel()
	h := open(t)
	for _, name := range []string{"Marketing", " marketing ", "MKT", "mkt"} {
		b := get[budget](h, h.As("bob.martinez"), "get_budget", args{"department": name})
		if b.Department != "Marketing" || b.FiscalYear != 2026 || b.AllocatedAmount != 980_000 || b.Status != "draft" || *b.SubmittedBy != "lisa.anderson@tamshai.local" || b.ApprovedBy != nil {
			t.Errorf("%q: got %+v", name, b)
		}
	}
	b := get[budget](h, h.As("eve.thompson"), "get_budget", args{"department": "Engineering", "year": 2025})
	if b.AllocatedAmount != 2_800_000 || b.SpentAmount != 2_550_000 || b.RemainingAmount != 250_000 || b.UtilizationPct != 91.1 || b.Status != "approved" {
		t.Errorf("got %+v", b)
	}
	var allocated, spent float64
	for _, q := range b.Quarters {
		allocated, spent = allocated+q.AllocatedAmount, spent+q.SpentAmount
	}
	if len(b.Quarters) != 4 || b.Quarters[3].Quarter != "Q4" || allocated != b.AllocatedAmount || spent != b.SpentAmount {
		t.Errorf("quarters %+v", b.Quarters)
	}
	h.server.SetClock(func() time.Time { return today.AddDate(-1, 0, 0) })
	if last := get[budget](h, h.As("eve.thompson"), "get_budget", args{"department": "ENG"}); last.FiscalYear != 2025 {
		t.Errorf("a year earlier the current one is %d", last.FiscalYear)
	}
}

// Without a budget there is no per cent of it, however much is spent.
func TestSpendingWithoutABudgetHasNoPercentage(t *testing.T) {
	t.Parallel()
	h := open(t)
	h.Admin(`update finance.budget_quarters set allocated_cents = 0 where budget_id = (select id from finance.budgets where department_name = 'Legal' and fiscal_year = 2026)`)
	bob := h.As("bob.martinez")
	one := get[budget](h, bob, "get_budget", args{"department": "Legal"})
	all := get[[]budget](h, bob, "list_budgets", args{"department": "Legal", "fiscal_year": 2026, "quarter": "Q1"})
	for _, b := range append(all, one) {
		if b.AllocatedAmount != 0 || b.SpentAmount <= 0 || b.RemainingAmount != -b.SpentAmount || b.UtilizationPct != nil {
			t.Errorf("got %+v", b)
		}
	}
}

func TestBudgetFilters(t *testing.T) {
	t.Parallel()
	h := open(t)
	for _, c := range []struct {
		in   args
		want []string
	}{
		{args{"department": "Legal"}, []string{"Legal 2026"}},
		{args{"department": "finance"}, []string{"Finance 2026", "Finance 2025", "Finance 2024"}},
		{args{"status": "draft", "fiscal_year": 2026}, []string{"Finance 2026", "Marketing 2026"}},
		{args{"status": "approved", "fiscal_year": 2026}, []string{"Legal 2026", "Operations 2026"}},
		{args{"status": "closed"}, nil},
		{args{"fiscal_year": 2030}, nil},
		{args{"department": "Astrology"}, nil},
		{args{"fiscal_year": 2024}, []string{"Engineering 2024", "Executive 2024", "Finance 2024", "Human Resources 2024", "Information Technology 2024", "Marketing 2024", "Sales 2024"}},
	} {
		var got []string
		for _, b := range get[[]budget](h, h.As("bob.martinez"), "list_budgets", c.in) {
			got = append(got, b.Department+" "+time.Date(b.FiscalYear, 1, 1, 0, 0, 0, 0, time.UTC).Format("2006"))
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%v (-want +got):\n%s", c.in, diff)
		}
	}
}

// The founding question: which invoices are overdue?
func TestOverdueIsUnpaidAndPastDue(t *testing.T) {
	t.Parallel()
	h := open(t)
	late := get[[]invoice](h, h.As("bob.martinez"), "list_invoices", args{"status": "overdue"})
	if !slices.Equal(numbers(late), []string{"INV-2025-008", "INV-2025-013"}) || !late[0].Overdue || late[0].Status != "pending" {
		t.Errorf("got %+v", late)
	}
	for _, i := range get[[]invoice](h, h.As("bob.martinez"), "list_invoices", nil) {
		if i.Overdue != (i.InvoiceNumber == "INV-2025-008" || i.InvoiceNumber == "INV-2025-013") {
			t.Errorf("%s, %s, due %s: overdue %v", i.InvoiceNumber, i.Status, i.DueDate, i.Overdue)
		}
	}
	h.server.SetClock(func() time.Time { return today.AddDate(0, 0, 9) })
	if late := get[[]invoice](h, h.As("bob.martinez"), "list_invoices", args{"status": "overdue"}); !slices.Equal(numbers(late), []string{"INV-001", "INV-2025-008", "INV-2025-013"}) {
		t.Errorf("on the day that INV-2025-005 is due: %v", numbers(late))
	}
	h.server.SetClock(func() time.Time { return today.AddDate(0, 0, 10) })
	late = get[[]invoice](h, h.As("bob.martinez"), "list_invoices", args{"status": "overdue"})
	if !slices.Equal(numbers(late), []string{"INV-2025-005", "INV-001", "INV-2025-008", "INV-2025-013"}) || late[0].Status != "approved" {
		t.Errorf("a day later: %v", numbers(late))
	}
}

// Overdue is a filter and a field, not a status: none is answered or shown on a card.
func TestOverdueIsNoStatus(t *testing.T) {
	t.Parallel()
	h := open(t)
	published := regexp.MustCompile(`"enum": ?\[[^]]*"rejected"[^]]*\]`)
	statuses := 0
	for _, info := range h.Runner.Visible(access.Of(h.As("eve.thompson"))) {
		for _, enum := range published.FindAllString(string(info.OutputSchema), -1) {
			statuses++
			if strings.Contains(enum, "overdue") {
				t.Errorf("%s answers with %s", info.Name, enum)
			}
		}
	}
	if statuses < 2 {
		t.Errorf("%d published statuses were compared", statuses)
	}
}

func TestInvoiceIsShownWhole(t *testing.T) {
	t.Parallel()
	h := open(t)
	got := get[[]invoice](h, h.As("bob.martinez"), "list_invoices", args{"invoice_number": "inv-2025-010"})
	bob := "bob@tamshai.local"
	want := []invoice{{
		InvoiceID: h.id("INV-2025-010"), InvoiceNumber: "INV-2025-010", VendorName: "Creative Agency", VendorID: "V-0011", Amount: 25_000, Currency: "USD",
		Description: "Autumn campaign, design and film", Department: "Marketing", Status: "approved", InvoiceDate: "2026-11-13", DueDate: "2026-12-28",
		SubmittedBy: "kevin.brown@tamshai.local", ApprovedBy: &bob,
	}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestInvoiceFilters(t *testing.T) {
	t.Parallel()
	h := open(t)
	for _, c := range []struct {
		in   args
		want []string
	}{
		{args{"vendor": "cloud"}, []string{"INV-2025-009", "INV-2025-004"}},
		{args{"vendor": "CLOUD"}, []string{"INV-2025-009", "INV-2025-004"}},
		{args{"vendor": " google  cloud "}, []string{"INV-2025-004"}},
		{args{"vendor": "legal associates"}, []string{"INV-2025-007"}},
		{args{"vendor": "s"}, []string{"INV-2025-011", "INV-2025-007", "INV-001", "INV-2025-005", "INV-2025-002", "INV-2025-001", "INV-2025-014", "INV-2025-015"}},
		{args{"vendor": "nobody"}, nil},
		{args{"vendor": "%"}, nil},
		{args{"vendor": "_WS"}, nil},
		{args{"department": "Marketing"}, []string{"INV-2025-010", "INV-2025-005", "INV-2025-014"}},
		{args{"department": "mkt", "vendor": "hub"}, []string{"INV-2025-005"}},
		{args{"department": "nowhere"}, nil},
		{args{"status": "paid"}, []string{"INV-2025-002", "INV-2025-001", "INV-2025-006"}},
		{args{"status": "rejected"}, []string{"INV-2025-014", "INV-2025-015"}},
		{args{"status": "overdue", "department": "IT"}, []string{"INV-2025-008"}},
		{args{"min_amount": 35_000}, []string{"INV-2025-003", "INV-2025-001", "INV-2025-006"}},
		{args{"max_amount": 4_750}, []string{"INV-2025-011", "INV-2025-009", "INV-2025-013", "INV-2025-014", "INV-2025-015"}},
		{args{"min_amount": 5_000, "max_amount": 8_500}, []string{"INV-001", "INV-2025-008"}},
		{args{"min_amount": 5_000.01, "max_amount": 8_499.99}, nil},
		{args{"due_before": "2026-11-27", "status": "pending"}, []string{"INV-001", "INV-2025-008", "INV-2025-013"}},
		{args{"due_before": "2026-11-26", "status": "pending"}, []string{"INV-2025-008", "INV-2025-013"}},
		{args{"due_from": "2026-11-26", "due_before": "2026-11-27"}, []string{"INV-001"}},
		{args{"status": "unpaid", "min_amount": 35_000}, []string{"INV-2025-003"}},
		{args{"invoice_number": "INV-2025"}, nil}, // a number, not a part of one
	} {
		got := numbers(get[[]invoice](h, h.As("bob.martinez"), "list_invoices", c.in))
		if diff := cmp.Diff(c.want, got, cmp.Transformer("set", func(s []string) []string { return slices.Sorted(slices.Values(s)) })); diff != "" {
			t.Errorf("%v (-want +got):\n%s", c.in, diff)
		}
	}
}

func TestAmountBoundsAreExactToTheCent(t *testing.T) {
	t.Parallel()
	h := open(t)
	for i, cents := range []int64{1999, 105, 29, 1001, 57_28} { // times 100 none is whole in binary
		h.Admin(`update finance.invoices set amount_cents = $2 where id = $1`, h.id("INV-001"), cents)
		amount := float64(cents) / 100
		got := get[[]invoice](h, h.As("bob.martinez"), "list_invoices", args{"min_amount": amount, "max_amount": amount})
		if len(got) != 1 || math.Abs(got[0].Amount-amount) > 1e-9 {
			t.Errorf("%d: %.2f to %.2f finds %v", i, amount, amount, got)
		}
	}
}

type report struct {
	ReportNumber string  `json:"report_number"`
	EmployeeName string  `json:"employee_name"`
	Month        string  `json:"month"`
	Status       string  `json:"status"`
	TotalAmount  float64 `json:"total_amount"`
	ApprovedBy   *string `json:"approved_by"`
	Items        []struct {
		Date     string  `json:"date"`
		Category string  `json:"category"`
		Amount   float64 `json:"amount"`
	} `json:"items"`
}

func TestExpenseReports(t *testing.T) {
	t.Parallel()
	h := open(t)
	for _, want := range h.fixture.reports {
		for _, in := range []args{{"report_number": strings.ToLower(want.Number)}, {"employee_id": want.EmployeeID, "month": want.Month}} {
			got := get[report](h, h.As("eve.thompson"), "get_expense_report", in)
			var sum float64
			for _, i := range got.Items {
				sum += i.Amount
			}
			if got.ReportNumber != want.Number || got.EmployeeName != want.EmployeeName || got.Status != want.Status ||
				math.Abs(got.TotalAmount-float64(want.Total())/100) > 1e-9 || math.Abs(sum-got.TotalAmount) > 1e-9 || len(got.Items) != len(want.Items) {
				t.Errorf("%v: got %+v", in, got)
			}
		}
	}
}

// No rates of exchange are known, so that an amount in US dollars finds no invoice in another currency,
// and the answer says so where one fits all else.
func TestAmountsInDollarsFindDollars(t *testing.T) {
	t.Parallel()
	h := open(t)
	h.admin(`update finance.invoices set currency = 'JPY' where number = 'INV-2025-010'`)
	const left = "What is in other currencies is left out: amounts are compared in US dollars."
	for _, bound := range []string{"min_amount", "max_amount"} {
		for number, want := range map[string]int{"INV-2025-009": 1, "INV-2025-010": 0} {
			all := get[[]invoice](h, h.As("bob.martinez"), "list_invoices", args{"invoice_number": number})
			found := h.Ask(h.As("bob.martinez"), "list_invoices", args{"invoice_number": number, bound: all[0].Amount}).Page()
			remark := map[int]string{0: left}[want]
			if found.Returned != want || found.Remark != remark {
				t.Errorf("%s of %s: got %+v, want %d and %q", bound, number, found, want, remark)
			}
		}
	}
	if page := h.Ask(h.As("bob.martinez"), "list_invoices", args{"invoice_number": "INV-2025-010"}).Page(); page.Returned != 1 || page.Remark != "" {
		t.Errorf("without a bound: %+v", page)
	}
	first := h.Ask(h.As("bob.martinez"), "list_invoices", args{"min_amount": 1, "limit": 1}).Page()
	second := h.Ask(h.As("bob.martinez"), "list_invoices", args{"min_amount": 1, "limit": 1, "cursor": first.Next}).Page()
	if first.Remark != left || second.Remark != left {
		t.Errorf("two pages: %+v, %+v", first, second)
	}
}
