package quota_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"countersign.dev/internal/fault"
	"countersign.dev/internal/quota"
)

// held does something before or after the store gives a slot.
type held struct {
	*memory
	first, then atomic.Pointer[func()]
}

func (h *held) Hold(ctx context.Context, key, holder string, limit int, ttl time.Duration) (bool, error) {
	if first := h.first.Swap(nil); first != nil {
		(*first)()
	}
	if then := h.then.Swap(nil); then != nil {
		defer (*then)()
	}
	return h.memory.Hold(ctx, key, holder, limit, ttl)
}

// TestReleasedSlotsAreFree: also one whose renewal is on its way, and one that was given to a request that
// has been cancelled.
func TestReleasedSlotsAreFree(t *testing.T) {
	for name, take := range map[string]func(t *testing.T, s *held, q *quota.Quotas){
		"renewed": func(t *testing.T, s *held, q *quota.Quotas) {
			release, err := q.Hold(t.Context(), quota.Turns, alice)
			if err != nil {
				t.Fatal(err)
			}
			s.first.Store(&release)
			<-time.After(15 * time.Second) // a slot ends 30 s after it was renewed
		},
		"cancelled": func(t *testing.T, s *held, q *quota.Quotas) {
			ctx, cancel := context.WithCancel(t.Context())
			leave := func() { cancel() }
			s.then.Store(&leave)
			if _, err := q.Hold(ctx, quota.Turns, alice); !errors.Is(err, context.Canceled) {
				t.Errorf("got %v", err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &held{memory: newMemory(time.Now)}
				q := quota.New(quota.Options{Store: s, Limits: quota.Limits{Turns: 1}})
				defer q.Close()
				take(t, s, q)
				synctest.Wait()
				if _, err := q.Hold(t.Context(), quota.Turns, alice); err != nil {
					t.Errorf("no turn runs, and one is refused: %v", err)
				}
			})
		})
	}
}

// TestQuarterIsNotExceededTogether: requests that come at the same time while Redis cannot be reached.
func TestQuarterIsNotExceededTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newMemory(time.Now)
		store.breakdown(true)
		q := quota.New(quota.Options{Store: store, Limits: quota.Limits{Turns: 8}})
		defer q.Close()
		var granted atomic.Int32
		for range 50 {
			go func() {
				if _, err := q.Hold(t.Context(), quota.Turns, alice); err == nil {
					granted.Add(1)
				}
			}()
		}
		synctest.Wait()
		if n := granted.Load(); n != 2 {
			t.Errorf("%d turns of 8", n)
		}
	})
}

// TestChangesOfADayAreCounted however they were answered: each is kept for a day.
func TestChangesOfADayAreCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := quota.New(quota.Options{Store: newMemory(time.Now)})
		defer q.Close()
		ask := func() error {
			id := time.Now().String()
			defer q.Answered(t.Context(), alice, id)
			<-time.After(time.Second)
			return q.Wait(t.Context(), alice, id, 5*time.Minute)
		}
		n := 0
		for ; n < 10_000 && ask() == nil; n++ {
		}
		if err := ask(); n != 5000 || !fault.Is(err, fault.TooManyRequests) {
			t.Errorf("after %d: %v", n, err)
		}
		<-time.After(24 * time.Hour)
		if err := ask(); err != nil {
			t.Error(err)
		}
	})
}
