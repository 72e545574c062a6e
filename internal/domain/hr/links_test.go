package hr_test

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"testing"
	"time"

	"countersign.dev/internal/access"
	"countersign.dev/internal/database"
	"countersign.dev/internal/domain/hr"
	"countersign.dev/internal/testkit"
	"countersign.dev/internal/testkit/conformance"
	"countersign.dev/internal/testkit/dbtest"
	"countersign.dev/internal/testkit/domaintest"
)

// caller is someone at the issuer, with an address that it says is verified,
// or none.
func caller(ctx context.Context, subject, email string, roles ...string) context.Context {
	return access.With(ctx, access.NewPrincipal(access.Claims{
		Issuer: testkit.Issuer, Subject: subject, Username: subject, Email: email, EmailVerified: email != "", Roles: roles, MayConfirm: true,
	}))
}

// Who someone is was settled by their first verified address: another one, or
// none, makes them no one else.
func TestRenamedAtTheIssuerIsTheSamePerson(t *testing.T) {
	t.Parallel()
	h := open(t)
	raise := args{"employee_id": h.id("EMP010"), "new_salary": 999_000}
	h.Refused(caller(t.Context(), "u-1", "alice@tamshai.local", "hr-write"), "INVALID_INPUT", "update_salary", raise)
	for name, email := range map[string]string{
		"another address": "alice.new@tamshai.local", "no verified address": "", "a colleague's address": "marcus.j@tamshai.local",
	} {
		again := caller(t.Context(), "u-1", email, "hr-write", "employee")
		h.Refused(again, "INVALID_INPUT", "update_salary", raise)
		h.Refused(again, "CANNOT_DELETE_SELF", "delete_employee", args{"employee_id": h.id("EMP010")})
		if own := domaintest.Get[map[string]any](h, again, "get_time_off_balance", nil); own["employee_id"] != h.id("EMP010") {
			t.Errorf("%s: the own balance is %v's", name, own["employee_name"])
		}
	}
}

// A linked person whose token proves no address any more is recorded as who they are
// at the issuer, not by their user name.
func TestDeletionIsNotSignedWithAUserName(t *testing.T) {
	t.Parallel()
	h := open(t)
	h.Refused(caller(t.Context(), "u-1", "alice@tamshai.local", "hr-write"), "CANNOT_DELETE_SELF", "delete_employee", args{"employee_id": h.id("EMP010")})
	h.Apply(caller(t.Context(), "u-1", "", "hr-write"), "delete_employee", args{"employee_id": h.id("EMP061")})
	by, _, err := database.Row[string](domaintest.SignedIn(t.Context(), "x@y", "hr-read"), h.DB, `select terminated_by from hr.employees where id = $1`, h.id("EMP061"))
	if want := testkit.Issuer + "|u-1"; err != nil || by != want {
		t.Errorf("got %q, %v, want %q", by, err, want)
	}
}

// An address has one subject: a second one that proves it is no one, which is
// reported, and sees nothing of the person.
func TestSecondSubjectOfAnAddressIsNoPerson(t *testing.T) {
	t.Parallel()
	now, taken := time.Now(), 0
	adminURL := schema.Filled(t, cluster, conformance.Company)
	login, err := database.LoginURL(adminURL, hr.Login, "")
	if err != nil {
		t.Fatal(err)
	}
	db, err := database.Open(t.Context(), login, &database.Options{Links: &access.Links{Now: func() time.Time { return now }, Taken: func(ctx context.Context) {
		if who, err := access.From(ctx); err == nil && who.Subject() == "u-2" {
			taken++
		}
	}}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(db.Close)
	h := &harness{Harness: &dbtest.Harness{Harness: domaintest.Open(t, "hr", hr.New(db)), AdminURL: adminURL}, company: dataset(conformance.Company)}
	h.Ask(caller(t.Context(), "u-1", "marcus.j@tamshai.local", "employee"), "get_time_off_balance", nil)
	second := caller(t.Context(), "u-2", "marcus.j@tamshai.local", "employee", "hr-write")
	h.Refused(second, "EMPLOYEE_NOT_FOUND", "get_time_off_balance", nil)
	h.Refused(second, "IDENTITY_UNPROVEN", "update_salary", args{"employee_id": h.id("EMP061"), "new_salary": 50_000})
	h.Refused(caller(t.Context(), "u-2", "marcus.j@tamshai.local", "employee"), "EMPLOYEE_NOT_FOUND", "get_employee", args{"employee_id": h.id("EMP052")})
	if taken != 1 {
		t.Errorf("it was reported %d times, want once", taken)
	}
	h.Admin(`delete from hr.links where subject = 'u-1'`) // an operator's
	now = now.Add(time.Minute)
	if own := domaintest.Get[map[string]any](h, second, "get_time_off_balance", nil); own["employee_id"] != h.id("EMP052") || taken != 1 {
		t.Errorf("a minute after the address was freed: got %v, reported %d times", own["employee_id"], taken)
	}
}

// The same subject of another issuer is someone else.
func TestSubjectCountsWithItsIssuer(t *testing.T) {
	t.Parallel()
	h := open(t)
	h.Ask(caller(t.Context(), "u-1", "alice@tamshai.local", "hr-write"), "get_time_off_balance", nil)
	other := access.With(t.Context(), access.NewPrincipal(access.Claims{Issuer: "https://other.test", Subject: "u-1", Username: "x", Roles: []string{"hr-write"}}))
	h.Refused(other, "IDENTITY_UNPROVEN", "update_salary", args{"employee_id": h.id("EMP052"), "new_salary": 150_000})
}

// Someone whose address changes in HR's own record keeps their link.
func TestLinkFollowsTheAddressInTheRecord(t *testing.T) {
	t.Parallel()
	h := open(t)
	alice := caller(t.Context(), "u-1", "alice@tamshai.local", "hr-write")
	h.Ask(alice, "get_time_off_balance", nil)
	h.Ask(caller(t.Context(), "u-2", "marcus.j@tamshai.local", "employee"), "get_time_off_balance", nil) // whose link stays
	h.Admin(`update hr.employees set email = 'alice.married@tamshai.local' where email = 'alice@tamshai.local'`)
	h.Refused(alice, "INVALID_INPUT", "update_salary", args{"employee_id": h.id("EMP010"), "new_salary": 999_000})
}

// An approval is of the person, too.
func TestApprovalOfAnUnprovenCallerIsRefused(t *testing.T) {
	t.Parallel()
	h := open(t)
	alice := h.As("alice.chen")
	pending := h.Pending(alice, "update_salary", args{"employee_id": h.id("EMP052"), "new_salary": 150_000})
	h.Admin(`delete from hr.links`) // an operator's
	unverified := caller(t.Context(), "sub-alice@tamshai.local", "", "hr-write")
	if o := h.Answer(unverified, pending.ID, true, ""); o.Fault() == nil || o.Fault().Code.Name != "IDENTITY_UNPROVEN" {
		t.Errorf("got %s", h.Encode(o))
	}
}

// ended records the accounts that were ended.
type ended struct {
	gone []access.Account
	fail error
}

func (e *ended) End(_ context.Context, gone []access.Account) error {
	if e.fail == nil {
		e.gone = slices.Clone(gone)
	}
	return e.fail
}

// A deletion ends the account: the linked subject and the address. What fails
// then, or was cut off by a crash, is made up for later from the rows alone.
func TestDeletionEndsTheAccount(t *testing.T) {
	t.Parallel()
	h := open(t)
	accounts := &ended{}
	endAll := h.server.EndAccounts(accounts.End, slog.New(slog.DiscardHandler))
	h.Ask(h.As("frank.davis"), "get_time_off_balance", nil)
	frank, _ := h.company.ByNumber("EMP061")
	marcus, _ := h.company.ByNumber("EMP052")
	want := access.Account{Owner: access.Owner{Issuer: testkit.Issuer, Subject: "sub-" + frank.Email}, Address: frank.Email}

	h.Pending(h.As("alice.chen"), "delete_employee", args{"employee_id": frank.ID})
	if len(accounts.gone) != 0 {
		t.Errorf("before the approval: %v", accounts.gone)
	}
	h.Apply(h.As("alice.chen"), "delete_employee", args{"employee_id": frank.ID})
	if !slices.Contains(accounts.gone, want) {
		t.Errorf("got %v, want %v among them", accounts.gone, want)
	}
	if slices.ContainsFunc(accounts.gone, func(a access.Account) bool { return a.Address == "alice@tamshai.local" }) {
		t.Error("somebody who works here is among them")
	}

	accounts.fail = errors.New("Redis is away")
	h.Apply(h.As("alice.chen"), "delete_employee", args{"employee_id": marcus.ID}) // which it does not undo
	accounts.fail = nil
	if err := endAll(h.As("eve.thompson")); err != nil {
		t.Fatal(err)
	}
	if !slices.Contains(accounts.gone, access.Account{Address: marcus.Email}) { // who never signed in
		t.Errorf("got %v, want %s among them", accounts.gone, marcus.Email)
	}
}
