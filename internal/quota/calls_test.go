package quota_test

import (
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
			if err := calls.Count(alice, "notes.search"); err != nil {
				t.Fatalf("within the limit: %v", err)
			}
		}
		for range 20 { // refused calls are not counted
			err := calls.Count(alice, "notes.search")
			if f := fault.From(err); !fault.Is(err, fault.TooManyRequests) || f.RetryAfter != 10*time.Second {
				t.Fatalf("over it: got %v after %s, want RATE_LIMITED after 10 s", err, f.RetryAfter)
			}
		}
		if calls.Count(alice, "notes.stats") != nil || calls.Count(bob, "notes.search") != nil {
			t.Error("another tool, or another person, was refused")
		}
		time.Sleep(10 * time.Second)
		if err := calls.Count(alice, "notes.search"); err != nil {
			t.Errorf("after Retry-After: %v", err)
		}
		if calls.Count(alice, "notes.search") == nil || refused != 21 {
			t.Errorf("got %d refusals, want one call a sixth of a minute", refused)
		}
	})
}
