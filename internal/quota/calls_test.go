package quota_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"countersign.dev/internal/access"
	"countersign.dev/internal/fault"
	"countersign.dev/internal/quota"
)

func TestCallsOfAToolAreLimitedByPersonAndTool(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		refused := 0
		q := quota.New(quota.Options{Store: newMemory(time.Now), Limits: quota.Limits{Calls: 6}, Refused: func(k quota.Kind) {
			if k == quota.Calls {
				refused++
			}
		}})
		defer q.Close()
		calls := quota.NewToolCalls(q)
		alice, bob := access.Owner{Issuer: "i", Subject: "alice"}, access.Owner{Issuer: "i", Subject: "bob"}
		for range 6 {
			if err := calls.Count(t.Context(), alice, "notes.search"); err != nil {
				t.Fatalf("within the limit: %v", err)
			}
		}
		for range 20 { // refused calls are not counted
			err := calls.Count(t.Context(), alice, "notes.search")
			if f := fault.From(err); !fault.Is(err, fault.TooManyRequests) || f.RetryAfter != 10*time.Second {
				t.Fatalf("over it: got %v after %s, want RATE_LIMITED after 10 s", err, f.RetryAfter)
			} else if message, _ := f.ForPeople(); strings.Contains(message, "notes.search") {
				t.Fatalf("a person reads %q", message)
			}
		}
		if calls.Count(t.Context(), alice, "notes.stats") != nil || calls.Count(t.Context(), bob, "notes.search") != nil {
			t.Error("another tool, or another person, was refused")
		}
		time.Sleep(10 * time.Second)
		if err := calls.Count(t.Context(), alice, "notes.search"); err != nil {
			t.Errorf("after Retry-After: %v", err)
		}
		if calls.Count(t.Context(), alice, "notes.search") == nil || refused != 21 {
			t.Errorf("got %d refusals, want one call a sixth of a minute", refused)
		}
	})
}

// TestCallsOfAToolAreLimitedOverReplicas: two gateways over one store allow together
// what one allows, and a part of it each while the store cannot be reached.
func TestCallsOfAToolAreLimitedOverReplicas(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newMemory(time.Now)
		alice := access.Owner{Issuer: "i", Subject: "alice"}
		allowed := func(calls ...*quota.ToolCalls) (n int) {
			for i := range 60 {
				if calls[i%len(calls)].Count(t.Context(), alice, "notes.search") == nil {
					n++
				}
			}
			return n
		}
		replica := func() *quota.ToolCalls {
			q := quota.New(quota.Options{Store: store, Limits: quota.Limits{Calls: 20}})
			t.Cleanup(q.Close)
			return quota.NewToolCalls(q)
		}
		first, second := replica(), replica()
		if got := allowed(first, second); got < 18 || got > 20 {
			t.Errorf("got %d of 60 calls by two replicas, want 20, of which each may keep one", got)
		}
		time.Sleep(time.Minute)
		if got := allowed(first); got < 18 || got > 21 {
			t.Errorf("got %d of 60 calls by one a minute later, want 20", got)
		}
		store.breakdown(true)
		if got := allowed(replica()); got != 5 {
			t.Errorf("got %d of 60 calls without the store, want a quarter of 20", got)
		}
	})
}
