package sales

import (
	"context"
	"sync"
	"time"

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

const (
	maxLinked  = 10_000      // answers of the store that are remembered; more are asked for again
	linkedLife = time.Minute // how long: an operator may delete a link
)

// asked is a question to the store: who, with which verified address.
type asked struct {
	who     access.Owner
	address string
}

type answer struct {
	linked string
	at     time.Time
}

// links remembers what the store answered a short time ago.
type links struct {
	mu      sync.Mutex
	answers map[asked]answer
}

func (l *links) get(q asked, now time.Time) (linked string, known bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	a, known := l.answers[q]
	return a.linked, known && now.Sub(a.at) < linkedLife
}

func (l *links) put(q asked, linked string, now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.answers == nil || len(l.answers) >= maxLinked {
		l.answers = make(map[asked]answer)
	}
	l.answers[q] = answer{linked, now}
}

// linked is the address that a person is linked to, whatever their token says
// today; empty when it is not known who they are.
func (s *Server) linked(ctx context.Context, p *access.Principal) (string, error) {
	q := asked{p.Owner(), p.Email()}
	if linked, known := s.links.get(q, s.now()); known {
		return linked, nil
	}
	linked, err := s.store.Link(ctx, q.who, q.address)
	if err != nil {
		return "", err
	}
	s.links.put(q, linked, s.now())
	if linked == "" && q.address != "" && s.Taken != nil {
		s.Taken(ctx)
	}
	return linked, nil
}
