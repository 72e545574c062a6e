package quota

import (
	"context"
	"time"

	"countersign.dev/internal/access"
	"countersign.dev/internal/fault"
)

// bucket is a budget that all replicas share, in tokens.
type bucket struct {
	kind  string // with owner and tool its key in the store
	owner access.Owner
	tool  string // empty: of all requests
	rate  int    // tokens that it gains a second
	burst int    // that it holds
	slice int    // that a replica leases at a time
	unit  int    // that a replica must have before it allows anything
}

// requests is the bucket of a person's requests.
func (l Limits) requests(o access.Owner) bucket {
	burst := l.Requests * burstSeconds
	return bucket{kind: "requests", owner: o, rate: l.Requests, burst: burst, slice: max(1, burst/sliceParts), unit: 1}
}

// key is the bucket's name in the store, which only a refill needs.
func (b bucket) key() string {
	key := "quota:" + b.kind + ":" + b.owner.String()
	if b.tool != "" {
		key += ":" + b.tool
	}
	return key
}

// Request counts one request of a person with a body of so many bytes: nil, or
// RATE_LIMITED with the time to wait. It asks Redis only when its replica's slice
// is used up, once for all who wait; a slice that is half used is refilled beside
// the calls.
func (q *Quotas) Request(ctx context.Context, o access.Owner, body int64) error {
	if q == nil {
		return nil
	}
	allowed, wait, err := q.pay(ctx, q.people.of(o), q.o.Limits.requests(o), 1+q.o.Limits.price(body, bodyPrice))
	if err != nil || allowed {
		return err
	}
	return q.Refuse(Requests, wait, "You sent more than %d requests a second.", q.o.Limits.Requests)
}

// pay takes a price from the lease of a bucket, and waits for a refill where it
// must. When the bucket is empty, wait is the time until there is more.
func (q *Quotas) pay(ctx context.Context, l *lease, b bucket, price int) (allowed bool, wait time.Duration, err error) {
	for {
		allowed, wait, refilled := q.take(l, b, price)
		if allowed || refilled == nil {
			return allowed, wait, nil
		}
		select {
		case <-refilled:
		case <-ctx.Done():
			return false, 0, fault.From(ctx.Err())
		}
	}
}

// Price is a number of requests.
type Price int64

// Turn is the price of a turn of a conversation, besides the request that begins it.
const Turn Price = turnPrice

// Answer is the price of an answer of so many bytes.
func Answer(bytes int64) Price { return Price(max(0, bytes) / answerPrice) }

// Spent counts what is not known before the work begins, a burst at most: the next request pays
// for it.
func (q *Quotas) Spent(o access.Owner, p Price) {
	if q == nil || p <= 0 {
		return
	}
	l := q.people.of(o)
	l.mu.Lock()
	defer l.mu.Unlock()
	q.spend(l, q.o.Limits.requests(o), q.o.Limits.price(int64(p), 1))
}

// price is what so many of a unit cost besides the request itself, a burst at most.
func (l Limits) price(amount, unit int64) int {
	return int(min(max(0, amount)/unit, int64(l.Requests*burstSeconds)))
}

// take takes a price from the lease, when a unit of the bucket is left. Otherwise it returns the refill to wait for, or, when the budget is used up, the
// time until there is more.
func (q *Quotas) take(l *lease, b bucket, price int) (allowed bool, wait time.Duration, refilled <-chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := q.o.Now()
	if l.tokens >= b.unit {
		q.spend(l, b, price)
		return true, 0, nil
	}
	if now.Before(l.until) {
		return false, l.until.Sub(now), nil
	}
	if !q.refill(l, b) {
		return false, time.Second, nil
	}
	return false, 0, l.refill
}

// spend takes tokens of a lease, which is locked, and refills it when half of a
// slice is left. A debt is paid by the refills.
func (q *Quotas) spend(l *lease, b bucket, price int) {
	l.tokens -= price
	if l.tokens < b.slice/2 && !q.o.Now().Before(l.until) {
		q.refill(l, b)
	}
}

// refill begins a refill of a lease, which is locked, unless one is under way.
// It is false after Close.
func (q *Quotas) refill(l *lease, b bucket) bool {
	if l.refill != nil {
		return true
	}
	if !q.begin() {
		return false
	}
	done, want := make(chan struct{}), b.slice+max(0, -l.tokens)
	l.refill = done
	go func() {
		defer q.work.Done()
		defer close(done)
		taken, wait, err := q.lease(b, want)
		l.mu.Lock()
		defer l.mu.Unlock()
		l.refill = nil
		now := q.o.Now()
		if err != nil {
			taken, wait = ownShare(l, b, want, now)
		} else {
			l.ownAt = time.Time{}
		}
		l.tokens += taken
		if taken == 0 {
			l.until = now.Add(wait)
		}
	}()
	return true
}

// lease takes a slice of a bucket, or more for a debt, from Redis.
func (q *Quotas) lease(b bucket, want int) (taken int, wait time.Duration, err error) {
	if q.outage.on(q.o.Now()) {
		return 0, 0, errOutage()
	}
	ctx, cancel := context.WithTimeout(q.life, q.o.Timeout)
	defer cancel()
	taken, wait, err = q.o.Store.TakeTokens(ctx, b.key(), min(want, b.burst), b.rate, b.burst)
	if q.life.Err() == nil {
		q.outage.note(q.o.Now(), err)
	}
	// The bounds hold whatever someone wrote to Redis.
	return min(max(0, taken), want), min(max(time.Second/time.Duration(b.rate), wait), time.Duration(b.burst/b.rate)*time.Second), err
}

// ownShare is a part of what this replica allows by itself: a quarter of the rate
// and of the burst.
func ownShare(l *lease, b bucket, want int, now time.Time) (taken int, wait time.Duration) {
	rate := max(float64(b.rate)/outageParts, 1)
	burst := max(rate*float64(b.burst/b.rate), float64(b.unit))
	if l.ownAt.IsZero() {
		l.own = burst
	} else {
		l.own = min(burst, l.own+max(0, now.Sub(l.ownAt).Seconds())*rate)
	}
	l.ownAt = now
	taken = min(want, int(l.own))
	l.own -= float64(taken)
	if taken == 0 {
		wait = time.Duration((float64(min(want, b.unit)) - l.own) / rate * float64(time.Second))
	}
	return taken, wait
}
