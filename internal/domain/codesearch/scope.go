package codesearch

import (
	"context"

	"countersign.dev/internal/access"
)

// Scope says which repositories a caller may see. Its zero value holds none; only
// the functions below make others.
type Scope struct{ holds func(Repository) bool }

// Holds reports whether a repository is in the scope.
func (s Scope) Holds(r Repository) bool { return s.holds != nil && s.holds(r) }

// ScopeOf is the scope of a principal: repositories one of whose roles they have.
func ScopeOf(p *access.Principal) Scope {
	return Scope{func(r Repository) bool {
		if len(r.Roles) == 0 {
			return p.HasAny(access.Employee)
		}
		return p.HasAny(r.Roles...)
	}}
}

// AnonymousScope is the scope of a program on this machine without a token.
func AnonymousScope() Scope { return Scope{func(r Repository) bool { return r.Anonymous }} }

// PublicScope is the scope of a page of a foreign origin without a token.
func PublicScope() Scope { return Scope{func(r Repository) bool { return r.Public }} }

// scopeIn is the scope of the principal in the context.
func scopeIn(ctx context.Context) (Scope, error) {
	p, err := access.From(ctx)
	if err != nil {
		return Scope{}, err
	}
	return ScopeOf(p), nil
}
