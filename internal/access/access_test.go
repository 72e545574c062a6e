package access_test

import (
	"encoding/json"
	"slices"
	"testing"

	"countersign.dev/internal/access"
	"countersign.dev/internal/fault"
)

func person(roles ...string) *access.Principal {
	return access.NewPrincipal(access.Claims{Issuer: "i", Subject: "s", Email: "Ann@Example.org", EmailVerified: true, Roles: roles})
}

func TestUnverifiedAddressIdentifiesNoPerson(t *testing.T) {
	p := access.NewPrincipal(access.Claims{Email: "ann@example.org"})
	if p.Email() != "" {
		t.Errorf("got %q, want none", p.Email())
	}
	if got := person().Email(); got != "ann@example.org" {
		t.Errorf("got %q, want it in lower case", got)
	}
}

func TestMaskingRule(t *testing.T) {
	pay := access.Class{Name: "pay", Roles: []access.Role{"payroll", access.Executive}, Relations: []access.Relation{access.Self}}
	for _, c := range []struct {
		class    access.Class
		role     string
		relation access.Relation
		want     bool
	}{
		{pay, "payroll", access.Other, true},
		{pay, "executive", access.Other, true},
		{pay, "manager", access.Other, false},
		{pay, "manager", access.Below, false},
		{pay, "employee", access.Self, true},
		{access.Class{Name: "nothing"}, "executive", access.Self, false},
		{access.Class{}, "executive", access.Other, false},
	} {
		if got := access.Visible(person(c.role), c.relation, c.class); got != c.want {
			t.Errorf("%s, %s, relation %d: got %v, want %v", c.class.Name, c.role, c.relation, got, c.want)
		}
	}
	if access.Visible(nil, access.Self, pay) {
		t.Error("visible without a principal")
	}
}

func TestPolicyKnowsTheCommonRoles(t *testing.T) {
	p := access.Policy{Roles: []access.Role{"payroll"}}
	for role, want := range map[access.Role]bool{"payroll": true, access.Employee: true, access.Manager: true, access.Executive: true, access.Auditor: true, "hr-read": false} {
		if got := p.Declares(role); got != want {
			t.Errorf("%s: got %t, want %t", role, got, want)
		}
	}
}

func TestRolesAreRankedAsPoliciesDeclareThem(t *testing.T) {
	got := access.Widest(access.Policy{Roles: []access.Role{"hr-read", "hr-write"}}, access.Policy{}, access.Policy{Roles: []access.Role{"legal-write"}})
	want := []access.Role{access.Executive, access.Auditor, "hr-write", "legal-write", "hr-read", access.Manager, access.Employee}
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestMasksHideEnough(t *testing.T) {
	for _, c := range []struct {
		style access.Style
		text  string
		want  string
	}{
		{access.Hide, "911-22-3333", access.Hidden},
		{access.Hide, "", ""},
		{access.Last4, "+1 206-555-0142", "***-0142"},
		{access.Last4, "0142", access.Hidden},
		{access.Mailbox, "john@acme.example", "j***@acme.example"},
		{access.Mailbox, "@acme.example", access.Hidden},
		{access.Mailbox, "no address", access.Hidden},
	} {
		if got := c.style.Mask(c.text); got != c.want {
			t.Errorf("%q %q: got %q, want %q", c.style, c.text, got, c.want)
		}
	}
}

func TestMaskedValueIsDeleted(t *testing.T) {
	g := access.NewSensitive(145000.5)
	if b, _ := json.Marshal(g); string(b) != "145000.5" {
		t.Errorf("got %s", b)
	}
	g.Mask()
	b, _ := json.Marshal(g)
	if string(b) != `"*** (Hidden)"` || g.Value != 0 {
		t.Errorf("got %s, value %v", b, g.Value)
	}
	var back access.Sensitive[float64]
	if err := json.Unmarshal(b, &back); err != nil || !back.Masked {
		t.Errorf("got %+v, %v", back, err)
	}
}

func TestShownToSaysWhichRolesOpenNoRows(t *testing.T) {
	p := access.Policy{Roles: []access.Role{"hr-write"}}
	if got := p.ShownTo(access.Class{Roles: []access.Role{"hr-write"}, Relations: []access.Relation{access.Self, access.Below}}); !slices.Equal(got, []string{"hr-write", "managers above the person"}) {
		t.Errorf("shown to those above, too: %q", got)
	}
	got := p.ShownTo(access.Class{Roles: []access.Role{"finance-read", "hr-write", access.Executive}})
	if want := []string{"hr-write", "executive", "finance-read for rows that they may see"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestPersonWithoutRolesHasAListOfThem: a refusal says the same of them everywhere.
func TestPersonWithoutRolesHasAListOfThem(t *testing.T) {
	f := access.NewPrincipal(access.Claims{}).Lacks(fault.Insufficient.New("No."), "hr-read")
	if roles, ok := f.Details["userRoles"].([]string); !ok || roles == nil || len(roles) != 0 {
		t.Errorf("got %#v, want an empty list", f.Details["userRoles"])
	}
}
