package hr

import (
	"context"
	"fmt"
	"math"
	"strings"
	"time"

	"countersign.dev/internal/access"
	"countersign.dev/internal/database"
	"countersign.dev/internal/fault"
	"countersign.dev/internal/money"
	"countersign.dev/internal/tool"
)

func (s *Server) salary() []tool.Tool {
	return []tool.Tool{tool.Write(tool.Spec{
		Name: "update_salary", Title: "Update a salary",
		Description: "Change an employee's annual salary. " +
			"new_salary is the new amount in US dollars a year, not the difference. A person must approve it first. Not allowed for one's own salary.",
		Allow: writers, Synonyms: []string{"raise pay", "increase wage", "cut compensation", "reduce", "adjust", "change"},
	}, tool.Steps[salaryInput, salaryPreview, salaryPrecondition, salaryChanged]{Preview: s.previewSalary, Apply: s.updateSalary})}
}

type salaryInput struct {
	EmployeeID    string  `json:"employee_id" jsonschema:"format=uuid" jsonschema_description:"The employee whose salary changes" suggest:"Use list_employees tool to find valid employee IDs, or verify the ID format is correct (UUID expected)." via:"list_employees" tell:"I find no employee with that id."`
	NewSalary     float64 `json:"new_salary" jsonschema:"minimum=0,maximum=10000000" jsonschema_description:"New annual salary in USD" field:"unit=USD,amount,aka=pay|wage|compensation|raise" tell:"A salary cannot be below $0 or above $10,000,000."`
	EffectiveDate string  `json:"effective_date,omitempty" jsonschema:"format=date" jsonschema_description:"When the salary change takes effect (default: immediate). A day that has passed means at once, a later one is rejected"`
	Reason        string  `json:"reason,omitempty" jsonschema:"maxLength=500" text:"lines"`
}

// salaryPreview is shown on the approval card.
type salaryPreview struct {
	EmployeeID    string                    `json:"employeeId" jsonschema:"format=uuid" field:"show=detail"`
	EmployeeName  string                    `json:"employeeName"`
	EmployeeEmail string                    `json:"employeeEmail" jsonschema:"format=email"`
	Department    string                    `json:"department"`
	JobTitle      string                    `json:"jobTitle"`
	CurrentSalary access.Sensitive[float64] `json:"currentSalary" jsonschema:"minimum=0" mask:"pay" field:"unit=USD"`
	NewSalary     float64                   `json:"newSalary" jsonschema:"minimum=0" field:"unit=USD"`
	Change        access.Sensitive[float64] `json:"change" mask:"pay" field:"unit=USD,show=change"`
	ChangePercent access.Sensitive[float64] `json:"changePercent" mask:"pay" field:"unit=percent,show=change"`
	GradeRange    string                    `json:"gradeRange"` // what people of the grade usually earn
	Warning       string                    `json:"warning,omitempty"`
	EffectiveDate string                    `json:"effectiveDate" jsonschema:"format=date"`
	Reason        string                    `json:"reason" quote:"assistant" empty:"No reason provided"`
	Relation      access.Relation           `json:"-"`
}

// Message is the question that the person answers. It says whether the salary
// rises or falls, whatever was asked for.
func (c salaryPreview) Message() tool.Sentence {
	verb, from, change := "changes", tool.Plain(access.Hidden), tool.Plain("")
	if !c.CurrentSalary.Masked {
		verb, from = "raises", tool.Plain(money.TextOf(c.CurrentSalary.Value, "USD"))
		if c.NewSalary < c.CurrentSalary.Value {
			verb = "lowers"
		}
		if c.CurrentSalary.Value > 0 {
			change = tool.Plain(fmt.Sprintf(" (%+.1f %%)", c.ChangePercent.Value))
		}
	}
	message := tool.Say("This %s the annual salary of %s (%s) from %s to %s%s.\nIt applies at once; only another salary change can undo it.",
		tool.Plain(verb), tool.Listed(c.EmployeeName), c.EmployeeEmail, from, tool.Plain(money.TextOf(c.NewSalary, "USD")), change)
	if c.Warning != "" {
		message = message.Then("\nWarning: %s", tool.Plain(c.Warning))
	}
	return message
}

// salaryPrecondition must still hold when the change is approved.
type salaryPrecondition struct {
	ID, Name, Email, Department, Title, Grade string

	OldCents, NewCents, MinCents, MaxCents int64
}

// salaryChanged is the answer to an approved change.
type salaryChanged struct {
	Updated      bool                      `json:"updated"`
	EmployeeID   string                    `json:"employeeId" jsonschema:"format=uuid"`
	EmployeeName string                    `json:"employeeName"`
	OldSalary    access.Sensitive[float64] `json:"oldSalary" jsonschema:"minimum=0" mask:"pay" field:"label=Former salary,unit=USD"`
	NewSalary    float64                   `json:"newSalary" jsonschema:"minimum=0" field:"unit=USD"`
	Message      string                    `json:"message"`
	Relation     access.Relation           `json:"-"`
}

func (s *Server) previewSalary(ctx context.Context, in salaryInput) (salaryPreview, salaryPrecondition, error) {
	e, err := s.subject(ctx, in.EmployeeID)
	if err != nil {
		return salaryPreview{}, salaryPrecondition{}, err
	}
	cents, err := s.checkSalary(in, e)
	if err != nil {
		return salaryPreview{}, salaryPrecondition{}, err
	}
	precondition := salaryPrecondition{e.ID, e.Name, e.Email, e.Department, e.Title, e.Grade, e.SalaryCents, cents, e.MinCents, e.MaxCents}
	return in.preview(e, cents, s.today()), precondition, nil
}

// checkSalary applies the rules about values, and returns the amount in cents.
func (s *Server) checkSalary(in salaryInput, e subject) (cents int64, err error) {
	cents, whole := money.Cents(in.NewSalary)
	switch {
	case e.Self:
		return 0, fault.InvalidInput.New("You cannot change your own salary.").Suggest("Ask someone else with the role hr-write or executive to change it.").Fields("employee_id")
	case !whole:
		return 0, fault.InvalidInput.New("A salary is given in whole cents.").Instruct("Round new_salary to whole cents.").Fields("new_salary")
	case cents == e.SalaryCents:
		return 0, fault.InvalidInput.New("Nothing would change: that is %s's salary already.", e.Name).Instruct("Check new_salary: it is the new amount a year, not the difference.").Fields("new_salary")
	case in.EffectiveDate > s.today():
		return 0, fault.InvalidInput.New("Changes cannot be scheduled: %s is in the future.", in.EffectiveDate).
			Suggest("Ask again on that day, or for a change that counts now.").Instruct("Ask again on that day, or for a change that counts now. Leave effective_date out for that.").Fields("effective_date")
	}
	return cents, nil
}

// today is the day in UTC, in a form that sorts by date.
func (s *Server) today() string { return s.now().UTC().Format(time.DateOnly) }

func (in salaryInput) preview(e subject, cents int64, today string) salaryPreview {
	preview := salaryPreview{
		EmployeeID: e.ID, EmployeeName: e.Name, EmployeeEmail: e.Email, Department: e.Department, JobTitle: e.Title,
		CurrentSalary: access.NewSensitive(money.Dollars(e.SalaryCents)), NewSalary: money.Dollars(cents), Change: access.NewSensitive(money.Dollars(cents - e.SalaryCents)),
		GradeRange: e.gradeRange() + " (" + e.Grade + ")", EffectiveDate: today, Reason: in.Reason,
	}
	if e.SalaryCents > 0 {
		preview.ChangePercent = access.NewSensitive(math.Round(float64(cents-e.SalaryCents)/float64(e.SalaryCents)*1000) / 10)
	}
	preview.Warning = in.warning(e, cents, today)
	return preview
}

// warning is what the person should know before they approve.
func (in salaryInput) warning(e subject, cents int64, today string) string {
	var warnings []string
	if cents < e.MinCents || cents > e.MaxCents {
		warnings = append(warnings, fmt.Sprintf("%s is outside the range of grade %s (%s).", money.Text(cents, "USD"), e.Grade, e.gradeRange()))
	}
	if in.EffectiveDate != "" && in.EffectiveDate < today {
		warnings = append(warnings, fmt.Sprintf("It does not count back to %s: it applies from today.", in.EffectiveDate))
	}
	return strings.Join(warnings, " ")
}

// gradeRange is what people of the same grade usually earn, as text.
func (s subject) gradeRange() string {
	return money.Text(s.MinCents, "USD") + " to " + money.Text(s.MaxCents, "USD")
}

const setSalary = `
update hr.employees set salary_cents = $2, updated_at = now() where id = $1 and status = 'ACTIVE'`

func (s *Server) updateSalary(ctx context.Context, _ salaryInput, seen salaryPrecondition) (salaryChanged, error) {
	if err := database.ExecOne(ctx, s.db, setSalary, seen.ID, seen.NewCents); err != nil {
		return salaryChanged{}, err
	}
	return salaryChanged{
		Updated: true, EmployeeID: seen.ID, EmployeeName: seen.Name, OldSalary: access.NewSensitive(money.Dollars(seen.OldCents)), NewSalary: money.Dollars(seen.NewCents),
		Message: fmt.Sprintf("The annual salary of %s is now %s.", seen.Name, money.Text(seen.NewCents, "USD")),
	}, nil
}
