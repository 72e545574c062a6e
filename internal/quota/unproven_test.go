package quota_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"countersign.dev/internal/fault"
	"countersign.dev/internal/quota"
)

// An address that proves no caller is rejected when it sent twice its limit at
// once, and then so many a second; what it sends meanwhile asks no store.
func TestUnprovenRequestsOfAnAddressAreLimited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newMemory(time.Now)
		refused := 0
		q := quota.New(quota.Options{Store: store, Limits: quota.Limits{Unproven: 10}, Refused: func(k quota.Kind) {
			if k == quota.Unproven {
				refused++
			}
		}})
		defer q.Close()
		allowed := func(remote string, n int) (allowed int) {
			t.Helper()
			for range n {
				err := q.Callers().Admit(remote, "forged")
				if err == nil {
					allowed++
					q.Callers().Unproved(remote, "forged")
				} else if f := fault.From(err); f.Code != fault.TooManyRequests || f.RetryAfter < time.Second {
					t.Fatalf("got %v, wait %v", err, f.RetryAfter)
				}
			}
			return allowed
		}
		for _, step := range []struct {
			name, remote string
			later        time.Duration
			n, want      int
		}{
			{"a burst", "203.0.113.7:1000", 0, 100, 20},
			{"another port", "203.0.113.7:2000", 0, 10, 0},
			{"written as IPv6", "[::ffff:203.0.113.7]:1000", 0, 10, 0},
			{"a second later", "203.0.113.7:1000", time.Second, 100, 10},
			{"the neighbour", "203.0.113.8:1000", 0, 100, 20},
			{"an IPv6 address", "[2001:db8::1]:1000", 0, 100, 20},
			{"of the same network", "[2001:db8::ffff:1]:1000", 0, 100, 0},
			{"of the next network", "[2001:db8:0:1::1]:1000", 0, 100, 20},
			{"a long time later", "203.0.113.7:1000", time.Hour, 100, 20},
			{"no address", "@", 0, 100, 20},
			{"another that is none", "pipe", 0, 100, 0},
		} {
			time.Sleep(step.later)
			if got := allowed(step.remote, step.n); got != step.want {
				t.Errorf("%s: %d of %d were admitted, want %d", step.name, got, step.n, step.want)
			}
		}
		if refused == 0 || store.asked.Load() != 0 {
			t.Errorf("%d refusals were reported, and the store was asked %d times", refused, store.asked.Load())
		}
	})
}

// Credentials that were proved are admitted from an address that is over its limit,
// until one of them proves no caller any more.
func TestProvedCallersOfAFloodedAddressAreAdmitted(t *testing.T) {
	q := quota.New(quota.Options{Store: newMemory(time.Now), Limits: quota.Limits{Unproven: 1}})
	defer q.Close()
	const shared = "203.0.113.7:1000"
	q.Callers().Proved("Bearer alice")
	for range 100 {
		q.Callers().Unproved(shared, "")
	}
	for credential, want := range map[string]bool{"Bearer alice": true, "Bearer mallory": false, "": false} {
		if err := q.Callers().Admit(shared, credential); (err == nil) != want {
			t.Errorf("%q: got %v", credential, err)
		}
	}
	if err := q.Callers().Admit("203.0.113.8:1000", ""); err != nil {
		t.Errorf("another address: got %v", err)
	}
	q.Callers().Unproved("203.0.113.8:1000", "Bearer alice") // it has expired
	if err := q.Callers().Admit(shared, "Bearer alice"); err == nil {
		t.Error("a credential that was valid once is admitted for good")
	}
}

// However many addresses and credentials there are, what is remembered is bounded.
func TestAddressesAreForgotten(t *testing.T) {
	q := quota.New(quota.Options{Store: newMemory(time.Now), Limits: quota.Limits{Unproven: 1}})
	defer q.Close()
	for range 10 {
		q.Callers().Unproved("[2001:db8::1]:1", "")
	}
	q.Callers().Proved("first")
	for i := range 20_001 {
		q.Callers().Unproved(fmt.Sprintf("[2001:db8:%x:%x::1]:1", 1+i>>16, i&0xffff), "")
		q.Callers().Proved(fmt.Sprint(i))
	}
	if err := q.Callers().Admit("[2001:db8::1]:1", ""); err != nil {
		t.Errorf("the oldest address is remembered: %v", err)
	}
	for range 10 {
		q.Callers().Unproved("203.0.113.7:1", "")
	}
	if err := q.Callers().Admit("203.0.113.7:1", "first"); err == nil {
		t.Error("the oldest credential is remembered")
	}
}
