package state

import (
	"strconv"
	"testing"
	"time"

	"countersign.dev/internal/testkit"
)

func TestBucketIsRefilledByTime(t *testing.T) {
	onEachEngine(t, func(t *testing.T, e engine) {
		r, ctx := NewBudgets(connect(t, e, nil)), t.Context()
		taken, _, err := r.TakeTokens(ctx, "b", 30, 1, 40)
		if err != nil || taken != 30 {
			t.Fatalf("got %d, %v, want 30", taken, err)
		}
		if taken, _, err = r.TakeTokens(ctx, "b", 30, 1, 40); err != nil || taken < 10 || taken > 12 {
			t.Errorf("got %d, %v, want the 10 that are left", taken, err)
		}
		taken, wait, err := r.TakeTokens(ctx, "b", 5, 1, 40)
		if err != nil || taken != 0 || wait < 3*time.Second || wait > 5*time.Second {
			t.Errorf("got %d and a wait of %v, %v, want none and up to 5 s", taken, wait, err)
		}
		began := time.Now() // a fast bucket gains what the time that passes is worth
		total := 0
		for total < 3000 && time.Since(began) < testkit.Patience {
			taken, _, err := r.TakeTokens(ctx, "fast", 100, 1000, 2000)
			must(t, err)
			total += taken
		}
		if total < 3000 {
			t.Errorf("got %d tokens in %v, want 3000 of a bucket of 2000 and 1000 a second", total, time.Since(began))
		}
	})
}

func TestSlotsAreLimitedAndExpire(t *testing.T) {
	onEachEngine(t, func(t *testing.T, e engine) {
		r, ctx := NewBudgets(connect(t, e, nil)), t.Context()
		for i := range 3 {
			held, err := r.Hold(ctx, "streams", strconv.Itoa(i), 2, time.Minute)
			if want := i < 2; err != nil || held != want {
				t.Errorf("holder %d: got %v, %v, want %v", i, held, err, want)
			}
		}
		if held, err := r.Hold(ctx, "streams", "1", 2, time.Minute); err != nil || !held {
			t.Errorf("renewing: got %v, %v, want it held", held, err)
		}
		must(t, r.Unhold(ctx, "streams", "0"))
		must(t, r.Unhold(ctx, "streams", "0"))
		if held, err := r.Hold(ctx, "streams", "2", 2, time.Millisecond); err != nil || !held {
			t.Errorf("a free slot: got %v, %v, want it held", held, err)
		}
		for began := time.Now(); ; { // the short slot expires by the server's clock
			if held, err := r.Hold(ctx, "streams", "3", 2, time.Minute); err == nil && held {
				break
			}
			if time.Since(began) > testkit.Patience {
				t.Fatal("got no slot, want that of a holder which did not renew it")
			}
		}
	})
}
