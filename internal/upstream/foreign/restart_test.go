package foreign

import (
	"testing"
	"time"
)

// TestAProcessThatKeepsEndingIsStartedLaterAndLater: at once, then after 1 s, 2 s and so
// on to a minute; one that ran for a minute begins anew.
func TestAProcessThatKeepsEndingIsStartedLaterAndLater(t *testing.T) {
	now := time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)
	r := restarts{now: func() time.Time { return now }}
	for i, wait := range []time.Duration{0, 1, 2, 4, 8, 16, 32, 60, 60, 60} {
		wait *= time.Second
		if wait > 0 {
			now = now.Add(wait - time.Millisecond)
			if r.begin() == nil {
				t.Fatalf("start %d: before %s", i, wait)
			}
			now = now.Add(time.Millisecond)
		}
		if err := r.begin(); err != nil {
			t.Fatalf("start %d: after %s: %v", i, wait, err)
		}
		if i > 0 {
			r.ended()
			continue
		}
		r.ended() // the first end costs no wait
		if err := r.begin(); err != nil {
			t.Fatal(err)
		}
		r.ended()
	}
	now = now.Add(time.Minute)
	if err := r.begin(); err != nil {
		t.Fatal(err)
	}
	now = now.Add(restartCalm)
	r.ended()
	if err := r.begin(); err != nil {
		t.Errorf("after a calm minute: %v", err)
	}
}
