package app

import (
	"slices"
	"testing"

	"countersign.dev/internal/access"
	"countersign.dev/internal/company"
	"countersign.dev/internal/testkit/domaintest"
	"countersign.dev/internal/testkit/oracle"
)

// TestPoliciesNameDeclaredRoles: a class of fields may be open to a role of
// another domain, but not to one that no domain declares, and no two domains
// declare the same role. The kernel itself refuses tools and fields that use an
// undeclared role or class.
func TestPoliciesNameDeclaredRoles(t *testing.T) {
	all := roles()
	for i, role := range all {
		if slices.Contains(all[:i], role) {
			t.Errorf("the role %s is declared twice", role)
		}
	}
	for _, d := range domains() {
		for _, fault := range undeclared(d.policy, all) {
			t.Errorf("%s: %s", d.name, fault)
		}
	}
	if got := undeclared(access.Policy{Classes: []access.Class{{Name: "pay", Roles: []access.Role{"payroll"}}}}, all); len(got) != 1 {
		t.Errorf("a class with an undeclared role: got %v, want one fault", got)
	}
	if !slices.Equal(all, domaintest.Roles()) {
		t.Errorf("the tests know %v, the domains declare %v", domaintest.Roles(), all)
	}
	for _, a := range company.Accounts() {
		for _, role := range a.Roles {
			if !slices.Contains(all, access.Role(role)) {
				t.Errorf("%s of the sample company has the undeclared role %s", a.Username, role)
			}
		}
	}
}

func undeclared(p access.Policy, all []access.Role) (faults []string) {
	for _, c := range p.Classes {
		for _, role := range c.Roles {
			if !slices.Contains(all, role) {
				faults = append(faults, "the class "+c.Name+" is open to "+string(role)+", a role that no domain declares")
			}
		}
	}
	return faults
}

// TestMaskingTable is the complete rule as a table: who sees which class of fields,
// in which relation to the row.
func TestMaskingTable(t *testing.T) {
	for _, c := range []struct {
		server, class, role string
		relation            access.Relation
		want                bool
	}{
		{"hr", "pay", "hr-write", access.Other, true},
		{"hr", "pay", "finance-read", access.Other, true},
		{"hr", "pay", "executive", access.Other, true},
		{"hr", "pay", "hr-read", access.Other, false},
		{"hr", "pay", "manager", access.Below, false},
		{"hr", "pay", "employee", access.Self, true},
		{"hr", "phone", "hr-read", access.Other, true},
		{"hr", "phone", "manager", access.Below, true},
		{"hr", "phone", "manager", access.Other, false},
		{"hr", "phone", "employee", access.Self, true},
		{"hr", "review", "manager", access.Below, true},
		{"hr", "review", "employee", access.Self, false},
		{"hr", "review", "hr-read", access.Other, false},
		{"sales", "contact", "sales-read", access.Other, false},
		{"sales", "contact", "sales-read", access.Own, true},
		{"sales", "contact", "sales-write", access.Other, true},
		{"support", "caller", "support-read", access.Own, false},
		{"support", "caller", "support-write", access.Other, true},
	} {
		class, declared := policyOf(c.server).Class(c.class)
		if !declared {
			t.Errorf("%s declares no class %s", c.server, c.class)
			continue
		}
		who := oracle.Asker{Roles: []string{c.role}}.Principal()
		if got := access.Visible(who, c.relation, class); got != c.want {
			t.Errorf("%s, %s, relation %d: got %v, want %v", c.class, c.role, c.relation, got, c.want)
		}
	}
}
