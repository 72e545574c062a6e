package access

import (
	"context"
	"sync"
	"time"
)

// Links remembers for a short time what a store answered about who its callers
// are. A store links an issuer and a subject to their first verified address, and
// compares rows with the link, not with the address of a token: who someone is
// does not change with it. The zero value is ready; a nil one remembers nothing.
type Links struct {
	// Taken is called when a caller's verified address is linked to another person,
	// about once a minute for a caller: it is not known who they are. Nil: nothing
	// is called.
	Taken func(ctx context.Context)
	Now   func() time.Time // nil: time.Now

	mu    sync.Mutex
	known map[proof]link
}

const (
	maxLinks = 10_000      // answers that are remembered; more are asked for again
	linkLife = time.Minute // how long: an operator may delete a link
)

// proof is who someone is at their issuer, and the address that it verified.
type proof struct {
	Owner
	address string
}

// link is an answer: the linked address, empty when it is not known who they are.
type link struct {
	address string
	asked   time.Time
}

// Of returns the address that a person is linked to, whatever their token says
// today; empty when it is not known who they are. It asks the store by ask, which
// also makes a first link, when it does not remember an answer.
func (l *Links) Of(ctx context.Context, p *Principal, ask func(context.Context) (address string, err error)) (string, error) {
	if l == nil {
		return ask(ctx)
	}
	of := proof{p.Owner(), p.Email()}
	if address, known := l.remembered(of); known {
		return address, nil
	}
	address, err := ask(ctx)
	if err != nil {
		return "", err
	}
	l.remember(of, address)
	if address == "" && of.address != "" && l.Taken != nil {
		l.Taken(ctx)
	}
	return address, nil
}

func (l *Links) remembered(of proof) (address string, known bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	found, known := l.known[of]
	return found.address, known && l.now().Sub(found.asked) < linkLife
}

func (l *Links) remember(of proof, address string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.known == nil || len(l.known) >= maxLinks {
		l.known = make(map[proof]link)
	}
	l.known[of] = link{address, l.now()}
}

func (l *Links) now() time.Time {
	if l.Now == nil {
		return time.Now()
	}
	return l.Now()
}
