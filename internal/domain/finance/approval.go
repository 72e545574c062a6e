package finance

import (
	"context"
	"fmt"
	"math/big"
	"slices"

	"countersign.dev/internal/database"
	"countersign.dev/internal/fault"
	"countersign.dev/internal/money"
	"countersign.dev/internal/tool"
)

func (s *Server) approval() []tool.Tool {
	return []tool.Tool{tool.Write(tool.Spec{
		Name: "approve_budget", Title: "Approve a budget",
		Description: "Approve a department's submitted budget for a fiscal year. " +
			"Without amount: the submitted amount; without fiscal_year: the current year. A person must approve it first. Not allowed for the submitter.",
		Allow: writers, Synonyms: []string{"sign off", "release"},
	}, tool.Steps[approveBudget, approvalPreview, approvalPrecondition, budgetApproved]{Preview: s.previewApproval, Apply: s.approveBudget})}
}

type approveBudget struct {
	Department string   `json:"department" jsonschema_description:"Department name or code" suggest:"Give the department's name or code, for example Marketing or MKT."`
	Amount     *float64 `json:"amount,omitempty" jsonschema:"minimum=0" jsonschema_description:"Approved budget amount in USD (default: the amount that was submitted)" field:"unit=USD,amount"`
	FiscalYear int      `json:"fiscal_year,omitempty" jsonschema:"minimum=2000,maximum=2100" jsonschema_description:"Fiscal year (default: current year)" field:"show=year"`
	Notes      string   `json:"notes,omitempty" jsonschema:"maxLength=1000" jsonschema_description:"Kept with the approval" text:"lines"`
}

// approvalPreview is shown on the approval card, with the change when another
// amount is approved than was submitted.
type approvalPreview struct {
	BudgetID        string   `json:"budgetId" jsonschema:"format=uuid" field:"show=detail"`
	Department      string   `json:"department"`
	FiscalYear      int      `json:"fiscalYear" field:"show=year"`
	SubmittedBy     string   `json:"submittedBy"`
	SubmittedAmount float64  `json:"submittedAmount" jsonschema:"minimum=0" field:"unit=USD"`
	ApprovedAmount  float64  `json:"approvedAmount" jsonschema:"minimum=0" field:"unit=USD"`
	Change          *float64 `json:"change,omitempty" field:"unit=USD,show=change"`
	ChangePercent   *float64 `json:"changePercent,omitempty" field:"unit=percent,show=change"`
	SpentAmount     float64  `json:"spentAmount" jsonschema:"minimum=0" field:"unit=USD"`
	Warning         string   `json:"warning,omitempty"`
	Notes           string   `json:"notes,omitempty" quote:"assistant"`

	submitted, approved int64
}

// Message is the question that the person answers.
func (c approvalPreview) Message() tool.Sentence {
	message := tool.Say("Approve the %d budget of %s, %s, submitted by %s?", c.FiscalYear, tool.Listed(c.Department), tool.Plain(money.Text(c.approved, "USD")), c.SubmittedBy)
	if c.Change != nil {
		verb := "raises"
		if c.approved < c.submitted {
			verb = "lowers"
		}
		message = tool.Say("Approve the %d budget of %s, submitted by %s, with another amount? This %s it from the submitted %s to %s (%s).",
			c.FiscalYear, tool.Listed(c.Department), c.SubmittedBy, tool.Plain(verb), tool.Plain(money.Text(c.submitted, "USD")), tool.Plain(money.Text(c.approved, "USD")), tool.Plain(c.difference()))
	}
	message = message.Then("\nAn approval cannot be undone here.")
	if c.Warning != "" {
		message = message.Then("\nWarning: %s", tool.Plain(c.Warning))
	}
	return message
}

func (c approvalPreview) difference() string {
	sign := "+"
	if c.approved < c.submitted {
		sign = ""
	}
	if c.ChangePercent == nil {
		return sign + money.Text(c.approved-c.submitted, "USD")
	}
	return fmt.Sprintf("%s%s, %+.1f %%", sign, money.Text(c.approved-c.submitted, "USD"), *c.ChangePercent)
}

// approvalPrecondition must still hold when the approval is given.
type approvalPrecondition struct {
	ID, Department string
	Year           int
	SubmittedBy    string
	Approver       string
	Quarters       []int   // the numbers of those that the budget has
	Submitted      []int64 // in cents, of each of Quarters
	Approved       int64   // in all
	Spent          int64
}

// budgetApproved is the answer to an approval that was given.
type budgetApproved struct {
	Approved       bool    `json:"approved"`
	BudgetID       string  `json:"budgetId" jsonschema:"format=uuid"`
	Department     string  `json:"department"`
	FiscalYear     int     `json:"fiscalYear"`
	ApprovedAmount float64 `json:"approvedAmount" jsonschema:"minimum=0"`
	ApprovedBy     string  `json:"approvedBy" jsonschema:"format=email"`
	Message        string  `json:"message"`
}

// draft is the budget that an approval is about.
type draft struct {
	ID, Department, Status string
	SubmittedBy            *string
	ApprovedBy             *string
	Caller                 string // the address of the caller; empty when it is not known who that is
}

const findDraft = `
select b.id, d.name as department, b.status, b.submitted_by, b.approved_by, coalesce(finance.caller_email(), '') as caller
from finance.budgets b join finance.departments d on d.code = b.department
where lower($1) in (lower(d.name), lower(d.code)) and b.fiscal_year = $2`

const findQuarters = `
select quarter, allocated_cents, spent_cents from finance.budget_quarters
where budget_id = $1 order by quarter`

// share is a quarter's part of a budget, as it is stored.
type share struct {
	Quarter        int
	AllocatedCents int64
	SpentCents     int64
}

func (s *Server) previewApproval(ctx context.Context, in approveBudget) (preview approvalPreview, precondition approvalPrecondition, err error) {
	err = s.db.Read(ctx, func(ctx context.Context) error {
		year := s.fiscalYear(in.FiscalYear)
		b, err := s.draft(ctx, in.Department, year)
		if err != nil {
			return err
		}
		precondition = approvalPrecondition{ID: b.ID, Department: b.Department, Year: year, SubmittedBy: *b.SubmittedBy, Approver: b.Caller}
		if err := s.amounts(ctx, in, &precondition); err != nil {
			return err
		}
		preview = newApprovalPreview(in, precondition)
		return nil
	})
	return preview, precondition, err
}

// draft finds the budget to approve and applies every rule about who may approve
// what. Inside a change it locks the budget.
func (s *Server) draft(ctx context.Context, department string, year int) (draft, error) {
	b, found, err := database.Row[draft](ctx, s.db, findDraft+database.ForUpdate(ctx, s.db, "b"), words(department), year)
	switch {
	case err != nil:
		return draft{}, err
	case !found:
		return draft{}, noBudget(department, year)
	case b.Status != "draft":
		return draft{}, approvedBefore(b, year)
	case b.SubmittedBy == nil:
		return draft{}, errNoBudget.New("The %d budget of %s is a draft that has not been submitted for approval.", year, b.Department).With("fiscalYear", year)
	case b.Caller == "":
		return draft{}, fault.Unproven.New("It cannot be checked that you did not submit this budget yourself: your sign-in has no verified e-mail address of your own.")
	case b.Caller == *b.SubmittedBy:
		return draft{}, errSeparationOfDuties.New("You submitted the %d budget of %s yourself, so someone else must approve it.", year, b.Department).With("fiscalYear", year)
	}
	return b, nil
}

func approvedBefore(b draft, year int) error {
	by := ""
	if b.ApprovedBy != nil {
		by = " by " + *b.ApprovedBy
	}
	return errApproved.New("The %d budget of %s has been approved before%s; its status is %s.", year, b.Department, by, b.Status).With("fiscalYear", year).With("status", b.Status)
}

// amounts adds to the precondition what was submitted and spent, and what would
// be approved.
func (s *Server) amounts(ctx context.Context, in approveBudget, seen *approvalPrecondition) error {
	quarters, err := database.Rows[share](ctx, s.db, findQuarters+database.ForUpdate(ctx, s.db), seen.ID)
	switch {
	case err != nil:
		return err
	case len(quarters) == 0:
		return errNoBudget.New("The %d budget of %s has no quarters, so no amount can be stored.", seen.Year, seen.Department).With("fiscalYear", seen.Year)
	}
	for _, q := range quarters {
		seen.Quarters = append(seen.Quarters, q.Quarter)
		seen.Submitted = append(seen.Submitted, q.AllocatedCents)
		seen.Approved += q.AllocatedCents
		seen.Spent += q.SpentCents
	}
	if in.Amount != nil {
		seen.Approved, err = wholeCents("amount", *in.Amount)
	}
	return err
}

func newApprovalPreview(in approveBudget, f approvalPrecondition) approvalPreview {
	submitted := total(f.Submitted)
	preview := approvalPreview{
		BudgetID: f.ID, Department: f.Department, FiscalYear: f.Year, SubmittedBy: f.SubmittedBy, SubmittedAmount: money.Dollars(submitted),
		ApprovedAmount: money.Dollars(f.Approved), SpentAmount: money.Dollars(f.Spent), Notes: in.Notes, submitted: submitted, approved: f.Approved,
	}
	if f.Approved < f.Spent {
		preview.Warning = money.Text(f.Spent, "USD") + " of this budget has been spent already, more than would be approved."
	}
	if f.Approved == submitted {
		return preview
	}
	change := money.Dollars(f.Approved - submitted)
	preview.Change = &change
	if submitted > 0 {
		percent := percentOf(f.Approved-submitted, submitted)
		preview.ChangePercent = &percent
	}
	return preview
}

func total(quarters []int64) (cents int64) {
	for _, q := range quarters {
		cents += q
	}
	return cents
}

const approveDraft = `
update finance.budgets
set status = 'approved', approved_by = $2, approved_at = now(), approval_notes = nullif($3, '')
where id = $1 and status = 'draft'`

const distributeAmount = `
update finance.budget_quarters q set allocated_cents = s.cents
from unnest($2::integer[], $3::bigint[]) as s (quarter, cents)
where q.budget_id = $1 and q.quarter = s.quarter`

func (s *Server) approveBudget(ctx context.Context, in approveBudget, seen approvalPrecondition) (budgetApproved, error) {
	if err := database.ExecOne(ctx, s.db, approveDraft, seen.ID, seen.Approver, in.Notes); err != nil {
		return budgetApproved{}, err
	}
	parts := distribute(seen.Approved, seen.Submitted)
	if err := database.ExecAll(ctx, s.db, distributeAmount, len(parts), seen.ID, seen.Quarters, parts); err != nil {
		return budgetApproved{}, err
	}
	return budgetApproved{
		Approved: true, BudgetID: seen.ID, Department: seen.Department, FiscalYear: seen.Year, ApprovedAmount: money.Dollars(seen.Approved), ApprovedBy: seen.Approver,
		Message: fmt.Sprintf("The %d budget of %s has been approved with %s.", seen.Year, seen.Department, money.Text(seen.Approved, "USD")),
	}, nil
}

// distribute divides an amount in the proportions of the quarters, to the cent:
// the parts add up to it. Quarters that are all zero get equal parts.
func distribute(cents int64, quarters []int64) []int64 {
	if total(quarters) == 0 {
		quarters = slices.Repeat([]int64{1}, len(quarters))
	}
	parts := make([]int64, len(quarters))
	whole, upTo, given := total(quarters), int64(0), int64(0)
	for i, q := range quarters {
		upTo += q
		reach := new(big.Int).Mul(big.NewInt(cents), big.NewInt(upTo)) // the product of two amounts overflows an int64
		parts[i] = reach.Div(reach, big.NewInt(whole)).Int64() - given
		given += parts[i]
	}
	return parts
}
