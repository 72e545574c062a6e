package quota

import (
	"context"
	"crypto/rand"
	"maps"
	"math"
	"slices"
	"time"

	"countersign.dev/internal/access"
	"countersign.dev/internal/fault"
)

// Hold takes a slot until release is called, or says that all are taken:
// RATE_LIMITED, or BUSY for a turn. The slot of a replica that has crashed is
// free after 30 seconds.
func (q *Quotas) Hold(ctx context.Context, k Kind, o access.Owner) (release func(), err error) {
	if q == nil {
		return func() {}, nil
	}
	limit, p := q.limitOf(k), slot{k, o, rand.Text()}
	held, err := q.hold(ctx, p, limit)
	most := math.MaxInt
	switch {
	case ctx.Err() != nil:
		if held {
			q.free(p)
		}
		return nil, fault.From(ctx.Err())
	case err != nil: // Redis is down
		held, most = true, max(1, limit/outageParts)
	}
	if !held || !q.keep(p, most) {
		return nil, q.full(k, limit)
	}
	return func() { q.release(p) }, nil
}

func (q *Quotas) limitOf(k Kind) int {
	switch k {
	case Sessions:
		return q.o.Limits.Sessions
	case Turns:
		return q.o.Limits.Turns
	default:
		return q.o.Limits.Streams
	}
}

func (q *Quotas) full(k Kind, limit int) error {
	switch k {
	case Turns:
		q.refused(k)
		return fault.Busy.New(fault.TooBusy).Suggest("%d of your questions are being answered or wait: wait for one of them.", limit).After(5*time.Second).With("limit", string(k))
	case Sessions:
		return q.Refuse(k, holdTTL, "You have %d MCP sessions, which is the limit.", limit).Instruct("End a session with DELETE, or wait until an idle one has ended.")
	default:
		return q.Refuse(k, 5*time.Second, "You have %d open streams, which is the limit.", limit).Suggest("Close a stream and try again.")
	}
}

// Wait counts a change that waits for its person's answer until Answered, or for
// ttl: nil, RATE_LIMITED, or SERVICE_UNAVAILABLE when Redis cannot be reached. However they were answered, no more
// than [maxAsked] are counted within a day.
func (q *Quotas) Wait(ctx context.Context, o access.Owner, id string, ttl time.Duration) error {
	if q == nil {
		return nil
	}
	asked, err := q.o.Store.Hold(ctx, slot{kind: Asked, owner: o}.key(), id, maxAsked, askedFor)
	switch {
	case err != nil:
		return err
	case !asked:
		return q.Refuse(Asked, time.Hour, "You asked for %d changes within a day, which is the limit.", maxAsked).Suggest("Ask again later.")
	}
	limit := q.o.Limits.Pending
	held, err := q.o.Store.Hold(ctx, slot{kind: Pending, owner: o}.key(), id, limit, ttl)
	switch {
	case err != nil:
		return err
	case !held:
		return q.Refuse(Pending, time.Minute, "%d changes wait for your approval, which is the limit.", limit).
			Suggest("Approve or deny some of them, or wait until they expire.")
	}
	return nil
}

// Answered frees the slot of a change that no longer waits. A slot that cannot
// be freed expires.
func (q *Quotas) Answered(ctx context.Context, o access.Owner, id string) {
	if q != nil {
		_ = q.o.Store.Unhold(ctx, slot{kind: Pending, owner: o}.key(), id)
	}
}

// hold asks Redis for a slot, or for more time for one.
func (q *Quotas) hold(ctx context.Context, p slot, limit int) (bool, error) {
	if q.outage.on(q.o.Now()) {
		return false, errOutage()
	}
	held, err := q.o.Store.Hold(ctx, p.key(), p.holder, limit, holdTTL)
	if ctx.Err() == nil {
		q.outage.note(q.o.Now(), err)
	}
	return held, err
}

// keep begins to renew a slot, unless this process holds so many of its kind for the person. It is false after Close.
func (q *Quotas) keep(p slot, most int) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	for other := range q.slots {
		if other.kind == p.kind && other.owner == p.owner {
			most--
		}
	}
	if q.closed || most <= 0 {
		return false
	}
	q.slots[p] = struct{}{}
	if !q.renewal {
		q.renewal = true
		q.work.Add(1)
		go q.renew()
	}
	return true
}

// Held returns how many slots of a kind this process holds, for everyone.
func (q *Quotas) Held(k Kind) (n int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for held := range q.slots {
		if held.kind == k {
			n++
		}
	}
	return n
}

// release gives a slot back, also when the caller's request was cancelled.
func (q *Quotas) release(p slot) {
	q.mu.Lock()
	_, held := q.slots[p]
	delete(q.slots, p)
	q.mu.Unlock()
	if held {
		q.free(p)
	}
}

// free frees a slot in Redis. One that cannot be freed expires.
func (q *Quotas) free(p slot) {
	if q.outage.on(q.o.Now()) {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(q.life), q.o.Timeout)
	defer cancel()
	q.outage.note(q.o.Now(), q.o.Store.Unhold(ctx, p.key(), p.holder))
}

// renew renews every slot until Close. A slot that was lost in an outage is
// taken again when one is free.
func (q *Quotas) renew() {
	defer q.work.Done()
	tick := time.NewTicker(holdRenewal)
	defer tick.Stop()
	for {
		select {
		case <-q.life.Done():
			return
		case <-tick.C:
		}
		q.mu.Lock()
		all := slices.Collect(maps.Keys(q.slots))
		q.mu.Unlock()
		for _, p := range all {
			if !q.has(p) {
				continue
			}
			held, err := q.hold(q.life, p, q.limitOf(p.kind))
			if held && !q.has(p) { // it was released meanwhile
				q.free(p)
			}
			if err != nil {
				break // the next tick tries again
			}
		}
	}
}

func (q *Quotas) has(p slot) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	_, has := q.slots[p]
	return has
}
