package finance_test

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"countersign.dev/internal/company"
	"countersign.dev/internal/testkit/domaintest"
)

// oracle knows from the fixture alone what each question must be answered with.
// It shares no code with the server.
type oracle struct {
	papers
	sorted []company.Invoice // in the order of lists
	years  []company.Budget  // in the order of lists
}

func newOracle(p papers) *oracle {
	o := &oracle{papers: p, sorted: slices.Clone(p.invoices), years: slices.Clone(p.budgets)}
	slices.SortFunc(o.sorted, func(a, b company.Invoice) int {
		return cmp.Or(b.Date.Compare(a.Date), cmp.Compare(b.ID, a.ID))
	})
	slices.SortFunc(o.years, func(a, b company.Budget) int {
		return cmp.Or(cmp.Compare(b.FiscalYear, a.FiscalYear), cmp.Compare(p.departmentName(a.Department), p.departmentName(b.Department)))
	})
	return o
}

func overdue(i company.Invoice) bool {
	return i.Unpaid() && i.Due.Format(time.DateOnly) < today.Format(time.DateOnly)
}

// fits reports whether an invoice answers a question.
func (o *oracle) fits(i company.Invoice, in args) bool {
	for field, want := range in {
		ok := true
		switch field {
		case "status":
			ok = i.Status == want || want == "overdue" && overdue(i)
		case "vendor":
			ok = strings.Contains(strings.ToLower(o.vendors[i.VendorID]), strings.ToLower(want.(string)))
		case "department":
			ok = o.isDepartment(i.Department, want.(string))
		case "invoice_number":
			ok = strings.EqualFold(i.Number, want.(string))
		case "due_before":
			ok = i.Due.Format(time.DateOnly) < want.(string)
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

func (o *oracle) isDepartment(code, asked string) bool {
	return strings.EqualFold(code, asked) || strings.EqualFold(o.departmentName(code), asked)
}

// list is what list_invoices must answer: the first rows that fit.
func (o *oracle) list(in args) (page []string, more bool) {
	page = []string{}
	for _, i := range o.sorted {
		if !o.fits(i, in) {
			continue
		}
		if len(page) == in["limit"].(int) {
			return page, true
		}
		page = append(page, fmt.Sprintf("%s %s %s %.2f %s %v %s %s", i.ID, i.Number, o.vendors[i.VendorID], float64(i.Cents)/100,
			i.Status, overdue(i), i.Due.Format(time.DateOnly), o.departmentName(i.Department)))
	}
	return page, false
}

func shown(i invoice) string {
	return fmt.Sprintf("%s %s %s %.2f %s %v %s %s", i.InvoiceID, i.InvoiceNumber, i.VendorName, i.Amount, i.Status, i.Overdue, i.DueDate, i.Department)
}

// budgets is what list_budgets must answer.
func (o *oracle) budgets(in args) (page []string, more bool) {
	page = []string{}
	year, hasYear := in["fiscal_year"].(int)
	quarter, hasQuarter := in["quarter"].(string)
	if hasQuarter && !hasYear {
		year, hasYear = today.Year(), true
	}
	for _, b := range o.years {
		department, hasDepartment := in["department"].(string)
		status, hasStatus := in["status"].(string)
		if hasYear && b.FiscalYear != year || hasDepartment && !o.isDepartment(b.Department, department) || hasStatus && b.Status != status {
			continue
		}
		if len(page) == in["limit"].(int) {
			return page, true
		}
		allocated, spent := b.Allocated(), b.Spent()
		if hasQuarter {
			q := b.Quarters[quarter[1]-'1']
			allocated, spent = q.Allocated, q.Spent
		}
		page = append(page, fmt.Sprintf("%s %s %d %s %.2f %.2f", b.ID, o.departmentName(b.Department), b.FiscalYear, b.Status, float64(allocated)/100, float64(spent)/100))
	}
	return page, false
}

func shownBudget(b budget) string {
	return fmt.Sprintf("%s %s %d %s %.2f %.2f", b.BudgetID, b.Department, b.FiscalYear, b.Status, b.AllocatedAmount, b.SpentAmount)
}

// draw is one random question.
type draw struct {
	roles []string
	tool  string
	in    args
}

var drawnRoles = []string{"employee", "manager", "executive", "hr-read", "hr-write", "finance-read", "finance-read", "finance-write", "sales-read", "auditor"}

func (d draw) reads() bool {
	return slices.Contains(d.roles, "finance-read") || slices.Contains(d.roles, "executive")
}

func pick[T any](r *rand.Rand, of ...T) T { return of[r.IntN(len(of))] }

func (o *oracle) draw(r *rand.Rand) draw {
	d := draw{roles: []string{pick(r, drawnRoles...), pick(r, drawnRoles...)}, in: args{}}
	d.tool = pick(r, "list_invoices", "list_invoices", "list_invoices", "list_budgets", "get_budget", "get_expense_report", "delete_invoice", "approve_budget")
	some := o.invoices[r.IntN(len(o.invoices))]
	switch d.tool {
	case "list_invoices":
		o.drawFilters(r, d.in)
	case "list_budgets":
		o.drawBudgets(r, d.in)
	case "get_budget", "approve_budget":
		d.in["department"] = o.drawDepartment(r)
	case "get_expense_report":
		d.in["report_number"] = o.reports[r.IntN(len(o.reports))].Number
	case "delete_invoice":
		d.in["invoice_id"] = some.ID
	}
	return d
}

func (o *oracle) drawDepartment(r *rand.Rand) string {
	d := o.company.Departments[r.IntN(len(o.company.Departments))]
	return pick(r, d.Name, d.Code, strings.ToUpper(d.Name), strings.ToLower(d.Code))
}

func (o *oracle) drawFilters(r *rand.Rand, in args) {
	some := o.invoices[r.IntN(len(o.invoices))]
	in["limit"] = 1 + r.IntN(50)
	for field, value := range map[string]func() any{
		"status":         func() any { return pick(r, "pending", "approved", "paid", "rejected", "overdue") },
		"department":     func() any { return o.drawDepartment(r) },
		"vendor":         func() any { return partOf(r, o.vendors[some.VendorID]) },
		"invoice_number": func() any { return pick(r, some.Number, strings.ToLower(some.Number)) },
		"due_before":     func() any { return some.Due.AddDate(0, 0, r.IntN(3)-1).Format(time.DateOnly) },
		"min_amount":     func() any { return int(some.Cents / 100) },
		"max_amount":     func() any { return int(some.Cents/100) + 100_000 },
	} {
		if r.IntN(5) == 0 && (field != "invoice_number" || r.IntN(4) == 0) {
			in[field] = value()
		}
	}
	if in["min_amount"] != nil {
		delete(in, "max_amount")
	}
}

func partOf(r *rand.Rand, name string) string {
	from := r.IntN(len(name))
	part := strings.TrimSpace(name[from : from+1+r.IntN(len(name)-from)])
	return pick(r, strings.ToUpper(part), part)
}

func (o *oracle) drawBudgets(r *rand.Rand, in args) {
	in["limit"] = 1 + r.IntN(50)
	if r.IntN(3) == 0 {
		in["fiscal_year"] = 2023 + r.IntN(5)
	}
	if r.IntN(3) == 0 {
		in["quarter"] = pick(r, "Q1", "Q2", "Q3", "Q4")
	}
	if r.IntN(3) == 0 {
		in["department"] = o.drawDepartment(r)
	}
	if r.IntN(3) == 0 {
		in["status"] = pick(r, "draft", "approved", "active", "closed")
	}
}

// TestManyQuestions asks at random and compares every answer with what the
// fixture says: no row too many, none missing, none out of order, and nothing
// at all for those who may not ask.
func TestManyQuestions(t *testing.T) {
	draws := 6_000
	if testing.Short() {
		draws = 600
	}
	for name, h := range map[string]*house{"company": open(t), "crowd": openCrowd(t)} {
		t.Run(name, func(t *testing.T) {
			h.plantCanaries()
			o := newOracle(h.papers)
			r := rand.New(rand.NewPCG(1, 2))
			for i := range draws / 2 {
				d := o.draw(r)
				if err := o.judge(h, t.Context(), d); err != nil {
					t.Fatalf("question %d: %v calls %s %v: %v", i, d.roles, d.tool, d.in, err)
				}
			}
		})
	}
}

// canary is in what no tool may ever show: deleted invoices, who deleted them,
// and the notes of approvals.
const canary = "canary"

func (h *house) plantCanaries() {
	h.Helper()
	h.Admin(`
		insert into finance.invoices (id, number, vendor_id, description, amount_cents, department, status, invoice_date, due_date, submitted_by, submitted_at, deleted_at, deleted_by)
		select gen_random_uuid(), 'CANARY-' || number, vendor_id, 'canary', amount_cents, department, 'rejected', invoice_date, due_date, 'canary@tamshai.local', now(), now(), 'canary@tamshai.local'
		from finance.invoices order by number limit 300`)
	h.Admin(`update finance.budgets set approval_notes = 'canary'`)
}

func (o *oracle) judge(h *house, ctx context.Context, d draw) error {
	out := h.Ask(domaintest.SignedIn(ctx, "somebody@tamshai.local", d.roles...), d.tool, d.in)
	encoded := string(h.Encode(out))
	if strings.Contains(strings.ToLower(encoded), canary) {
		return fmt.Errorf("a canary sings in %s", encoded)
	}
	writes := slices.Contains(d.roles, "finance-write") || slices.Contains(d.roles, "executive")
	isWrite := d.tool == "delete_invoice" || d.tool == "approve_budget"
	if refused := out.Code() == "INSUFFICIENT_PERMISSIONS"; refused != (isWrite && !writes || !isWrite && !d.reads()) {
		return fmt.Errorf("got %s", encoded)
	} else if refused {
		return nil
	}
	switch d.tool {
	case "list_invoices":
		want, more := o.list(d.in)
		return same(out.Data(), shown, want, out.Page().More, more)
	case "list_budgets":
		want, more := o.budgets(d.in)
		return same(out.Data(), shownBudget, want, out.Page().More, more)
	case "delete_invoice":
		return o.judgeDeletion(d, out.Code())
	case "get_expense_report":
		return o.judgeReport(d, out.Data())
	}
	return nil
}

// same compares a page with what it must be.
func same[T any](data json.RawMessage, show func(T) string, want []string, gotMore, wantMore bool) error {
	var rows []T
	if err := json.Unmarshal(data, &rows); err != nil {
		return err
	}
	got := make([]string, len(rows))
	for i, row := range rows {
		got[i] = show(row)
	}
	if !reflect.DeepEqual(got, want) || gotMore != wantMore {
		return fmt.Errorf("got more %v\n%s\nwant more %v\n%s", gotMore, strings.Join(got, "\n"), wantMore, strings.Join(want, "\n"))
	}
	return nil
}

func (o *oracle) judgeDeletion(d draw, code string) error {
	i := slices.IndexFunc(o.invoices, func(i company.Invoice) bool { return i.ID == d.in["invoice_id"] })
	want := "pending_confirmation"
	if s := o.invoices[i].Status; s == "approved" || s == "paid" {
		want = "INVOICE_NOT_DELETABLE"
	}
	if code != want {
		return fmt.Errorf("%s: got %s, want %s", o.invoices[i].Status, code, want)
	}
	return nil
}

func (o *oracle) judgeReport(d draw, data json.RawMessage) error {
	var got report
	if err := json.Unmarshal(data, &got); err != nil {
		return err
	}
	i := slices.IndexFunc(o.reports, func(r company.ExpenseReport) bool { return r.Number == d.in["report_number"] })
	if want := o.reports[i]; got.EmployeeName != want.EmployeeName || len(got.Items) != len(want.Items) {
		return fmt.Errorf("got %+v", got)
	}
	return nil
}
