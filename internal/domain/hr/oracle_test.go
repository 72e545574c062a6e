package hr_test

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"countersign.dev/internal/access"
	"countersign.dev/internal/company"
	"countersign.dev/internal/testkit/domaintest"
)

// oracle knows from the fixture alone what each person may see. It shares no
// code with the server.
type oracle struct {
	company *company.Company
	byID    map[string]company.Employee
	sorted  []company.Employee // active, in the order of lists
	ssns    map[string]company.Employee
	pay     map[int64]company.Employee
}

func newOracle(c *company.Company) *oracle {
	o := &oracle{company: c, byID: map[string]company.Employee{}, ssns: map[string]company.Employee{}, pay: map[int64]company.Employee{}, sorted: c.Active()}
	slices.SortFunc(o.sorted, func(a, b company.Employee) int {
		return cmp.Or(cmp.Compare(a.LastName, b.LastName), cmp.Compare(a.FirstName, b.FirstName), cmp.Compare(a.ID, b.ID))
	})
	for _, e := range c.Employees {
		o.byID[e.ID], o.ssns[e.SSN] = e, e
	}
	for _, e := range o.sorted {
		if e.Salary != 145_000 { // two people earn it, so it tells nothing about either
			o.pay[e.Salary] = e
		}
	}
	return o
}

// asker is somebody with some roles.
type asker struct {
	company.Employee
	roles []string
}

func (a asker) has(roles ...string) bool {
	return slices.ContainsFunc(roles, func(r string) bool { return slices.Contains(a.roles, r) })
}

// under reports whether e stands below the asker, by walking up.
func (o *oracle) under(a asker, e company.Employee) bool {
	for e.ManagerID != "" {
		if e.ManagerID == a.ID {
			return true
		}
		e = o.byID[e.ManagerID]
	}
	return false
}

func (o *oracle) sees(a asker, e company.Employee) bool {
	switch {
	case e.Gone():
		return false
	case a.has("hr-read", "hr-write", "executive"):
		return true
	case a.has("manager") && o.under(a, e):
		return true
	}
	return e.ID == a.ID && a.has("employee", "manager")
}

func (o *oracle) seesPay(a asker, e company.Employee) bool {
	return e.ID == a.ID || a.has("hr-write", "finance-read", "executive")
}

func (o *oracle) seesPhone(a asker, e company.Employee) bool {
	return e.ID == a.ID || a.has("hr-read", "hr-write", "executive") || a.has("manager") && o.under(a, e)
}

// list is what list_employees must answer: the first rows that fit.
func (o *oracle) list(a asker, in args) (page []company.Employee, more bool) {
	limit := in["limit"].(int)
	for _, e := range o.sorted {
		if !o.sees(a, e) || !o.fits(e, in) {
			continue
		}
		if len(page) == limit {
			return page, true
		}
		page = append(page, e)
	}
	return page, false
}

func (o *oracle) fits(e company.Employee, in args) bool {
	names := strings.ToLower(e.FirstName + " " + e.LastName + " " + e.FirstName) // in either order
	if part, ok := in["name"].(string); ok && !strings.Contains(names, strings.ToLower(part)) {
		return false
	}
	if code, ok := in["department"].(string); ok && e.Department != code {
		return false
	}
	if site, ok := in["location"].(string); ok && e.Location != site {
		return false
	}
	manager, ok := in["manager_id"].(string)
	return !ok || e.ManagerID == manager
}

// draw is one random question.
type draw struct {
	asker asker
	tool  string
	in    args
}

var drawnRoles = []string{"employee", "manager", "executive", "hr-read", "hr-write", "finance-read", "sales-read", "auditor"}

func (o *oracle) draw(r *rand.Rand) draw {
	somebody := func() company.Employee { return o.company.Employees[r.IntN(len(o.company.Employees))] }
	d := draw{asker: asker{Employee: o.sorted[r.IntN(len(o.sorted))]}, in: args{}}
	if r.IntN(2) == 0 { // people far up have more below them
		d.asker.Employee = o.company.Employees[r.IntN(min(20, len(o.company.Employees)))]
	}
	d.asker.roles = []string{drawnRoles[r.IntN(len(drawnRoles))], drawnRoles[r.IntN(2)]}
	d.tool = []string{"list_employees", "list_employees", "get_employee", "get_org_chart", "get_time_off_balance", "get_performance_reviews"}[r.IntN(6)]
	switch d.tool {
	case "list_employees":
		o.drawFilters(r, d.in, somebody)
	case "get_employee":
		d.in["employee_id"] = somebody().ID
	case "get_org_chart":
		d.in["max_depth"] = 1 + r.IntN(10)
		if r.IntN(2) == 0 {
			d.in["root_employee_id"] = somebody().ID
		}
	default:
		if r.IntN(2) == 0 {
			d.in["employee_id"] = somebody().ID
		}
	}
	return d
}

func (o *oracle) drawFilters(r *rand.Rand, in args, somebody func() company.Employee) {
	in["limit"] = 1 + r.IntN(50)
	if r.IntN(4) == 0 {
		name := somebody().Name()
		from := r.IntN(len(name) - 2)
		if part := strings.Join(strings.Fields(name[from:from+2+r.IntN(len(name)-from-1)]), " "); part != "" {
			in["name"] = part
		}
	}
	if r.IntN(4) == 0 {
		in["department"] = somebody().Department
	}
	if r.IntN(4) == 0 {
		in["location"] = somebody().Location
	}
	if r.IntN(4) == 0 {
		in["manager_id"] = somebody().ID
	}
}

// TestTenThousandQuestions asks at random and compares every answer with what
// the fixture says: no row too many, none missing, no pay that is not theirs to
// see, wherever in the answer it might stand.
func TestTenThousandQuestions(t *testing.T) {
	draws := 10_000
	if testing.Short() {
		draws = 1_000
	}
	for name, h := range map[string]*house{"company": open(t), "crowd": openCrowd(t)} {
		t.Run(name, func(t *testing.T) {
			o := newOracle(h.company)
			r := rand.New(rand.NewPCG(1, 2))
			for i := range draws / 2 {
				d := o.draw(r)
				if err := o.judge(h, t.Context(), d); err != nil {
					t.Fatalf("question %d: %s (%v) calls %s %v: %v", i, d.asker.Email, d.asker.roles, d.tool, d.in, err)
				}
			}
		})
	}
}

func (o *oracle) judge(h *house, ctx context.Context, d draw) error {
	out := h.Ask(domaintest.SignedIn(ctx, d.asker.Email, d.asker.roles...), d.tool, d.in)
	encoded := string(h.Encode(out))
	if err := o.leaks(d.asker, encoded); err != nil {
		return err
	}
	code := out.Code()
	if code == "INSUFFICIENT_PERMISSIONS" || code == "NO_BALANCES_FOUND" || code == "INVALID_INPUT" {
		return nil
	}
	target, named := o.target(d)
	visible := !named || o.sees(d.asker, target)
	if code != "success" {
		if code == "EMPLOYEE_NOT_FOUND" && (!visible || !o.sees(d.asker, d.asker.Employee)) {
			return nil
		}
		return fmt.Errorf("got %s", encoded)
	}
	if !visible {
		return fmt.Errorf("%s is none of theirs: %s", target.Name(), encoded)
	}
	switch d.tool {
	case "list_employees":
		return o.judgeList(d, out.Data(), out.Page().More)
	case "get_employee":
		return o.judgeRow(d.asker, target, out.Data())
	}
	return o.judgeIDs(d, out.Data())
}

// target is the person whom a question names.
func (o *oracle) target(d draw) (company.Employee, bool) {
	for _, field := range []string{"employee_id", "root_employee_id"} {
		if id, ok := d.in[field].(string); ok {
			return o.byID[id], true
		}
	}
	return company.Employee{}, false
}

func (o *oracle) judgeList(d draw, data json.RawMessage, more bool) error {
	var rows []json.RawMessage
	if err := json.Unmarshal(data, &rows); err != nil {
		return err
	}
	want, wantMore := o.list(d.asker, d.in)
	if len(rows) != len(want) || more != wantMore {
		return fmt.Errorf("got %d rows, more %v; want %d, %v", len(rows), more, len(want), wantMore)
	}
	for i, row := range rows {
		if err := o.judgeRow(d.asker, want[i], row); err != nil {
			return err
		}
	}
	return nil
}

func (o *oracle) judgeRow(a asker, want company.Employee, data json.RawMessage) error {
	var got employee
	if err := json.Unmarshal(data, &got); err != nil {
		return err
	}
	salary, ssn, phone := any(access.Hidden), access.Hidden, "***-"+want.Phone[len(want.Phone)-4:]
	if o.seesPay(a, want) {
		salary, ssn = float64(want.Salary), want.SSN
	}
	if o.seesPhone(a, want) {
		phone = want.Phone
	}
	if got.EmployeeID != want.ID || got.Email != want.Email || got.Salary != salary || got.SSN != ssn || got.Phone != phone {
		return fmt.Errorf("got %+v, want %s with salary %v, SSN %s, phone %s", got, want.Email, salary, ssn, phone)
	}
	return nil
}

var idField = regexp.MustCompile(`"employee_id":"([^"]+)"`)

// judgeIDs checks that everyone who is named in an answer may be seen.
func (o *oracle) judgeIDs(d draw, data json.RawMessage) error {
	for _, match := range idField.FindAllStringSubmatch(string(data), -1) {
		e := o.byID[match[1]]
		if !o.sees(d.asker, e) {
			return fmt.Errorf("shows %s", e.Name())
		}
		own := d.tool == "get_performance_reviews" && e.ID == d.asker.ID && !d.asker.has("hr-write", "executive")
		if own {
			return fmt.Errorf("shows the asker's own reviews")
		}
	}
	return nil
}

var (
	ssnShape  = regexp.MustCompile(`9\d\d-\d\d-\d{4}`)
	uuidShape = regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`)
	amount    = regexp.MustCompile(`\b\d{5,}\b`)
)

// leaks looks for pay anywhere in an answer, whatever field it stands in.
func (o *oracle) leaks(a asker, encoded string) error {
	text := uuidShape.ReplaceAllString(encoded, "")
	for _, ssn := range ssnShape.FindAllString(text, -1) {
		if e, known := o.ssns[ssn]; known && !o.seesPay(a, e) {
			return fmt.Errorf("leaks the SSN of %s", e.Name())
		}
	}
	for _, digits := range amount.FindAllString(text, -1) {
		n, _ := strconv.ParseInt(digits, 10, 64)
		if e, known := o.pay[n]; known && !o.seesPay(a, e) {
			return fmt.Errorf("leaks the salary of %s", e.Name())
		}
	}
	return nil
}
