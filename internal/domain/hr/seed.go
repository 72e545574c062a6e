package hr

import (
	"context"
	"embed"
	"slices"
	"time"

	"countersign.dev/internal/company"
	"countersign.dev/internal/database"
)

// Login is the server's PostgreSQL role. It is no superuser, bypasses no policy
// and owns nothing.
const Login = "countersign_hr"

// SchemaName is the schema that everything of the domain is in.
const SchemaName = "hr"

//go:embed migrations/*.sql
var migrations embed.FS

// Migrate brings the schema up to date with the administrator's login, and sets
// the password of [Login] when one is given. It returns the names of the
// migrations that were missing.
func Migrate(ctx context.Context, adminURL, password string) (applied []string, err error) {
	return database.Migrate(ctx, adminURL, database.Schema{Name: SchemaName, Login: Login, Migrations: migrations}, password)
}

// Seed fills an empty schema with the company. A schema that has employees is
// left exactly as it is.
func Seed(ctx context.Context, adminURL string, c *company.Company) error {
	return database.Seed(ctx, adminURL, func(ctx context.Context, s *database.Seeder) error {
		if taken, err := s.Ask(ctx, `select exists (select from hr.employees)`); err != nil || taken {
			return err
		}
		for _, t := range seedTables(c) {
			if err := s.Copy(ctx, t.name, t.columns, t.rows); err != nil {
				return err
			}
		}
		if err := s.Exec(ctx, `select hr.renumber()`); err != nil { // changes nothing unless number has a fault
			return err
		}
		return s.Exec(ctx, `analyze hr.employees, hr.performance_reviews, hr.time_off_balances`)
	})
}

// seedTable is the rows of one table.
type seedTable struct {
	name    string
	columns []string
	rows    [][]any
}

func seedTables(c *company.Company) []seedTable {
	positions := number(c.Employees)
	return []seedTable{
		{"hr.departments", []string{"id", "code", "name", "budget_cents"}, collect(c.Departments, func(d company.Department) []any {
			return []any{d.ID, d.Code, d.Name, d.Budget * 100}
		})},
		{"hr.grade_levels", []string{"grade", "title_prefix", "min_salary_cents", "max_salary_cents", "description"}, collect(c.Grades, func(g company.Grade) []any {
			return []any{g.Name, g.TitlePrefix, g.Min * 100, g.Max * 100, g.Description}
		})},
		{"hr.employees", employeeColumns, collect(c.Employees, func(e company.Employee) []any { return employeeValues(e, positions[e.ID], c.Day) })},
		{"hr.performance_reviews", []string{"id", "employee_id", "reviewer_id", "review_period", "review_date", "overall_rating", "goals_met_percentage", "strengths", "areas_for_improvement", "comments"}, collect(c.Reviews, func(r company.Review) []any {
			return []any{r.ID, r.EmployeeID, r.ReviewerID, r.Period, r.Date, r.Rating, r.GoalsMet, r.Strengths, r.AreasForImprovement, r.Comments}
		})},
		{"hr.time_off_types", []string{"type_code", "type_name", "description", "accrual_rate", "max_carryover", "requires_approval", "min_notice_days"}, collect(c.TimeOffTypes, func(t company.TimeOffType) []any {
			return []any{t.Code, t.Name, t.Description, t.Accrual, t.MaxCarryover, t.NeedsApproval, t.NoticeDays}
		})},
		{"hr.time_off_balances", []string{"employee_id", "type_code", "fiscal_year", "entitlement", "used", "pending", "carryover"}, collect(c.Balances, func(b company.Balance) []any {
			return []any{b.EmployeeID, b.Type, b.FiscalYear, b.Entitlement, b.Used, b.Pending, b.Carryover}
		})},
	}
}

var employeeColumns = []string{
	"id", "employee_number", "first_name", "last_name", "email", "phone", "department", "job_title", "grade", "manager_id",
	"hire_date", "salary_cents", "ssn", "location", "status", "terminated_at", "terminated_by", "created_at", "updated_at",
	"lft", "rgt", "depth",
}

func employeeValues(e company.Employee, at treeNumbers, day time.Time) []any {
	status, manager := "ACTIVE", any(e.ManagerID)
	var goneAt, goneBy any
	if e.Gone() {
		status, goneAt, goneBy = "TERMINATED", e.TerminatedAt, "seed"
	}
	if e.ManagerID == "" {
		manager = nil
	}
	return []any{
		e.ID, e.Number, e.FirstName, e.LastName, e.Email, e.Phone, e.Department, e.Title, e.Grade, manager,
		e.HireDate, e.Salary * 100, e.SSN, e.Location, status, goneAt, goneBy, e.HireDate, day,
		at.Lft, at.Rgt, at.Depth,
	}
}

// number computes the tree numbers that hr.renumber would, so that a large table
// is not written twice.
func number(people []company.Employee) map[string]treeNumbers {
	reports := make(map[string][]string, len(people))
	for _, e := range people {
		reports[e.ManagerID] = append(reports[e.ManagerID], e.ID)
	}
	positions := make(map[string]treeNumbers, len(people))
	var visit func(id string, depth int)
	visit = func(id string, depth int) {
		position := treeNumbers{Lft: len(positions) + 1, Depth: depth}
		positions[id] = position
		slices.Sort(reports[id])
		for _, below := range reports[id] {
			visit(below, depth+1)
		}
		position.Rgt = len(positions)
		positions[id] = position
	}
	tops := reports[""]
	slices.Sort(tops)
	for _, top := range tops {
		visit(top, 0)
	}
	return positions
}

func collect[T any](items []T, values func(T) []any) [][]any {
	rows := make([][]any, len(items))
	for i, item := range items {
		rows[i] = values(item)
	}
	return rows
}
