package support

import (
	"context"

	"countersign.dev/internal/access"
)

// Scope is the filter that no query can be asked without: which rows a
// principal may see. Its fields can be set nowhere but in ScopeOf, and its zero
// value sees nothing.
type Scope struct {
	staff  bool // every ticket, every published article
	drafts bool // articles that are not published, or no longer
}

// ScopeOf is the one place where it is decided what somebody sees. Support sees
// every ticket and published article, and so do executives; what is not
// published is for those who write.
func ScopeOf(p *access.Principal) Scope {
	return Scope{
		staff:  p.HasAny(access.SupportRead, access.SupportWrite, access.Executive),
		drafts: p.HasAny(access.SupportWrite),
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

// The statuses that the rules speak of.
const (
	ticketClosed     = "closed"
	articlePublished = "published"
)

// sees reports whether a row with this status exists for the scope. A store
// asks it of rows that it looked up by their ids.
func (s Scope) sees(k kind, status string) bool {
	return s.staff && (k == tickets || s.drafts || status == articlePublished)
}

// kind is one of the two kinds of rows.
type kind uint8

const (
	tickets kind = iota
	articles
)
