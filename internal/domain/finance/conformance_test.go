package finance_test

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"countersign.dev/internal/company"
	"countersign.dev/internal/database"
	"countersign.dev/internal/domain/finance"
	"countersign.dev/internal/testkit/conformance"
	"countersign.dev/internal/testkit/dbtest"
)

func TestConformance(t *testing.T) { conformance.Run(t, domain()) }

// everything is a digest of every row of the schema.
const everything = `select md5(concat(
	(select string_agg(t::text, '|' order by t.id) from finance.invoices t),
	(select string_agg(t::text, '|' order by t.id) from finance.budgets t),
	(select string_agg(t::text, '|' order by t.budget_id, t.quarter) from finance.budget_quarters t),
	(select string_agg(t::text, '|' order by t.id) from finance.expense_reports t),
	(select string_agg(t::text, '|' order by t.tail, t.vendor_id) from finance.vendor_tails t)))`

// large is the dataset of the benchmarks.
const large = "large"

// dataset is the finance department of that name.
func dataset(name string) (*company.Company, company.Finance) {
	c := company.At(today)
	switch name {
	case conformance.Crowd:
		return c, company.ScaledFinance(scaledSize, today)
	case large:
		return c, company.ScaledFinance(largeSize, today)
	}
	return c, c.Finance()
}

var schema = dbtest.Schema{
	Login: finance.Login, Migrate: finance.Migrate, Everything: everything,
	New: func(db *database.DB) dbtest.Domain {
		s := finance.New(db)
		s.SetClock(func() time.Time { return today })
		return s
	},
	Fill: func(ctx context.Context, adminURL, name string) error {
		c, f := dataset(name)
		return finance.Fill(ctx, adminURL, c, f)
	},
	Again: func(ctx context.Context, adminURL string) error {
		if _, err := finance.Migrate(ctx, adminURL, ""); err != nil {
			return err
		}
		return finance.Seed(ctx, adminURL, company.At(today.AddDate(1, 0, 0)))
	},
}

const unknown = "00000000-1111-2222-3333-444444444444"

func domain() conformance.Domain {
	p := collected(dataset(conformance.Company))
	marcus, _ := p.company.ByNumber("EMP052")
	invoice := args{"invoice_id": p.id("INV-2025-009")}
	marketing := args{"department": "Marketing", "fiscal_year": 2026, "amount": 1_000_000}
	reporters := []string{"finance-read", "executive", "employee"}
	readers, writers := []string{"finance-read", "executive"}, []string{"finance-write", "executive"}
	refuse := func(code, tool string, in args) conformance.Refusal {
		return conformance.Refuse(code, "bob.martinez", tool, in)
	}
	const ofMarketing, ofInvoice = ` where department = 'MKT' and fiscal_year = 2026`, ` where number = 'INV-2025-009'`
	return conformance.Domain{
		Server: "finance", Codes: (&finance.Server{}).Codes(), Oracle: oracleOf,
		Engines: []conformance.Engine{schema.Engine(func() *dbtest.Cluster { return cluster })},
		Calls: []conformance.Call{
			{Tool: "get_budget", Allow: readers, Email: somebody, In: args{"department": "IT"}},
			{Tool: "list_budgets", Allow: readers, Email: somebody},
			{Tool: "list_invoices", Allow: readers, Email: somebody, In: args{"vendor": "cloud"}},
			{Tool: "get_expense_report", Allow: reporters, Email: nina, In: args{"report_number": "EXP-2026-001"}},
			{Tool: "list_expense_reports", Allow: reporters, Email: nina},
			{Tool: "approve_budget", Allow: writers, Email: somebody, In: marketing, Text: []string{"notes"}},
			{Tool: "delete_invoice", Allow: writers, Email: somebody, In: invoice, Text: []string{"reason"}},
		},
		Inputs: map[string]string{
			"get_budget":           "department:string! year:integer ",
			"list_budgets":         "cursor:string department:string fiscal_year:integer limit:integer quarter:string status:string ",
			"list_invoices":        "cursor:string department:string due_before:string due_from:string invoice_number:string limit:integer max_amount:number min_amount:number status:string vendor:string ",
			"get_expense_report":   "employee_id:string month:string report_number:string ",
			"list_expense_reports": "category:string cursor:string employee:string limit:integer month:string status:string ",
			"delete_invoice":       "invoice_id:string! reason:string ",
			"approve_budget":       "amount:number department:string! fiscal_year:integer notes:string ",
		},
		Refusals: []conformance.Refusal{
			refuse("BUDGET_NOT_FOUND", "get_budget", args{"department": "Astrology"}),
			refuse("BUDGET_NOT_FOUND", "get_budget", args{"department": ""}),
			refuse("BUDGET_NOT_FOUND", "get_budget", args{"department": "Support", "year": 2025}),
			refuse("BUDGET_NOT_FOUND", "approve_budget", args{"department": "Marketing", "fiscal_year": 2030}),
			refuse("BUDGET_NOT_FOUND", "approve_budget", args{"department": "Marketing", "fiscal_year": 2024}), // a draft without a submitter
			refuse("BUDGET_ALREADY_APPROVED", "approve_budget", args{"department": "Legal"}),
			refuse("BUDGET_ALREADY_APPROVED", "approve_budget", args{"department": "ENG"}), // active
			refuse("SEPARATION_OF_DUTIES", "approve_budget", args{"department": "Finance"}),
			refuse("INVALID_INPUT", "approve_budget", args{"department": "Marketing", "amount": 1.005}),
			refuse("INVALID_INPUT", "approve_budget", args{"department": "Marketing", "amount": 1e-9}),
			refuse("INVALID_INPUT", "approve_budget", args{"department": "Marketing", "amount": 1e300}),
			refuse("INVALID_INPUT", "list_invoices", args{"min_amount": 2, "max_amount": 1}),
			refuse("INVALID_INPUT", "get_expense_report", nil),
			refuse("INVALID_INPUT", "get_expense_report", args{"employee_id": marcus.ID}),
			refuse("INVALID_INPUT", "get_expense_report", args{"month": "2026-10"}),
			refuse("INVOICE_NOT_FOUND", "delete_invoice", args{"invoice_id": unknown}),
			refuse("INVOICE_NOT_DELETABLE", "delete_invoice", args{"invoice_id": p.id("INV-2025-003")}),
			conformance.Refuse("INVOICE_NOT_DELETABLE", "eve.thompson", "delete_invoice", args{"invoice_id": p.id("INV-2025-001")}),
			refuse("EXPENSE_REPORT_NOT_FOUND", "get_expense_report", args{"employee_id": marcus.ID, "month": "2020-01"}),
			refuse("EXPENSE_REPORT_NOT_FOUND", "get_expense_report", args{"employee_id": marcus.ID, "month": "2026-10", "report_number": "EXP-2026-001"}), // Nina's
			refuse("VALIDATION_ERROR", "delete_invoice", args{"invoice_id": p.id("INV-2025-009"), "reason": strings.Repeat("x", 501)}),
			refuse("VALIDATION_ERROR", "approve_budget", args{"amount": 1}),
			refuse("VALIDATION_ERROR", "approve_budget", args{"department": "Marketing", "amount": -1}),
			refuse("VALIDATION_ERROR", "get_budget", args{"department": "Marketing", "year": 1999}),
			conformance.Refuse("EXPENSE_REPORT_NOT_FOUND", "marcus.johnson", "get_expense_report", args{"report_number": "EXP-2026-001"}), // Nina's
			refuse("VALIDATION_ERROR", "get_expense_report", args{"employee_id": marcus.ID, "month": "2026-13"}),
			refuse("VALIDATION_ERROR", "list_expense_reports", args{"status": "lost"}),
		},
		Writes: []conformance.Write{
			{
				Tool: "approve_budget", Username: "bob.martinez", Other: "eve.thompson", In: marketing, Says: "has been approved with $1,000,000",
				Stale: []conformance.Stale{
					meanwhile("resubmitted with more", "CONFIRMATION_STALE", `update finance.budget_quarters q set allocated_cents = allocated_cents + 1 from finance.budgets b where b.id = budget_id and b.department = 'MKT' and b.fiscal_year = 2026 and quarter = 2`),
					meanwhile("shifted between quarters", "CONFIRMATION_STALE", `update finance.budget_quarters q set allocated_cents = allocated_cents + quarter * 2 - 5 from finance.budgets b where b.id = budget_id and b.department = 'MKT' and b.fiscal_year = 2026`),
					meanwhile("submitted by another", "CONFIRMATION_STALE", `update finance.budgets set submitted_by = 'kevin.brown@tamshai.local'`+ofMarketing),
					meanwhile("submitted by the approver", "SEPARATION_OF_DUTIES", `update finance.budgets set submitted_by = 'bob@tamshai.local'`+ofMarketing),
					meanwhile("withdrawn", "BUDGET_NOT_FOUND", `update finance.budgets set submitted_by = null, submitted_at = null`+ofMarketing),
					meanwhile("approved by another", "BUDGET_ALREADY_APPROVED", `update finance.budgets set status = 'active', approved_by = 'eve@tamshai.local', approved_at = now()`+ofMarketing),
				},
			},
			{
				Tool: "delete_invoice", Username: "bob.martinez", Other: "eve.thompson", In: invoice, Says: "Invoice INV-2025-009 of CloudFlare has been deleted.",
				Stale: []conformance.Stale{
					meanwhile("amount changed", "CONFIRMATION_STALE", `update finance.invoices set amount_cents = amount_cents + 1`+ofInvoice),
					meanwhile("vendor renamed", "CONFIRMATION_STALE", `update finance.vendors set name = 'Cloudy' where name = 'CloudFlare'`),
					meanwhile("approved", "INVOICE_NOT_DELETABLE", `update finance.invoices set status = 'approved'`+ofInvoice),
					meanwhile("deleted", "INVOICE_NOT_FOUND", `update finance.invoices set deleted_at = now(), deleted_by = 'eve@tamshai.local'`+ofInvoice),
					meanwhile("postponed", "CONFIRMATION_STALE", `update finance.invoices set due_date = due_date + 30`+ofInvoice),
					meanwhile("another number", "CONFIRMATION_STALE", `update finance.invoices set number = 'INV-2025-099'`+ofInvoice),
					meanwhile("rejected", "CONFIRMATION_STALE", `update finance.invoices set status = 'rejected'`+ofInvoice),
				},
			},
		},
	}
}

const (
	somebody = "somebody@tamshai.local"
	nina     = "nina.p@tamshai.local"
)

// meanwhile is a change that another process makes.
func meanwhile(name, code, statement string) conformance.Stale {
	return conformance.Meanwhile(name, code, func(_ testing.TB, s *conformance.Store) { s.Admin(statement) })
}

// oracle computes each expected answer from the fixture alone. It shares no code
// with the server.
type oracle struct{ fixture }

func anyone[R any](conformance.Asker, R) bool { return true }

func oracleOf(name string) conformance.Oracle {
	o := &oracle{collected(dataset(name))}
	invoices := conformance.Rows[company.Invoice]{
		Key: "invoice_id", Rows: o.invoices, ID: func(i company.Invoice) string { return i.ID }, Sees: anyone[company.Invoice], Shows: o.showsInvoice,
	}
	budgets := conformance.Rows[company.Budget]{
		Key: "budget_id", Rows: o.budgets, ID: func(b company.Budget) string { return b.ID }, Sees: anyone[company.Budget], Shows: o.showsBudget,
	}
	list := conformance.List[company.Invoice]{
		Rows: invoices, Tool: "list_invoices", Draw: o.draw, Fits: o.fits, Order: func(args) func(a, b company.Invoice) int {
			return func(a, b company.Invoice) int { return cmp.Or(b.Date.Compare(a.Date), cmp.Compare(b.ID, a.ID)) }
		},
		Walks: []args{{"limit": 40}, {"limit": 8, "status": "pending"}}, Churn: o.churn(),
	}
	questions := []conformance.Question{list, list, list, conformance.ByID[company.Invoice]{
		Rows: invoices, Tool: "delete_invoice", Input: func(i company.Invoice) args { return args{"invoice_id": i.ID} },
		Unknown: args{"invoice_id": unknown}, NotFound: "INVOICE_NOT_FOUND", Code: deletable,
	}}
	if len(o.budgets) > 0 {
		questions = append(questions, o.aboutBudgets(budgets)...)
	}
	return conformance.Oracle{Emails: []string{somebody, "bob@tamshai.local", nina}, Questions: questions, Prepare: plantCanaries, Leaks: leaks, Hidden: hidden()}
}

func (o *oracle) aboutBudgets(budgets conformance.Rows[company.Budget]) []conformance.Question {
	reports := conformance.Rows[company.ExpenseReport]{
		Key: "report_number", Rows: o.reports, ID: func(r company.ExpenseReport) string { return r.Number }, Sees: seesReport,
		Shows: func(_ conformance.Asker, r company.ExpenseReport, in args) map[string]any {
			return map[string]any{"employee_name": r.EmployeeName, "status": r.Status, "total_amount": dollars(spentOn(r, in["category"])), "report_number": r.Number}
		},
	}
	list := conformance.List[company.Budget]{
		Rows: budgets, Tool: "list_budgets", Draw: o.drawBudgets, Fits: o.fitsBudget, Order: func(args) func(a, b company.Budget) int { return o.byYear },
		Walks: []args{{"limit": 4}}, Churn: churnBudgets(o.budgets),
	}
	ofExpenses := conformance.List[company.ExpenseReport]{
		Rows: reports, Tool: "list_expense_reports", Draw: drawReports, Fits: fitsReport, Order: func(args) func(a, b company.ExpenseReport) int {
			return func(a, b company.ExpenseReport) int {
				return cmp.Or(cmp.Compare(b.Month, a.Month), cmp.Compare(b.Number, a.Number))
			}
		},
		Walks: []args{{"limit": 2}}, Churn: churnReports(o.reports),
	}
	return []conformance.Question{
		list, ofExpenses, ofExpenses, conformance.ByID[company.Budget]{
			Rows: budgets, Tool: "get_budget", Input: func(b company.Budget) args { return args{"department": b.Department, "year": b.FiscalYear} },
			Unknown: args{"department": "Astrology", "year": 2026}, NotFound: "BUDGET_NOT_FOUND",
		}, conformance.ByID[company.Budget]{
			Rows: budgets, Tool: "approve_budget", Input: func(b company.Budget) args { return args{"department": b.Department, "fiscal_year": b.FiscalYear} },
			Unknown: args{"department": "Astrology", "fiscal_year": 2026}, NotFound: "BUDGET_NOT_FOUND", Code: approvable,
		}, conformance.ByID[company.ExpenseReport]{
			Rows: reports, Tool: "get_expense_report", Input: func(r company.ExpenseReport) args { return args{"report_number": r.Number} },
			Unknown: args{"report_number": "EXP-2026-999"}, NotFound: "EXPENSE_REPORT_NOT_FOUND",
		}, conformance.ByID[company.ExpenseReport]{
			Rows: reports, Tool: "get_expense_report", Input: func(r company.ExpenseReport) args { return args{"employee_id": r.EmployeeID, "month": r.Month} },
			Unknown: args{"employee_id": unknown, "month": "2026-10"}, NotFound: "EXPENSE_REPORT_NOT_FOUND",
		},
	}
}

// seesReport reports whose expense reports a caller may read: their own, or all.
func seesReport(a conformance.Asker, r company.ExpenseReport) bool {
	return a.Has("finance-read", "executive") || a.Has("employee") && a.Is(r.EmployeeEmail)
}

func fitsReport(r company.ExpenseReport, in args) bool {
	for field, want := range in {
		ok := true
		switch field {
		case "employee":
			ok = strings.Contains(strings.ToLower(r.EmployeeName), strings.ToLower(want.(string)))
		case "month":
			ok = r.Month == want
		case "category":
			ok = slices.ContainsFunc(r.Items, func(i company.ExpenseItem) bool { return i.Category == want })
		case "status":
			ok = r.Status == want
		}
		if !ok {
			return false
		}
	}
	return true
}

// spentOn is the total of a report's items in a category; nil: in all.
func spentOn(r company.ExpenseReport, category any) (cents int64) {
	for _, i := range r.Items {
		if category == nil || i.Category == category {
			cents += i.Cents
		}
	}
	return cents
}

func drawReports(r *rand.Rand, some company.ExpenseReport) args {
	in := args{}
	if r.IntN(3) == 0 {
		in["employee"] = partOf(r, some.EmployeeName)
	}
	if r.IntN(4) == 0 {
		in["month"] = some.Month
	}
	if r.IntN(3) == 0 {
		in["category"] = conformance.Pick(r, "travel", "meals", "supplies", "software", "other")
	}
	if r.IntN(4) == 0 {
		in["status"] = conformance.Pick(r, "draft", "submitted", "under_review", "approved", "rejected", "reimbursed")
	}
	return in
}

// churnReports adds reports of earlier and later months, and removes one.
func churnReports(reports []company.ExpenseReport) func(t testing.TB, s *conformance.Store, step int) []string {
	return func(_ testing.TB, s *conformance.Store, step int) []string {
		for i, month := range []string{"2025-01", "2026-12"} {
			s.Admin(`
				insert into finance.expense_reports (id, report_number, employee_id, employee_name, employee_email, month, title, status)
				values (gen_random_uuid(), $1, gen_random_uuid(), 'New Person', $2, $3, '', 'draft')`, fmt.Sprintf("EXP-NEW-%d-%d", step, i), nina, month)
		}
		gone := reports[step].Number
		s.Admin(`delete from finance.expense_reports where report_number = $1`, gone)
		return []string{gone}
	}
}

func dollars(cents int64) float64 { return float64(cents) / 100 }

func overdue(i company.Invoice) bool {
	return i.Unpaid() && i.Due.Format(time.DateOnly) < today.Format(time.DateOnly)
}

func (o *oracle) showsInvoice(_ conformance.Asker, i company.Invoice, _ args) map[string]any {
	return map[string]any{
		"invoice_number": i.Number, "vendor_name": o.vendors[i.VendorID], "amount": dollars(i.Cents), "status": i.Status, "overdue": overdue(i),
		"due_date": i.Due.Format(time.DateOnly), "department": o.departmentName(i.Department),
	}
}

// fits reports whether an invoice answers a question.
func (o *oracle) fits(i company.Invoice, in args) bool {
	for field, want := range in {
		ok := true
		switch field {
		case "status":
			ok = i.Status == want || want == "overdue" && overdue(i) || want == "unpaid" && i.Unpaid()
		case "vendor":
			ok = strings.Contains(strings.ToLower(o.vendors[i.VendorID]), strings.ToLower(want.(string)))
		case "department":
			ok = o.isDepartment(i.Department, want.(string))
		case "invoice_number":
			ok = strings.EqualFold(i.Number, want.(string))
		case "due_before":
			ok = i.Due.Format(time.DateOnly) < want.(string)
		case "due_from":
			ok = i.Due.Format(time.DateOnly) >= want.(string)
		case "min_amount":
			ok = i.Cents >= int64(want.(int))*100
		case "max_amount":
			ok = i.Cents <= int64(want.(int))*100
		}
		if !ok {
			return false
		}
	}
	return true
}

func (o *oracle) draw(r *rand.Rand, some company.Invoice) args {
	in := args{}
	for _, field := range []string{"status", "department", "vendor", "invoice_number", "due_before", "due_from", "min_amount", "max_amount"} {
		if r.IntN(5) > 0 || field == "invoice_number" && r.IntN(4) > 0 || field == "max_amount" && in["min_amount"] != nil {
			continue
		}
		switch field {
		case "status":
			in[field] = conformance.Pick(r, "pending", "approved", "paid", "rejected", "unpaid", "overdue")
		case "department":
			in[field] = o.drawDepartment(r)
		case "vendor":
			in[field] = partOf(r, o.vendors[some.VendorID])
		case "invoice_number":
			in[field] = conformance.Pick(r, some.Number, strings.ToLower(some.Number))
		case "due_before", "due_from":
			in[field] = some.Due.AddDate(0, 0, r.IntN(3)-1).Format(time.DateOnly)
		default:
			in[field] = int(some.Cents/100) + r.IntN(2)
		}
	}
	return in
}

func partOf(r *rand.Rand, name string) string {
	from := r.IntN(len(name))
	part := strings.TrimSpace(name[from : from+1+r.IntN(len(name)-from)])
	return conformance.Pick(r, strings.ToUpper(part), part)
}

func (o *oracle) isDepartment(code, asked string) bool {
	return strings.EqualFold(code, asked) || strings.EqualFold(o.departmentName(code), asked)
}

func (o *oracle) drawDepartment(r *rand.Rand) string {
	d := conformance.Pick(r, o.company.Departments...)
	return conformance.Pick(r, d.Name, d.Code, strings.ToUpper(d.Name), strings.ToLower(d.Code))
}

// deletable is the expected answer to a deletion.
func deletable(_ conformance.Asker, i company.Invoice, _ args) string {
	if i.Status == "approved" || i.Status == "paid" {
		return "INVOICE_NOT_DELETABLE"
	}
	return "pending_confirmation"
}

// approvable is the expected answer to an approval. The submitter may not approve,
// nor a caller whose address is not verified and who could be the submitter.
func approvable(a conformance.Asker, b company.Budget, _ args) string {
	switch {
	case b.Status != "draft":
		return "BUDGET_ALREADY_APPROVED"
	case b.SubmittedBy == "":
		return "BUDGET_NOT_FOUND"
	case a.Unverified:
		return "IDENTITY_UNPROVEN"
	case a.Email == b.SubmittedBy:
		return "SEPARATION_OF_DUTIES"
	}
	return "pending_confirmation"
}

func (o *oracle) byYear(a, b company.Budget) int {
	return cmp.Or(cmp.Compare(b.FiscalYear, a.FiscalYear), cmp.Compare(o.departmentName(a.Department), o.departmentName(b.Department)))
}

func (o *oracle) showsBudget(_ conformance.Asker, b company.Budget, in args) map[string]any {
	allocated, spent := b.Allocated(), b.Spent()
	if quarter, ok := in["quarter"].(string); ok {
		q := b.Quarters[quarter[1]-'1']
		allocated, spent = q.Allocated, q.Spent
	}
	return map[string]any{
		"department": o.departmentName(b.Department), "fiscal_year": b.FiscalYear, "status": b.Status,
		"allocated_amount": dollars(allocated), "spent_amount": dollars(spent), "remaining_amount": dollars(allocated - spent),
	}
}

func (o *oracle) fitsBudget(b company.Budget, in args) bool {
	year, ok := in["fiscal_year"].(int)
	if _, quarter := in["quarter"]; quarter && !ok {
		year, ok = today.Year(), true
	}
	if ok && b.FiscalYear != year {
		return false
	}
	if department, ok := in["department"].(string); ok && !o.isDepartment(b.Department, department) {
		return false
	}
	status, ok := in["status"].(string)
	return !ok || b.Status == status || status == "submitted" && b.Status == "draft" && b.SubmittedBy != ""
}

func (o *oracle) drawBudgets(r *rand.Rand, _ company.Budget) args {
	in := args{}
	if r.IntN(3) == 0 {
		in["fiscal_year"] = 2023 + r.IntN(5)
	}
	if r.IntN(3) == 0 {
		in["quarter"] = conformance.Pick(r, "Q1", "Q2", "Q3", "Q4")
	}
	if r.IntN(3) == 0 {
		in["department"] = o.drawDepartment(r)
	}
	if r.IntN(3) == 0 {
		in["status"] = conformance.Pick(r, "draft", "submitted", "approved", "active", "closed")
	}
	return in
}

// hidden adds deleted invoices.
func hidden() []conformance.Hiding {
	add := func(_ testing.TB, s *conformance.Store, n int) {
		s.Admin(`
			insert into finance.invoices (id, number, vendor_id, description, amount_cents, department, status, invoice_date, due_date, submitted_by, submitted_at, deleted_at, deleted_by)
			select gen_random_uuid(), 'HIDDEN-' || n || '-' || number, vendor_id, description, amount_cents, department, 'rejected', invoice_date, due_date, submitted_by, submitted_at, now(), 'x@y'
			from finance.invoices, generate_series(1, $1) n limit $1`, n)
	}
	return []conformance.Hiding{{Name: "deleted", Add: add, Blind: func(conformance.Asker) bool { return true }}}
}

// canary is in what no tool may show: deleted invoices, and who deleted them.
const canary = "canary"

func plantCanaries(s *conformance.Store) {
	s.Admin(`
		insert into finance.invoices (id, number, vendor_id, description, amount_cents, department, status, invoice_date, due_date, submitted_by, submitted_at, deleted_at, deleted_by)
		select gen_random_uuid(), 'CANARY-' || number, vendor_id, 'canary', amount_cents, department, 'rejected', invoice_date, due_date, 'canary@tamshai.local', now(), now(), 'canary@tamshai.local'
		from finance.invoices order by number limit 300`)
}

func leaks(_ conformance.Asker, encoded string) error {
	if strings.Contains(strings.ToLower(encoded), canary) {
		return fmt.Errorf("a canary is in %s", encoded)
	}
	return nil
}

// churn adds three invoices between two pages, and deletes one.
func (o *oracle) churn() func(t testing.TB, s *conformance.Store, step int) []string {
	r := rand.New(rand.NewPCG(7, 7))
	return func(_ testing.TB, s *conformance.Store, step int) []string {
		for i := range 3 {
			s.Admin(`
				insert into finance.invoices (id, number, vendor_id, description, amount_cents, department, status, invoice_date, due_date, submitted_by, submitted_at)
				select gen_random_uuid(), 'NEW-' || $1, vendor_id, '', 1, department, 'pending', invoice_date, due_date, submitted_by, submitted_at
				from finance.invoices where number = $2`, fmt.Sprint(step*3+i), fmt.Sprintf("INV-S-%07d", r.IntN(scaledSize)))
		}
		gone := conformance.Pick(r, o.invoices...).ID
		s.Admin(`update finance.invoices set status = 'rejected', deleted_at = now(), deleted_by = 'x@y' where id = $1`, gone)
		return []string{gone}
	}
}

// churnBudgets adds budgets of earlier, later and equal years, and removes one.
func churnBudgets(budgets []company.Budget) func(t testing.TB, s *conformance.Store, step int) []string {
	return func(_ testing.TB, s *conformance.Store, step int) []string {
		for i, department := range []string{"SALES", "OPS", "EXEC"} {
			s.Admin(`insert into finance.budgets (id, department, fiscal_year, status) values ($1, $2, $3, 'draft') on conflict do nothing`,
				fmt.Sprintf("0b000000-0000-0000-%04d-%012d", step, i+1), department, 2099-step*20)
		}
		gone := budgets[step*2].ID
		s.Admin(`delete from finance.budgets where id = $1`, gone)
		return []string{gone}
	}
}
