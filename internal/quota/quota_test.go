package quota_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"countersign.dev/internal/access"
	"countersign.dev/internal/fault"
	"countersign.dev/internal/quota"
	"countersign.dev/internal/state"
	"countersign.dev/internal/testkit"
)

var alice = access.Owner{Issuer: testkit.Issuer, Subject: "alice"}

// memory is a store with a clock of its own, which counts what it is asked.
type memory struct {
	now   func() time.Time
	asked atomic.Int64

	mu      sync.Mutex
	broken  bool
	tokens  map[string]float64
	at      map[string]time.Time
	holders map[string]map[string]time.Time
}

func newMemory(now func() time.Time) *memory {
	return &memory{now: now, tokens: map[string]float64{}, at: map[string]time.Time{}, holders: map[string]map[string]time.Time{}}
}

var errDown = errors.New("the store is down")

func (m *memory) breakdown(broken bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.broken = broken
}

func (m *memory) TakeTokens(_ context.Context, key string, want, perSecond, burst int) (int, time.Duration, error) {
	m.asked.Add(1)
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.broken {
		return 0, 0, errDown
	}
	now := m.now()
	have, known := m.tokens[key]
	if !known {
		have, m.at[key] = float64(burst), now
	}
	have = min(float64(burst), have+now.Sub(m.at[key]).Seconds()*float64(perSecond))
	taken := min(want, int(have))
	m.tokens[key], m.at[key] = have-float64(taken), now
	if taken == 0 {
		return 0, time.Duration((float64(want) - have) / float64(perSecond) * float64(time.Second)), nil
	}
	return taken, 0, nil
}

func (m *memory) Hold(_ context.Context, key, holder string, limit int, ttl time.Duration) (bool, error) {
	m.asked.Add(1)
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.broken {
		return false, errDown
	}
	now := m.now()
	if m.holders[key] == nil {
		m.holders[key] = map[string]time.Time{}
	}
	for h, expires := range m.holders[key] {
		if !now.Before(expires) {
			delete(m.holders[key], h)
		}
	}
	if _, held := m.holders[key][holder]; !held && len(m.holders[key]) >= limit {
		return false, nil
	}
	m.holders[key][holder] = now.Add(ttl)
	return true, nil
}

func (m *memory) Unhold(_ context.Context, key, holder string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.broken {
		return errDown
	}
	delete(m.holders[key], holder)
	return nil
}

// admitted counts the requests that are allowed out of n at once.
func admitted(t *testing.T, q *quota.Quotas, n int) (allowed int) {
	t.Helper()
	for range n {
		err := q.Request(t.Context(), alice, 0)
		if err == nil {
			allowed++
		} else if !fault.Is(err, fault.TooManyRequests) {
			t.Fatal(err)
		}
	}
	return allowed
}

func TestRequestsOverTheLimitAreRejected(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newMemory(time.Now)
		refused := 0
		q := quota.New(quota.Options{Store: store, Limits: quota.Limits{Requests: 30}, Refused: func(k quota.Kind) { refused++ }})
		defer q.Close()
		if got := admitted(t, q, 100); got != 60 {
			t.Errorf("got %d of 100 at once, want 60: two seconds' worth", got)
		}
		if refused != 40 {
			t.Errorf("got %d refusals counted, want 40", refused)
		}
		var f *fault.Error
		if err := q.Request(t.Context(), alice, 0); !errors.As(err, &f) || f.Code != fault.TooManyRequests || f.RetryAfter <= 0 || f.RetryAfter > time.Second {
			t.Errorf("got %v, want RATE_LIMITED and up to a second to wait", err)
		}
		if err := q.Request(t.Context(), access.Owner{Issuer: "https://other.test", Subject: "alice"}, 0); err != nil {
			t.Errorf("another person of the same subject: got %v", err)
		}
		allowed := 0 // over 10 s, asked every 5 ms
		for range 2000 {
			<-time.After(5 * time.Millisecond)
			allowed += admitted(t, q, 1)
		}
		if allowed < 290 || allowed > 302 {
			t.Errorf("got %d of 2000 requests in 10 s, want 300", allowed)
		}
	})
}

// The store is asked once for a slice, and not at all for what is over the limit.
func TestStoreIsNotAskedForEachRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newMemory(time.Now)
		q := quota.New(quota.Options{Store: store, Limits: quota.Limits{Requests: 300}})
		defer q.Close()
		if got := admitted(t, q, 600); got != 600 {
			t.Fatalf("got %d of 600", got)
		}
		if asked := store.asked.Load(); asked > 40 {
			t.Errorf("got %d questions for 600 requests, want one for 20", asked)
		}
		synctest.Wait()
		before := store.asked.Load()
		admitted(t, q, 10_000)
		if asked := store.asked.Load() - before; asked > 2 {
			t.Errorf("got %d questions for 10,000 requests over the limit, want two at most", asked)
		}
	})
}

func TestRequestsAreBoundedWhileTheStoreIsDown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newMemory(time.Now)
		q := quota.New(quota.Options{Store: store, Limits: quota.Limits{Requests: 40}})
		defer q.Close()
		admitted(t, q, 100)
		store.breakdown(true)
		<-time.After(3 * time.Second) // what is held of slices, and then the replica's own share
		if got := admitted(t, q, 100); got < 20 || got > 24 {
			t.Errorf("got %d of 100 at once, want a quarter of the burst of 80", got)
		}
		allowed := 0
		for range 1000 {
			<-time.After(10 * time.Millisecond)
			allowed += admitted(t, q, 1)
		}
		if allowed < 95 || allowed > 102 {
			t.Errorf("got %d in 10 s, want a quarter of 400", allowed)
		}
		if asked := store.asked.Load(); asked > 110 {
			t.Errorf("got %d questions, want one a second while the store is down", asked)
		}
		store.breakdown(false)
		<-time.After(3 * time.Second)
		if got := admitted(t, q, 200); got < 75 {
			t.Errorf("got %d of 200 after the outage, want the burst again", got)
		}
	})
}

// Two replicas with one Redis: whatever the order in which they are asked, they
// allow a burst, what the time is worth, and a tenth more at most.
func TestTwoReplicasExceedTheLimitByATenthAtMost(t *testing.T) {
	server := testkit.StartRedis(t)
	for seed := range uint64(8) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			random := rand.New(rand.NewPCG(seed, 1))
			limit := 10 + random.IntN(300)
			person := access.Owner{Issuer: testkit.Issuer, Subject: fmt.Sprint("p", seed)}
			var replicas [2]*quota.Quotas
			var redis *state.Redis
			for i := range replicas {
				var err error
				if redis, err = state.Open(t.Context(), server.URL(), &state.Options{Timeout: testkit.Patience}); err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { _ = redis.Close() })
				replicas[i] = quota.New(quota.Options{Store: state.NewBudgets(redis), Timeout: testkit.Patience, Limits: quota.Limits{Requests: limit}})
				t.Cleanup(replicas[i].Close)
			}
			for range random.IntN(limit) { // slices are held when the measurement begins
				_ = replicas[random.IntN(2)].Request(t.Context(), person, 0)
			}
			if err := redis.Delete(t.Context(), "quota:requests:"+person.String()); err != nil { // as after an idle minute: the budget is whole again
				t.Fatal(err)
			}
			began, allowed, refused := time.Now(), 0, 0
			for refused < 50 {
				q, run := replicas[random.IntN(2)], 1+random.IntN(20)
				for range run {
					if q.Request(t.Context(), person, 0) == nil {
						allowed++
					} else {
						refused++
					}
				}
			}
			burst := float64(2 * limit)
			if most := 1.1*burst + time.Since(began).Seconds()*float64(limit) + 1; float64(allowed) > most {
				t.Errorf("limit %d: got %d requests in %v, want %.0f at most", limit, allowed, time.Since(began), most)
			}
			if float64(allowed) < burst/3 {
				t.Errorf("limit %d: got %d requests, want what is left of the burst of %.0f", limit, allowed, burst)
			}
		})
	}
}

func TestSlotsAreCountedOverReplicas(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newMemory(time.Now)
		limits := quota.Limits{Streams: 3}
		one, two := quota.New(quota.Options{Store: store, Limits: limits}), quota.New(quota.Options{Store: store, Limits: limits})
		defer one.Close()
		var releases []func()
		for _, q := range []*quota.Quotas{one, two, one} {
			release, err := q.Hold(t.Context(), quota.Streams, alice)
			if err != nil {
				t.Fatal(err)
			}
			releases = append(releases, release)
		}
		var f *fault.Error
		if _, err := one.Hold(t.Context(), quota.Streams, alice); !errors.As(err, &f) || f.Code != fault.TooManyRequests || f.RetryAfter == 0 {
			t.Errorf("a fourth stream: got %v, want RATE_LIMITED with a time to wait", err)
		}
		if _, err := one.Hold(t.Context(), quota.Turns, alice); err != nil {
			t.Errorf("a turn beside three streams: got %v", err)
		}
		<-time.After(5 * time.Minute) // they are renewed
		if _, err := two.Hold(t.Context(), quota.Streams, alice); err == nil {
			t.Error("after five minutes: got a fourth stream, want the three still counted")
		}
		releases[0]()
		releases[0]()
		if _, err := two.Hold(t.Context(), quota.Streams, alice); err != nil {
			t.Errorf("after one was closed: got %v", err)
		}
		two.Close() // as in a crash: its two slots are not given back, and no longer renewed
		<-time.After(time.Minute)
		for range 2 {
			if _, err := one.Hold(t.Context(), quota.Streams, alice); err != nil {
				t.Errorf("after a replica ended: got %v, want its slots free", err)
			}
		}
	})
}

func TestSlotsAreBoundedWhileTheStoreIsDown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newMemory(time.Now)
		q := quota.New(quota.Options{Store: store, Limits: quota.Limits{Turns: 8}})
		defer q.Close()
		store.breakdown(true)
		held := 0
		for range 8 {
			if _, err := q.Hold(t.Context(), quota.Turns, alice); err == nil {
				held++
			} else if !fault.Is(err, fault.Busy) {
				t.Errorf("got %v, want BUSY", err)
			}
		}
		if held != 2 {
			t.Errorf("got %d turns, want a quarter of 8", held)
		}
	})
}

func TestAClosedQuotaHasNoGoroutines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // fails while a goroutine is left
		q := quota.New(quota.Options{Store: newMemory(time.Now), Limits: quota.Limits{Requests: 10}})
		admitted(t, q, 5)
		if _, err := q.Hold(t.Context(), quota.Streams, alice); err != nil {
			t.Fatal(err)
		}
		q.Close()
		if _, err := q.Hold(t.Context(), quota.Streams, alice); err == nil {
			t.Error("got a slot of closed quotas")
		}
		admitted(t, q, 50)
	})
}

func TestBytesAndTurnsCountAsRequests(t *testing.T) {
	for _, c := range []struct {
		name         string
		body, answer int64
		turn         bool
		want         int // requests of a burst of 100 that are admitted
	}{
		{"small", 1000, 5000, false, 100},
		{"a large body", 40 << 10, 0, false, 5},    // 21 each; the last one into debt
		{"a large answer", 0, 80 << 10, false, 10}, // 11 each
		{"more than a burst", 10 << 20, 0, false, 1},
		{"not declared", -1, 0, false, 100},
		{"a turn", 1000, 5000, true, 10}, // 11 each
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				q := quota.New(quota.Options{Store: newMemory(time.Now)})
				defer q.Close()
				count := func() (n int) {
					for n < 200 && q.Request(t.Context(), alice, c.body) == nil {
						q.Spent(alice, quota.Answer(c.answer))
						if c.turn {
							q.Spent(alice, quota.Turn)
						}
						synctest.Wait()
						n++
					}
					return n
				}
				if got := count(); got != c.want {
					t.Errorf("got %d requests, want %d", got, c.want)
				}
				<-time.After(10 * time.Second)
				if got := count(); got > c.want || got < c.want-1 { // it had a debt
					t.Errorf("after 10 s: got %d requests, want %d or one less", got, c.want)
				}
			})
		})
	}
}

// A person who changes to another replica does not leave a debt behind.
func TestDebtIsOfAllReplicas(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newMemory(time.Now)
		one, two := quota.New(quota.Options{Store: store}), quota.New(quota.Options{Store: store})
		defer one.Close()
		defer two.Close()
		if err := one.Request(t.Context(), alice, 10<<20); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		admitted := 0
		for two.Request(t.Context(), alice, 0) == nil {
			admitted++
		}
		if admitted > 10 {
			t.Errorf("got %d requests at the other replica, want a tenth of a burst at most", admitted)
		}
	})
}

// altered is a store in which someone wrote what no replica would.
type altered struct {
	*memory
	taken int
	wait  time.Duration
}

func (a altered) TakeTokens(context.Context, string, int, int, int) (int, time.Duration, error) {
	a.asked.Add(1)
	return a.taken, a.wait, nil
}

// A budget that was altered gives a slice at a time, and keeps a person out for no
// longer than a burst takes.
func TestAlteredBudgetGivesASliceAtMostAndWaitsForABurstAtMost(t *testing.T) {
	for _, c := range []altered{{taken: 1 << 40}, {taken: -1 << 40, wait: -1 << 62}, {wait: 1 << 62}} {
		synctest.Test(t, func(t *testing.T) {
			c.memory = newMemory(time.Now)
			q := quota.New(quota.Options{Store: c, Limits: quota.Limits{Requests: 30}})
			defer q.Close()
			allowed := admitted(t, q, 100)
			if c.taken > 0 {
				if asked := c.asked.Load(); asked < 50 { // a slice is 2
					t.Errorf("100 requests took %d slices", asked)
				}
				return
			}
			if allowed != 0 {
				t.Errorf("%d requests were allowed", allowed)
			}
			time.Sleep(2 * time.Second)
			before := c.asked.Load()
			if admitted(t, q, 1); c.asked.Load() == before {
				t.Error("the store is not asked again after a burst's time")
			}
		})
	}
}
