package hr_test

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"countersign.dev/internal/company"
	"countersign.dev/internal/database"
	"countersign.dev/internal/domain/hr"
	"countersign.dev/internal/result"
	"countersign.dev/internal/testkit/conformance"
	"countersign.dev/internal/testkit/dbtest"
)

func TestConformance(t *testing.T) { conformance.Run(t, domain()) }

// everything is a digest of every row of the schema.
const everything = `select md5(concat(
	(select string_agg(t::text, '|' order by t.id) from hr.employees t),
	(select string_agg(t::text, '|' order by t.id) from hr.departments t),
	(select string_agg(t::text, '|' order by t.id) from hr.performance_reviews t),
	(select string_agg(t::text, '|' order by t.employee_id, t.fiscal_year, t.type_code) from hr.time_off_balances t)))`

// large is the dataset of the benchmarks.
const large = "large"

// dataset is the company of that name.
func dataset(name string) *company.Company {
	switch name {
	case conformance.Crowd:
		return company.Scaled(scaledSize, today)
	case large:
		return largeCompany()
	}
	return company.At(today)
}

var schema = dbtest.Schema{
	Login: hr.Login, Migrate: hr.Migrate, Everything: everything,
	New: func(db *database.DB) dbtest.Domain {
		s := hr.New(db)
		s.SetClock(func() time.Time { return today })
		return s
	},
	Fill: func(ctx context.Context, adminURL, name string) error { return hr.Seed(ctx, adminURL, dataset(name)) },
	Again: func(ctx context.Context, adminURL string) error {
		if _, err := hr.Migrate(ctx, adminURL, ""); err != nil {
			return err
		}
		return hr.Seed(ctx, adminURL, company.At(today.AddDate(1, 0, 0)))
	},
}

const unknown = "00000000-1111-2222-3333-444444444444"

func domain() conformance.Domain {
	c := company.At(today)
	id := func(number string) string {
		e, _ := c.ByNumber(number)
		return e.ID
	}
	const nina = "nina.p@tamshai.local"
	frank, marcus := id("EMP061"), id("EMP052")
	readers := []string{"hr-read", "manager", "executive", "employee"}
	overview := []string{"hr-read", "manager", "executive"}
	writers := []string{"hr-write", "executive"}
	return conformance.Domain{
		Server: "hr", Codes: (&hr.Server{}).Codes(), Oracle: oracleOf,
		Engines: []conformance.Engine{schema.Engine(func() *dbtest.Cluster { return cluster })},
		Calls: []conformance.Call{
			{Tool: "get_employee", Allow: readers, Email: nina, In: args{"employee_id": id("EMP051")}},
			{Tool: "list_employees", Allow: overview, Email: nina},
			{Tool: "get_org_chart", Allow: overview, Email: nina},
			{Tool: "get_performance_reviews", Allow: []string{"hr-write", "manager", "executive"}, Email: nina},
			{Tool: "get_time_off_balance", Allow: []string{"employee", "manager", "hr-read", "hr-write", "executive"}, Email: nina},
			{Tool: "delete_employee", Allow: writers, Email: nina, In: args{"employee_id": frank}, Text: []string{"reason"}},
			{Tool: "update_salary", Allow: writers, Email: nina, In: args{"employee_id": marcus, "new_salary": 150_000}, Text: []string{"reason"}},
		},
		Inputs: map[string]string{
			"get_employee":            "employee_id:string! ",
			"list_employees":          "cursor:string department:string limit:integer location:string manager_id:string name:string under_manager_id:string ",
			"get_org_chart":           "max_depth:integer root_employee_id:string ",
			"get_performance_reviews": "cursor:string due_before:string employee_id:string limit:integer ",
			"get_time_off_balance":    "employee_id:string fiscal_year:integer ",
			"delete_employee":         "employee_id:string! reason:string ",
			"update_salary":           "effective_date:string employee_id:string! new_salary:number! reason:string ",
		},
		Refusals: []conformance.Refusal{
			conformance.Refuse("EMPLOYEE_NOT_FOUND", "alice.chen", "get_employee", args{"employee_id": id("EMP-T001")}),
			conformance.Refuse("EMPLOYEE_NOT_FOUND", "alice.chen", "delete_employee", args{"employee_id": unknown}),
			conformance.Refuse("EMPLOYEE_NOT_FOUND", "alice.chen", "update_salary", args{"employee_id": id("EMP-T003"), "new_salary": 1}),
			conformance.Refuse("NO_BALANCES_FOUND", "marcus.johnson", "get_time_off_balance", args{"fiscal_year": 2019}),
			conformance.Refuse("CANNOT_DELETE_SELF", "alice.chen", "delete_employee", args{"employee_id": id("EMP010")}),
			conformance.Refuse("EMPLOYEE_HAS_REPORTS", "alice.chen", "delete_employee", args{"employee_id": id("EMP051")}),
			conformance.Refuse("INVALID_INPUT", "alice.chen", "update_salary", args{"employee_id": id("EMP010"), "new_salary": 1}),
			conformance.Refuse("INVALID_INPUT", "alice.chen", "update_salary", args{"employee_id": marcus, "new_salary": 1.005}),
			conformance.Refuse("INVALID_INPUT", "alice.chen", "update_salary", args{"employee_id": marcus, "new_salary": 1e-9}),
			conformance.Refuse("INVALID_INPUT", "alice.chen", "update_salary", args{"employee_id": marcus, "new_salary": 150_000.0000005}),
			conformance.Refuse("INVALID_INPUT", "alice.chen", "update_salary", args{"employee_id": marcus, "new_salary": 1, "effective_date": "2026-04-01"}),
			conformance.Refuse("INVALID_INPUT", "nina.patel", "get_performance_reviews", args{"employee_id": id("EMP051")}),
			conformance.Refuse("VALIDATION_ERROR", "alice.chen", "get_employee", args{"employee_id": "ABC123"}),
		},
		Writes: []conformance.Write{
			{
				Tool: "update_salary", Username: "alice.chen", Other: "eve.thompson", In: args{"employee_id": frank, "new_salary": 64_321},
				Says: "The annual salary of Frank Davis is now $64,321.",
				Stale: []conformance.Stale{
					conformance.Meanwhile("salary changed", "CONFIRMATION_STALE", sql(`update hr.employees set salary_cents = salary_cents + 1 where id = $1`, frank)),
					conformance.Meanwhile("title changed", "CONFIRMATION_STALE", sql(`update hr.employees set job_title = 'Director' where id = $1`, frank)),
					conformance.Meanwhile("department changed", "CONFIRMATION_STALE", sql(`update hr.employees set department = 'SALES' where id = $1`, frank)),
					conformance.Meanwhile("address changed", "CONFIRMATION_STALE", sql(`update hr.employees set email = 'someone.else@tamshai.local' where id = $1`, frank)),
					conformance.Meanwhile("grade changed", "CONFIRMATION_STALE", sql(`update hr.employees set grade = 'L2' where id = $1`, frank)),
					conformance.Meanwhile("was terminated", "EMPLOYEE_NOT_FOUND", sql(`update hr.employees set status = 'TERMINATED', terminated_at = now() where id = $1`, frank)),
				},
			},
			{
				Tool: "delete_employee", Username: "alice.chen", Other: "eve.thompson", In: args{"employee_id": frank, "reason": "internship over"},
				Says: "Employee Frank Davis has been deleted.",
				Stale: []conformance.Stale{
					conformance.Meanwhile("name changed", "CONFIRMATION_STALE", sql(`update hr.employees set last_name = 'Dawson' where id = $1`, frank)),
					conformance.Meanwhile("got a report", "EMPLOYEE_HAS_REPORTS", sql(`update hr.employees set manager_id = $1 where employee_number = 'EMP062'`, frank)),
				},
			},
		},
	}
}

// sql is a change that another process makes.
func sql(statement string, values ...any) func(testing.TB, *conformance.Store) {
	return func(_ testing.TB, s *conformance.Store) { s.Admin(statement, values...) }
}

// oracle knows from the fixture alone what each person may see. It shares no
// code with the server.
type oracle struct {
	*company.Company
	byID map[string]company.Employee
	ssns map[string]company.Employee
	pay  map[int64]company.Employee
}

func newOracle(c *company.Company) *oracle {
	o := &oracle{Company: c, byID: map[string]company.Employee{}, ssns: map[string]company.Employee{}, pay: map[int64]company.Employee{}}
	for _, e := range c.Employees {
		o.byID[e.ID], o.ssns[e.SSN] = e, e
	}
	for _, e := range c.Active() {
		if e.Salary != 145_000 { // two people earn it, so it shows neither
			o.pay[e.Salary] = e
		}
	}
	return o
}

func oracleOf(name string) conformance.Oracle {
	o := newOracle(dataset(name))
	var emails []string
	for i, e := range o.Employees {
		emails = append(emails, e.Email)
		if i < 20 { // people far up have more below them
			emails = append(emails, slices.Repeat([]string{e.Email}, len(o.Employees)/20)...)
		}
	}
	people := conformance.Rows[company.Employee]{
		Key: "employee_id", Rows: o.Employees, ID: func(e company.Employee) string { return e.ID }, Sees: o.sees, Shows: o.shows,
	}
	reviews := conformance.Rows[company.Review]{
		Key: "review_id", Rows: o.Reviews, ID: func(r company.Review) string { return r.ID }, Sees: o.seesReview, Shows: o.showsReview,
	}
	byID := func(tool, field string) conformance.ByID[company.Employee] {
		return conformance.ByID[company.Employee]{
			Rows: people, Tool: tool, Unknown: args{field: unknown}, NotFound: "EMPLOYEE_NOT_FOUND",
			Input: func(e company.Employee) conformance.Args { return args{field: e.ID} },
		}
	}
	chart, balance := byID("get_org_chart", "root_employee_id"), byID("get_time_off_balance", "employee_id")
	chart.Shows = func(_ conformance.Asker, e company.Employee, _ args) map[string]any {
		return map[string]any{"employee_id": e.ID, "level": 0}
	}
	balance.Shows = func(_ conformance.Asker, e company.Employee, _ args) map[string]any {
		return map[string]any{"employee_id": e.ID, "employee_name": e.Name()}
	}
	if name == conformance.Crowd {
		balance.Code = func(conformance.Asker, company.Employee, args) string { return "NO_BALANCES_FOUND" }
	}
	list := conformance.List[company.Employee]{
		Rows: people, Tool: "list_employees", Draw: o.draw, Fits: o.fits, Order: func(args) func(a, b company.Employee) int { return byName },
		Walks: []args{{"limit": 50}, {"limit": 5, "location": "Remote"}}, Churn: churn(o),
	}
	whole := conformance.Check{Tool: "get_org_chart", Draw: func(r *rand.Rand) args { return args{"max_depth": 1 + r.IntN(10)} }, Judge: o.checkChart}
	questions := []conformance.Question{list, list, byID("get_employee", "employee_id"), chart, whole, balance}
	if len(o.Reviews) > 0 { // the scaled has none
		questions = append(questions, conformance.List[company.Review]{
			Rows: reviews, Tool: "get_performance_reviews", Draw: drawReviews, Fits: o.fitsReview, Order: func(args) func(a, b company.Review) int { return newestFirst },
		})
	}
	return conformance.Oracle{Emails: emails, Leaks: o.leaks, Questions: questions, Hidden: o.hidden()}
}

func drawReviews(r *rand.Rand, some company.Review) args {
	return conformance.Pick(r, args{}, args{"due_before": some.Date.AddDate(1, 0, r.IntN(3)-1).Format(time.DateOnly)})
}

func newestFirst(a, b company.Review) int {
	return cmp.Or(b.Date.Compare(a.Date), cmp.Compare(b.ID, a.ID))
}

func byName(a, b company.Employee) int {
	return cmp.Or(cmp.Compare(a.LastName, b.LastName), cmp.Compare(a.FirstName, b.FirstName), cmp.Compare(a.ID, b.ID))
}

// under reports whether the caller manages e, at any distance, by walking up.
func (o *oracle) under(a conformance.Asker, e company.Employee) bool {
	for e.ManagerID != "" {
		e = o.byID[e.ManagerID]
		if a.Is(e.Email) && !e.Gone() {
			return true
		}
	}
	return false
}

func (o *oracle) sees(a conformance.Asker, e company.Employee) bool {
	switch {
	case e.Gone() || o.terminated(a):
		return false
	case a.Has("hr-read", "hr-write", "executive"):
		return true
	case a.Has("manager") && o.under(a, e):
		return true
	}
	return a.Is(e.Email) && a.Has("employee", "manager")
}

// terminated reports whether the caller is a former employee, who sees no row.
func (o *oracle) terminated(a conformance.Asker) bool {
	return slices.ContainsFunc(o.Employees, func(e company.Employee) bool { return e.Gone() && a.Is(e.Email) })
}

func (o *oracle) seesPay(a conformance.Asker, e company.Employee) bool {
	return a.Is(e.Email) || a.Has("hr-write", "finance-read", "executive")
}

func (o *oracle) shows(a conformance.Asker, e company.Employee, _ args) map[string]any {
	shown := map[string]any{
		"first_name": e.FirstName, "last_name": e.LastName, "email": e.Email, "job_title": e.Title, "location": e.Location,
		"salary": "*** (Hidden)", "ssn": "*** (Hidden)", "phone": "***-" + e.Phone[len(e.Phone)-4:],
	}
	if o.seesPay(a, e) {
		shown["salary"], shown["ssn"] = e.Salary, e.SSN
	}
	if a.Is(e.Email) || a.Has("hr-read", "hr-write", "executive") || a.Has("manager") && o.under(a, e) {
		shown["phone"] = e.Phone
	}
	return shown
}

func (o *oracle) seesReview(a conformance.Asker, r company.Review) bool {
	e := o.byID[r.EmployeeID]
	all := a.Has("hr-write", "executive")
	return !e.Gone() && !o.terminated(a) && (all || a.Has("manager") && o.under(a, e))
}

func (o *oracle) showsReview(_ conformance.Asker, r company.Review, _ args) map[string]any {
	status := map[bool]string{true: "current", false: "superseded"}[o.latest(r)]
	return map[string]any{"employee_id": r.EmployeeID, "employee_name": o.byID[r.EmployeeID].Name(), "comments": r.Comments, "status": status}
}

func (o *oracle) fitsReview(r company.Review, in args) bool {
	day, ok := in["due_before"].(string)
	return !ok || o.latest(r) && r.Date.AddDate(1, 0, 0).Format(time.DateOnly) <= day
}

func (o *oracle) latest(r company.Review) bool {
	return !slices.ContainsFunc(o.Reviews, func(other company.Review) bool { return other.EmployeeID == r.EmployeeID && other.Date.After(r.Date) })
}

func (o *oracle) draw(r *rand.Rand, e company.Employee) args {
	in := args{}
	if r.IntN(4) == 0 {
		name := e.Name()
		from := r.IntN(len(name) - 2)
		if part := strings.Join(strings.Fields(name[from:from+2+r.IntN(len(name)-from-1)]), " "); part != "" {
			in["name"] = part
		}
	}
	if r.IntN(4) == 0 {
		in["department"] = e.Department
	}
	if r.IntN(4) == 0 {
		in["location"] = e.Location
	}
	if r.IntN(4) == 0 {
		in["manager_id"] = cmp.Or(e.ManagerID, e.ID)
	}
	if r.IntN(4) == 0 {
		in["under_manager_id"] = cmp.Or(e.ManagerID, e.ID)
	}
	return in
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
	if head, ok := in["under_manager_id"].(string); ok && !o.below(e, head) {
		return false
	}
	manager, ok := in["manager_id"].(string)
	return !ok || e.ManagerID == manager
}

// below reports whether someone is below a manager, at any level.
func (o *oracle) below(e company.Employee, head string) bool {
	return e.ManagerID != "" && (e.ManagerID == head || o.below(o.byID[e.ManagerID], head))
}

var idField = regexp.MustCompile(`"employee_id":"([^"]+)"`)

// checkChart checks that everyone in a chart may be seen. A caller without an
// employee record may have no root to start it at.
func (o *oracle) checkChart(a conformance.Asker, _ args, out result.Outcome) error {
	self := func(e company.Employee) bool { return a.Is(e.Email) && o.sees(a, e) }
	if out.Code() == "EMPLOYEE_NOT_FOUND" && !slices.ContainsFunc(o.Employees, self) {
		return nil
	}
	if out.Code() != result.StatusSuccess {
		return fmt.Errorf("got %s", out.Code())
	}
	for _, match := range idField.FindAllStringSubmatch(string(out.Data()), -1) {
		if !o.sees(a, o.byID[match[1]]) {
			return fmt.Errorf("shows %s", o.byID[match[1]].Name())
		}
	}
	return nil
}

var (
	ssnShape  = regexp.MustCompile(`9\d\d-\d\d-\d{4}`)
	uuidShape = regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`)
	amount    = regexp.MustCompile(`\b\d{5,}\b`)
)

// leaks looks for pay in any field of an answer.
func (o *oracle) leaks(a conformance.Asker, encoded string) error {
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

// hidden adds people, with reviews and balances, under the head of the company,
// and people whose employment has ended.
func (o *oracle) hidden() []conformance.Hiding {
	head := o.Employees[slices.IndexFunc(o.Employees, func(e company.Employee) bool { return e.ManagerID == "" && !e.Gone() })]
	add := func(ended string) func(testing.TB, *conformance.Store, int) {
		return func(_ testing.TB, s *conformance.Store, n int) {
			s.Admin(`
				insert into hr.employees (id, employee_number, first_name, last_name, email, phone, department, job_title, grade, manager_id, hire_date, salary_cents, ssn, location, status, terminated_at)
				select md5('h' || n)::uuid, 'HID' || n, first_name, last_name, 'hidden' || n || '@tamshai.local', phone, department, job_title, grade, $1, hire_date, salary_cents, 'h' || n, location, $3, case $3 when 'ACTIVE' then null else now() end
				from (select row_number() over () as n, e.* from hr.employees e, generate_series(1, $2) limit $2) e`, head.ID, n, ended)
			s.Admin(`
				insert into hr.performance_reviews (id, employee_id, reviewer_id, review_period, review_date, overall_rating, goals_met_percentage, strengths, areas_for_improvement, comments)
				select gen_random_uuid(), id, $1, '2026', '2026-01-01', 5, 100, 'hidden', 'hidden', 'hidden' from hr.employees where employee_number like 'HID%'`, head.ID)
			s.Admin(`
				insert into hr.time_off_balances (employee_id, type_code, fiscal_year, entitlement, used, pending, carryover)
				select e.id, t.type_code, 2026, 10, 1, 1, 1 from hr.employees e, hr.time_off_types t where employee_number like 'HID%'`)
			s.Admin(`select hr.renumber()`)
		}
	}
	above := conformance.NotIn("hr-read", "hr-write", "executive")
	return []conformance.Hiding{
		{Name: "not below", Add: add("ACTIVE"), Blind: func(a conformance.Asker) bool { return above(a) && a.Email != head.Email }},
		{Name: "ended", Add: add("TERMINATED"), Blind: func(conformance.Asker) bool { return true }},
	}
}

// churn adds three people between two pages and terminates one.
func churn(o *oracle) func(t testing.TB, s *conformance.Store, step int) []string {
	r := rand.New(rand.NewPCG(7, 7))
	return func(_ testing.TB, s *conformance.Store, step int) []string {
		for i := range 3 {
			s.Admin(`
				insert into hr.employees (id, employee_number, first_name, last_name, email, phone, department, job_title, grade, manager_id, hire_date, salary_cents, ssn, location)
				select gen_random_uuid(), 'NEW' || $1, $2, $3, 'new' || $1 || '@tamshai.local', phone, department, job_title, grade, manager_id, hire_date, 1, '900-00-' || lpad($1, 4, '0'), location
				from hr.employees where employee_number = 'EMP000900'`,
				strconv.Itoa(step*3+i), string(rune('A'+r.IntN(26)))+"new", string(rune('A'+r.IntN(26)))+"comer")
		}
		left := o.Employees[700+step]
		s.Admin(`update hr.employees set status = 'TERMINATED', terminated_at = now() where id = $1`, left.ID)
		return []string{left.ID}
	}
}
