package sales

import (
	"context"

	"countersign.dev/internal/access"
)

// Linker keeps who each person is: an issuer, a subject and the address of their
// rows. There is one subject for an address and one address for a subject.
type Linker interface {
	// Link links a person who has no link to their verified address, unless it is
	// linked to another, and returns the address that the person is linked to,
	// empty without one. An empty address makes no link. It is one atomic step,
	// and must not be called inside Change.
	Link(ctx context.Context, who access.Owner, address string) (linked string, err error)
}

// linked is the address that a person is linked to, empty when it is not known
// who they are.
func (s *Server) linked(ctx context.Context, p *access.Principal) (string, error) {
	return s.Links.Of(ctx, p, func(ctx context.Context) (string, error) {
		return s.store.Link(ctx, p.Owner(), p.Email())
	})
}
