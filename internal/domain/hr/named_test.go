package hr_test

import (
	"strings"
	"testing"

	"countersign.dev/internal/database"
	"countersign.dev/internal/testkit/domaintest"
)

// The search for parts of names bypasses the policies, so it must keep to the
// caller's scope itself.
func TestNamesAreLookedUpWithinTheCallersScope(t *testing.T) {
	t.Parallel()
	h := openScaled(t)
	h.Admin(`update hr.employees set status = 'TERMINATED', terminated_at = now() where id = (
		select min(id::text)::uuid from hr.employees where name_key like 'zane zhang%')`)
	for _, c := range []struct {
		who, role, part string
		want            int
	}{
		{"x@y", "hr-read", "zane zhang", 7},
		{"x@y", "hr-read", "nobody is called that", 0},
		{"x@y", "hr-read", "%", 0},
		{"x@y", "hr-read", "a", 50},                          // the page
		{"person000111@tamshai.local", "manager", "tara", 1}, // of 57
		{"person000111@tamshai.local", "employee", "tara", 0},
		{"x@y", "auditor", "quinn", 0},
	} {
		if got := strings.Count(h.named(t, c.who, c.role, c.part), "-") / 4; got != c.want {
			t.Errorf("%s as %s finds %d of %q, want %d", c.who, c.role, got, c.part, c.want)
		}
	}
}

// A company with more names than are scanned before the index of letters is used.
func TestPartsOfManyNamesAreFoundInOrder(t *testing.T) {
	t.Parallel()
	h := openScaled(t)
	h.Admin(`
		insert into hr.employees (id, employee_number, first_name, last_name, email, phone, department, job_title, grade, manager_id, hire_date, salary_cents, ssn, location, lft, rgt)
		select gen_random_uuid(), 'NEW' || n, chr(97 + n % 26) || 'ed' || n, to_char(n, 'FM00000') || case when n % 3000 = 2999 then 'øq' else '' end,
		       'new' || n || '@tamshai.local', phone, department, job_title, grade, manager_id, hire_date, 1, '900-' || lpad((n / 10000)::text, 2, '0') || '-' || lpad((n % 10000)::text, 4, '0'), location, lft, rgt
		from hr.employees, generate_series(1, 9000) n where employee_number = 'EMP000900'`)
	h.Admin(`update hr.employees set first_name = 'Renamed' where employee_number = 'NEW8000'`)
	h.Admin(`update hr.employees set status = 'TERMINATED', terminated_at = now() where employee_number in ('NEW8999', 'NEW2')`)
	const list = `select coalesce(array_agg(id order by last_name, first_name, id), '{}')::text from (
		select * from hr.employees where status = 'ACTIVE' and strpos(name_key, $1) > 0 order by last_name, first_name, id limit 50) page`
	for who, role := range map[string]string{"x@y": "hr-read", "person000111@tamshai.local": "manager", "person000900@tamshai.local": "employee"} {
		for _, part := range []string{"øq", "ø", "renamed 080", "08000", "zhang", "zane zh", "ed9", "a", "0 "} {
			want, _, err := database.Row[string](domaintest.SignedIn(t.Context(), who, role), h.DB, list, part)
			if err != nil {
				t.Fatal(part, err)
			}
			if got := h.named(t, who, role, part); got != want {
				t.Errorf("%q finds for %s\n%s, want\n%s", part, who, got, want)
			}
		}
	}
}

// The index of letters knows no teams: a page of it may have none of one.
func TestNamesAreLookedUpWithinALargeTeam(t *testing.T) {
	t.Parallel()
	h := openScaled(t)
	h.Admin(`update hr.employees set rgt = lft + 20000 where employee_number = 'EMP000111'`)
	in := args{"under_manager_id": h.id("EMP000111"), "name": "a"}
	if got := names(domaintest.Get[[]employee](h, domaintest.SignedIn(t.Context(), "x@y", "hr-read"), "list_employees", in)); len(got) != 50 {
		t.Errorf("finds %d, want a whole page", len(got))
	}
}

func (h *harness) named(t *testing.T, who, role, part string) string {
	t.Helper()
	const first50 = `select coalesce(hr.named($1, '', '', '00000000-0000-0000-0000-000000000000', null, null, null, 50), '{}')::text`
	ids, _, err := database.Row[string](domaintest.SignedIn(t.Context(), who, role), h.DB, first50, part)
	if err != nil {
		t.Fatal(err)
	}
	return ids
}
