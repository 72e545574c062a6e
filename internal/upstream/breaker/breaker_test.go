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
