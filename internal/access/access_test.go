package access_test

import (
	"encoding/json"
	"testing"

	"countersign.dev/internal/access"
)

func person(roles ...string) *access.Principal {
	return access.NewPrincipal(access.Claims{Issuer: "i", Subject: "s", Email: "Ann@Example.org", EmailVerified: true, Roles: roles})
}

func TestUnverifiedAddressIdentifiesNobody(t *testing.T) {
	p := access.NewPrincipal(access.Claims{Email: "ann@example.org"})
	if p.Email() != "" {
		t.Errorf("got %q, want none", p.Email())
	}
	if got := person().Email(); got != "ann@example.org" {
		t.Errorf("got %q, want it in lower case", got)
	}
}

// TestMaskingRule is the whole rule as a table: who sees which class, standing where.
func TestMaskingRule(t *testing.T) {
	for _, c := range []struct {
		class    access.Class
		role     string
		relation access.Relation
		want     bool
	}{
		{access.Pay, "hr-write", access.Other, true},
		{access.Pay, "finance-read", access.Other, true},
		{access.Pay, "executive", access.Other, true},
		{access.Pay, "hr-read", access.Other, false},
		{access.Pay, "manager", access.Below, false},
		{access.Pay, "employee", access.Self, true},
		{access.Phone, "hr-read", access.Other, true},
		{access.Phone, "manager", access.Below, true},
		{access.Phone, "manager", access.Other, false},
		{access.Phone, "employee", access.Self, true},
		{access.Review, "manager", access.Below, true},
		{access.Review, "employee", access.Self, false},
		{access.Review, "hr-read", access.Other, false},
		{access.Contact, "sales-read", access.Other, false},
		{access.Contact, "sales-read", access.Own, true},
		{access.Contact, "sales-write", access.Other, true},
		{access.Caller, "support-read", access.Own, false},
		{access.Caller, "support-write", access.Other, true},
		{"unheard-of", "executive", access.Self, false},
	} {
		if got := access.Visible(person(c.role), c.relation, c.class); got != c.want {
			t.Errorf("%s, %s, relation %d: got %v, want %v", c.class, c.role, c.relation, got, c.want)
		}
	}
	if access.Visible(nil, access.Self, access.Pay) {
		t.Error("nobody sees something")
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

func TestGuardedValueIsGoneOnceMasked(t *testing.T) {
	g := access.Guard(145000.5)
	if b, _ := json.Marshal(g); string(b) != "145000.5" {
		t.Errorf("got %s", b)
	}
	g.Mask()
	b, _ := json.Marshal(g)
	if string(b) != `"*** (Hidden)"` || g.Value != 0 {
		t.Errorf("got %s, value %v", b, g.Value)
	}
	var back access.Guarded[float64]
	if err := json.Unmarshal(b, &back); err != nil || !back.Masked {
		t.Errorf("got %+v, %v", back, err)
	}
}
