package breaker

import (
	"testing"
	"time"
)

func admitted(b *Breaker, now time.Time) bool {
	_, ok := b.Admit(now)
	return ok
}

func TestBreakerLetsOneProbeThrough(t *testing.T) {
	b := New(Own)
	now := time.Now()
	for range Failures {
		if !admitted(b, now) {
			t.Fatal("open before its time")
		}
		b.Record(now, Faulted, false)
	}
	if admitted(b, now) || b.Closed() {
		t.Error("still closed after failures in a row")
	}
	now = now.Add(Own.Pause)
	if !admitted(b, now) || admitted(b, now) {
		t.Error("want exactly one probe")
	}
	b.Record(now, None, true) // the probe's caller left: the next one decides
	if !admitted(b, now) {
		t.Error("no second probe")
	}
	b.Record(now, Faulted, true)
	if admitted(b, now) {
		t.Error("a failed probe must open it again")
	}
	now = now.Add(Own.Pause)
	b.Admit(now)
	b.Record(now, Answered, true)
	if !b.Closed() || !admitted(b, now) || !admitted(b, now) {
		t.Error("a good probe must close it")
	}
}

// TestWhatASuccessIsWorth: it clears the faults of our own servers, takes one off
// those of a foreign tool, and what opened stays open for the whole pause.
func TestWhatASuccessIsWorth(t *testing.T) {
	for name, c := range map[string]struct {
		policy Policy
		pause  time.Duration
		opens  int // faults that open it after one fewer than open it, and a success
	}{
		"own":     {Own, 5 * time.Second, Failures},
		"foreign": {Foreign, time.Minute, 2},
	} {
		b, now := New(c.policy), time.Now()
		for range Failures - 1 {
			b.Record(now, Faulted, false)
		}
		b.Record(now, Answered, false)
		faults := 0
		for ; b.Closed(); faults++ {
			b.Record(now, Faulted, false)
		}
		if faults != c.opens {
			t.Errorf("%s: opened after %d more faults, want %d", name, faults, c.opens)
		}
		if admitted(b, now.Add(c.pause-1)) || !admitted(b, now.Add(c.pause)) {
			t.Errorf("%s: want it open for %s", name, c.pause)
		}
	}
}
