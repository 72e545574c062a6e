package lease

import (
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"

	"countersign.dev/internal/conversation/sealed"
	"countersign.dev/internal/fault"
	"countersign.dev/internal/state"
	"countersign.dev/internal/testkit"
)

// newLeases keeps the leases of turns of an hour in a Redis in memory.
func newLeases(t *testing.T) (Leases, *miniredis.Miniredis) {
	t.Helper()
	mini := miniredis.RunT(t)
	redis, err := state.Open(t.Context(), "redis://"+mini.Addr(), &state.Options{Timeout: testkit.Patience})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = redis.Close() })
	return New(sealed.Keys{Store: redis, Ring: testkit.Ring("k"), Log: slog.New(slog.DiscardHandler), Now: time.Now}, time.Hour), mini
}

// TestOldLeaseHoldsNoLongerThanATurn: someone who puts an ended lease back makes the
// conversation busy until the time under its seal, whatever the key's TTL is.
func TestOldLeaseHoldsNoLongerThanATurn(t *testing.T) {
	l, mini := newLeases(t)
	now := time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)
	l.keys.Now = func() time.Time { return now }
	own, err := l.Acquire(t.Context(), "c", "one", time.Second)
	if err != nil {
		t.Fatal(err)
	}
	old := testkit.StoredKey(t, mini, Key("c"))
	if err := l.Release(t.Context(), own); err != nil {
		t.Fatal(err)
	}
	testkit.PutKey(t, mini, Key("c"), old)
	if held, err := l.Held(t.Context(), "c"); !held || err != nil {
		t.Errorf("put back: got %v, %v, want it held", held, err)
	}
	now = now.Add(l.life + ttl + time.Minute)
	if held, err := l.Held(t.Context(), "c"); held || err != nil {
		t.Errorf("after its time: got %v, %v, want it free", held, err)
	}
	next, err := l.Acquire(t.Context(), "c", "two", time.Second)
	if err != nil {
		t.Fatalf("acquiring after its time: %v", err)
	}
	// In the place of a lease that is held it ends the turn that holds it, and gives none to another.
	testkit.PutKey(t, mini, Key("c"), old)
	if err := l.Renew(t.Context(), next); err != ErrLost {
		t.Errorf("the holder: got %v, want a lost lease", err)
	}
}

// TestOldCancelStopsNoOtherTurn: a cancel names the turn that it is for.
func TestOldCancelStopsNoOtherTurn(t *testing.T) {
	l, mini := newLeases(t)
	ctx := t.Context()
	hold := func(holder string) Lease {
		own, err := l.Acquire(ctx, "c", holder, time.Second)
		if err != nil {
			t.Fatal(err)
		}
		return own
	}
	one := hold("one")
	if there, err := l.Cancel(ctx, "c"); !there || err != nil {
		t.Fatal(there, err)
	}
	old := testkit.StoredKey(t, mini, CancelKey("c"))
	if err := l.Release(ctx, one); err != nil {
		t.Fatal(err)
	}
	two := hold("two")
	testkit.PutKey(t, mini, CancelKey("c"), old)
	if err := l.Renew(ctx, two); err != nil {
		t.Errorf("the next turn: got %v, want it to go on", err)
	}
	testkit.PutKey(t, mini, CancelKey("c"), testkit.StoredKey(t, mini, Key("c"))) // it names the right holder, as a lease
	if err := l.Renew(ctx, two); err != nil {
		t.Errorf("a lease in the place of a cancel: got %v, want the turn to go on", err)
	}
}

func TestLostLeaseStopsItsHolder(t *testing.T) {
	l, mini := newLeases(t)
	ctx := t.Context()
	one, err := l.Acquire(ctx, "c", "one", testkit.Patience)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := l.Acquire(ctx, "c", "two", 2*acquireTick); !fault.Is(err, fault.Busy) {
		t.Errorf("a second holder: got %v, want BUSY", err)
	}
	if err := l.Renew(ctx, one); err != nil {
		t.Errorf("renewing: %v", err)
	}
	mini.FastForward(ttl)
	two, err := l.Acquire(ctx, "c", "two", testkit.Patience)
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Renew(ctx, one); !errors.Is(err, ErrLost) {
		t.Errorf("the first holder: got %v, want a lost lease", err)
	}
	if err := l.Release(ctx, one); err != nil {
		t.Error(err)
	}
	if held, err := l.Held(ctx, "c"); !held || err != nil {
		t.Errorf("after the first holder's release: got %v, %v, want it still held", held, err)
	}
	if there, err := l.Cancel(ctx, "c"); !there || err != nil {
		t.Errorf("cancel: got %v, %v", there, err)
	}
	if err := l.Renew(ctx, two); !errors.Is(err, ErrCancelled) {
		t.Errorf("a cancelled holder: got %v", err)
	}
}
