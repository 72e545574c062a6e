package sales

import (
	"context"

	"countersign.dev/internal/access"
)

// Scope is the filter that no query can be asked without: which rows a
// principal may see. Its fields can be set nowhere but in ScopeOf, and its zero
// value sees nothing.
type Scope struct {
	all   bool
	email string // verified, in lower case; rows that name it as owner or in the owner's chain
}

// ScopeOf is the one place where it is decided whose rows somebody sees. Who
// may change sales data, and executives, see every row; everyone else the rows
// that they own, and those of the people below them. Without a verified e-mail
// address that is none.
func ScopeOf(p *access.Principal) Scope {
	if p.HasAny(roleWrite, access.Executive) {
		return Scope{all: true}
	}
	if p.HasAny(roleRead) {
		return Scope{email: p.Email()}
	}
	return Scope{}
}

// All reports whether every row is visible.
func (s Scope) All() bool { return s.all }

// Email is whose rows are visible, with those of the people below them. When it
// is empty and not all rows are visible, none is.
func (s Scope) Email() string { return s.email }

// scopeIn is the scope of the principal in the context.
func scopeIn(ctx context.Context) (Scope, *access.Principal, error) {
	p, err := access.From(ctx)
	if err != nil {
		return Scope{}, nil, err
	}
	return ScopeOf(p), p, nil
}

// String says whose rows these are, for people.
func (s Scope) String() string {
	switch {
	case s.all:
		return "all deals of the company"
	case s.email != "":
		return "deals of " + s.email + " and the people who report to them"
	}
	return "no deals"
}
