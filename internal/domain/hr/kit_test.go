package hr_test

import (
	"testing"
	"time"

	"countersign.dev/internal/company"
	"countersign.dev/internal/database"
	"countersign.dev/internal/domain/hr"
	"countersign.dev/internal/testkit/conformance"
	"countersign.dev/internal/testkit/dbtest"
	"countersign.dev/internal/testkit/domaintest"
)

// today is the day of these tests: the last of a month that
// is longer than the one thirteen months before.
var today = time.Date(2026, 3, 31, 12, 0, 0, 0, time.UTC)

// cluster is the PostgreSQL server of this run, with the databases that tests
// copy.
var cluster *dbtest.Cluster

func TestMain(m *testing.M) {
	if conformance.RunAsCrashProcess(domain()) {
		return
	}
	cluster = dbtest.Start()
	defer cluster.Stop()
	m.Run()
}

// scaledSize is how many people the scaled company of these tests has.
const scaledSize = 1500

type args = domaintest.Args

// harness is one HR server with a database of its own.
type harness struct {
	*dbtest.Harness
	server  *hr.Server
	company *company.Company
}

// open opens a harness with the sample company.
func open(t testing.TB) *harness {
	t.Helper()
	return over(t, schema.Filled(t, cluster, conformance.Company), dataset(conformance.Company))
}

// openScaled opens a harness with the scaled company.
func openScaled(t testing.TB) *harness {
	t.Helper()
	return over(t, schema.Filled(t, cluster, conformance.Crowd), dataset(conformance.Crowd))
}

func over(t testing.TB, adminURL string, c *company.Company) *harness {
	t.Helper()
	h := &harness{company: c}
	h.Harness, h.server = dbtest.Over(t, "hr", adminURL, hr.Login, hr.New)
	h.server.SetClock(func() time.Time { return today })
	return h
}

// digest is a digest of every row of the schema.
func (h *harness) digest() string {
	h.Helper()
	sum, _, err := database.Row[string](domaintest.SignedIn(h.Context(), "x@y", "hr-write"), h.DB, everything)
	if err != nil {
		h.Fatal(err)
	}
	return sum
}

// id finds an employee's id by the employee number.
func (h *harness) id(number string) string {
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
