// Package admission decides whose request a process works on first. It keeps
// people who send much from slowing down people who send little, whatever it is
// that they send: it counts the time that requests took, not their number.
//
// A process has one slot a core, and a request holds one while it is worked on.
// Each person has a usage: the time that they held slots, which halves every
// second. The person who used least goes first, and the last free slot is only
// for people whose usage is at most the average of all who are active. So people
// who want more than the others share what a core less than all can do.
//
// A slot is held for computing alone: not while a body arrives, while an answer
// is sent, or while a store or another server works. See [Queue.Bracket] and
// [Outside]. What such a request holds all the same, a body or an answer, is bounded
// by the number of requests that are open: see [Work.Open].
//
// It does not know what a request does, nor how a refusal is written. Quotas,
// which hold over replicas, are package quota's. Start with [Queue].
package admission

import (
	"cmp"
	"context"
	"math"
	"runtime"
	"sync"
	"time"

	"countersign.dev/internal/access"
	"countersign.dev/internal/fault"
)

const (
	halfLife   = time.Second      // of a usage
	idleUsage  = time.Millisecond // below it a person is forgotten
	sweepEvery = time.Second      // how often the forgotten are dropped
	retryAfter = time.Second      // advised after a refusal
	maxWaiting = 100              // requests of one person; further ones are refused at once

	shareLimit = "share" // what was exceeded, in errors and in metrics
	openLimit  = "open_requests"
)

// Options of a Queue; the zero value is good.
type Options struct {
	Slots    int                // for people above the average; 0: one a core, 2 at least
	Patience time.Duration      // that a request waits before it is refused; 0: 2 s
	Refused  func(limit string) // is called for each refusal; nil: nothing
	Now      func() time.Time   // nil: time.Now
}

// Queue admits the requests of all people in one process. It is safe for
// concurrent use and has no goroutines. A nil *Queue admits everything at once.
type Queue struct {
	o    Options
	open open

	mu      sync.Mutex
	free    int // slots
	people  map[access.Owner]*person
	waiting map[*person]struct{} // who have requests that wait
	total   usage                // of all people
	swept   time.Time
}

// person is what a queue knows of an active person.
type person struct {
	used    usage
	running int       // requests that are worked on
	line    []*ticket // that wait, oldest first
}

// ticket is one request that waits or is worked on.
type ticket struct {
	owner    *person
	admitted chan struct{} // closed when it is worked on; nil: at once
	began    time.Time
}

// New makes a queue.
func New(o Options) *Queue {
	o.Slots = cmp.Or(o.Slots, max(2, runtime.GOMAXPROCS(0)))
	o.Patience = cmp.Or(o.Patience, 2*time.Second)
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Queue{o: o, open: open{of: make(map[access.Owner]int)}, free: o.Slots, people: make(map[access.Owner]*person), waiting: make(map[*person]struct{}), swept: o.Now()}
}

// await waits until the request of a ticket may be worked on, ctx ends, or, unless
// it is zero, patience has passed.
func (q *Queue) await(ctx context.Context, t *ticket, patience time.Duration) error {
	var late <-chan time.Time
	if patience > 0 {
		timer := time.NewTimer(patience)
		defer timer.Stop()
		late = timer.C
	}
	var err error
	select {
	case <-t.admitted:
		return nil
	case <-ctx.Done():
		err = ctx.Err()
	case <-late:
		err = q.refuse()
	}
	q.abandon(t)
	return err
}

// line admits a request at once, or puts it at the end of its person's line. t is an
// unused ticket.
func (q *Queue) line(o access.Owner, t *ticket) (admitted bool, err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	now := q.o.Now()
	p := q.person(o, now)
	*t = ticket{owner: p}
	switch {
	case len(p.line) == 0 && q.admissible(p, now):
		q.admit(t, now)
		return true, nil
	case len(p.line) >= maxWaiting:
		return false, q.refuse()
	}
	t.admitted = make(chan struct{})
	p.line = append(p.line, t)
	q.waiting[p] = struct{}{}
	return false, nil
}

// leave ends the work on a request, and lets others begin.
func (q *Queue) leave(t *ticket) {
	q.mu.Lock()
	defer q.mu.Unlock()
	now, p := q.o.Now(), t.owner
	took := now.Sub(t.began)
	p.used.add(now, took)
	q.total.add(now, took)
	p.running--
	q.free++
	q.next(now)
}

// abandon takes a request that does not wait any longer out of the line. It may
// have been admitted at the same moment.
func (q *Queue) abandon(t *ticket) {
	q.mu.Lock()
	for i, other := range t.owner.line {
		if other == t {
			t.owner.line = append(t.owner.line[:i], t.owner.line[i+1:]...)
			q.updateWaiting(t.owner)
			q.mu.Unlock()
			return
		}
	}
	q.mu.Unlock()
	q.leave(t)
}

// next admits requests that wait, those of people who used least first.
func (q *Queue) next(now time.Time) {
	for len(q.waiting) > 0 {
		var first *person
		for p := range q.waiting {
			if q.admissible(p, now) && (first == nil || p.used.at(now) < first.used.at(now)) {
				first = p
			}
		}
		if first == nil {
			return
		}
		t := first.line[0]
		first.line = first.line[1:]
		q.updateWaiting(first)
		q.admit(t, now)
	}
}

// admissible reports whether a request of a person may begin now: the last slot
// is for people who used at most the average.
func (q *Queue) admissible(p *person, now time.Time) bool {
	return q.free > 1 || q.free == 1 && q.light(p, now)
}

// light reports whether a person used at most the average.
func (q *Queue) light(p *person, now time.Time) bool {
	return p.used.at(now)*float64(len(q.people)) <= q.total.at(now)+float64(idleUsage)
}

// admit begins the work on a request.
func (q *Queue) admit(t *ticket, now time.Time) {
	q.free--
	t.owner.running++
	t.began = now
	if t.admitted != nil {
		close(t.admitted)
	}
}

// updateWaiting keeps the list of people whose requests wait.
func (q *Queue) updateWaiting(p *person) {
	if len(p.line) == 0 {
		p.line = nil
		delete(q.waiting, p)
	}
}

// person returns what is known of an owner. Every second it forgets people who
// have not been active.
func (q *Queue) person(o access.Owner, now time.Time) *person {
	if now.Sub(q.swept) >= sweepEvery {
		q.sweep(now)
	}
	p, known := q.people[o]
	if !known {
		p = new(person)
		q.people[o] = p
	}
	return p
}

func (q *Queue) sweep(now time.Time) {
	q.swept, q.total = now, usage{}
	for o, p := range q.people {
		used := p.used.at(now)
		if used < float64(idleUsage) && p.running == 0 && len(p.line) == 0 {
			delete(q.people, o)
			continue
		}
		q.total.add(now, time.Duration(used))
	}
}

func (q *Queue) refuse() error {
	return q.refused(shareLimit, "You used more than your share of this server. Others are served first.")
}

// refused counts a refusal and returns it.
func (q *Queue) refused(limit, format string, args ...any) *fault.Error {
	if q.o.Refused != nil {
		q.o.Refused(limit)
	}
	return fault.TooManyRequests.New(format, args...).After(retryAfter).With("limit", limit)
}

// usage is a time that halves every halfLife.
type usage struct {
	left float64 // nanoseconds
	when time.Time
}

func (u *usage) at(now time.Time) float64 {
	if u.left == 0 {
		return 0
	}
	return u.left * math.Exp2(-float64(max(0, now.Sub(u.when)))/float64(halfLife))
}

func (u *usage) add(now time.Time, d time.Duration) {
	u.left, u.when = u.at(now)+float64(max(0, d)), now
}
