package finance

import (
	"context"
	"math"
	"strings"
	"time"

	"countersign.dev/internal/access"
	"countersign.dev/internal/database"
	"countersign.dev/internal/fault"
	"countersign.dev/internal/money"
	"countersign.dev/internal/tool"
)

// Server is the finance domain over one database.
type Server struct {
	db  *database.DB
	now func() time.Time
}

// New makes the server. db is open with the login that [Migrate] made.
func New(db *database.DB) *Server { return &Server{db: db, now: time.Now} }

// Receipts keeps the receipts of confirmed changes beside the data.
func (s *Server) Receipts() tool.ReceiptStores { return tool.OneStore(database.NewReceipts(s.db)) }

// Ready reports whether the store can be read and holds a company. A database
// that answers but is empty, or the wrong one, is not ready.
func (s *Server) Ready(ctx context.Context) error {
	holds, err := database.Probe(ctx, s.db, `select finance.holds_money()`)
	if err != nil {
		return err
	}
	if !holds {
		return fault.ServiceDown.New("The finance database holds no budgets or no invoices.").Suggest(`Run "countersign seed" for the sample company, or restore a backup.`)
	}
	return nil
}

// The roles that the domain owns.
const (
	roleRead  access.Role = "finance-read"
	roleWrite access.Role = "finance-write"
)

// Policy declares the domain's roles and the classes of its sensitive fields.
func (s *Server) Policy() access.Policy {
	return access.Policy{Roles: []access.Role{roleRead, roleWrite}}
}

// Who may use the tools. Readers see every row, employees their own expense reports.
var (
	readers   = []access.Role{roleRead, access.Executive}
	reporters = []access.Role{roleRead, access.Executive, access.Employee}
	writers   = []access.Role{roleWrite, access.Executive}
)

// Suggestions for what is not found.
const (
	findInvoices = "Use list_invoices tool to find valid invoice IDs: with invoice_number it finds the id of one invoice."
	findBudgets  = "Use list_budgets tool to see which departments and fiscal years have a budget, and which are drafts that wait for approval."
)

// The domain's fault codes.
var (
	errNoBudget           = &fault.Code{Name: "BUDGET_NOT_FOUND", Kind: fault.NotFound, Status: 200, Meaning: "The department has no budget for the fiscal year, or none that waits for approval.", Suggest: "Check the department's name, or ask which budgets there are.", Instruct: findBudgets, Via: "list_budgets", Subject: []string{"department"}, Details: []string{"fiscalYear"}}
	errApproved           = &fault.Code{Name: "BUDGET_ALREADY_APPROVED", Kind: fault.Conflict, Status: 200, Meaning: "The budget was approved before.", Instruct: "Use get_budget to see who approved it and when.", Via: "get_budget", Subject: []string{"department"}, Details: []string{"fiscalYear", "status"}}
	errSeparationOfDuties = &fault.Code{Name: "SEPARATION_OF_DUTIES", Kind: fault.Forbidden, Status: 200, Meaning: "No one may approve what they submitted themselves.", Suggest: "Ask someone else with the role finance-write or executive to approve it.", Subject: []string{"department"}, Details: []string{"fiscalYear"}}
	errNoInvoice          = &fault.Code{Name: "INVOICE_NOT_FOUND", Kind: fault.NotFound, Status: 200, Meaning: "No invoice has this id.", Suggest: "Ask for the invoice by its number or its vendor.", Instruct: findInvoices, Via: "list_invoices", Subject: []string{"invoice_id"}}
	errNotDeletable       = &fault.Code{Name: "INVOICE_NOT_DELETABLE", Kind: fault.Conflict, Status: 200, Meaning: "An approved or paid invoice cannot be deleted.", Suggest: "Only pending and rejected invoices can be deleted.", Instruct: "Only pending and rejected invoices can be deleted. Use list_invoices with status pending or rejected to find them.", Via: "list_invoices", Subject: []string{"invoice_id"}, Details: []string{"status"}}
	errNoReport           = &fault.Code{Name: "EXPENSE_REPORT_NOT_FOUND", Kind: fault.NotFound, Status: 200, Meaning: "There is no such expense report, or the caller may not see it.", Suggest: "Ask which expense reports there are.", Instruct: "Use list_expense_reports tool to find the report_number, or the employee_id and month.", Via: "list_expense_reports", Subject: []string{"report_number", "employee_id", "month"}}
)

// Codes lists the domain's fault codes, for the docs.
func (s *Server) Codes() []*fault.Code {
	return []*fault.Code{errNoBudget, errApproved, errSeparationOfDuties, errNoInvoice, errNotDeletable, errNoReport}
}

// today is the day in UTC, in a form that sorts by date.
func (s *Server) today() string { return s.now().UTC().Format(time.DateOnly) }

// words normalizes a filter: single spaces between words, none around them.
func words(text string) string { return strings.Join(strings.Fields(text), " ") }

// wholeCents converts an amount that will be stored. More than two decimals, or
// more than [money.Max], is INVALID_INPUT.
func wholeCents(field string, dollars float64) (int64, error) {
	cents, whole := money.Cents(dollars)
	switch {
	case dollars > money.Max:
		return 0, fault.InvalidInput.New("That amount is larger than any budget can be.").Suggest("Check %s: it is an amount in US dollars.", field).Fields(field)
	case !whole:
		return 0, fault.InvalidInput.New("An amount has two decimals at most.").Suggest("Round %s to whole cents.", field).Fields(field)
	}
	return cents, nil
}

// percentOf is how much part is of whole, in per cent with one decimal.
func percentOf(part, whole int64) float64 {
	return math.Round(float64(part)/float64(whole)*1000) / 10
}
