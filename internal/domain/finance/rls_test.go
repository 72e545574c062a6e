package finance_test

import (
	"context"
	"strings"
	"testing"

	"countersign.dev/internal/access"
	"countersign.dev/internal/database"
	"countersign.dev/internal/domain/finance"
	"countersign.dev/internal/fault"
	"countersign.dev/internal/testkit/dbtest"
	"countersign.dev/internal/testkit/domaintest"
)

// census is how many rows of each table somebody sees, by plain SQL with the
// server's own login: what is left when every check above the store fails.
type census struct{ Departments, Vendors, Tails, Budgets, Quarters, Invoices, Reports, Items int }

const countEverything = `
select (select count(*) from finance.departments) as departments, (select count(*) from finance.vendors) as vendors,
       (select count(*) from finance.vendor_tails) as tails, (select count(*) from finance.budgets) as budgets,
       (select count(*) from finance.budget_quarters) as quarters, (select count(*) from finance.invoices) as invoices,
       (select count(*) from finance.expense_reports) as reports, (select count(*) from finance.expense_items) as items`

func count(h *harness, ctx context.Context) census {
	h.Helper()
	got, _, err := database.Row[census](ctx, h.DB, countEverything)
	if err != nil {
		h.Fatal(err)
	}
	return got
}

// everyRow is what a reader of the sample company sees.
func everyRow(h *harness) census {
	c := census{Departments: 10, Vendors: 13, Budgets: 24, Quarters: 96, Invoices: 13, Reports: 8}
	for _, name := range h.papers.vendors {
		tails := map[string]bool{}
		for i := range name {
			tails[strings.ToLower(name[i:])] = true
		}
		c.Tails += len(tails)
	}
	for _, r := range h.papers.reports {
		c.Items += len(r.Items)
	}
	return c
}

// Whoever may only change things sees what they change and what its card shows.
func TestEveryRoleSeesItsRowsAndNoOthers(t *testing.T) {
	t.Parallel()
	h := open(t)
	all := everyRow(h)
	writer := all
	writer.Tails, writer.Reports, writer.Items = 0, 0, 0
	want := map[access.Role]census{"finance-read": all, access.Executive: all, "finance-write": writer}
	for _, role := range domaintest.Roles() {
		ctx := domaintest.SignedIn(t.Context(), "bob@tamshai.local", string(role))
		if got := count(h, ctx); got != want[role] {
			t.Errorf("%s sees %+v, want %+v", role, got, want[role])
		}
	}
}

func TestWhoIsNobodySeesNothing(t *testing.T) {
	t.Parallel()
	h := open(t)
	for name, c := range map[string]access.Claims{
		"nobody at all":              {},
		"roles without a person":     {Roles: []string{"executive", "finance-read", "finance-write"}},
		"no role":                    {Subject: "s", Email: "bob@tamshai.local", EmailVerified: true},
		"a role that looks like one": {Subject: "s", Email: "bob@tamshai.local", EmailVerified: true, Roles: []string{"executive-assistant", "xfinance-read", "finance", "FINANCE-READ"}},
		"two roles in one":           {Subject: "s", Email: "bob@tamshai.local", EmailVerified: true, Roles: []string{"x,executive"}},
	} {
		c.Issuer = "https://issuer.test"
		if got := count(h, access.With(t.Context(), access.NewPrincipal(c))); got != (census{}) {
			t.Errorf("%s sees %+v", name, got)
		}
	}
}

// The store's write policies agree with the tools' roles, for every role and
// table: a writer's change must not fail silently, another's must not go through.
func TestOnlyWritersChangeRows(t *testing.T) {
	t.Parallel()
	h := open(t)
	for _, c := range []struct {
		statement string
		rows      int64
	}{
		{`update finance.invoices set deleted_by = deleted_by`, 13},
		{`update finance.budgets set status = status`, 24},
		{`update finance.budget_quarters set allocated_cents = allocated_cents`, 96},
	} {
		for _, role := range domaintest.Roles() {
			var changed int64
			err := h.DB.Change(domaintest.SignedIn(t.Context(), "bob@tamshai.local", string(role)), func(ctx context.Context) (err error) {
				changed, err = database.Exec(ctx, h.DB, c.statement)
				return err
			})
			want := int64(0)
			if role == "finance-write" || role == access.Executive {
				want = c.rows
			}
			if err != nil || changed != want {
				t.Errorf("%s, %s: %d rows (%v), want %d", role, c.statement, changed, err, want)
			}
		}
	}
}

func TestWritersCannotDoMoreThanTheToolsNeed(t *testing.T) {
	t.Parallel()
	h := open(t)
	ctx := h.As("eve.thompson")
	for _, statement := range []string{
		`update finance.invoices set amount_cents = 1`,
		`update finance.invoices set status = 'paid'`,
		`update finance.invoices set approved_by = 'x@y'`,
		`delete from finance.invoices`,
		`insert into finance.invoices (id) values (gen_random_uuid())`,
		`truncate finance.invoices`,
		`update finance.budgets set submitted_by = null`,
		`update finance.budgets set fiscal_year = 2030`,
		`delete from finance.budgets`,
		`update finance.budget_quarters set spent_cents = 0`,
		`delete from finance.budget_quarters`,
		`update finance.expense_reports set status = 'approved'`,
		`update finance.expense_items set amount_cents = 1`,
		`update finance.vendors set name = 'x'`,
		`delete from finance.vendor_tails`,
		`update finance.departments set name = 'x'`,
		`update confirmations set receipt = ''`,
		`delete from confirmations`,
		`create table finance.mine (id int)`,
		`create table public.mine (id int)`,
		`alter table finance.invoices disable row level security`,
		`alter table finance.invoices disable trigger all`,
		`set role postgres`,
		`set session authorization postgres`,
	} {
		err := change(h, ctx, statement)
		if why := cause(err); !fault.Is(err, fault.DatabaseError) || !strings.Contains(why, "42501") {
			t.Errorf("%s: got %v (%s), want permission denied", statement, err, why)
		}
	}
	if _, err := database.Rows[string](ctx, h.DB, `select name from finance.migrations`); !fault.Is(err, fault.DatabaseError) {
		t.Errorf("reading the migrations: got %v", err)
	}
}

// What must never be so cannot be written, whoever tries.
func TestStoreRefusesWhatMustNotBe(t *testing.T) {
	t.Parallel()
	h := open(t)
	for statement, constraint := range map[string]string{
		`update finance.budgets set status = 'approved', approved_by = submitted_by, approved_at = now() where department = 'FIN' and fiscal_year = 2026`: "separation_of_duties",
		`update finance.budgets set status = 'agreed'`:                                                    "budgets_status_check",
		`update finance.budget_quarters set allocated_cents = -1`:                                         "budget_quarters_allocated_cents_check",
		`update finance.invoices set deleted_at = now(), deleted_by = 'x' where number = 'INV-2025-003'`:  "invoices_check",
		`update finance.invoices set deleted_at = now(), deleted_by = null where number = 'INV-2025-009'`: "invoices_check",
	} {
		if err := change(h, h.As("eve.thompson"), statement); !strings.Contains(cause(err), constraint) {
			t.Errorf("%s: got %v (%s), want %s", statement, err, cause(err), constraint)
		}
	}
}

func TestRowSecurityCannotBeSwitchedOff(t *testing.T) {
	t.Parallel()
	h := open(t)
	err := h.DB.Change(h.As("marcus.johnson"), func(ctx context.Context) error {
		if _, err := database.Exec(ctx, h.DB, `set local row_security = off`); err != nil {
			return err
		}
		rows, err := database.Rows[string](ctx, h.DB, `select number from finance.invoices`)
		if err == nil {
			t.Errorf("Marcus reads %d rows", len(rows))
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
	if err := database.SelfCheck(t.Context(), h.DB, finance.SchemaName); err != nil {
		t.Error(err)
	}
	if err := database.SelfCheck(t.Context(), dbtest.OpenLogin(t, h.AdminURL, "postgres"), finance.SchemaName); err == nil {
		t.Error("a superuser passes")
	}
}

// The schema can be owned by an ordinary administrator: nothing rests on
// superuser rights, which pass by every policy and would hide a mistake.
func TestSchemaWorksForAnOwnerWhoIsNoSuperuser(t *testing.T) {
	t.Parallel()
	template := open(t)
	adminURL := cluster.Database(t, "")
	owned := over(t, adminURL, template.papers)
	owned.Admin(`do $$ begin create role steward login createrole; exception when duplicate_object then null; end $$`)
	owned.Admin(`do $$ begin execute format('alter database %I owner to steward', current_database()); end $$`)
	stewardURL, err := database.LoginURL(adminURL, "steward", "")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := finance.Migrate(t.Context(), stewardURL, ""); err != nil {
		t.Fatal(err)
	}
	if err := finance.Seed(t.Context(), stewardURL, template.papers.company); err != nil {
		t.Fatal(err)
	}
	h := over(t, adminURL, template.papers)
	if err := database.SelfCheck(t.Context(), h.DB, finance.SchemaName); err != nil {
		t.Error(err)
	}
	if got, want := count(h, h.As("bob.martinez")), everyRow(h); got != want {
		t.Errorf("Bob sees %+v, want %+v", got, want)
	}
	h.Apply(h.As("bob.martinez"), "approve_budget", args{"department": "Marketing", "fiscal_year": 2026, "amount": 1})
	h.Apply(h.As("bob.martinez"), "delete_invoice", args{"invoice_id": h.id("INV-2025-009")})
}

// change runs a statement with the server's own login, past every check above
// the store.
func change(h *harness, ctx context.Context, statement string) error {
	return h.DB.Change(ctx, func(ctx context.Context) error {
		_, err := database.Exec(ctx, h.DB, statement)
		return err
	})
}

// cause is what the store said.
func cause(err error) string {
	f := fault.From(err)
	if f == nil || f.Unwrap() == nil {
		return ""
	}
	return f.Unwrap().Error()
}
