package hr_test

import (
	"context"
	"strings"
	"testing"

	"countersign.dev/internal/access"
	"countersign.dev/internal/database"
	"countersign.dev/internal/domain/hr"
	"countersign.dev/internal/fault"
	"countersign.dev/internal/testkit/dbtest"
	"countersign.dev/internal/testkit/domaintest"
)

// census is how many rows of each table somebody sees, by plain SQL with the
// server's own login: what is left when every check above the store fails.
type census struct{ Employees, Reviews, Balances, Reference int }

const countEverything = `
select (select count(*) from hr.employees) as employees,
       (select count(*) from hr.performance_reviews) as reviews,
       (select count(*) from hr.time_off_balances) as balances,
       (select count(*) from hr.departments) + (select count(*) from hr.grade_levels) + (select count(*) from hr.time_off_types) as reference`

// Terminated people are rows too: the tools hide them, the policies do not.
// Nina has nine reports, one of them gone, and ten reviews below her.
func TestEveryRoleSeesItsRowsAndNoOthers(t *testing.T) {
	t.Parallel()
	h := open(t)
	all := census{62, len(h.company.Reviews), 59 * 6, 26}
	everybody := census{62, 0, 59 * 6, 26}
	justMe := census{1, 0, 6, 26}
	nothing := census{0, 0, 0, 26}
	want := map[access.Role]census{
		access.Employee: justMe, access.Manager: {11, 10, 60, 26}, access.Executive: all,
		"hr-read": everybody, "hr-write": all,
		"finance-read": nothing, "finance-write": nothing, "sales-read": nothing, "sales-write": nothing,
		"support-read": nothing, "support-write": nothing, access.Auditor: nothing,
	}
	for _, role := range domaintest.Roles() {
		ctx := domaintest.SignedIn(t.Context(), "nina.p@tamshai.local", string(role))
		if got := count(h, ctx); got != want[role] {
			t.Errorf("%s sees %+v, want %+v", role, got, want[role])
		}
	}
}

func count(h *harness, ctx context.Context) census {
	h.Helper()
	got, _, err := database.Row[census](ctx, h.DB, countEverything)
	if err != nil {
		h.Fatal(err)
	}
	return got
}

func TestWhoIsNobodySeesNothing(t *testing.T) {
	t.Parallel()
	h := open(t)
	for name, c := range map[string]struct {
		claims access.Claims
		want   census
	}{
		"nobody at all":              {access.Claims{}, census{}},
		"roles without a person":     {access.Claims{Roles: []string{"executive", "manager", "hr-write"}}, census{}},
		"an unverified address":      {access.Claims{Subject: "s", Email: "nina.p@tamshai.local", Roles: []string{"employee", "manager"}}, census{Reference: 26}},
		"an address of nobody":       {access.Claims{Subject: "s", Email: "test-user.journey@tamshai.local", EmailVerified: true, Roles: []string{"employee", "manager"}}, census{Reference: 26}},
		"no role":                    {access.Claims{Subject: "s", Email: "nina.p@tamshai.local", EmailVerified: true}, census{Reference: 26}},
		"a role that looks like one": {access.Claims{Subject: "s", Email: "nina.p@tamshai.local", EmailVerified: true, Roles: []string{"executive-assistant", "xhr-read", "hr"}}, census{Reference: 26}},
		"two roles in one":           {access.Claims{Subject: "s", Email: "nina.p@tamshai.local", EmailVerified: true, Roles: []string{"x,executive"}}, census{Reference: 26}},
		"someone who left":           {access.Claims{Subject: "s", Email: "victor.reyes@tamshai.local", EmailVerified: true, Roles: []string{"employee", "manager", "hr-read"}}, census{Reference: 26}},
	} {
		c.claims.Issuer = "https://issuer.test"
		if got := count(h, access.With(t.Context(), access.NewPrincipal(c.claims))); got != c.want {
			t.Errorf("%s sees %+v, want %+v", name, got, c.want)
		}
	}
}

// The store's write policies agree with the tools' roles, for every role: an
// executive's change must not fail silently, a manager's must not go through.
func TestOnlyWritersChangeRows(t *testing.T) {
	t.Parallel()
	h := open(t)
	for _, role := range domaintest.Roles() {
		ctx := domaintest.SignedIn(t.Context(), "nina.p@tamshai.local", string(role))
		var changed int64
		err := h.DB.Change(ctx, func(ctx context.Context) (err error) {
			changed, err = database.Exec(ctx, h.DB, `update hr.employees set salary_cents = salary_cents`)
			return err
		})
		want := int64(0)
		if role == "hr-write" || role == access.Executive {
			want = 62
		}
		if err != nil || changed != want {
			t.Errorf("%s changed %d rows (%v), want %d", role, changed, err, want)
		}
	}
}

func TestWritersCannotDoMoreThanTheToolsNeed(t *testing.T) {
	t.Parallel()
	h := open(t)
	ctx := h.As("eve.thompson")
	for _, statement := range []string{
		`update hr.employees set email = 'x@y'`,
		`update hr.employees set lft = 1, rgt = 100000`,
		`update hr.employees set ssn = '900-00-0000'`,
		`delete from hr.employees`,
		`insert into hr.employees (id) values (gen_random_uuid())`,
		`truncate hr.employees`,
		`update hr.performance_reviews set comments = ''`,
		`update hr.time_off_balances set used = 0`,
		`update hr.grade_levels set max_salary_cents = 1`,
		`update confirmations set receipt = ''`,
		`delete from confirmations`,
		`select hr.renumber()`,
		`create table hr.mine (id int)`,
		`create table public.mine (id int)`,
		`alter table hr.employees disable row level security`,
		`set role postgres`,
		`set session authorization postgres`,
	} {
		err := h.DB.Change(ctx, func(ctx context.Context) error {
			_, err := database.Exec(ctx, h.DB, statement)
			return err
		})
		if !fault.Is(err, fault.DatabaseError) || !strings.Contains(fault.From(err).Unwrap().Error(), "42501") && !strings.Contains(fault.From(err).Unwrap().Error(), "permission denied") {
			t.Errorf("%s: got %v (%v), want permission denied", statement, err, fault.From(err).Unwrap())
		}
	}
	if _, err := database.Rows[string](ctx, h.DB, `select name from hr.migrations`); !fault.Is(err, fault.DatabaseError) {
		t.Errorf("reading the migrations: got %v", err)
	}
}

func TestRowSecurityCannotBeSwitchedOff(t *testing.T) {
	t.Parallel()
	h := open(t)
	err := h.DB.Change(h.As("marcus.johnson"), func(ctx context.Context) error {
		if _, err := database.Exec(ctx, h.DB, `set local row_security = off`); err != nil {
			return err
		}
		people, err := database.Rows[string](ctx, h.DB, `select email from hr.employees`)
		if err == nil {
			t.Errorf("Marcus reads %d rows", len(people))
		}
		return err
	})
	if !fault.Is(err, fault.DatabaseError) {
		t.Errorf("got %v, want DATABASE_ERROR", err)
	}
}

func TestSelfCheckPasses(t *testing.T) {
	t.Parallel()
	h := open(t)
	if err := database.SelfCheck(t.Context(), h.DB, "hr"); err != nil {
		t.Error(err)
	}
	if err := database.SelfCheck(t.Context(), dbtest.OpenLogin(t, h.AdminURL, "postgres"), "hr"); err == nil {
		t.Error("a superuser passes")
	}
}

// The schema can be owned by an ordinary administrator: nothing rests on
// superuser rights, which pass by every policy and would hide a mistake.
func TestSchemaWorksForAnOwnerWhoIsNoSuperuser(t *testing.T) {
	t.Parallel()
	template := open(t)
	adminURL := cluster.Database(t, "")
	owned := over(t, adminURL, template.company)
	owned.Admin(`do $$ begin create role steward login createrole; exception when duplicate_object then null; end $$`)
	owned.Admin(`do $$ begin execute format('alter database %I owner to steward', current_database()); end $$`)
	stewardURL, err := database.LoginURL(adminURL, "steward", "")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := hr.Migrate(t.Context(), stewardURL, ""); err != nil {
		t.Fatal(err)
	}
	if err := hr.Seed(t.Context(), stewardURL, template.company); err != nil {
		t.Fatal(err)
	}
	h := over(t, adminURL, template.company)
	if err := database.SelfCheck(t.Context(), h.DB, "hr"); err != nil {
		t.Error(err)
	}
	if got, want := count(h, h.As("nina.patel")), count(template, template.As("nina.patel")); got != want {
		t.Errorf("Nina sees %+v, want %+v", got, want)
	}
	h.Apply(h.As("alice.chen"), "delete_employee", args{"employee_id": h.id("EMP061")})
}
