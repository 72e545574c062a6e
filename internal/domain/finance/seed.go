package finance

import (
	"context"
	"embed"
	"slices"

	"countersign.dev/internal/company"
	"countersign.dev/internal/database"
)

// Login is the server's PostgreSQL role. It is no superuser, bypasses no policy
// and owns nothing.
const Login = "countersign_finance"

// SchemaName is the schema that everything of the domain is in.
const SchemaName = "finance"

//go:embed migrations/*.sql
var migrations embed.FS

// Migrate brings the schema up to date with the administrator's login, and sets
// the password of [Login] when one is given. It returns the names of the
// migrations that were missing.
func Migrate(ctx context.Context, adminURL, password string) (applied []string, err error) {
	return database.Migrate(ctx, adminURL, database.Schema{Name: SchemaName, Login: Login, Migrations: migrations}, password)
}

// Seed fills an empty schema with the company. A schema that has budgets is
// left exactly as it is.
func Seed(ctx context.Context, adminURL string, c *company.Company) error {
	return Fill(ctx, adminURL, c, c.Finance())
}

// Fill is [Seed] with the rows of a finance department of any size.
func Fill(ctx context.Context, adminURL string, c *company.Company, f company.Finance) error {
	return database.Seed(ctx, adminURL, func(ctx context.Context, s *database.Seeder) error {
		if taken, err := s.Ask(ctx, `select exists (select from finance.budgets)`); err != nil || taken {
			return err
		}
		for _, fill := range []func(context.Context, *database.Seeder, *company.Company, company.Finance) error{
			fillDepartments, fillVendors, fillInvoices, fillBudgets, fillReports,
		} {
			if err := fill(ctx, s, c, f); err != nil {
				return err
			}
		}
		return s.Exec(ctx, `analyze finance.vendors, finance.vendor_tails, finance.invoices, finance.budgets, finance.budget_quarters`)
	})
}

func fillDepartments(ctx context.Context, s *database.Seeder, c *company.Company, _ company.Finance) error {
	return database.Fill(ctx, s, "finance.departments", []string{"code", "name"}, slices.Values(c.Departments), func(d company.Department) []any {
		return []any{d.Code, d.Name}
	})
}

func fillVendors(ctx context.Context, s *database.Seeder, _ *company.Company, f company.Finance) error {
	return database.Fill(ctx, s, "finance.vendors", []string{"id", "name"}, f.Vendors, func(v company.Vendor) []any {
		return []any{v.ID, v.Name}
	})
}

var invoiceColumns = []string{
	"id", "number", "vendor_id", "description", "amount_cents", "department", "status",
	"invoice_date", "due_date", "submitted_by", "submitted_at", "approved_by", "approved_at",
}

func fillInvoices(ctx context.Context, s *database.Seeder, _ *company.Company, f company.Finance) error {
	return database.Fill(ctx, s, "finance.invoices", invoiceColumns, f.Invoices, func(i company.Invoice) []any {
		return []any{
			i.ID, i.Number, i.VendorID, i.Description, i.Cents, i.Department, i.Status,
			i.Date, i.Due, i.SubmittedBy, i.SubmittedAt, orNull(i.ApprovedBy), orNull(i.ApprovedAt),
		}
	})
}

func fillBudgets(ctx context.Context, s *database.Seeder, _ *company.Company, f company.Finance) error {
	err := database.Fill(ctx, s, "finance.budgets", []string{"id", "department", "fiscal_year", "status", "submitted_by", "submitted_at", "approved_by", "approved_at"},
		slices.Values(f.Budgets), func(b company.Budget) []any {
			return []any{b.ID, b.Department, b.FiscalYear, b.Status, orNull(b.SubmittedBy), orNull(b.SubmittedAt), orNull(b.ApprovedBy), orNull(b.ApprovedAt)}
		})
	if err != nil {
		return err
	}
	var quarters [][]any
	for _, b := range f.Budgets {
		for i, q := range b.Quarters {
			quarters = append(quarters, []any{b.ID, i + 1, q.Allocated, q.Spent})
		}
	}
	return s.Copy(ctx, "finance.budget_quarters", []string{"budget_id", "quarter", "allocated_cents", "spent_cents"}, quarters)
}

func fillReports(ctx context.Context, s *database.Seeder, _ *company.Company, f company.Finance) error {
	err := database.Fill(ctx, s, "finance.expense_reports", []string{"id", "report_number", "employee_id", "employee_name", "employee_email", "month", "title", "status", "submitted_at", "approved_by"},
		slices.Values(f.Reports), func(r company.ExpenseReport) []any {
			return []any{r.ID, r.Number, r.EmployeeID, r.EmployeeName, r.EmployeeEmail, r.Month, r.Title, r.Status, orNull(r.SubmittedAt), orNull(r.ApprovedBy)}
		})
	if err != nil {
		return err
	}
	var items [][]any
	for _, r := range f.Reports {
		for n, i := range r.Items {
			items = append(items, []any{r.ID, n + 1, i.Date, i.Category, i.Description, i.Vendor, i.Cents})
		}
	}
	return s.Copy(ctx, "finance.expense_items", []string{"report_id", "position", "item_date", "category", "description", "vendor", "amount_cents"}, items)
}

// orNull is a value, or null where the fixture has none.
func orNull[T comparable](value T) any {
	var none T
	if value == none {
		return nil
	}
	return value
}
