package dbtest

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"countersign.dev/internal/access"
	"countersign.dev/internal/database"
	"countersign.dev/internal/fault"
	"countersign.dev/internal/testkit"
	"countersign.dev/internal/testkit/conformance"
	"countersign.dev/internal/testkit/domaintest"
)

// Policies is what a schema's row-level security, grants and constraints must
// enforce when every check above the store fails: against plain SQL with the
// server's own login.
type Policies struct {
	Schema
	Name      string            // of the schema
	Tables    []string          // whose rows are counted; the first one is the domain's main table
	Email     string            // of an employee who has each role in turn
	Sees      map[string]string // the counts by role, with a space between
	Otherwise string            // the counts for every other role, and without any
	Callers   map[string]access.Claims
	Writers   []string
	Writes    map[string]int64  // the rows that a writer changes by a statement
	Rights    string            // all that the login may do in the schema
	Refused   map[string]string // statements that break a constraint, and its name
	Steps     func(h *domaintest.Harness)
}

// Run runs the suite on a cluster.
func (p Policies) Run(t *testing.T, c *Cluster) {
	for name, test := range map[string]func(*testing.T, *policed){
		"Rows": p.rows, "Strangers": p.strangers, "Writers": p.writers, "Grants": p.grants, "Constraints": p.constraints,
		"SwitchedOff": p.switchedOff, "SelfCheck": p.selfCheck, "OrdinaryOwner": p.ordinaryOwner,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			url := p.Filled(t, c, conformance.Company)
			test(t, &policed{t, c, url, OpenLogin(t, url, p.Login)})
		})
	}
}

// policed is a database of the test's own, open with the server's login.
type policed struct {
	*testing.T
	cluster  *Cluster
	adminURL string
	db       *database.DB
}

// count counts the rows of every table that a caller sees.
func (p Policies) count(t testing.TB, db *database.DB, ctx context.Context) string {
	t.Helper()
	var counts []string
	for _, table := range p.Tables {
		counts = append(counts, fmt.Sprintf("(select count(*) from %s.%s)", p.Name, table))
	}
	got, _, err := database.Row[string](ctx, db, "select concat_ws(' ', "+strings.Join(counts, ", ")+")")
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// as is a caller with the suite's address and one role.
func (p Policies) as(t testing.TB, roles ...string) context.Context {
	return domaintest.SignedIn(t.Context(), p.Email, roles...)
}

func (p Policies) rows(t *testing.T, d *policed) {
	for _, role := range conformance.Roles() {
		want, ok := p.Sees[role]
		if !ok {
			want = p.Otherwise
		}
		if got := p.count(t, d.db, p.as(t, role)); got != want {
			t.Errorf("%s sees %s, want %s", role, got, want)
		}
	}
}

// strangers: without a subject no row is seen, whatever the roles; with one, only
// exact role names count.
func (p Policies) strangers(t *testing.T, d *policed) {
	none := strings.TrimSpace(strings.Repeat("0 ", len(p.Tables)))
	every := conformance.Roles()
	callers := map[string]access.Claims{
		"no claims":                {},
		"roles without a subject":  {Roles: every},
		"no role":                  {Subject: "s", Email: p.Email, EmailVerified: true},
		"parts and other cases":    {Subject: "s", Email: p.Email, EmailVerified: true, Roles: []string{"executive-assistant", "xhr-read", "hr", "xfinance-read", "finance", "FINANCE-READ"}},
		"two roles in one":         {Subject: "s", Email: p.Email, EmailVerified: true, Roles: []string{"x,executive"}},
		"another domain's manager": {Subject: "s", Email: "x@y", EmailVerified: true, Roles: []string{"manager", "sales-write", "support-write"}},
	}
	maps.Copy(callers, p.Callers)
	for name, claims := range callers {
		want := p.Otherwise
		if claims.Subject == "" {
			want = none
		}
		if claims.Issuer = testkit.Issuer; claims.Subject != "" {
			claims.Subject += " of " + name // each is another person
		}
		if got := p.count(t, d.db, access.With(t.Context(), access.NewPrincipal(claims))); got != want {
			t.Errorf("%s: sees %s, want %s", name, got, want)
		}
	}
}

// writers: for every role the write policies agree with the tools' roles. A
// writer's change does not fail silently, another caller's changes nothing.
func (p Policies) writers(t *testing.T, d *policed) {
	for statement, rows := range p.Writes {
		for _, role := range conformance.Roles() {
			var changed int64
			err := d.db.Change(p.as(t, role), func(ctx context.Context) (err error) {
				changed, err = database.Exec(ctx, d.db, statement)
				return err
			})
			want := int64(0)
			if slices.Contains(p.Writers, role) {
				want = rows
			}
			if err != nil || changed != want {
				t.Errorf("%s, %s: %d rows (%v), want %d", role, statement, changed, err, want)
			}
		}
	}
}

// change runs a statement as a caller with every role.
func (p Policies) change(d *policed, statement string) error {
	return d.db.Change(p.as(d, conformance.Roles()...), func(ctx context.Context) error {
		_, err := database.Exec(ctx, d.db, statement)
		return err
	})
}

// cause is the error of the server.
func cause(err error) string {
	f := fault.From(err)
	if f == nil || f.Unwrap() == nil {
		return ""
	}
	return f.Unwrap().Error()
}

// grants: the login can do nothing that the tools do not need.
func (p Policies) grants(t *testing.T, d *policed) {
	table := p.Name + "." + p.Tables[0]
	for _, statement := range []string{
		"delete from " + table, "truncate " + table, "insert into " + table + " (id) values (gen_random_uuid())",
		"update confirmations set receipt = ''", "delete from confirmations",
		"create table " + p.Name + ".mine (id int)", "create table public.mine (id int)",
		"alter table " + table + " disable row level security", "alter table " + table + " disable trigger all",
		"set role postgres", "set session authorization postgres",
	} {
		if err := p.change(d, statement); !fault.Is(err, fault.DatabaseError) || !strings.Contains(cause(err), "42501") {
			t.Errorf("%s: got %v (%s), want permission denied", statement, err, cause(err))
		}
	}
	if _, err := database.Rows[string](p.as(t, conformance.Roles()...), d.db, "select name from "+p.Name+".migrations"); !fault.Is(err, fault.DatabaseError) {
		t.Errorf("reading the migrations: got %v", err)
	}
	got, _, err := database.Row[string](p.as(t), d.db, rights, p.Name)
	if err != nil || got != p.Rights {
		t.Errorf("the login's rights (%v):\n%s\nwant\n%s", err, got, p.Rights)
	}
}

// rights are those of the login on each table, on columns where it has them on no
// whole table, and on each function that is not a trigger's.
const rights = `
select string_agg(line, ', ' order by line) from (
  select c.relname || ' ' || p as line
  from pg_class c, unnest(array['SELECT', 'INSERT', 'UPDATE', 'DELETE', 'TRUNCATE', 'REFERENCES', 'TRIGGER']) p
  where c.relnamespace = $1::regnamespace and c.relkind in ('r', 'v', 'm', 'p') and has_table_privilege(c.oid, p)
  union all
  select c.relname || '.' || a.attname || ' ' || p
  from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped, unnest(array['SELECT', 'INSERT', 'UPDATE', 'REFERENCES']) p
  where c.relnamespace = $1::regnamespace and c.relkind in ('r', 'v', 'm', 'p') and has_column_privilege(c.oid, a.attnum, p) and not has_table_privilege(c.oid, p)
  union all
  select f.proname || '()'
  from pg_proc f where f.pronamespace = $1::regnamespace and f.prorettype <> 'trigger'::regtype and has_function_privilege(f.oid, 'EXECUTE')
) granted`

// constraints: what must never be cannot be written, by any caller.
func (p Policies) constraints(t *testing.T, d *policed) {
	for statement, constraint := range p.Refused {
		if err := p.change(d, statement); !strings.Contains(cause(err), constraint) {
			t.Errorf("%s: got %v (%s), want %s", statement, err, cause(err), constraint)
		}
	}
}

func (p Policies) switchedOff(t *testing.T, d *policed) {
	err := d.db.Change(p.as(t, "employee"), func(ctx context.Context) error {
		if _, err := database.Exec(ctx, d.db, `set local row_security = off`); err != nil {
			return err
		}
		rows, err := database.Rows[string](ctx, d.db, "select id::text from "+p.Name+"."+p.Tables[0])
		if err == nil {
			t.Errorf("%d rows are read", len(rows))
		}
		return err
	})
	if !fault.Is(err, fault.DatabaseError) {
		t.Errorf("got %v, want DATABASE_ERROR", err)
	}
}

func (p Policies) selfCheck(t *testing.T, d *policed) {
	if err := database.SelfCheck(t.Context(), d.db, p.Name); err != nil {
		t.Error(err)
	}
	if err := database.SelfCheck(t.Context(), OpenLogin(t, d.adminURL, "postgres"), p.Name); err == nil {
		t.Error("a superuser passes")
	}
}

// ordinaryOwner: the schema works when an ordinary administrator owns it. A
// superuser bypasses every policy, which would hide a mistake.
func (p Policies) ordinaryOwner(t *testing.T, d *policed) {
	adminURL := d.cluster.Database(t, "")
	admin := connect(t, adminURL)
	for _, statement := range []string{
		`do $$ begin create role steward login createrole; exception when duplicate_object then null; end $$`,
		`do $$ begin execute format('alter database %I owner to steward', current_database()); end $$`,
	} {
		if _, err := admin.Exec(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	stewardURL, err := database.LoginURL(adminURL, "steward", "")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Migrate(t.Context(), stewardURL, ""); err != nil {
		t.Fatal(err)
	}
	if err := p.Fill(t.Context(), stewardURL, conformance.Company); err != nil {
		t.Fatal(err)
	}
	db := OpenLogin(t, adminURL, p.Login)
	if err := database.SelfCheck(t.Context(), db, p.Name); err != nil {
		t.Error(err)
	}
	for role, want := range p.Sees {
		if got := p.count(t, db, p.as(t, role)); got != want {
			t.Errorf("%s sees %s, want %s", role, got, want)
		}
	}
	p.Steps(domaintest.Open(t, p.Name, p.New(db)))
}
