package hr_test

import (
	"context"
	"encoding/json"
	"sync"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"

	"countersign.dev/internal/access"
	"countersign.dev/internal/company"
	"countersign.dev/internal/confirm"
	"countersign.dev/internal/database"
	"countersign.dev/internal/domain/hr"
	"countersign.dev/internal/fault"
	"countersign.dev/internal/result"
	"countersign.dev/internal/seal"
	"countersign.dev/internal/state"
	"countersign.dev/internal/testkit"
	"countersign.dev/internal/testkit/dbtest"
	"countersign.dev/internal/tool"
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
	engine.Cluster = dbtest.Start()
	defer engine.Stop()
	m.Run()
}

// crowdSize is how many people the scaled company of these tests has.
const crowdSize = 1500

// house is one HR server with a database of its own.
type house struct {
	testing.TB
	*tool.Runner
	adminURL string
	db       *database.DB
	server   *hr.Server
	company  *company.Company
	journal  *testkit.Journal
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
	h := &house{TB: t, adminURL: adminURL, db: openLogin(t, adminURL, hr.Login), company: c, journal: &testkit.Journal{}}
	h.server = hr.New(h.db)
	h.server.SetClock(func() time.Time { return today })
	cursors, err := seal.NewRing("cursor", seal.RandomSecret())
	if err != nil {
		t.Fatal(err)
	}
	h.Runner, err = tool.NewRunner(h.server.Tools(), tool.Options{
		Server: "hr", Cursors: cursors, Desk: newDesk(t, h.journal), Ledger: h.server.Ledger(), Audit: h.journal,
	})
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func openLogin(t testing.TB, adminURL, login string) *database.DB {
	t.Helper()
	url, err := database.LoginURL(adminURL, login, "")
	if err != nil {
		t.Fatal(err)
	}
	db, err := database.Open(t.Context(), url, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(db.Close)
	return db
}

func newDesk(t testing.TB, journal *testkit.Journal) *confirm.Desk {
	t.Helper()
	m := miniredis.NewMiniRedis()
	m.ClockTTL(true)
	if err := m.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(m.Close)
	redis, err := state.Open(t.Context(), "redis://"+m.Addr(), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = redis.Close() })
	return confirm.NewDesk(state.NewConfirmations(redis), journal, nil)
}

// as signs a person of the sample company in.
func (h *house) as(username string) context.Context {
	h.Helper()
	for _, a := range company.Accounts() {
		if a.Username == username {
			return signedIn(h.Context(), a.Email, a.Roles...)
		}
	}
	h.Fatalf("nobody is called %s", username)
	return nil
}

func signedIn(ctx context.Context, email string, roles ...string) context.Context {
	return access.With(ctx, access.NewPrincipal(access.Claims{
		Issuer: testkit.Issuer, Subject: "sub-" + email, Username: email, Email: email, EmailVerified: true, Roles: roles,
	}))
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

// args is the input of a call.
type args map[string]any

func (h *house) call(ctx context.Context, name string, in args) result.Outcome {
	h.Helper()
	raw, err := json.Marshal(in)
	if err != nil {
		h.Fatal(err)
	}
	return h.Call(ctx, name, raw)
}

// get calls a tool that must succeed, and decodes its data.
func get[T any](h *house, ctx context.Context, name string, in args) T {
	h.Helper()
	o := h.call(ctx, name, in)
	return decode[T](h, o)
}

func decode[T any](h *house, o result.Outcome) (data T) {
	h.Helper()
	if o.Fault != nil {
		h.Fatalf("got %s: %s (%v)", o.Fault.Code.Name, o.Fault.Message, o.Fault.Unwrap())
	}
	if err := json.Unmarshal(o.Data, &data); err != nil {
		h.Fatalf("%v in %s", err, o.Data)
	}
	return data
}

// refused calls a tool that must fail with that code.
func (h *house) refused(ctx context.Context, code, name string, in args) *fault.Error {
	h.Helper()
	o := h.call(ctx, name, in)
	if o.Fault == nil || o.Fault.Code.Name != code {
		h.Fatalf("%s %v: got %s, want %s", name, in, o.Code(), code)
	}
	return o.Fault
}

// pending calls a write and returns the confirmation that it waits for.
func (h *house) pending(ctx context.Context, name string, in args) *result.Pending {
	h.Helper()
	o := h.call(ctx, name, in)
	if o.Pending == nil {
		h.Fatalf("%s %v: got %s (%v), want a confirmation", name, in, o.Code(), o.Fault)
	}
	return o.Pending
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
