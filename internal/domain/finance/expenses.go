package finance

import (
	"context"
	"time"

	"countersign.dev/internal/database"
	"countersign.dev/internal/fault"
	"countersign.dev/internal/tool"
)

// ExpenseReport is what an employee spent for the company in a month.
type ExpenseReport struct {
	ReportID     string        `json:"report_id" jsonschema:"format=uuid"`
	ReportNumber string        `json:"report_number"`
	EmployeeID   string        `json:"employee_id" jsonschema:"format=uuid"`
	EmployeeName string        `json:"employee_name" field:"label=Name"`
	Month        string        `json:"month"`
	Title        string        `json:"title"`
	Status       string        `json:"status" jsonschema:"enum=draft,enum=submitted,enum=under_review,enum=approved,enum=rejected,enum=reimbursed"`
	TotalAmount  float64       `json:"total_amount" jsonschema_description:"The sum of the items in USD" db:"-" field:"label=Total,unit=USD,amount,aka=cost|spent"`
	SubmittedAt  *time.Time    `json:"submitted_at" jsonschema:"oneof_type=string;null" field:"show=detail"`
	ApprovedBy   *string       `json:"approved_by" jsonschema:"oneof_type=string;null" jsonschema_description:"E-mail address"`
	Items        []ExpenseItem `json:"items" db:"-"`
}

// ExpenseItem is one receipt.
type ExpenseItem struct {
	Date        string  `json:"date" jsonschema:"format=date"`
	Category    string  `json:"category" jsonschema:"enum=travel,enum=meals,enum=supplies,enum=software,enum=other"`
	Description string  `json:"description"`
	Vendor      string  `json:"vendor"`
	Amount      float64 `json:"amount" db:"-" field:"unit=USD,amount"`
}

// itemRow is an item as the query returns one.
type itemRow struct {
	ExpenseItem
	AmountCents int64
}

func (s *Server) expenses() []tool.Tool {
	return []tool.Tool{tool.Read(tool.Spec{
		Name: "get_expense_report", Title: "Get an expense report",
		Description: "Show one expense report with its items. Needs report_number, or employee_id and month.",
		Allow:       readers, Synonyms: []string{"expense claim", "receipt", "reimbursement", "travel cost"}, Untrusted: []string{"title", "description", "vendor"},
	}, s.getExpenseReport)}
}

type getExpenseReport struct {
	EmployeeID   string `json:"employee_id,omitempty" jsonschema:"format=uuid" jsonschema_description:"Whose report; needs month too" suggest:"Use list_employees tool to find valid employee IDs, or ask with report_number."`
	Month        string `json:"month,omitempty" jsonschema:"pattern=^[0-9]{4}-(0[1-9]|1[0-2])$" jsonschema_description:"The month of the expenses, YYYY-MM; needs employee_id too" suggest:"Write it as YYYY-MM, for example 2026-03."`
	ReportNumber string `json:"report_number,omitempty" jsonschema_description:"Number of the report, for example EXP-2026-001"`
}

// check rejects an input that does not name one report.
func (in getExpenseReport) check() error {
	if words(in.ReportNumber) != "" || in.EmployeeID != "" && in.Month != "" {
		return nil
	}
	return fault.InvalidInput.New("One report is named by report_number, or by employee_id and month together.").
		Suggest("Give report_number, or employee_id and month (YYYY-MM).")
}

const findReport = `
select id as report_id, report_number, employee_id, employee_name, month, title, status, submitted_at, approved_by
from finance.expense_reports
where ($1 = '' or report_number = upper($1))
  and ($2 = '' or employee_id = nullif($2, '')::uuid)
  and ($3 = '' or month = $3)
limit 1`

const findItems = `
select item_date::text as date, category, description, vendor, amount_cents
from finance.expense_items where report_id = $1 order by position`

func (s *Server) getExpenseReport(ctx context.Context, in getExpenseReport) (report ExpenseReport, err error) {
	if err := in.check(); err != nil {
		return ExpenseReport{}, err
	}
	err = s.db.Read(ctx, func(ctx context.Context) error {
		found := false
		report, found, err = database.Row[ExpenseReport](ctx, s.db, findReport, words(in.ReportNumber), in.EmployeeID, in.Month)
		if err != nil {
			return err
		}
		if !found {
			return noReport(in)
		}
		return s.addItems(ctx, &report)
	})
	return report, err
}

func noReport(in getExpenseReport) error {
	if number := words(in.ReportNumber); number != "" {
		return errNoReport.New("There is no expense report %s.", number)
	}
	return errNoReport.New("There is no expense report of employee %s for %s.", in.EmployeeID, in.Month)
}

func (s *Server) addItems(ctx context.Context, report *ExpenseReport) error {
	rows, err := database.Rows[itemRow](ctx, s.db, findItems, report.ReportID)
	report.Items = make([]ExpenseItem, 0, len(rows))
	var total int64
	for _, row := range rows {
		row.Amount, total = dollars(row.AmountCents), total+row.AmountCents
		report.Items = append(report.Items, row.ExpenseItem)
	}
	report.TotalAmount = dollars(total)
	return err
}
