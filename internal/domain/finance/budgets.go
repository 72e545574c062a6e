package finance

import (
	"context"
	"fmt"
	"time"

	"countersign.dev/internal/database"
	"countersign.dev/internal/money"
	"countersign.dev/internal/tool"
)

// Budget is what a department may spend in a fiscal year, and has spent.
type Budget struct {
	BudgetID        string     `json:"budget_id" jsonschema:"format=uuid"`
	Department      string     `json:"department"`
	FiscalYear      int        `json:"fiscal_year" field:"show=year"`
	Quarter         string     `json:"quarter,omitempty" jsonschema:"enum=Q1,enum=Q2,enum=Q3,enum=Q4" jsonschema_description:"Only when one quarter was asked for: all amounts of this row are that quarter's"`
	AllocatedAmount float64    `json:"allocated_amount" jsonschema:"minimum=0" jsonschema_description:"Budget in USD" field:"label=Budget,unit=USD,amount,aka=budget|planned"`
	SpentAmount     float64    `json:"spent_amount" jsonschema:"minimum=0" jsonschema_description:"Actual spend so far in USD" field:"label=Spent,unit=USD,aka=spend|actual|used|cost"`
	RemainingAmount float64    `json:"remaining_amount" jsonschema_description:"Negative when overspent" field:"label=Remaining budget,unit=USD,aka=left|unused|unspent,aka.negative=overspent|overspend|over budget|over their budget|over,aka.positive=underspent|underspend|under"`
	UtilizationPct  *float64   `json:"utilization_pct" jsonschema:"oneof_type=number;null" jsonschema_description:"Spent, in per cent of the budget; null where nothing is allocated" field:"label=Used,unit=percent,aka=utilisation|percentage|share"`
	Status          string     `json:"status" jsonschema:"enum=draft,enum=approved,enum=active,enum=closed" jsonschema_description:"A draft with submitted_by waits for approval"`
	SubmittedBy     *string    `json:"submitted_by" jsonschema:"oneof_type=string;null,format=email" jsonschema_description:"E-mail address"`
	ApprovedBy      *string    `json:"approved_by" jsonschema:"oneof_type=string;null,format=email" jsonschema_description:"E-mail address"`
	ApprovedAt      *time.Time `json:"approved_at" jsonschema:"oneof_type=string;null" field:"show=detail"`
	ApprovalNotes   string     `json:"approval_notes,omitempty" jsonschema_description:"What was noted with the approval" field:"show=detail"`
	Quarters        []Quarter  `json:"quarters" jsonschema_description:"The quarters add up to the year"`
}

// Quarter is a quarter's part of a budget.
type Quarter struct {
	Quarter         string  `json:"quarter" jsonschema:"enum=Q1,enum=Q2,enum=Q3,enum=Q4"`
	AllocatedAmount float64 `json:"allocated_amount" field:"label=Budget,unit=USD,amount"`
	SpentAmount     float64 `json:"spent_amount" field:"label=Spent,unit=USD"`
}

// budgetKey is a budget's sort key in lists.
type budgetKey struct {
	Year       int
	Department string
}

// Key orders lists by year, the newest first, then by department.
func (b Budget) Key() budgetKey { return budgetKey{b.FiscalYear, b.Department} }

// budgetRow is a budget as the queries return one, its quarters side by side.
type budgetRow struct {
	BudgetID       string
	Department     string
	FiscalYear     int
	Status         string
	SubmittedBy    *string
	ApprovedBy     *string
	ApprovedAt     *time.Time
	ApprovalNotes  string
	Quarters       []int
	AllocatedCents []int64
	SpentCents     []int64
}

// budget adds up the quarters of a row: all of them, or the one asked for.
func (r budgetRow) budget(quarter string) Budget {
	b := Budget{
		BudgetID: r.BudgetID, Department: r.Department, FiscalYear: r.FiscalYear, Quarter: quarter, Status: r.Status,
		SubmittedBy: r.SubmittedBy, ApprovedBy: r.ApprovedBy, ApprovedAt: r.ApprovedAt, ApprovalNotes: r.ApprovalNotes, Quarters: []Quarter{},
	}
	var allocated, spent int64
	for i, n := range r.Quarters {
		q := Quarter{fmt.Sprintf("Q%d", n), money.Dollars(r.AllocatedCents[i]), money.Dollars(r.SpentCents[i])}
		if quarter != "" && quarter != q.Quarter {
			continue
		}
		b.Quarters = append(b.Quarters, q)
		allocated, spent = allocated+r.AllocatedCents[i], spent+r.SpentCents[i]
	}
	b.AllocatedAmount, b.SpentAmount, b.RemainingAmount = money.Dollars(allocated), money.Dollars(spent), money.Dollars(allocated-spent)
	if allocated > 0 {
		used := percentOf(spent, allocated)
		b.UtilizationPct = &used
	}
	return b
}

func (s *Server) budgets() []tool.Tool {
	return []tool.Tool{
		tool.Read(tool.Spec{
			Name: "get_budget", Title: "Get a department's budget",
			Description: "Show one department's budget for a fiscal year, with its quarters. Without year: the current one. For several departments use list_budgets.",
			Allow:       readers, Synonyms: []string{"spending", "spend", "cost"}, Untrusted: []string{"approval_notes"},
		}, s.getBudget),
		tool.List(tool.Spec{
			Name: "list_budgets", Title: "List budgets", Ask: "Show the budgets of this fiscal year",
			Description: "List budgets with their actual spending, one row for each department and fiscal year. " +
				"With quarter, all amounts are that quarter's. For the whole company leave out department and add up the rows.",
			Allow: readers, Synonyms: []string{"spending", "spend", "cost"}, Noun: "budgets", Narrow: "department, fiscal year or status", Untrusted: []string{"approval_notes"},
			Lacks: []tool.Lack{{
				Said: `^(\w+ ){0,3}(increase|raise|update|change|rename|edit|modify|correct|set|move|cut|add|create|reduce|reject|delete|remove)\b.*\bbudgets?\b`,
				Tell: "Budgets can be read and approved here, not changed",
			}, {
				Said: `\b(burn|run) rate\b|\bcash ?flow\b|\brunway\b|\bprofit and loss\b|\bbalance sheet\b`,
				Tell: "Only budgets, invoices and expenses are kept here",
			}},
		}, s.listBudgets),
	}
}

type getBudget struct {
	Department string `json:"department" jsonschema_description:"Department name" suggest:"Give the department's name or code, for example Marketing or MKT."`
	Year       int    `json:"year,omitempty" jsonschema:"minimum=2000,maximum=2100" jsonschema_description:"Fiscal year (default: current year)" field:"show=year"`
}

const selectBudget = `
select b.id as budget_id, b.department_name as department, b.fiscal_year, b.status, b.submitted_by, b.approved_by, b.approved_at,
       coalesce(b.approval_notes, '') as approval_notes,
       q.quarters, q.allocated_cents, q.spent_cents
from finance.budgets b
cross join lateral (
  select coalesce(array_agg(quarter order by quarter), '{}') as quarters,
         coalesce(array_agg(allocated_cents order by quarter), '{}') as allocated_cents,
         coalesce(array_agg(spent_cents order by quarter), '{}') as spent_cents
  from finance.budget_quarters where budget_id = b.id
) q`

const findBudget = selectBudget + `
where b.department = (select code from finance.departments where name_key = lower($1) or code_key = lower($1)) and b.fiscal_year = $2`

func (s *Server) getBudget(ctx context.Context, in getBudget) (Budget, error) {
	year := s.fiscalYear(in.Year)
	row, found, err := database.Row[budgetRow](ctx, s.db, findBudget, words(in.Department), year)
	if err != nil {
		return Budget{}, err
	}
	if !found {
		return Budget{}, noBudget(in.Department, year)
	}
	return row.budget(""), nil
}

// fiscalYear is the year asked for, or the current one: fiscal years are
// calendar years, in UTC.
func (s *Server) fiscalYear(year int) int {
	if year == 0 {
		return s.now().UTC().Year()
	}
	return year
}

func noBudget(department string, year int) error {
	return errNoBudget.New("There is no budget of the department %q for fiscal year %d.", department, year).With("fiscalYear", year)
}

type listBudgets struct {
	Department string `json:"department,omitempty" jsonschema_description:"Only this department, by name or code (default: the whole company)"`
	FiscalYear int    `json:"fiscal_year,omitempty" jsonschema:"minimum=2000,maximum=2100" jsonschema_description:"Only this fiscal year (default: every year)" field:"show=year"`
	Quarter    string `json:"quarter,omitempty" jsonschema:"enum=Q1,enum=Q2,enum=Q3,enum=Q4" jsonschema_description:"Amounts of this quarter instead of the whole year. Without fiscal_year: of the current one"`
	Status     string `json:"status,omitempty" jsonschema:"enum=draft,enum=submitted,enum=approved,enum=active,enum=closed" jsonschema_description:"Only budgets in this status; submitted are the drafts that wait for approval" field:"aka.draft=not approved|not yet approved|unapproved,aka.submitted=not approved|not yet approved|waiting for approval|awaiting approval|waiting|unapproved|to be approved|needs approval"`
}

const pageOfBudgets = selectBudget + `
where (b.newest_first, b.department_name) > ($1, $2)
  and ($3 = '' or b.department = (select code from finance.departments where name_key = lower($3) or code_key = lower($3)))
  and ($4 = 0 or b.newest_first = $4)
  and ($5 = '' or b.status = $5 or $5 = 'submitted' and b.status = 'draft' and b.submitted_by is not null)
order by b.newest_first, b.department_name
limit $6`

func (s *Server) listBudgets(ctx context.Context, in listBudgets, w tool.Window[budgetKey]) ([]Budget, error) {
	after := budgetKey{Year: 9999}
	if w.After != nil {
		after = *w.After
	}
	if in.Quarter != "" {
		in.FiscalYear = s.fiscalYear(in.FiscalYear)
	}
	rows, err := database.Rows[budgetRow](ctx, s.db, pageOfBudgets, -after.Year, after.Department, words(in.Department), -in.FiscalYear, in.Status, w.Limit)
	budgets := make([]Budget, 0, len(rows))
	for _, row := range rows {
		budgets = append(budgets, row.budget(in.Quarter))
	}
	return budgets, err
}
