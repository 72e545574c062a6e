package rehearsal

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"

	"countersign.dev/internal/access"
	"countersign.dev/internal/agent"
	"countersign.dev/internal/company"
	"countersign.dev/internal/confirm"
	"countersign.dev/internal/domain/codesearch"
	"countersign.dev/internal/domain/finance"
	"countersign.dev/internal/domain/hr"
	"countersign.dev/internal/domain/sales"
	salessqlite "countersign.dev/internal/domain/sales/sqlite"
	"countersign.dev/internal/domain/support"
	supportsqlite "countersign.dev/internal/domain/support/sqlite"
	"countersign.dev/internal/domain/tasks"
	"countersign.dev/internal/fault"
	"countersign.dev/internal/result"
	"countersign.dev/internal/seal"
	"countersign.dev/internal/state"
	"countersign.dev/internal/testkit"
	"countersign.dev/internal/tool"
)

// fakeCompany is the whole company: every tool of the six domains as they declare
// them now. Sales and support answer from their embedded stores, HR and finance
// from the fixture, tasks and code search from testdata/board.json.
type fakeCompany struct {
	*fakeHR
	who         *access.Principal
	runners     []*tool.Runner
	servers     map[string]string // tool → server
	down        string            // a server that does not answer
	gone        string            // a server that does not even list its tools
	fakeFinance fakeFinance
	board       *fakeToolbox
}

// domain is what the test needs of a domain's server.
type domain interface {
	Tools() []tool.Tool
	Receipts() tool.ReceiptStores
	Policy() access.Policy
}

// servers is what the conversations of a test share.
type servers struct {
	tools   []result.ToolInfo
	servers map[string]string
	runners []*tool.Runner
}

func build(t testing.TB) *servers {
	t.Helper()
	now := func() time.Time { return today }
	deals, err := salessqlite.Open(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	tickets, err := supportsqlite.Open(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = deals.Close(), tickets.Close() })
	seller, helpdesk := sales.New(deals, now), support.New(tickets, now)
	c := company.At(today)
	for _, seed := range []func(context.Context, *company.Company) error{seller.Seed, helpdesk.Seed} {
		if err := seed(t.Context(), c); err != nil {
			t.Fatal(err)
		}
	}
	b := &servers{servers: map[string]string{}}
	o := kernel(t)
	for _, d := range []struct {
		name   string
		server domain
		runs   bool
	}{{"hr", hr.New(nil), false}, {"finance", finance.New(nil), false}, {"sales", seller, true}, {"support", helpdesk, true},
		{"tasks", tasks.New(tasks.Options{}), false}, {"codesearch", codesearch.New(codesearch.Options{}), false}} {
		b.mount(t, o, d.name, d.server, d.runs)
	}
	slices.SortFunc(b.tools, func(x, y result.ToolInfo) int { return strings.Compare(x.Name, y.Name) })
	return b
}

// mount adds a server's tools, and, if it runs, the server.
func (b *servers) mount(t testing.TB, o tool.Options, server string, d domain, runs bool) {
	t.Helper()
	o.Server, o.Policy, o.Receipts = server, d.Policy(), d.Receipts()
	runner, err := tool.NewRunner(d.Tools(), o)
	if err != nil {
		t.Fatal(err)
	}
	everything := access.NewPrincipal(access.Claims{Purpose: access.PurposeCatalogue})
	for _, info := range runner.Visible(everything) {
		b.tools, b.servers[info.Name] = append(b.tools, info), server
	}
	if runs {
		b.runners = append(b.runners, runner)
	}
}

func kernel(t testing.TB) tool.Options {
	t.Helper()
	m := miniredis.NewMiniRedis()
	if err := m.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(m.Close)
	redis, err := state.Open(t.Context(), "redis://"+m.Addr(), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = redis.Close() })
	ring, err := seal.NewRing("cursor", seal.RandomSecret())
	if err != nil {
		t.Fatal(err)
	}
	journal := &testkit.MemorySink{}
	return tool.Options{Cursors: ring, Audit: journal, Confirmations: confirm.NewService(state.NewConfirmations(redis, testkit.Ring("record")), journal, nil)}
}

// as is the company as seen by one of the people who can sign in.
func (b *servers) as(t testing.TB, username string) *fakeCompany {
	t.Helper()
	for _, a := range company.Accounts() {
		if a.Username != username && !strings.HasPrefix(a.Username, username+".") {
			continue
		}
		e, _ := company.At(today).ByEmail(a.Email)
		who := person{agent.Person{Name: a.Name, Username: a.Username, Email: a.Email, Roles: a.Roles}, e.ID}
		h := newFakeHR(t, who, b.tools)
		p := access.NewPrincipal(access.Claims{Issuer: testkit.Issuer, Subject: a.Subject, Username: a.Username, Name: a.Name, Email: a.Email, EmailVerified: true, Roles: a.Roles})
		return &fakeCompany{fakeHR: h, who: p, runners: b.runners, servers: b.servers, fakeFinance: newFakeFinance(), board: board(t)}
	}
	t.Fatalf("no account is called %s", username)
	return nil
}

func (o *fakeCompany) Tools(ctx context.Context) agent.Toolset {
	set := o.fakeHR.Tools(ctx)
	if o.gone != "" {
		set.Down = []agent.Warning{{Server: o.gone, Code: fault.ServiceDown.Name, Message: "The server cannot be reached."}}
		set.Open = slices.DeleteFunc(set.Open, func(t agent.Tool) bool { return o.servers[t.Name] == o.gone })
	}
	for i := range set.Open {
		set.Open[i].Server = o.servers[set.Open[i].Name]
	}
	return set
}

func (o *fakeCompany) Call(ctx context.Context, name string, raw json.RawMessage) result.Outcome {
	server := o.servers[name]
	if server == o.down {
		return result.Failed(fault.ServiceDown.New("The %s server cannot be reached.", server))
	}
	for _, r := range o.runners {
		if slices.ContainsFunc(r.Visible(o.who), func(info result.ToolInfo) bool { return info.Name == name }) {
			return r.Call(access.With(ctx, o.who), name, raw)
		}
	}
	if rows, fixed := o.board.rows[name]; fixed {
		return o.board.answer(rows, raw)
	}
	if server == "finance" {
		return o.fakeFinance.call(o.fakeHR, name, raw)
	}
	return o.fakeHR.Call(ctx, name, raw)
}

// board answers for tasks and code search.
func board(t testing.TB) *fakeToolbox {
	t.Helper()
	box := &fakeToolbox{rows: map[string]string{}}
	for name, rows := range load[map[string]json.RawMessage](t, "testdata/board.json") {
		box.rows[name] = string(rows)
	}
	return box
}

// fakeFinance are the fixture's budgets and invoices.
type fakeFinance struct {
	company *company.Company
	money   company.Finance
}

func newFakeFinance() fakeFinance {
	c := company.At(today)
	return fakeFinance{c, c.Finance()}
}

// financeInput is what the finance tools take, together.
type financeInput struct {
	Department    string
	Year          int
	FiscalYear    int `json:"fiscal_year"`
	Quarter       string
	Status        string
	Vendor        string
	InvoiceNumber string   `json:"invoice_number"`
	InvoiceID     string   `json:"invoice_id"`
	DueBefore     string   `json:"due_before"`
	DueFrom       string   `json:"due_from"`
	MinAmount     *float64 `json:"min_amount"`
	MaxAmount     *float64 `json:"max_amount"`
	ReportNumber  string   `json:"report_number"`
	Employee      string
	Month         string
	Amount        *float64
	Limit         int
	Cursor        string
	Reason        string
	Notes         string
}

func (b fakeFinance) call(h *fakeHR, name string, raw json.RawMessage) result.Outcome {
	var in financeInput
	if err := json.Unmarshal(raw, &in); err != nil {
		return result.Failed(fault.ValidationError.New("%v", err))
	}
	switch name {
	case "list_budgets":
		return h.list(b.budgets(in), map[string]any{"limit": float64(10), "cursor": in.Cursor}, nil, "budgets") // small pages: sums must follow them
	case "list_invoices":
		return h.list(b.invoices(in), map[string]any{}, nil, "invoices")
	case "get_budget":
		in.FiscalYear = max(in.Year, 2026*(1-min(1, in.Year)))
		for _, row := range b.budgets(in) {
			return result.Success(h.encode(row), nil, "")
		}
		return result.Failed(fault.InvalidInput.New("There is no budget of the department %q.", in.Department))
	case "delete_invoice":
		for _, row := range b.invoices(financeInput{}) {
			if row["invoice_id"] == in.InvoiceID {
				return result.Waiting(result.Pending{ID: "p1", Message: fmt.Sprintf("Delete invoice %v?", row["invoice_number"])})
			}
		}
		return result.Failed(fault.InvalidInput.New("Invoice with ID %s not found.", in.InvoiceID))
	case "approve_budget":
		return result.Waiting(result.Pending{ID: "p2", Message: fmt.Sprintf("Approve the %d budget of %s?", in.FiscalYear, in.Department)})
	case "list_expense_reports":
		return h.list(b.reports(h, in), map[string]any{}, nil, "expense reports")
	case "get_expense_report":
		return result.Failed(fault.InvalidInput.New("There is no expense report %s.", in.ReportNumber))
	}
	return result.Failed(fault.UnknownTool.New("There is no tool %s.", name))
}

func (b fakeFinance) department(code string) string {
	for _, d := range b.company.Departments {
		if d.Code == code {
			return d.Name
		}
	}
	return code
}

func (b fakeFinance) is(code, asked string) bool {
	return asked == "" || strings.EqualFold(code, asked) || strings.EqualFold(b.department(code), asked)
}

func dollars(cents int64) float64 { return float64(cents) / 100 }

func (b fakeFinance) budgets(in financeInput) []map[string]any {
	var out []map[string]any
	if in.Quarter != "" && in.FiscalYear == 0 {
		in.FiscalYear = today.Year()
	}
	for _, one := range slices.Backward(b.money.Budgets) {
		if !b.is(one.Department, in.Department) || in.FiscalYear != 0 && one.FiscalYear != in.FiscalYear || in.Status != "" && one.Status != in.Status && !(in.Status == "submitted" && one.Status == "draft" && one.SubmittedBy != "") {
			continue
		}
		var quarters []any
		var allocated, spent int64
		for i, q := range one.Quarters {
			name := fmt.Sprintf("Q%d", i+1)
			if in.Quarter != "" && in.Quarter != name {
				continue
			}
			quarters = append(quarters, map[string]any{"quarter": name, "allocated_amount": dollars(q.Allocated), "spent_amount": dollars(q.Spent)})
			allocated, spent = allocated+q.Allocated, spent+q.Spent
		}
		row := map[string]any{
			"budget_id": one.ID, "department": b.department(one.Department), "fiscal_year": one.FiscalYear, "allocated_amount": dollars(allocated),
			"spent_amount": dollars(spent), "remaining_amount": dollars(allocated - spent), "utilization_pct": nil, "status": one.Status,
			"submitted_by": one.SubmittedBy, "quarters": quarters,
		}
		if allocated > 0 {
			row["utilization_pct"] = float64(spent*1000/allocated) / 10
		}
		if in.Quarter != "" {
			row["quarter"] = in.Quarter
		}
		out = append(out, row)
	}
	return out
}

// reports are the expense reports that the caller may read.
func (b fakeFinance) reports(h *fakeHR, in financeInput) []map[string]any {
	var out []map[string]any
	for _, one := range b.money.Reports {
		if one.EmployeeID != h.person.id && !slices.Contains(h.person.Roles, "finance-read") && !slices.Contains(h.person.Roles, "executive") ||
			!strings.Contains(strings.ToLower(one.EmployeeName), strings.ToLower(in.Employee)) || in.Month != "" && in.Month != one.Month || in.Status != "" && in.Status != one.Status {
			continue
		}
		out = append(out, map[string]any{
			"report_id": one.ID, "report_number": one.Number, "employee_id": one.EmployeeID, "employee_name": one.EmployeeName, "month": one.Month,
			"title": one.Title, "status": one.Status, "total_amount": dollars(one.Total()), "submitted_at": moment(one.SubmittedAt), "approved_by": known(one.ApprovedBy),
		})
	}
	return out
}

func (b fakeFinance) invoices(in financeInput) []map[string]any {
	vendors := map[string]string{}
	for v := range b.money.Vendors {
		vendors[v.ID] = v.Name
	}
	var out []map[string]any
	for one := range b.money.Invoices {
		overdue := one.Unpaid() && one.Due.Before(today.Truncate(24*time.Hour))
		due, amount := one.Due.Format(time.DateOnly), dollars(one.Cents)
		switch {
		case in.Status == "overdue" && !overdue, in.Status == "unpaid" && !one.Unpaid(), in.Status != "" && in.Status != "overdue" && in.Status != "unpaid" && in.Status != one.Status, !b.is(one.Department, in.Department),
			in.InvoiceNumber != "" && !strings.EqualFold(in.InvoiceNumber, one.Number), in.DueBefore != "" && due >= in.DueBefore, due < in.DueFrom,
			in.MinAmount != nil && amount < *in.MinAmount, in.MaxAmount != nil && amount > *in.MaxAmount,
			!strings.Contains(strings.ToLower(vendors[one.VendorID]), strings.ToLower(in.Vendor)):
			continue
		}
		out = append(out, map[string]any{
			"invoice_id": one.ID, "invoice_number": one.Number, "vendor_name": vendors[one.VendorID], "vendor_id": one.VendorID, "amount": amount, "currency": "USD",
			"description": one.Description, "department": b.department(one.Department), "status": one.Status, "overdue": overdue,
			"invoice_date": one.Date.Format(time.DateOnly), "due_date": due, "submitted_by": one.SubmittedBy,
			"approved_by": known(one.ApprovedBy), "approved_at": moment(one.ApprovedAt),
		})
	}
	return out
}

// moment is a time as a row has it, and known a text: null where there is none.
func moment(t time.Time) any {
	return known(strings.TrimPrefix(t.Format(time.RFC3339), "0001-01-01T00:00:00Z"))
}

func known(text string) any {
	if text == "" {
		return nil
	}
	return text
}

// TestOffice asks the whole company: what each domain's people ask, and what
// was asked of HR alone before.
func TestOffice(t *testing.T) {
	testkit.Alone(t)
	b := build(t)
	for _, file := range []string{"testdata/office.txt", "testdata/words.txt", "testdata/board.txt", "testdata/first.txt", "testdata/readme.txt", "testdata/answers.txt", "testdata/questions.txt", "testdata/hostile.txt"} {
		for _, c := range readCorpus(t, file) {
			who, down, _ := strings.Cut(c.who, " without ")
			who, gone, _ := strings.Cut(who, " lacking ")
			o := b.as(t, who)
			o.down, o.gone = down, gone
			converse(t, o, o.fakeHR.person.Person, "all domains", file, c)
		}
	}
}

// Two questions with one answer have it once.
func TestOneAnswerIsGivenOnce(t *testing.T) {
	o := build(t).as(t, "alice")
	s := ask(t, o, o.person.Person, nil, "who is my manager and who is my boss?")
	if strings.Count(s.text, "James Wilson") != 1 {
		t.Errorf("answers %q", s.text)
	}
}

// A budget of nothing has no percentage: it is not the lowest, and no part of an average.
func TestNumberThatIsAbsentIsNotZero(t *testing.T) {
	o := build(t).as(t, "eve")
	for i, one := range o.fakeFinance.money.Budgets {
		if one.Department == "LEGAL" && one.FiscalYear == today.Year() {
			for q := range one.Quarters {
				o.fakeFinance.money.Budgets[i].Quarters[q].Allocated = 0
			}
		}
	}
	for question, want := range map[string]string{
		"Which budgets are over 90% used?":         "I found 6 budgets (over 90%)",
		"Which budgets are under 10% used?":        "I found no budgets",
		"Which budget has the lowest utilization?": "The 4 budgets with the lowest used",
		"average utilization of the 2026 budgets":  "over 9 budgets that you can see",
	} {
		s := ask(t, o, o.fakeHR.person.Person, nil, question)
		if !strings.Contains(s.text, want) || strings.Contains(s.text, "Legal") {
			t.Errorf("%s: %q, want %q and no word of Legal", question, s.text, want)
		}
	}
	if s := ask(t, o, o.fakeHR.person.Person, nil, "Which budgets are overspent?"); !strings.Contains(s.text, "Legal 2026") {
		t.Errorf("overspent: %q", s.text)
	}
}
