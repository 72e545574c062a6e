package support

import (
	"context"

	"countersign.dev/internal/access"
)

// Scope is the filter that every query needs: which rows a principal may see.
// Only ScopeOf sets its fields, and its zero value holds no row.
type Scope struct {
	staff  bool // every ticket, every published article
	drafts bool // articles that are not published, or no longer
}

// ScopeOf is the one place that decides which rows a principal sees. Support and
// executives see every ticket and every published article; only those who may
// write see the other articles.
func ScopeOf(p *access.Principal) Scope {
	return Scope{
		staff:  p.HasAny(roleRead, roleWrite, access.Executive),
		drafts: p.HasAny(roleWrite),
	}
}

// scopeIn is the scope of the principal in the context.
func scopeIn(ctx context.Context) (Scope, *access.Principal, error) {
	p, err := access.From(ctx)
	if err != nil {
		return Scope{}, nil, err
	}
	return ScopeOf(p), p, nil
}

// The statuses that the rules name.
const (
	TicketClosed     = "closed"
	ArticlePublished = "published"
)

// Rows says which rows of a table a scope holds.
type Rows uint8

// The rows.
const (
	NoRows        Rows = iota
	PublishedRows      // those with the status ArticlePublished
	AllRows
)

// Tickets says which tickets are in the scope.
func (s Scope) Tickets() Rows {
	if s.staff {
		return AllRows
	}
	return NoRows
}

// Articles says which articles are in the scope.
func (s Scope) Articles() Rows {
	switch {
	case !s.staff:
		return NoRows
	case s.drafts:
		return AllRows
	}
	return PublishedRows
}

// Hold reports whether a row with this status is among the rows.
func (r Rows) Hold(status string) bool {
	return r == AllRows || r == PublishedRows && status == ArticlePublished
}

// The roles that the domain owns.
const (
	roleRead  access.Role = "support-read"
	roleWrite access.Role = "support-write"
)
