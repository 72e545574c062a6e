package finance_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"countersign.dev/internal/company"
	"countersign.dev/internal/domain/finance"
	"countersign.dev/internal/testkit"
	"countersign.dev/internal/testkit/dbtest"
	"countersign.dev/internal/testkit/domaintest"
)

// today is the day on which everything here happens, in the last quarter.
var today = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// engine is the server of this run, and the databases that tests copy.
var engine struct {
	*dbtest.Cluster
	company, crowd sync.Once
}

func TestMain(m *testing.M) {
	if testkit.RunAsCrashProcess(approveUntilKilled) {
		return
	}
	engine.Cluster = dbtest.Start()
	defer engine.Stop()
	m.Run()
}

// crowdSize is how many invoices the scaled company of these tests has.
const crowdSize = 2000

type args = domaintest.Args

// house is one finance server with a database of its own.
type house struct {
	*dbtest.Harness
	server *finance.Server
	papers papers
}

// open opens a house with the sample company.
func open(t testing.TB) *house {
	t.Helper()
	c := company.At(today)
	engine.company.Do(func() { engine.Template(t, "company", filled(t.Context(), c, c.Finance())) })
	return furnish(t, engine.Database(t, "company"), collected(c, c.Finance()))
}

// openCrowd opens a house with the scaled company.
func openCrowd(t testing.TB) *house {
	t.Helper()
	c, f := company.At(today), company.ScaledFinance(crowdSize, today)
	engine.crowd.Do(func() { engine.Template(t, "crowd", filled(t.Context(), c, f)) })
	return furnish(t, engine.Database(t, "crowd"), collected(c, f))
}

func filled(ctx context.Context, c *company.Company, f company.Finance) func(string) error {
	return func(adminURL string) error {
		if _, err := finance.Migrate(ctx, adminURL, ""); err != nil {
			return err
		}
		return finance.Fill(ctx, adminURL, c, f)
	}
}

func furnish(t testing.TB, adminURL string, p papers) *house {
	t.Helper()
	h := &house{papers: p}
	h.Harness, h.server = dbtest.Over(t, "finance", adminURL, finance.Login, finance.New)
	h.server.SetClock(func() time.Time { return today })
	return h
}

// papers is a finance department as tests look things up in it.
type papers struct {
	company  *company.Company
	invoices []company.Invoice
	budgets  []company.Budget
	reports  []company.ExpenseReport
	vendors  map[string]string // name by id
}

func collected(c *company.Company, f company.Finance) papers {
	p := papers{company: c, budgets: f.Budgets, reports: f.Reports, vendors: map[string]string{}}
	for i := range f.Invoices {
		p.invoices = append(p.invoices, i)
	}
	for v := range f.Vendors {
		p.vendors[v.ID] = v.Name
	}
	return p
}

// departmentName is the name of the department with that code.
func (p papers) departmentName(code string) string {
	for _, d := range p.company.Departments {
		if d.Code == code {
			return d.Name
		}
	}
	return code
}

// id finds an invoice's id by its number.
func (h *house) id(number string) string {
	h.Helper()
	for _, i := range h.papers.invoices {
		if i.Number == number {
			return i.ID
		}
	}
	h.Fatalf("there is no %s", number)
	return ""
}

// invoice is an invoice as a client reads one.
type invoice struct {
	InvoiceID     string  `json:"invoice_id"`
	InvoiceNumber string  `json:"invoice_number"`
	VendorName    string  `json:"vendor_name"`
	VendorID      string  `json:"vendor_id"`
	Amount        float64 `json:"amount"`
	Currency      string  `json:"currency"`
	Description   string  `json:"description"`
	Department    string  `json:"department"`
	Status        string  `json:"status"`
	Overdue       bool    `json:"overdue"`
	InvoiceDate   string  `json:"invoice_date"`
	DueDate       string  `json:"due_date"`
	SubmittedBy   string  `json:"submitted_by"`
	ApprovedBy    *string `json:"approved_by"`
}

func numbers(invoices []invoice) []string {
	out := make([]string, len(invoices))
	for i, one := range invoices {
		out[i] = one.InvoiceNumber
	}
	return out
}

// budget is a budget as a client reads one.
type budget struct {
	BudgetID        string  `json:"budget_id"`
	Department      string  `json:"department"`
	FiscalYear      int     `json:"fiscal_year"`
	Quarter         string  `json:"quarter"`
	AllocatedAmount float64 `json:"allocated_amount"`
	SpentAmount     float64 `json:"spent_amount"`
	RemainingAmount float64 `json:"remaining_amount"`
	UtilizationPct  float64 `json:"utilization_pct"`
	Status          string  `json:"status"`
	SubmittedBy     *string `json:"submitted_by"`
	ApprovedBy      *string `json:"approved_by"`
	Quarters        []struct {
		Quarter         string  `json:"quarter"`
		AllocatedAmount float64 `json:"allocated_amount"`
		SpentAmount     float64 `json:"spent_amount"`
	} `json:"quarters"`
}

func get[T any](h *house, ctx context.Context, name string, in args) T {
	h.Helper()
	return domaintest.Get[T](h, ctx, name, in)
}
