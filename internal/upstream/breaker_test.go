package upstream

import (
	"testing"
	"time"
)

func TestBreakerLetsOneProbeThrough(t *testing.T) {
	b := breaker{policy: ownPolicy}
	now := time.Now()
	for range breakerFailures {
		if !b.admit(now) {
			t.Fatal("open before its time")
		}
		b.record(now, faulted)
	}
	if b.admit(now) || b.closed() {
		t.Error("still closed after failures in a row")
	}
	now = now.Add(ownPolicy.pause)
	if !b.admit(now) || b.admit(now) {
		t.Error("want exactly one probe")
	}
	b.record(now, noSignal) // the probe's caller left: the next one decides
	if !b.admit(now) {
		t.Error("no second probe")
	}
	b.record(now, faulted)
	if b.admit(now) {
		t.Error("a failed probe must open it again")
	}
	now = now.Add(ownPolicy.pause)
	b.admit(now)
	b.record(now, answered)
	if !b.closed() || !b.admit(now) || !b.admit(now) {
		t.Error("a good probe must close it")
	}
}
