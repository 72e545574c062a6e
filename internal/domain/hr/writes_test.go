package hr_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/jackc/pgx/v5"

	"countersign.dev/internal/confirm"
	"countersign.dev/internal/database"
	"countersign.dev/internal/result"
	"countersign.dev/internal/testkit/domaintest"
)

func TestDeletionIsSoftAndRecordsWhoDeleted(t *testing.T) {
	t.Parallel()
	h := open(t)
	h.Apply(h.As("alice.chen"), "delete_employee", args{"employee_id": h.id("EMP061")})
	const left = `select status || ' by ' || terminated_by from hr.employees where id = $1`
	got, _, err := database.Row[string](domaintest.SignedIn(t.Context(), "x@y", "hr-read"), h.DB, left, h.id("EMP061"))
	if err != nil || got != "TERMINATED by alice@tamshai.local" {
		t.Errorf("got %q, %v", got, err)
	}
	frank := h.As("frank.davis")
	h.Refused(frank, "EMPLOYEE_NOT_FOUND", "get_employee", args{"employee_id": h.id("EMP061")})
	h.Refused(frank, "EMPLOYEE_NOT_FOUND", "get_time_off_balance", nil)
}

// A date that has passed is taken as today, and the card says so.
func TestSalaryIsNotChangedBackwards(t *testing.T) {
	t.Parallel()
	h := open(t)
	alice := h.As("alice.chen")
	for date, want := range map[string]string{"": "", today.Format(time.DateOnly): "", "2020-01-01": "It does not count back to 2020-01-01: it applies from today."} {
		in := args{"employee_id": h.id("EMP052"), "new_salary": 150_000}
		if date != "" {
			in["effective_date"] = date
		}
		p := h.Pending(alice, "update_salary", in)
		warning, _ := p.Data["warning"].(string)
		if warning != want || !strings.Contains(p.Message, want) || p.Data["effectiveDate"] != today.Format(time.DateOnly) {
			t.Errorf("from %q: %s, %v", date, p.Message, p.Data)
		}
	}
}

func TestRenumberRefusesACircle(t *testing.T) {
	t.Parallel()
	h := open(t)
	err := database.Seed(t.Context(), h.AdminURL, func(ctx context.Context, s *database.Seeder) error {
		eve, _ := h.company.ByNumber("EMP001")
		marcus, _ := h.company.ByNumber("EMP052")
		return errors.Join(
			s.Exec(ctx, `update hr.employees set manager_id = $2 where id = $1`, eve.ID, marcus.ID),
			s.Exec(ctx, `select hr.renumber()`))
	})
	if err == nil || !strings.Contains(err.Error(), "their own manager") {
		t.Errorf("got %v", err)
	}
}

// moving are transactions that move Marcus to Nina's place and Nina below him; most begin with
// a circle.
var moving = map[string][]string{
	"the report first": {
		`update hr.employees set manager_id = (select manager_id from hr.employees where employee_number = 'EMP051') where employee_number = 'EMP052'`,
		`update hr.employees set manager_id = (select id from hr.employees where employee_number = 'EMP052') where employee_number = 'EMP051'`,
	},
	"the manager first": {
		`update hr.employees set manager_id = (select id from hr.employees where employee_number = 'EMP052') where employee_number = 'EMP051'`,
		`update hr.employees set job_title = 'Head of Engineering', manager_id = manager_id where employee_number = 'EMP052'`,
		`update hr.employees set manager_id = (select id from hr.employees where employee_number = 'EMP001') where employee_number = 'EMP052'`,
	},
	"both at once": {
		`update hr.employees set manager_id = case employee_number when 'EMP051' then (select id from hr.employees where employee_number = 'EMP052') else (select manager_id from hr.employees where employee_number = 'EMP051') end
		 where employee_number in ('EMP051', 'EMP052')`,
	},
	"somebody is added below the circle": {
		`update hr.employees set manager_id = (select id from hr.employees where employee_number = 'EMP052') where employee_number = 'EMP051'`,
		hire,
		`update hr.employees set manager_id = (select id from hr.employees where employee_number = 'EMP001') where employee_number = 'EMP052'`,
	},
	"with its own numbers": {
		`alter table hr.employees disable trigger tree_of_moved`,
		`update hr.employees set manager_id = (select id from hr.employees where employee_number = 'EMP052') where employee_number = 'EMP051'`,
		`update hr.employees set manager_id = (select id from hr.employees where employee_number = 'EMP001') where employee_number = 'EMP052'`,
		`select hr.renumber()`,
		`alter table hr.employees enable trigger tree_of_moved`,
	},
}

// TestPeopleMoveInAnyOrder: a circle that the same transaction breaks again is no fault.
func TestPeopleMoveInAnyOrder(t *testing.T) {
	t.Parallel()
	for name, statements := range moving {
		h := open(t)
		if err := h.transaction(statements...); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		marcus := domaintest.SignedIn(h.Context(), "marcus.j@tamshai.local", "employee", "manager")
		if o := h.Ask(marcus, "get_employee", args{"employee_id": h.id("EMP051")}); o.Code() != result.StatusSuccess {
			t.Errorf("%s: Marcus does not see Nina: %s", name, o.Code())
		}
		if o := h.Ask(h.As("nina.patel"), "get_employee", args{"employee_id": h.id("EMP052")}); o.Code() != "EMPLOYEE_NOT_FOUND" {
			t.Errorf("%s: Nina sees Marcus: %s", name, o.Code())
		}
		before := h.digest()
		h.Admin(`select hr.renumber()`)
		if h.digest() != before {
			t.Errorf("%s: the tree had other numbers", name)
		}
	}
}

// TestNoTransactionEndsWithACircle: neither among those who moved nor among those who were added.
func TestNoTransactionEndsWithACircle(t *testing.T) {
	t.Parallel()
	h := open(t)
	before := h.digest()
	for name, statements := range map[string][]string{
		"moved":  moving["the manager first"][:2],
		"itself": {`update hr.employees set manager_id = id where employee_number = 'EMP051'`},
		"added":  {strings.Replace(hire, "grade, id, hire_date", "grade, md5(case name when 'Ann' then 'Ben' else 'Ann' end)::uuid, hire_date", 1)},
		"with its own numbers": {
			`alter table hr.employees disable trigger tree_of_moved`, moving["the manager first"][0], `select hr.renumber()`,
		},
	} {
		if err := h.transaction(statements...); err == nil || !strings.Contains(err.Error(), "their own manager") {
			t.Errorf("%s: got %v", name, err)
		}
	}
	if h.digest() != before {
		t.Error("rows were changed")
	}
}

// TestUnchangedManagersNumberNoOne: the whole tree is numbered where somebody moved, only.
func TestUnchangedManagersNumberNoOne(t *testing.T) {
	t.Parallel()
	h := open(t)
	h.Admin(`update hr.employees set lft = 0, rgt = 0 where employee_number = 'EMP061'`)
	before := h.digest()
	for _, statement := range []string{
		`update hr.employees set manager_id = manager_id`,
		`update hr.employees set manager_id = null where employee_number = 'nobody'`,
	} {
		if h.Admin(statement); h.digest() != before {
			t.Errorf("%s: the tree was numbered", statement)
		}
	}
	const move = `update hr.employees set manager_id = (select id from hr.employees where employee_number = 'EMP030') where employee_number = 'EMP052'`
	const clear = `update hr.employees set lft = 0, rgt = 0 where employee_number = 'EMP061'`
	if err := h.transaction(move, clear, `update hr.employees set manager_id = manager_id`); err != nil {
		t.Fatal(err)
	}
	if got, _, err := database.Row[int](domaintest.SignedIn(h.Context(), "x@y", "hr-read"), h.DB, `select lft from hr.employees where employee_number = 'EMP061'`); got != 0 || err != nil {
		t.Errorf("the tree was numbered once more in the transaction of a move: Frank has %d, %v", got, err)
	}
}

// transaction runs statements as another program does, all of them or none.
func (h *harness) transaction(statements ...string) error {
	return database.Admin(h.Context(), h.AdminURL, func(ctx context.Context, tx pgx.Tx) error {
		for _, statement := range statements {
			if _, err := tx.Exec(ctx, statement); err != nil {
				return err
			}
		}
		return nil
	})
}

func TestManagerSeesAPersonWhoMovedToThem(t *testing.T) {
	t.Parallel()
	h := open(t)
	h.Admin(`update hr.employees set manager_id = $2 where id = $1`, h.id("EMP061"), h.id("EMP052"))
	got := names(domaintest.Get[[]employee](h, h.As("nina.patel"), "list_employees", args{"name": "Frank"}))
	if !slices.Equal(got, []string{"Frank Davis"}) {
		t.Errorf("Nina sees %v", got)
	}
	h.Admin(`update hr.employees set manager_id = $2 where id = $1`, h.id("EMP052"), h.id("EMP030"))
	for _, number := range []string{"EMP052", "EMP061"} { // Marcus moved away, and Frank with him
		if o := h.Ask(h.As("nina.patel"), "get_employee", args{"employee_id": h.id(number)}); o.Code() != "EMPLOYEE_NOT_FOUND" {
			t.Errorf("Nina still sees %s: %s", number, o.Code())
		}
		if o := h.Ask(h.As("carol.johnson"), "get_employee", args{"employee_id": h.id(number)}); o.Code() != result.StatusSuccess {
			t.Errorf("Carol does not see %s: %s", number, o.Code())
		}
	}
}

// hire adds two people below Nina, as another program does.
const hire = `
insert into hr.employees (id, employee_number, first_name, last_name, email, phone, department, job_title, grade, manager_id, hire_date, salary_cents, ssn, location)
select md5(name)::uuid, 'NEW' || name, name, 'Newhire', lower(name) || '@tamshai.local', '206-555-0100', department, 'Engineer', grade, id, hire_date, 10000000, case name when 'Ann' then '999-00-0001' else '999-00-0002' end, location
from hr.employees, unnest(array['Ann', 'Ben']) name where employee_number = 'EMP051'`

// TestPeopleWhoWereAddedAreInTheirPlace: their manager sees them, and they see themselves.
// Without numbers, where triggers are disabled, they see no one.
func TestPeopleWhoWereAddedAreInTheirPlace(t *testing.T) {
	t.Parallel()
	for _, enabled := range []bool{true, false} {
		h := open(t)
		if !enabled {
			h.Admin(`alter table hr.employees disable trigger tree_of_added`)
			defer h.Admin(`alter table hr.employees enable trigger tree_of_added`) // another test gets the database
		}
		h.Admin(hire)
		ann := domaintest.SignedIn(h.Context(), "ann@tamshai.local", "employee", "manager")
		var want, below []string
		if enabled {
			want, below = []string{"Ann Newhire"}, []string{"Ann Newhire", "Ben Newhire"}
		}
		if got := names(domaintest.Get[[]employee](h, ann, "list_employees", args{})); !slices.Equal(got, want) {
			t.Errorf("triggers: %v: Ann sees %v, want %v", enabled, got, want)
		}
		if got := names(domaintest.Get[[]employee](h, h.As("nina.patel"), "list_employees", args{"name": "newhire"})); !slices.Equal(got, below) {
			t.Errorf("triggers: %v: Nina sees %v, want %v", enabled, got, below)
		}
		if got := names(domaintest.Get[[]employee](h, h.As("alice.chen"), "list_employees", args{"name": "newhire"})); len(got) != 2 {
			t.Errorf("triggers: %v: Alice sees %v", enabled, got)
		}
	}
}

// Programs that add people at the same time number the tree one after the other: two people
// with one number would see each other.
func TestPeopleWhoAreAddedAtOnceHaveNumbersOfTheirOwn(t *testing.T) {
	t.Parallel()
	h := open(t)
	const (
		add = `
			insert into hr.employees (id, employee_number, first_name, last_name, email, phone, department, job_title, grade, manager_id, hire_date, salary_cents, ssn, location)
			select gen_random_uuid(), $1, $1, 'Newhire', lower($1) || '@tamshai.local', phone, department, job_title, grade, id, hire_date, 1, $1, location
			from hr.employees where employee_number = 'EMP051'`
		move = `update hr.employees set manager_id = (select id from hr.employees where employee_number = 'EMP030') where employee_number = $1`
	)
	var all sync.WaitGroup
	for n := range 6 {
		for statement, number := range map[string]string{add: fmt.Sprintf("NEW%d", n), move: fmt.Sprintf("EMP%03d", 52+n)} {
			all.Go(func() {
				err := database.Admin(h.Context(), h.AdminURL, func(ctx context.Context, tx pgx.Tx) error {
					_, err := tx.Exec(ctx, statement, number)
					return err
				})
				if err != nil {
					t.Errorf("%s: %v", number, err)
				}
			})
		}
	}
	all.Wait()
	before := h.digest()
	h.Admin(`select hr.renumber()`)
	if h.digest() != before {
		t.Error("the tree had other numbers")
	}
}

// The fixture has the same tree numbers that the store would compute, so that no
// row is written twice.
func TestSeededTreeIsNumberedAsTheStoreNumbersIt(t *testing.T) {
	t.Parallel()
	h := openScaled(t)
	before := h.digest()
	h.Admin(`update hr.employees set lft = 0, rgt = 0, depth = 0`)
	h.Admin(`select hr.renumber()`)
	if h.digest() != before {
		t.Error("the store numbers the tree differently")
	}
}

// Somebody who can write to Redis lets the card say Frank and the record Marcus.
func TestRewrittenConfirmationDeletesNoOne(t *testing.T) {
	t.Parallel()
	h := open(t)
	redis := miniredis.RunT(t)
	h.Runner = domaintest.NewRunner(t, "hr", h.server, confirm.NewService(domaintest.OpenRedis(t, redis.Addr()), h.Sink, nil), h.Sink, domaintest.Speaks{})
	alice, before := h.As("alice.chen"), h.digest()
	frank := h.Pending(alice, "delete_employee", args{"employee_id": h.id("EMP061")})
	marcus := h.Pending(alice, "delete_employee", args{"employee_id": h.id("EMP052")})
	if !strings.Contains(frank.Message, "Frank Davis") {
		t.Fatalf("card: got %q", frank.Message)
	}
	record := func(id string) (fields map[string]any) {
		text, err := redis.Get("pending:" + id)
		if err == nil {
			err = json.Unmarshal([]byte(text), &fields)
		}
		if err != nil {
			t.Fatal(err)
		}
		return fields
	}
	swapped, plain := record(frank.ID), record(frank.ID)
	swapped["sealed"] = record(marcus.ID)["sealed"]
	delete(plain, "sealed")
	plain["action"], plain["input"] = "delete_employee", `{"employee_id":"`+h.id("EMP052")+`"}`
	for _, rewritten := range []map[string]any{swapped, plain} {
		text, err := json.Marshal(rewritten)
		if err != nil {
			t.Fatal(err)
		}
		if err := redis.Set("pending:"+frank.ID, string(text)); err != nil {
			t.Fatal(err)
		}
		if o := h.Answer(alice, frank.ID, true, ""); o.Code() != "CONFIRMATION_ALTERED" {
			t.Errorf("got %s, want CONFIRMATION_ALTERED", h.Encode(o))
		}
		if o := h.Answer(alice, frank.ID, true, marcus.Data["digest"].(string)); o.Code() != "CONFIRMATION_ALTERED" {
			t.Errorf("got %s, want CONFIRMATION_ALTERED", h.Encode(o))
		}
	}
	if o := h.Answer(alice, marcus.ID, true, frank.Data["digest"].(string)); o.Code() != "CONFIRMATION_STALE" {
		t.Errorf("with the digest of Frank's card: got %s", h.Encode(o))
	}
	if h.digest() != before {
		t.Error("rows were changed")
	}
}
