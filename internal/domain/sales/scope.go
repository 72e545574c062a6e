package sales

import (
	"context"

	"countersign.dev/internal/access"
)

// Scope is the filter that every query needs: which rows a principal may see.
// Only ScopeOf sets its fields, and its zero value holds no row.
type Scope struct {
	all   bool
	email string // the one that the principal is linked to; rows that name it as owner or in the owner's chain
}

// ScopeOf is the one place that decides which rows a principal sees. Executives
// and those who may change sales data see every row; other readers see the rows
// that they own and those of the people below them. linked is the address that
// the store knows them by; when it is empty they see none.
func ScopeOf(p *access.Principal, linked string) Scope {
	if p.HasAny(roleWrite, access.Executive) {
		return Scope{all: true}
	}
	if p.HasAny(roleRead) {
		return Scope{email: linked}
	}
	return Scope{}
}

// All reports whether every row is visible.
func (s Scope) All() bool { return s.all }

// Email is the owner of the visible rows, or a manager above their owner. When
// it is empty and not all rows are visible, none is.
func (s Scope) Email() string { return s.email }

// scopeIn is the scope of the principal in the context. Their first call links
// them to their address.
func (s *Server) scopeIn(ctx context.Context) (Scope, error) {
	p, err := access.From(ctx)
	if err != nil {
		return Scope{}, err
	}
	linked, err := s.linked(ctx, p)
	if err != nil {
		return Scope{}, err
	}
	return ScopeOf(p, linked), nil
}

// changeIn is the scope of a change: all rows, or none. No row can be changed
// because it is the principal's own, so that a change asks for no link.
func changeIn(ctx context.Context) (Scope, *access.Principal, error) {
	p, err := access.From(ctx)
	if err != nil {
		return Scope{}, nil, err
	}
	return ScopeOf(p, ""), p, nil
}

// String describes the rows for people.
func (s Scope) String() string {
	switch {
	case s.all:
		return "all deals of the company"
	case s.email != "":
		return "deals of " + s.email + " and the people who report to them"
	}
	return "no deals"
}

// The roles that the domain owns.
const (
	roleRead  access.Role = "sales-read"
	roleWrite access.Role = "sales-write"
)
