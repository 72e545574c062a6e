package company

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var day = time.Date(2026, 3, 31, 15, 0, 0, 0, time.UTC)

func TestHeadcount(t *testing.T) {
	c := At(day)
	got := map[string]int{}
	for _, e := range c.Active() {
		got[e.Department]++
	}
	want := map[string]int{"ENG": 11, "SALES": 9, "SUPPORT": 8, "FIN": 6, "MKT": 6, "OPS": 5, "EXEC": 4, "HR": 4, "IT": 3, "LEGAL": 3}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("headcount by department (-want +got):\n%s", diff)
	}
	if n := len(c.Active()); n != 59 {
		t.Errorf("got %d active employees, want 59", n)
	}
	if n := len(c.Employees); n != 62 {
		t.Errorf("got %d employees in all, want 62", n)
	}
}

// Documents and tests need these first names to find exactly one person, also as
// a part of a name.
func TestNamesThatMustBeUnmistakable(t *testing.T) {
	for _, name := range []string{"Sarah", "Marcus", "Frank", "Alice", "Nina", "Bob", "Carol"} {
		var found []string
		for _, e := range At(day).Active() {
			if strings.Contains(strings.ToLower(e.Name()), strings.ToLower(name)) {
				found = append(found, e.Name())
			}
		}
		if len(found) != 1 {
			t.Errorf("%s finds %v, want one person", name, found)
		}
	}
}

func TestThereIsOneSarahAndSheLeads(t *testing.T) {
	sarah, _ := At(day).ByNumber("EMP003")
	if sarah.Name() != "Sarah Kim" || sarah.Salary != 395_000 || sarah.Grade != "L9" {
		t.Errorf("got %s, %d, %s", sarah.Name(), sarah.Salary, sarah.Grade)
	}
}

func TestSalariesDifferButOnce(t *testing.T) {
	by := map[int64][]string{}
	for _, e := range At(day).Active() {
		by[e.Salary] = append(by[e.Salary], e.FirstName)
	}
	for salary, names := range by {
		if len(names) > 1 && (salary != 145_000 || !slices.Equal(names, []string{"Dan", "Marcus"})) {
			t.Errorf("salary %d belongs to %v", salary, names)
		}
	}
}

func TestIdentifiersAreUniqueAndWellFormed(t *testing.T) {
	uuid := regexp.MustCompile(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)
	number := regexp.MustCompile(`^9\d\d-[0-4]\d-\d{4}$`)
	fiction := regexp.MustCompile(`^\d{3}-555-01\d\d$`)
	seen := map[string]bool{}
	for _, e := range At(day).Employees {
		if !uuid.MatchString(e.ID) || !number.MatchString(e.SSN) || !fiction.MatchString(e.Phone) {
			t.Errorf("%s: id %q, SSN %q, phone %q", e.Name(), e.ID, e.SSN, e.Phone)
		}
		for _, key := range []string{e.ID, e.SSN, e.Phone, e.Email, e.Number} {
			if seen[key] {
				t.Errorf("%s: %q occurs twice", e.Name(), key)
			}
			seen[key] = true
		}
	}
}

func TestManagersComeBeforeTheirReports(t *testing.T) {
	seen := map[string]bool{"": true}
	for _, e := range At(day).Employees {
		if !seen[e.ManagerID] {
			t.Errorf("%s comes before their manager %s", e.Name(), e.ManagerID)
		}
		seen[e.ID] = true
	}
}

func TestSalariesAreInTheRangeOfTheirGrade(t *testing.T) {
	c := At(day)
	for _, e := range c.Employees {
		i := slices.IndexFunc(c.Grades, func(g Grade) bool { return g.Name == e.Grade })
		if i < 0 || e.Salary < c.Grades[i].Min || e.Salary > c.Grades[i].Max {
			t.Errorf("%s: %d is outside %s", e.Name(), e.Salary, e.Grade)
		}
	}
}

func TestNinasNineAreDueForReview(t *testing.T) {
	c := At(day)
	nina, _ := c.ByNumber("EMP051")
	latest := map[string][]time.Time{}
	for _, r := range c.Reviews {
		latest[r.EmployeeID] = append(latest[r.EmployeeID], r.Date)
	}
	team := 0
	for _, e := range c.Active() {
		if e.ManagerID != nina.ID {
			continue
		}
		team++
		dates := latest[e.ID]
		slices.SortFunc(dates, time.Time.Compare)
		if len(dates) == 0 || !dates[len(dates)-1].Equal(date("2025-02-28")) {
			t.Errorf("%s: reviews on %v, want the latest 13 months before %s", e.Name(), dates, c.Day)
		}
	}
	if team != 9 {
		t.Errorf("Nina has %d reports, want 9", team)
	}
}

// Everyone who has a manager has a latest review; those of Nina's nine are due, and
// seven more in three departments, one of them on the day itself. Every manager who
// can sign in sees two or more of them, and those below Eve have one in their own team.
func TestReviewsAreDueInSeveralDepartments(t *testing.T) {
	c := At(day)
	latest := map[string]time.Time{}
	for _, r := range c.Reviews {
		if r.Date.After(latest[r.EmployeeID]) {
			latest[r.EmployeeID] = r.Date
		}
	}
	due, today := map[string]int{}, 0
	managers, sees := map[string]bool{}, map[string]int{}
	for _, e := range c.Active() {
		on, reviewed := latest[e.ID]
		switch next := on.AddDate(1, 0, 0); {
		case reviewed == (e.ManagerID == ""):
			t.Errorf("%s is reviewed: %v", e.Name(), reviewed)
		case reviewed && next.Equal(c.Day):
			today++
			fallthrough
		case reviewed && next.Before(c.Day):
			due[e.Department]++
			managers[e.ManagerID] = true
			for _, above := range c.above(e.Email) {
				sees[above]++
			}
		}
	}
	for _, number := range []string{"EMP001", "EMP030", "EMP031", "EMP040", "EMP020", "EMP051"} {
		if m, _ := c.ByNumber(number); sees[m.Email] < 2 || number != "EMP001" && !managers[m.ID] {
			t.Errorf("%s sees %d reviews that are due, of their own team: %v", m.Name(), sees[m.Email], managers[m.ID])
		}
	}
	if diff := cmp.Diff(map[string]int{"ENG": 9, "SALES": 3, "SUPPORT": 2, "FIN": 2}, due); diff != "" || today != 1 {
		t.Errorf("%d are due today; by department (-want +got):\n%s", today, diff)
	}
}

func TestMarcusHasFifteenDays(t *testing.T) {
	c := At(day)
	marcus, _ := c.ByEmail("marcus.j@tamshai.local")
	years := 0
	for _, b := range c.Balances {
		if b.EmployeeID != marcus.ID || b.Type != "VACATION" {
			continue
		}
		years++
		if b.Available() != 15 || b.Used != 0 || b.Entitlement != 15 {
			t.Errorf("in %d Marcus has %+v, want 15 unused days", b.FiscalYear, b)
		}
	}
	if years != 2 {
		t.Errorf("got %d fiscal years, want 2", years)
	}
}

func TestAccountsAreEmployees(t *testing.T) {
	c := At(day)
	for _, a := range Accounts() {
		e, found := c.ByEmail(a.Email)
		outsider := a.Username == "auditor.demo" || a.Username == "test-user.journey"
		if found == outsider {
			t.Errorf("%s: is an employee: %v", a.Username, found)
		}
		if found && (e.Name() != a.Name || e.Title != a.Title || e.Gone()) {
			t.Errorf("%s is %q, %q in the accounts and %q, %q on the payroll", a.Username, a.Name, a.Title, e.Name(), e.Title)
		}
	}
}

func TestCompanyIsTheSameForTheWholeDay(t *testing.T) {
	if diff := cmp.Diff(At(day), At(day.Add(8*time.Hour))); diff != "" {
		t.Errorf("the company changed within a day:\n%s", diff)
	}
}

func TestScaledSalariesAndSSNsAreUnique(t *testing.T) {
	c := Scaled(20_000, day)
	seen := map[string]bool{}
	pay := map[int64]bool{}
	for _, e := range c.Employees {
		if seen[e.SSN] || seen[e.ID] || pay[e.Salary] {
			t.Fatalf("%s repeats an SSN, an id or a salary", e.Number)
		}
		seen[e.SSN], seen[e.ID], pay[e.Salary] = true, true, true
	}
	if c.Employees[11].ManagerID != c.Employees[1].ID || c.Employees[0].ManagerID != "" {
		t.Errorf("employee 11 reports to %s", c.Employees[11].ManagerID)
	}
}

// Foreign clients read document 003: a person is a UUID there.
func TestAccountsHaveUUIDsAsSubjects(t *testing.T) {
	shape, seen := regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`), map[string]bool{}
	for _, a := range Accounts() {
		if !shape.MatchString(a.Subject) || seen[a.Subject] {
			t.Errorf("%s has the subject %q", a.Username, a.Subject)
		}
		seen[a.Subject] = true
		if e, found := At(day).ByEmail(a.Email); found && e.ID == a.Subject {
			t.Errorf("%s has their employee id as subject", a.Username)
		}
	}
}
