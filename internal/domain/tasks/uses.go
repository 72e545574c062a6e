package tasks

import (
	"sync"
	"time"

	"countersign.dev/internal/domain/tasks/store"
	"countersign.dev/internal/domain/tasks/workspace"
)

// flushEvery is how long counts of calls stay in memory. A crash loses those.
const flushEvery = 5 * time.Second

// uses counts calls by workspace, day and tool until they are stored.
type uses struct {
	now func() time.Time

	mu      sync.Mutex
	counts  map[workspace.Place]map[use]*store.Use
	flushed map[workspace.Place]time.Time
}

type use struct{ day, tool string }

func newUses(now func() time.Time) *uses {
	return &uses{now: now, counts: map[workspace.Place]map[use]*store.Use{}, flushed: map[workspace.Place]time.Time{}}
}

// add counts a call, and returns what is to be stored when it is time and may be.
func (u *uses) add(p workspace.Place, tool string, success, may bool) []store.Use {
	u.mu.Lock()
	defer u.mu.Unlock()
	now := u.now().UTC()
	if u.counts[p] == nil {
		u.counts[p] = map[use]*store.Use{}
	}
	key := use{now.Format(time.DateOnly), tool}
	one := u.counts[p][key]
	if one == nil {
		one = &store.Use{Day: key.day, Tool: tool}
		u.counts[p][key] = one
	}
	one.Calls++
	if success {
		one.Successes++
	}
	if u.flushed[p].IsZero() {
		u.flushed[p] = now
	}
	if !may || now.Sub(u.flushed[p]) < flushEvery {
		return nil
	}
	u.flushed[p] = now
	return u.take(p)
}

// due takes what is not stored yet of one workspace.
func (u *uses) due(p workspace.Place) []store.Use {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.take(p)
}

// all takes what is not stored yet of every workspace.
func (u *uses) all() map[workspace.Place][]store.Use {
	u.mu.Lock()
	defer u.mu.Unlock()
	due := map[workspace.Place][]store.Use{}
	for p := range u.counts {
		due[p] = u.take(p)
	}
	return due
}

func (u *uses) take(p workspace.Place) (due []store.Use) {
	for _, one := range u.counts[p] {
		due = append(due, *one)
	}
	delete(u.counts, p)
	return due
}
