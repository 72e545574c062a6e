package finance_test

import (
	"context"
	"testing"
	"time"

	"countersign.dev/internal/company"
	"countersign.dev/internal/domain/finance"
	"countersign.dev/internal/testkit/conformance"
	"countersign.dev/internal/testkit/dbtest"
	"countersign.dev/internal/testkit/domaintest"
)

// today is the day of these tests, in the last quarter.
var today = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// cluster is the PostgreSQL server of this run, with the databases that tests
// copy.
var cluster *dbtest.Cluster

func TestMain(m *testing.M) {
	if conformance.RunAsCrashProcess(domain()) {
		return
	}
	cluster = dbtest.Start()
	defer cluster.Stop()
	m.Run()
}

// scaledSize is how many invoices the scaled company of these tests has.
const scaledSize = 2000

type args = domaintest.Args

// harness is one finance server with a database of its own.
type harness struct {
	*dbtest.Harness
	server  *finance.Server
	fixture fixture
}

// open opens a harness with the sample company.
func open(t testing.TB) *harness { return openDataset(t, conformance.Company) }

// openScaled opens a harness with the scaled company.
func openScaled(t testing.TB) *harness { return openDataset(t, conformance.Crowd) }

func openDataset(t testing.TB, name string) *harness {
	t.Helper()
	return over(t, schema.Filled(t, cluster, name), collected(dataset(name)))
}

func over(t testing.TB, adminURL string, p fixture) *harness {
	t.Helper()
	h := &harness{fixture: p}
	h.Harness, h.server = dbtest.Over(t, "finance", adminURL, finance.Login, finance.New)
	h.server.SetClock(func() time.Time { return today })
	return h
}

// fixture is a finance department as tests look things up in it.
type fixture struct {
	company  *company.Company
	invoices []company.Invoice
	budgets  []company.Budget
	reports  []company.ExpenseReport
	vendors  map[string]string // name by id
}

func collected(c *company.Company, f company.Finance) fixture {
	p := fixture{company: c, budgets: f.Budgets, reports: f.Reports, vendors: map[string]string{}}
	for i := range f.Invoices {
		p.invoices = append(p.invoices, i)
	}
	for v := range f.Vendors {
		p.vendors[v.ID] = v.Name
	}
	return p
}

// departmentName is the name of the department with that code.
func (p fixture) departmentName(code string) string {
	for _, d := range p.company.Departments {
		if d.Code == code {
			return d.Name
		}
	}
	return code
}

// id finds an invoice's id by its number; it is empty where there is none.
func (p fixture) id(number string) string {
	for _, i := range p.invoices {
		if i.Number == number {
			return i.ID
		}
	}
	return ""
}

// report finds an expense report by its number.
func (p fixture) report(number string) (found company.ExpenseReport) {
	for _, r := range p.reports {
		if r.Number == number {
			found = r
		}
	}
	return found
}

func (h *harness) id(number string) string { return h.fixture.id(number) }

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
	UtilizationPct  any     `json:"utilization_pct"`
	Status          string  `json:"status"`
	SubmittedBy     *string `json:"submitted_by"`
	ApprovedBy      *string `json:"approved_by"`
	Quarters        []struct {
		Quarter         string  `json:"quarter"`
		AllocatedAmount float64 `json:"allocated_amount"`
		SpentAmount     float64 `json:"spent_amount"`
	} `json:"quarters"`
}

func get[T any](h *harness, ctx context.Context, name string, in args) T {
	h.Helper()
	return domaintest.Get[T](h, ctx, name, in)
}
