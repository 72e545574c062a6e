package finance

import (
	"context"
	"time"

	"countersign.dev/internal/database"
	"countersign.dev/internal/fault"
	"countersign.dev/internal/money"
	"countersign.dev/internal/tool"
)

// ExpenseReport is what an employee spent for the company in a month.
type ExpenseReport struct {
	ReportID     string     `json:"report_id" jsonschema:"format=uuid"`
	ReportNumber string     `json:"report_number"`
	EmployeeID   string     `json:"employee_id" jsonschema:"format=uuid"`
	EmployeeName string     `json:"employee_name" field:"label=Name"`
	Month        string     `json:"month"`
	Category     string     `json:"category,omitempty" jsonschema:"enum=travel,enum=meals,enum=supplies,enum=software,enum=other" jsonschema_description:"Only when one category was asked for: the total is that of its items" db:"-"`
	Title        string     `json:"title"`
	Status       string     `json:"status" jsonschema:"enum=draft,enum=submitted,enum=under_review,enum=approved,enum=rejected,enum=reimbursed"`
	TotalAmount  float64    `json:"total_amount" jsonschema:"minimum=0" jsonschema_description:"The sum of the items in USD" db:"-" field:"label=Total,unit=USD,amount,aka=cost|spent|spend"`
	SubmittedAt  *time.Time `json:"submitted_at" jsonschema:"oneof_type=string;null" field:"label=Submitted"`
	ApprovedBy   *string    `json:"approved_by" jsonschema:"oneof_type=string;null,format=email" jsonschema_description:"E-mail address"`
}

// reportKey is a report's sort key in lists.
type reportKey struct{ Month, Number string }

// Key orders lists by month, the newest first, then by number, the highest first.
func (r ExpenseReport) Key() reportKey { return reportKey{r.Month, r.ReportNumber} }

// ItemizedReport is an expense report with its receipts.
type ItemizedReport struct {
	ExpenseReport
	Items []ExpenseItem `json:"items"`
}

// ExpenseItem is one receipt.
type ExpenseItem struct {
	Date        string  `json:"date" jsonschema:"format=date"`
	Category    string  `json:"category" jsonschema:"enum=travel,enum=meals,enum=supplies,enum=software,enum=other"`
	Description string  `json:"description"`
	Vendor      string  `json:"vendor"`
	Amount      float64 `json:"amount" jsonschema:"minimum=0" db:"-" field:"unit=USD,amount"`
}

// reportRow is a report as the queries return one.
type reportRow struct {
	ExpenseReport
	TotalCents int64
}

func (r reportRow) report() ExpenseReport {
	r.TotalAmount = money.Dollars(r.TotalCents)
	return r.ExpenseReport
}

// itemRow is an item as the query returns one.
type itemRow struct {
	ExpenseItem
	AmountCents int64
}

func (s *Server) expenses() []tool.Tool {
	return []tool.Tool{
		tool.Read(tool.Spec{
			Name: "get_expense_report", Title: "Get an expense report", AskOf: "Show the expense report %s",
			Description: "Show one expense report with its items. Needs report_number, or employee_id and month; list_expense_reports finds both.",
			Allow:       reporters, Synonyms: []string{"expense claim", "receipt", "reimbursement", "travel cost"}, Untrusted: []string{"title", "description", "vendor"},
		}, s.getExpenseReport),
		tool.List(tool.Spec{
			Name: "list_expense_reports", Title: "List expense reports", Ask: "Show expense reports",
			Description: "List expense reports with their totals, the newest month first. With category: those with such items, and what was spent on these. Who may not see all of them sees their own.",
			Allow:       reporters, Synonyms: []string{"expense claim", "expense", "reimbursement", "travel cost", "spend", "spending"}, Noun: "expense reports", Narrow: "employee, month, category or status", Untrusted: []string{"title"},
			Lacks: []tool.Lack{{
				Said: `\b(travel|expenses?|reimbursement) (policy|policies|rules?|limits?)\b`,
				Tell: "Rules of expenses are not kept here, only the reports",
			}, {
				Said: `^(\w+ ){0,3}(approve|reject|submit|file|create|pay|reimburse|update|change|rename|edit|modify|correct|delete|remove)\b.*\b(expenses?\b|exp-)|\bexpenses?\b.*\b(my approval|to approve)\b`,
				Tell: "Expense reports can be read here, not filed, approved, paid, changed or deleted",
			}},
		}, s.listExpenseReports),
	}
}

type getExpenseReport struct {
	EmployeeID   string `json:"employee_id,omitempty" jsonschema:"format=uuid" jsonschema_description:"Whose report; needs month too" suggest:"Use list_expense_reports tool to find the report_number, or ask with it." via:"list_expense_reports" tell:"I find no employee with that id."`
	Month        string `json:"month,omitempty" jsonschema:"pattern=^(19|2[01])[0-9]{2}-(0[1-9]|1[0-2])$" jsonschema_description:"The month of the expenses, YYYY-MM; needs employee_id too" suggest:"Write it as YYYY-MM, for example 2026-03." tell:"Which month? Say it like March 2026."`
	ReportNumber string `json:"report_number,omitempty" jsonschema_description:"Number of the report, for example EXP-2026-001" field:"from=list_expense_reports:report_number,like=EXP-2026-001"`
}

// check rejects an input that does not name one report.
func (in getExpenseReport) check() error {
	if words(in.ReportNumber) != "" || in.EmployeeID != "" && in.Month != "" {
		return nil
	}
	return fault.InvalidInput.New("Which report? Say its number, or whose it is and of which month.").
		Instruct("Give report_number, or employee_id and month (YYYY-MM). Use list_expense_reports tool to find them.").Through("list_expense_reports").Fields("report_number", "employee_id", "month")
}

const selectReport = `
select r.id as report_id, r.report_number, r.employee_id, r.employee_name, r.month, r.title, r.status, r.submitted_at, r.approved_by,
       coalesce(i.total_cents, 0)::bigint as total_cents
from finance.expense_reports r`

const findReport = selectReport + `
left join lateral (select sum(amount_cents) as total_cents from finance.expense_items where report_id = r.id) i on true
where ($1 = '' or report_number = upper($1))
  and ($2 = '' or employee_id = nullif($2, '')::uuid)
  and ($3 = '' or month = $3)
limit 1`

const findItems = `
select item_date::text as date, category, description, vendor, amount_cents
from finance.expense_items where report_id = $1 order by position`

func (s *Server) getExpenseReport(ctx context.Context, in getExpenseReport) (report ItemizedReport, err error) {
	if err := in.check(); err != nil {
		return ItemizedReport{}, err
	}
	err = s.db.Read(ctx, func(ctx context.Context) error {
		row, found, err := database.Row[reportRow](ctx, s.db, findReport, words(in.ReportNumber), in.EmployeeID, in.Month)
		if err != nil {
			return err
		}
		if !found {
			return noReport(in)
		}
		report.ExpenseReport = row.report()
		report.Items, err = s.items(ctx, report.ReportID)
		return err
	})
	return report, err
}

// noReport names all that was asked for: the report may exist for another person or month.
func noReport(in getExpenseReport) error {
	report, people := "expense report", "expense report"
	if number := words(in.ReportNumber); number != "" {
		report, people = report+" "+number, people+" with that number"
	}
	if in.EmployeeID != "" {
		report, people = report+" of employee "+in.EmployeeID, people+" of that person"
	}
	if in.Month != "" {
		report, people = report+" for "+in.Month, people+" for that month"
	}
	return errNoReport.New("There is no %s.", report).Tell("I find no %s among those that you can see.", people)
}

func (s *Server) items(ctx context.Context, report string) ([]ExpenseItem, error) {
	rows, err := database.Rows[itemRow](ctx, s.db, findItems, report)
	items := make([]ExpenseItem, 0, len(rows))
	for _, row := range rows {
		row.Amount = money.Dollars(row.AmountCents)
		items = append(items, row.ExpenseItem)
	}
	return items, err
}

type listExpenseReports struct {
	Employee string `json:"employee,omitempty" jsonschema:"maxLength=100" jsonschema_description:"Part of a name: whose reports"`
	Month    string `json:"month,omitempty" jsonschema:"pattern=^(19|2[01])[0-9]{2}-(0[1-9]|1[0-2])$" jsonschema_description:"Only expenses of this month, YYYY-MM" suggest:"Write it as YYYY-MM, for example 2026-03." tell:"Which month? Say it like March 2026."`
	Category string `json:"category,omitempty" jsonschema:"enum=travel,enum=meals,enum=supplies,enum=software,enum=other" jsonschema_description:"Only reports with items of this category; the totals are those of these items" field:"aka.travel=trip|travelling,aka.meals=food|restaurant|lunch|dinner"`
	Status   string `json:"status,omitempty" jsonschema:"enum=draft,enum=submitted,enum=under_review,enum=approved,enum=rejected,enum=reimbursed" jsonschema_description:"Only reports in this status; submitted and under_review wait for approval" field:"aka.reimbursed=been paid|paid back|paid out|repaid,aka.submitted=waiting for approval|waiting|pending|awaiting approval|handed in|open,aka.draft=open,aka.approved=open,aka.under_review=open|waiting for approval|waiting|pending|awaiting approval|in review|being reviewed"`
}

// The caller's own reports are found in an index of theirs: the range is a plain
// value, as the policy has it.
const pageOfReports = selectReport + `
left join lateral (select sum(amount_cents) as total_cents from finance.expense_items where report_id = r.id and ($8 = '' or category = $8)) i on true
where ($8 = '' or i.total_cents is not null) and (r.month, r.report_number) < ($1, $2)
  and ($3 = '' or r.employee_email = $3)
  and ($4 = '' or strpos(lower(r.employee_name), lower($4)) > 0)
  and ($5 = '' or r.month = $5)
  and ($6 = '' or r.status = $6)
order by r.month desc, r.report_number desc
limit $7`

func (s *Server) listExpenseReports(ctx context.Context, in listExpenseReports, w tool.Window[reportKey]) (reports []ExpenseReport, err error) {
	before := reportKey{Month: "9999-12"}
	if w.After != nil {
		before = *w.After
	}
	err = s.db.Read(ctx, func(ctx context.Context) error {
		of, _, err := database.Row[*string](ctx, s.db, `select finance.reports_of()`)
		if err != nil || of == nil { // no one's
			return err
		}
		rows, err := database.Rows[reportRow](ctx, s.db, pageOfReports, before.Month, before.Number, *of, words(in.Employee), in.Month, in.Status, w.Limit, in.Category)
		for _, row := range rows {
			report := row.report()
			report.Category = in.Category
			reports = append(reports, report)
		}
		return err
	})
	return reports, err
}
