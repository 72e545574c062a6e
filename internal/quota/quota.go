// Package quota bounds what one person can use, over all replicas: requests a
// second by slices that each replica leases from Redis, and slots (streams, MCP
// sessions, turns) that are held there while they are used.
//
// A request asks Redis for nothing while its replica has some of a slice left.
// Two replicas together exceed a limit of 10 requests a second or more by a
// tenth of a burst at most. While Redis cannot be reached each replica allows a
// quarter of every limit by itself.
//
// Calls a minute of a connected server's tool are leased in the same way, by
// person and tool. Requests without a proved caller are counted for the address that they come
// from, in each process for itself.
//
// It does not know what a request does, nor how a refusal is written. Start with
// [Quotas].
package quota

import (
	"cmp"
	"context"
	"hash/maphash"
	"log/slog"
	"net/netip"
	"sync"
	"time"

	"countersign.dev/internal/access"
	"countersign.dev/internal/fault"
)

// Store is the state that replicas share. Package state keeps it in Redis.
type Store interface {
	// TakeTokens takes up to want tokens from a bucket of at most burst tokens
	// that gains perSecond. When there is none, wait says when want are there.
	TakeTokens(ctx context.Context, key string, want, perSecond, burst int) (taken int, wait time.Duration, err error)
	// Hold makes holder one of at most limit holders of a key, or renews its
	// slot for ttl.
	Hold(ctx context.Context, key, holder string, limit int, ttl time.Duration) (held bool, err error)
	// Unhold gives a slot back.
	Unhold(ctx context.Context, key, holder string) error
}

// Options are the parts of Quotas. Store is required.
type Options struct {
	Store   Store
	Limits  Limits
	Refused func(Kind) // is called for each refusal; nil: nothing
	Log     *slog.Logger
	Now     func() time.Time
	Timeout time.Duration // of a question to Redis, after which it counts as down; 0: 250 ms
}

// Quotas holds the limits of all people in one process. It is safe for
// concurrent use. Close ends it. A nil *Quotas has no limits.
type Quotas struct {
	o       Options
	outage  outage
	people  generations[access.Owner, lease]
	callers *Callers

	life context.Context // of refills and renewals
	stop context.CancelFunc
	work sync.WaitGroup

	mu      sync.Mutex
	slots   map[slot]struct{} // that this process holds
	renewal bool              // the goroutine that renews them runs
	closed  bool
}

// budget is what an address may still send.
type budget struct {
	mu   sync.Mutex
	used float64 // requests, of which the limit is forgotten each second
	at   time.Time
}

// New makes quotas.
func New(o Options) *Quotas {
	o.Limits, o.Timeout = o.Limits.WithDefaults(), cmp.Or(o.Timeout, takeTimeout)
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	if o.Now == nil {
		o.Now = time.Now
	}
	q := &Quotas{o: o, slots: make(map[slot]struct{})}
	q.outage.log = o.Log
	q.people.half = maxPeople / 2
	q.callers = newCallers(q)
	q.life, q.stop = context.WithCancel(context.Background())
	return q
}

// Limits returns the limits, with defaults.
func (q *Quotas) Limits() Limits {
	if q == nil {
		return Limits{}.WithDefaults()
	}
	return q.o.Limits
}

// Close ends refills and renewals and waits for them. Slots are given back by
// their holders, or expire.
func (q *Quotas) Close() {
	q.mu.Lock()
	q.closed = true
	q.mu.Unlock()
	q.stop()
	q.work.Wait()
}

// begin counts a goroutine in, unless the quotas are closed.
func (q *Quotas) begin() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return false
	}
	q.work.Add(1)
	return true
}

// Refuse counts a refusal and returns it: RATE_LIMITED with a sentence that says
// what to do, and the time after which another try makes sense.
func (q *Quotas) Refuse(k Kind, after time.Duration, format string, args ...any) *fault.Error {
	q.refused(k)
	return fault.TooManyRequests.New(format, args...).After(after).With("limit", string(k))
}

func (q *Quotas) refused(k Kind) {
	if q != nil && q.o.Refused != nil {
		q.o.Refused(k)
	}
}

// outage remembers that Redis did not answer, so that no call waits for it.
type outage struct {
	log *slog.Logger

	mu    sync.Mutex
	until time.Time // Redis is not asked before; zero: it answered last
}

// on reports whether Redis failed less than outagePause ago.
func (o *outage) on(now time.Time) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return now.Before(o.until)
}

// note takes the error of a question to Redis, or nil.
func (o *outage) note(now time.Time, err error) {
	o.mu.Lock()
	began := err != nil && o.until.IsZero()
	o.until = time.Time{}
	if err != nil {
		o.until = now.Add(outagePause)
	}
	o.mu.Unlock()
	if began {
		o.log.Warn("quotas are held by this process alone: the state store cannot be reached", "error", err)
	}
}

// generations is a map of at most twice half values: when the young half is full
// it becomes the old one, and values not used since then are dropped.
type generations[K comparable, V any] struct {
	half int

	mu         sync.Mutex
	young, old map[K]*V
}

// has reports whether there is a value of a key.
func (g *generations[K, V]) has(key K) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	_, young := g.young[key]
	_, old := g.old[key]
	return young || old
}

// forget drops the value of a key.
func (g *generations[K, V]) forget(key K) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.young, key)
	delete(g.old, key)
}

// of returns the value of a key, a zero one when there is none.
func (g *generations[K, V]) of(key K) *V {
	g.mu.Lock()
	defer g.mu.Unlock()
	if v, ok := g.young[key]; ok {
		return v
	}
	v, ok := g.old[key]
	if !ok {
		v = new(V)
	}
	if g.young == nil || len(g.young) >= g.half {
		g.old, g.young = g.young, make(map[K]*V)
	}
	g.young[key] = v
	return v
}

// Callers is what is known of those who are not proved to be anyone yet: how many
// requests came from an address without a proved caller, and which credentials
// were proved lately. It is of this process alone, so that such a request asks
// Redis for nothing. A nil *Callers has no limit.
type Callers struct {
	q         *Quotas
	addresses generations[netip.Prefix, budget]
	seed      maphash.Seed // random: no credential can be made to look like another one
	proved    generations[uint64, struct{}]
}

func newCallers(q *Quotas) *Callers {
	c := &Callers{q: q, seed: maphash.MakeSeed()}
	c.addresses.half, c.proved.half = maxAddresses/2, maxPeople/2
	return c
}

// lease is what this replica has of one bucket.
type lease struct {
	mu     sync.Mutex
	tokens int           // left of the slices that were taken; negative: a debt
	until  time.Time     // the budget is used up until then
	refill chan struct{} // closed when the refill under way has ended; nil: none

	// While Redis cannot be reached the lease is refilled from here.
	own   float64
	ownAt time.Time
}

func errOutage() error { return fault.ServiceDown.New("The state store cannot be reached.") }

// slot is one of a limited number that a person holds for as long as it is
// used: a stream, an MCP session, a turn.
type slot struct {
	kind   Kind
	owner  access.Owner
	holder string
}

func (p slot) key() string { return "quota:" + string(p.kind) + ":" + p.owner.String() }
