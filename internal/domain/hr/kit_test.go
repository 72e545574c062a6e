package hr_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"countersign.dev/internal/company"
	"countersign.dev/internal/domain/hr"
	"countersign.dev/internal/testkit/conformance"
	"countersign.dev/internal/testkit/dbtest"
	"countersign.dev/internal/testkit/domaintest"
)

// today is the day on which everything here happens: the last of a month that
// is longer than the one thirteen months before.
var today = time.Date(2026, 3, 31, 12, 0, 0, 0, time.UTC)

// engine is the server of this run, and the databases that tests copy.
var engine struct {
	*dbtest.Cluster
	company, crowd sync.Once
}

func TestMain(m *testing.M) {
	if conformance.RunAsCrashProcess(domain()) {
		return
	}
	engine.Cluster = dbtest.Start()
	defer engine.Stop()
	m.Run()
}

// crowdSize is how many people the scaled company of these tests has.
const crowdSize = 1500

type args = domaintest.Args

// house is one HR server with a database of its own.
type house struct {
	*dbtest.Harness
	server  *hr.Server
	company *company.Company
}

// open opens a house with the sample company.
func open(t testing.TB) *house {
	t.Helper()
	c := company.At(today)
	engine.company.Do(func() { engine.Template(t, "company", filled(t.Context(), c)) })
	return furnish(t, engine.Database(t, "company"), c)
}

// openCrowd opens a house with the scaled company.
func openCrowd(t testing.TB) *house {
	t.Helper()
	c := company.Scaled(crowdSize, today)
	engine.crowd.Do(func() { engine.Template(t, "crowd", filled(t.Context(), c)) })
	return furnish(t, engine.Database(t, "crowd"), c)
}

func filled(ctx context.Context, c *company.Company) func(string) error {
	return func(adminURL string) error {
		if _, err := hr.Migrate(ctx, adminURL, ""); err != nil {
			return err
		}
		return hr.Seed(ctx, adminURL, c)
	}
}

func furnish(t testing.TB, adminURL string, c *company.Company) *house {
	t.Helper()
	h := &house{company: c}
	h.Harness, h.server = dbtest.Furnish(t, "hr", adminURL, hr.Login, hr.New)
	h.server.SetClock(func() time.Time { return today })
	return h
}

// id finds an employee's id by the employee number.
func (h *house) id(number string) string {
	h.Helper()
	e, found := h.company.ByNumber(number)
	if !found {
		h.Fatalf("there is no %s", number)
	}
	return e.ID
}

// employee is an employee as a client reads one.
type employee struct {
	EmployeeID  string  `json:"employee_id"`
	FirstName   string  `json:"first_name"`
	LastName    string  `json:"last_name"`
	Email       string  `json:"email"`
	Department  string  `json:"department"`
	JobTitle    string  `json:"job_title"`
	ManagerID   *string `json:"manager_id"`
	ManagerName *string `json:"manager_name"`
	HireDate    string  `json:"hire_date"`
	Salary      any     `json:"salary"`
	SSN         string  `json:"ssn"`
	Phone       string  `json:"phone"`
	Location    string  `json:"location"`
	Active      bool    `json:"active"`
}

func names(people []employee) []string {
	out := make([]string, len(people))
	for i, e := range people {
		out[i] = e.FirstName + " " + e.LastName
	}
	return out
}
