package admission

import (
	"sync"

	"countersign.dev/internal/access"
)

const (
	maxOpen   = 2048 // requests of all people
	openShare = 16   // one person may have this part of the places that are free, so that some are left for others
)

// open counts the requests that have begun and not ended, by person: each may hold a
// whole body, and then a whole answer, for as long as its client takes. A slot of the
// queue says nothing of that: slow clients hold none.
type open struct {
	mu  sync.Mutex
	all int
	of  map[access.Owner]int
}

// take takes a place for a request of a person, who holds so many already.
func (p *open) take(o access.Owner) (held int, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	held = p.of[o]
	if (held+1)*openShare > maxOpen-p.all {
		return held, false
	}
	p.all++
	p.of[o]++
	return held, true
}

func (p *open) leave(o access.Owner) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.all--
	if p.of[o]--; p.of[o] == 0 {
		delete(p.of, o)
	}
}
