package revocation_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"countersign.dev/internal/access"
	"countersign.dev/internal/fault"
	"countersign.dev/internal/revocation"
	"countersign.dev/internal/state"
	"countersign.dev/internal/testkit"
)

// day is when these tests begin.
var day = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// clock is a clock that a test moves.
type clock struct {
	mu sync.Mutex
	at time.Time
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *clock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
}

// claims are those of Ann, whose token was issued at a time.
func claims(token string, issued time.Time) access.Claims {
	return access.Claims{Issuer: "https://i", Subject: "ann", Email: "Ann@example.org", EmailVerified: true, TokenID: token, Issued: issued}
}

func ann(token string, issued time.Time) *access.Principal {
	return access.NewPrincipal(claims(token, issued))
}

// replica is one process's list over a Redis of its own connection.
func replica(t *testing.T, url string, c *clock) *revocation.List {
	t.Helper()
	redis, err := state.Open(t.Context(), url, &state.Options{Timeout: testkit.Patience})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = redis.Close() })
	l := revocation.New(state.NewList(redis, revocation.Name, revocation.Life), &revocation.Options{Now: c.now})
	refresh(t, l)
	return l
}

func refresh(t *testing.T, lists ...*revocation.List) {
	t.Helper()
	for _, l := range lists {
		if err := l.Refresh(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

// code is the code with which a list rejects a principal, or nothing.
func code(l *revocation.List, p *access.Principal) string {
	if err := l.Check(p); err != nil {
		return fault.From(err).Code.Name
	}
	return ""
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Two replicas share a Redis: what one of them revokes is rejected at once
// there, and by the other after its next read, which comes every second.
func TestRevocationReachesEveryReplica(t *testing.T) {
	t.Parallel()
	server := testkit.StartRedis(t)
	for name, row := range map[string]struct {
		revoke func(context.Context, *revocation.List) error
		want   map[string]string // by the case's name
	}{
		"a token of any issuer": {
			func(ctx context.Context, l *revocation.List) error { return l.RevokeToken(ctx, "", "t1") },
			map[string]string{"own": "SIGN_IN_REVOKED", "later": "", "elsewhere": "SIGN_IN_REVOKED"},
		},
		"a token of one issuer": {
			func(ctx context.Context, l *revocation.List) error { return l.RevokeToken(ctx, "https://i", "t1") },
			map[string]string{"own": "SIGN_IN_REVOKED", "later": "", "elsewhere": ""},
		},
		"a person": {
			func(ctx context.Context, l *revocation.List) error {
				return l.RevokePerson(ctx, access.Owner{Issuer: "https://i", Subject: "ann"})
			},
			map[string]string{"own": "SIGN_IN_REVOKED", "undated": "SIGN_IN_REVOKED", "ahead": "SIGN_IN_REVOKED", "later": "", "elsewhere": ""},
		},
		"an account": {
			func(ctx context.Context, l *revocation.List) error {
				return l.End(ctx, []access.Account{{Owner: access.Owner{Issuer: "https://i", Subject: "ann"}}})
			},
			map[string]string{"own": "ACCOUNT_ENDED", "later": "ACCOUNT_ENDED", "elsewhere": "", "unverified": "ACCOUNT_ENDED"},
		},
		"an address": {
			func(ctx context.Context, l *revocation.List) error {
				return l.End(ctx, []access.Account{{Address: "ann@example.org"}})
			},
			map[string]string{"own": "ACCOUNT_ENDED", "later": "ACCOUNT_ENDED", "elsewhere": "ACCOUNT_ENDED", "unverified": ""},
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := &clock{at: day}
			redis := server.URL()
			flush(t, redis)
			a, b := replica(t, redis, c), replica(t, redis, c)
			elsewhere, unverified := claims("t1", day), claims("t2", day)
			elsewhere.Issuer, unverified.EmailVerified = "https://other", false
			cases := map[string]*access.Principal{
				"own": ann("t1", day.Add(-time.Minute)), "undated": ann("t3", time.Time{}), "ahead": ann("t4", day.Add(5*time.Second)),
				"later": ann("t5", day.Add(time.Minute)), "elsewhere": access.NewPrincipal(elsewhere), "unverified": access.NewPrincipal(unverified),
			}
			other := access.NewPrincipal(access.Claims{Issuer: "https://i", Subject: "bob", Email: "bob@example.org", EmailVerified: true, TokenID: "b", Issued: day})
			must(t, row.revoke(t.Context(), a))
			for who, want := range row.want {
				if got := code(a, cases[who]); got != want {
					t.Errorf("%s, at once here: got %q, want %q", who, got, want)
				}
			}
			c.advance(revocation.Every)
			refresh(t, b)
			for who, want := range row.want {
				if got := code(b, cases[who]); got != want {
					t.Errorf("%s, at the other replica: got %q, want %q", who, got, want)
				}
			}
			if code(a, other) != "" || code(b, other) != "" {
				t.Error("somebody else is rejected")
			}
			must(t, a.RevokeToken(t.Context(), "", "b")) // the list is read again, and not once
			c.advance(revocation.Every)
			if refresh(t, b); code(b, other) != "SIGN_IN_REVOKED" {
				t.Error("a second revocation does not reach the other replica")
			}
		})
	}
}

// flush empties a Redis.
func flush(t *testing.T, url string) {
	t.Helper()
	redis, err := state.Open(t.Context(), url, &state.Options{Timeout: testkit.Patience})
	must(t, err)
	defer redis.Close()
	must(t, redis.Delete(t.Context(), "revoked"))
	must(t, redis.Delete(t.Context(), "revoked:version"))
}

// A process that cannot read the list goes on for the grace with what it has,
// and then rejects everyone; so does one that never read it.
func TestUnreadableListFailsClosedAfterTheGrace(t *testing.T) {
	t.Parallel()
	server := testkit.StartRedis(t)
	c := &clock{at: day}
	l := replica(t, server.URL(), c)
	p := ann("t1", day)
	var ended error
	defer l.Watch(p, func(err error) { ended = err })()
	server.Stop()
	c.advance(revocation.Grace)
	if err := l.Refresh(t.Context()); err == nil {
		t.Fatal("the list was read")
	}
	if got := code(l, p); got != "" || ended != nil {
		t.Errorf("within the grace: got %q, ended by %v", got, ended)
	}
	if err := l.Ready(); err != nil {
		t.Errorf("within the grace: not ready: %v", err)
	}
	c.advance(time.Millisecond)
	if err := l.Refresh(t.Context()); err == nil {
		t.Fatal("the list was read")
	}
	if got := code(l, p); got != "SERVICE_UNAVAILABLE" || !fault.Is(ended, fault.ServiceDown) {
		t.Errorf("after the grace: got %q, ended by %v", got, ended)
	}
	if err := l.Ready(); !fault.Is(err, fault.ServiceDown) {
		t.Errorf("after the grace: ready, or %v", err)
	}
	server.Start()
	refresh(t, l)
	if got := code(l, p); got != "" {
		t.Errorf("when Redis is back: got %q", got)
	}
	if got := code(revocation.New(nil, nil), p); got != "SERVICE_UNAVAILABLE" {
		t.Errorf("never read: got %q", got)
	}
}

// A Redis that comes back empty is filled again by the replicas that run, so
// that those which start later know what was revoked.
func TestLostListIsRestored(t *testing.T) {
	t.Parallel()
	server := testkit.StartRedis(t)
	c := &clock{at: day}
	a := replica(t, server.URL(), c)
	must(t, a.RevokeToken(t.Context(), "", "t1"))
	refresh(t, a)
	server.Stop()
	server.Start()
	refresh(t, a)
	if got := code(a, ann("t1", day)); got != "SIGN_IN_REVOKED" {
		t.Errorf("here: got %q", got)
	}
	if got := code(replica(t, server.URL(), c), ann("t1", day)); got != "SIGN_IN_REVOKED" {
		t.Errorf("at a replica that started later: got %q", got)
	}
}

func TestEntriesEndWithTheirLife(t *testing.T) {
	t.Parallel()
	c := &clock{at: day}
	store := &memory{}
	l := revocation.New(store, &revocation.Options{Now: c.now})
	refresh(t, l)
	must(t, l.RevokeToken(t.Context(), "", "t1"))
	c.advance(revocation.Life - time.Second)
	refresh(t, l)
	if got := code(l, ann("t1", day)); got != "SIGN_IN_REVOKED" {
		t.Errorf("got %q", got)
	}
	c.advance(time.Second)
	must(t, l.RevokeToken(t.Context(), "", "t2"))
	refresh(t, l)
	if got := code(l, ann("t1", day)); got != "" {
		t.Errorf("after its life: got %q", got)
	}
}

// An account that has ended stays on the list for as long as it is published.
func TestPublishingAgainRenewsEntriesAndCostsNothingBefore(t *testing.T) {
	t.Parallel()
	c := &clock{at: day}
	store := &memory{}
	l := revocation.New(store, &revocation.Options{Now: c.now})
	refresh(t, l)
	account := []access.Account{{Address: "ann@example.org"}}
	for range 100 {
		must(t, l.End(t.Context(), account))
		c.advance(24 * time.Hour)
		refresh(t, l)
		if got := code(l, ann("t1", day)); got != "ACCOUNT_ENDED" {
			t.Fatalf("got %q", got)
		}
	}
	if store.writes > 10 {
		t.Errorf("%d writes in 100 days", store.writes)
	}
}

// The list is read every second, and a watch ends within two of the revocation.
func TestWatchEndsWithinTwoSeconds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &memory{}
		here, there := revocation.New(store, nil), revocation.New(store, nil)
		refresh(t, here, there)
		ctx, stop := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() { there.Run(ctx) })
		defer running.Wait()
		defer stop()
		p := ann("t1", time.Now())
		ended := make(chan error, 2)
		there.Watch(p, func(err error) { ended <- err })
		left := there.Watch(p, func(error) { t.Error("a watch that was left is called") })
		left()
		time.Sleep(10*time.Minute + 1) // of the bubble's clock: just after a reading, which is the longest wait for the next
		began := time.Now()
		must(t, here.RevokeToken(ctx, "", "t1"))
		if err := <-ended; !fault.Is(err, fault.SignInRevoked) {
			t.Errorf("got %v", err)
		}
		if took := time.Since(began); took > 2*time.Second {
			t.Errorf("it took %v", took)
		}
		there.Watch(p, func(err error) { ended <- err }) // rejected already: it ends at once
		if err := <-ended; !fault.Is(err, fault.SignInRevoked) {
			t.Errorf("got %v", err)
		}
	})
}

// memory is a store in memory.
type memory struct {
	mu      sync.Mutex
	entries map[string]time.Time
	writes  int
}

func (m *memory) Enlist(_ context.Context, entries map[string]time.Time, _ time.Time) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.entries == nil {
		m.entries = make(map[string]time.Time)
	}
	if len(entries) > 0 {
		m.writes++
	}
	for e, until := range entries {
		m.entries[e] = until
	}
	return nil
}

func (m *memory) Listed(_ context.Context, known string) (map[string]time.Time, string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	version := string(rune('0' + m.writes))
	if version == known {
		return nil, version, nil
	}
	all := make(map[string]time.Time, len(m.entries))
	for e, until := range m.entries {
		all[e] = until
	}
	return all, version, nil
}
