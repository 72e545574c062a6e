package state

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"countersign.dev/internal/access"
	"countersign.dev/internal/confirm"
	"countersign.dev/internal/testkit"
)

var (
	alice = access.Owner{Issuer: "https://id.example.com", Subject: "alice"}
	frank = access.Owner{Issuer: "https://id.example.com", Subject: "frank"}
	noon  = time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)
)

func record(id string) confirm.Record {
	return confirm.Record{
		ID: confirm.ID(id), State: confirm.Pending, Action: "update_salary", Server: "hr",
		Input:  json.RawMessage(`{ "big":12345678901234567890, "f":1.0e5, "text":"<b>&\u2028ü", "list":[] }`),
		Digest: "d", Precondition: "f", Owner: alice, Username: "alice.chen", Summary: "Salary <1>",
		Data:    map[string]any{"action": "update_salary", "timestamp": json.Number("1703612345678"), "list": []any{}},
		Created: noon, Expires: noon.Add(confirm.TTL),
	}
}

func onEachStore(t *testing.T, test func(t *testing.T, c *Confirmations)) {
	onEachEngine(t, func(t *testing.T, e engine) { test(t, NewConfirmations(connect(t, e, nil), testkit.Ring("record"))) })
}

func create(t testing.TB, c *Confirmations, id string) confirm.Record {
	t.Helper()
	r := record(id)
	must(t, c.Create(t.Context(), r))
	return r
}

func approving(id confirm.ID) confirm.Reply {
	return confirm.Reply{ID: id, Server: "hr", Approved: true}
}

func denying(id confirm.ID) confirm.Reply { return confirm.Reply{ID: id, Server: "hr"} }

func wantAcquisition(t testing.TB, want confirm.Acquisition) func(confirm.Record, confirm.Acquisition, error) confirm.Record {
	t.Helper()
	return func(r confirm.Record, got confirm.Acquisition, err error) confirm.Record {
		t.Helper()
		if err != nil || got != want {
			t.Errorf("acquire: got %d, %v, want %d", got, err, want)
		}
		return r
	}
}

// attempt is one that acquired a record at noon.
func attempt(id confirm.ID) confirm.Record { return confirm.Record{ID: id, Acquired: noon} }

// settle ignores whether a record was moved: the tests read it afterwards.
func settle(t testing.TB) func(bool, error) {
	return func(_ bool, err error) { t.Helper(); must(t, err) }
}

func wantRecord(t testing.TB, c *Confirmations, want confirm.Record) {
	t.Helper()
	got, ok, err := c.Get(t.Context(), want.Server, want.ID)
	if err != nil || !ok {
		t.Fatalf("Get: got %v, %v", ok, err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("record (-want +got):\n%s", diff)
	}
}

func wantTTL(t testing.TB, c *Confirmations, id confirm.ID, want time.Duration) {
	t.Helper()
	got := c.redis.client.PTTL(t.Context(), "pending:"+string(id)).Val()
	if got > want || got < want-10*time.Second {
		t.Errorf("TTL: got %v, want %v", got, want)
	}
}

func TestRecordComesBackByteForByte(t *testing.T) {
	onEachStore(t, func(t *testing.T, c *Confirmations) {
		r := create(t, c, "a")
		wantRecord(t, c, r)
		wantTTL(t, c, "a", confirm.TTL)
		if kept := c.redis.client.PTTL(t.Context(), "asked:a").Val(); kept <= confirm.Memory-time.Minute || kept > confirm.Memory {
			t.Errorf("what was asked is kept for %v, want no longer than an answered record", kept)
		}
		answer := json.RawMessage(`{ "status": "success", "data": {"message":"<done> & \u2028"} }`)
		wantAcquisition(t, confirm.Acquired)(c.Acquire(t.Context(), approving("a"), alice, noon))
		settle(t)(c.Settle(t.Context(), attempt("a"), confirm.Applied, answer))
		r.State, r.Acquired, r.Answer = confirm.Applied, noon, answer
		wantRecord(t, c, r)
		if err := c.Create(t.Context(), r); err == nil {
			t.Error("a second record of the same id was accepted")
		}
	})
}

func TestClaimsInEachState(t *testing.T) {
	onEachStore(t, func(t *testing.T, c *Confirmations) {
		ctx := t.Context()
		wantAcquisition(t, confirm.Unknown)(c.Acquire(ctx, approving("none"), alice, noon))
		r := create(t, c, "a")
		wantAcquisition(t, confirm.Foreign)(c.Acquire(ctx, approving("a"), frank, noon))
		wantAcquisition(t, confirm.Foreign)(c.Acquire(ctx, approving("a"), access.Owner{Issuer: "https://other", Subject: "alice"}, noon))
		wantRecord(t, c, r) // a stranger changed nothing

		won := wantAcquisition(t, confirm.Acquired)(c.Acquire(ctx, approving("a"), alice, noon))
		if won.State != confirm.Applying || !won.Acquired.Equal(noon) {
			t.Errorf("won: got %s acquired %v, want it applying since noon", won.State, won.Acquired)
		}
		wantTTL(t, c, "a", confirm.Memory)
		wantAcquisition(t, confirm.Busy)(c.Acquire(ctx, approving("a"), alice, noon.Add(confirm.AbandonedAfter)))
		wantAcquisition(t, confirm.Busy)(c.Acquire(ctx, denying("a"), alice, noon))
		wantAcquisition(t, confirm.Foreign)(c.Acquire(ctx, approving("a"), frank, noon))

		late := noon.Add(confirm.AbandonedAfter + time.Millisecond)
		left := wantAcquisition(t, confirm.Abandoned)(c.Acquire(ctx, approving("a"), alice, late))
		if diff := cmp.Diff(won, left); diff != "" {
			t.Errorf("left (-want +got):\n%s", diff)
		}

		settle(t)(c.Settle(ctx, attempt("a"), confirm.Failed, json.RawMessage(`{}`)))
		wantAcquisition(t, confirm.Ended)(c.Acquire(ctx, approving("a"), alice, late))
		wantAcquisition(t, confirm.Ended)(c.Acquire(ctx, denying("a"), alice, late))
	})
}

// TestAnAttemptEndsNoOther: a replica that was slow ends its own attempt only, unless it
// has the receipt.
func TestAnAttemptEndsNoOther(t *testing.T) {
	onEachStore(t, func(t *testing.T, c *Confirmations) {
		ctx, late := t.Context(), noon.Add(time.Minute)
		create(t, c, "a")
		wantAcquisition(t, confirm.Acquired)(c.Acquire(ctx, approving("a"), alice, noon))
		settle(t)(c.Settle(ctx, attempt("a"), confirm.Pending, nil))
		second := wantAcquisition(t, confirm.Acquired)(c.Acquire(ctx, approving("a"), alice, late))
		for _, to := range []confirm.State{confirm.Pending, confirm.Failed, confirm.OutcomeUnknown} {
			if moved, err := c.Settle(ctx, attempt("a"), to, nil); moved || err != nil {
				t.Errorf("the first attempt moved the second one to %s, %v", to, err)
			}
			wantRecord(t, c, second)
		}
		settle(t)(c.Settle(ctx, attempt("a"), confirm.Applied, json.RawMessage(`{}`)))
		second.State, second.Answer = confirm.Applied, json.RawMessage(`{}`)
		wantRecord(t, c, second)
	})
}

func TestDeniedIsFinal(t *testing.T) {
	onEachStore(t, func(t *testing.T, c *Confirmations) {
		ctx := t.Context()
		r := create(t, c, "a")
		wantAcquisition(t, confirm.Foreign)(c.Acquire(ctx, denying("a"), frank, noon))
		wantAcquisition(t, confirm.Acquired)(c.Acquire(ctx, denying("a"), alice, noon))
		r.State, r.Acquired = confirm.Denied, noon
		wantRecord(t, c, r)
		wantTTL(t, c, "a", confirm.Memory)
		wantAcquisition(t, confirm.Ended)(c.Acquire(ctx, approving("a"), alice, noon))
		settle(t)(c.Settle(ctx, attempt("a"), confirm.Applied, json.RawMessage(`{}`)))
		wantRecord(t, c, r) // a final state stays
	})
}

func TestExpiredIsUnknown(t *testing.T) {
	onEachStore(t, func(t *testing.T, c *Confirmations) {
		r := create(t, c, "a")
		wantAcquisition(t, confirm.Unknown)(c.Acquire(t.Context(), approving("a"), alice, r.Expires))
		wantAcquisition(t, confirm.Unknown)(c.Acquire(t.Context(), denying("a"), frank, r.Expires))
		wantAcquisition(t, confirm.Acquired)(c.Acquire(t.Context(), approving("a"), alice, r.Expires.Add(-time.Nanosecond)))
	})
}

// TestReopenedIsKeptForItsReceipt: its attempt may turn out to have made the change, also
// after its time.
func TestReopenedIsKeptForItsReceipt(t *testing.T) {
	onEachStore(t, func(t *testing.T, c *Confirmations) {
		ctx := t.Context()
		r := create(t, c, "a")
		wantAcquisition(t, confirm.Acquired)(c.Acquire(ctx, approving("a"), alice, noon))
		settle(t)(c.Settle(ctx, attempt("a"), confirm.Pending, nil))
		r.Acquired = noon
		wantRecord(t, c, r)
		wantTTL(t, c, "a", confirm.Memory)

		wantAcquisition(t, confirm.Acquired)(c.Acquire(ctx, approving("a"), alice, noon))
		settle(t)(c.Settle(ctx, attempt("a"), confirm.Pending, nil))
		wantAcquisition(t, confirm.Unknown)(c.Acquire(ctx, approving("a"), alice, r.Expires))
		settle(t)(c.Settle(ctx, attempt("a"), confirm.Applied, json.RawMessage(`{}`)))
		r.State, r.Answer = confirm.Applied, json.RawMessage(`{}`)
		wantRecord(t, c, r)
	})
}

func TestReopenedCanStillBecomeApplied(t *testing.T) {
	onEachStore(t, func(t *testing.T, c *Confirmations) {
		ctx := t.Context()
		r := create(t, c, "a")
		settle(t)(c.Settle(ctx, attempt("a"), confirm.Failed, json.RawMessage(`{}`)))
		settle(t)(c.Settle(ctx, attempt("a"), confirm.Pending, nil))
		wantRecord(t, c, r)
		settle(t)(c.Settle(ctx, attempt("a"), confirm.Applied, json.RawMessage(`{}`)))
		r.State, r.Answer = confirm.Applied, json.RawMessage(`{}`)
		wantRecord(t, c, r)
	})
}

func TestOneOfAHundredAnswersWins(t *testing.T) {
	const callers = 100
	rounds := 10
	if testkit.Soak() {
		rounds = 500
	}
	onEachStore(t, func(t *testing.T, c *Confirmations) {
		for round := range rounds {
			id := create(t, c, fmt.Sprint(round)).ID
			results := make(chan confirm.Acquisition, callers)
			var all sync.WaitGroup
			for i := range callers {
				all.Go(func() {
					reply := approving(id)
					reply.Approved = i%4 != 3
					_, got, err := c.Acquire(context.Background(), reply, alice, noon)
					if err != nil {
						t.Error(err)
					}
					results <- got
				})
			}
			all.Wait()
			close(results)
			won := 0
			for got := range results {
				switch got {
				case confirm.Acquired:
					won++
				case confirm.Busy, confirm.Ended:
				default:
					t.Errorf("round %d: got %d", round, got)
				}
			}
			if won != 1 {
				t.Fatalf("round %d: got %d winners, want 1", round, won)
			}
		}
	})
}

func TestPendingOfListsOwnOldestFirst(t *testing.T) {
	onEachStore(t, func(t *testing.T, c *Confirmations) {
		ctx := t.Context()
		for i, id := range []string{"c", "a", "d", "b", "e"} {
			r := record(id)
			r.Created, r.Expires = noon.Add(time.Duration(i)*time.Second), noon.Add(confirm.TTL)
			must(t, c.Create(ctx, r))
		}
		other := record("x")
		other.Owner = frank
		must(t, c.Create(ctx, other))
		wantAcquisition(t, confirm.Acquired)(c.Acquire(ctx, denying("a"), alice, noon))
		wantAcquisition(t, confirm.Acquired)(c.Acquire(ctx, approving("d"), alice, noon))
		settle(t)(c.Settle(ctx, attempt("d"), confirm.Pending, nil))
		wantAcquisition(t, confirm.Acquired)(c.Acquire(ctx, approving("e"), alice, noon)) // and may have been abandoned
		must(t, c.redis.Delete(ctx, "pending:b"))                                         // as if it had expired

		entries := NewEntries(c.redis)
		got, err := entries.PendingOf(ctx, alice)
		must(t, err)
		var ids []string
		for _, r := range got {
			ids = append(ids, string(r.ID))
		}
		if diff := cmp.Diff([]string{"c", "d", "e"}, ids); diff != "" {
			t.Errorf("alice's (-want +got):\n%s", diff)
		}
		if e, ok, err := entries.Find(ctx, "b"); !ok || err != nil || e.Server != "hr" {
			t.Errorf("the server of an expired one: got %+v %v, %v", e, ok, err)
		}
		if got, err := entries.PendingOf(ctx, access.Owner{}); len(got) != 0 || err != nil {
			t.Errorf("an owner without any: got %v, %v", got, err)
		}
	})
}

func TestIndexDropsExpiredIds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := inProcess(t)
		c := NewConfirmations(r, testkit.Ring("record"))
		for i := range 10 {
			rec := record(fmt.Sprint(i))
			rec.Created = time.Now()
			rec.Expires = rec.Created.Add(confirm.TTL)
			must(t, c.Create(t.Context(), rec))
			time.Sleep(confirm.TTL - time.Minute)
		}
		if n := r.client.ZCard(t.Context(), c.index(alice)).Val(); n != 2 {
			t.Errorf("index: got %d ids, want 2", n)
		}
		time.Sleep(confirm.TTL)
		if keys := r.client.Keys(t.Context(), "pending*").Val(); len(keys) != 0 {
			t.Errorf("waiting for too long: %v", keys)
		}
		time.Sleep(confirm.Memory)
		if keys := r.client.Keys(t.Context(), "*").Val(); len(keys) != 0 {
			t.Errorf("left over: %v", keys)
		}
		must(t, r.Close())
	})
}

// BenchmarkClaim asks what the compare-and-swap costs over a bare GET (floor).
func BenchmarkClaim(b *testing.B) {
	c := NewConfirmations(connect(b, startReal(b), nil), testkit.Ring("record"))
	r := record("a")
	b.Run("floor", func(b *testing.B) {
		for b.Loop() {
			_, _, _ = c.redis.Get(b.Context(), "pending:a")
		}
	})
	b.Run("acquire", func(b *testing.B) {
		for i := 0; b.Loop(); i++ {
			r.ID = confirm.ID(fmt.Sprint(i))
			must(b, c.Create(b.Context(), r))
			if _, acquired, err := c.Acquire(b.Context(), approving(r.ID), alice, noon); acquired != confirm.Acquired || err != nil {
				b.Fatal(acquired, err)
			}
		}
	})
}

// TestAnsweredConfirmationsAreKeptOnce: not in their owner's list, and without the copy of what was asked. One that
// waits again has its place.
func TestAnsweredConfirmationsAreKeptOnce(t *testing.T) {
	onEachStore(t, func(t *testing.T, c *Confirmations) {
		index := func() []string {
			ids, err := c.redis.client.ZRange(t.Context(), c.index(alice), 0, -1).Result()
			must(t, err)
			return ids
		}
		for _, id := range []string{"denied", "applied", "reopened", "waits"} {
			create(t, c, id)
		}
		wantAcquisition(t, confirm.Acquired)(c.Acquire(t.Context(), denying("denied"), alice, noon))
		for id, to := range map[confirm.ID]confirm.State{"applied": confirm.Applied, "reopened": confirm.Pending} {
			attempt := wantAcquisition(t, confirm.Acquired)(c.Acquire(t.Context(), approving(id), alice, noon))
			if moved, err := c.Settle(t.Context(), attempt, to, nil); !moved || err != nil {
				t.Errorf("%s: %t, %v", id, moved, err)
			}
		}
		if diff := cmp.Diff([]string{"reopened", "waits"}, index()); diff != "" {
			t.Error(diff)
		}
		for id, want := range map[confirm.ID]bool{"denied": false, "applied": false, "waits": true} {
			if _, ok, err := c.redis.Get(t.Context(), askedKey(id)); ok != want || err != nil {
				t.Errorf("%s: a copy is there: %t, %v", id, ok, err)
			}
			if _, ok, err := c.Get(t.Context(), "hr", id); !ok || err != nil {
				t.Errorf("%s: %t, %v", id, ok, err)
			}
		}
	})
}
