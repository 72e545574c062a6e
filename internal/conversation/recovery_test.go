package conversation

import (
	"reflect"
	"testing"
	"testing/synctest"
	"time"
)

// TestReaderWritesTheEndOfATurnThatWasCutOff: its replica has died. As long as it may
// still run it is looked for twice a second.
func TestReaderWritesTheEndOfATurnThatWasCutOff(t *testing.T) {
	eachWay(t, 10, func(f following) {
		f.add(1, Started)
		if err := f.s.turns.recovery.opened(f.Context(), f.log); err != nil {
			f.Fatal(err)
		}
		r := f.begin(f.Context(), beginning)
		r.has("1")
		time.Sleep(lookTime)
		r.has("1 2 3 4")
		r.stop()
		news, err := f.s.turns.events.read(f.Context(), PersonLog(f.log.owner), "")
		if want := (Event{ID: "1-0", Type: Turn, Conversation: "c1", Status: Ended}); err != nil || len(news) != 1 || !reflect.DeepEqual(news[0], want) {
			f.Errorf("the person's other pages read %+v, %v, want %+v", news, err, want)
		}
	})
}

// TestCutOffTurnEndsWithinFiveSeconds of the death of its replica, even when that had just
// renewed its lease and its reader had just looked. Here nothing takes time, so half a second
// of the five is left to the work.
func TestCutOffTurnEndsWithinFiveSeconds(t *testing.T) {
	const step, most = 50 * time.Millisecond, 4500 * time.Millisecond
	eachWay(t, 10, func(f following) {
		pass := func() { time.Sleep(step); f.mini.FastForward(step); synctest.Wait() }
		for since := time.Duration(0); since < time.Second; since += step { // of the reader's beginning, when the lease is renewed
			id := "after " + since.String()
			f.log = logOfAnn(id)
			own, err := f.s.turns.leases.Acquire(f.Context(), id, "replica", time.Second)
			if err != nil {
				f.Fatal(err)
			}
			if err := f.s.turns.recovery.opened(f.Context(), f.log); err != nil {
				f.Fatal(err)
			}
			f.add(1, Started)
			r := f.begin(f.Context(), beginning)
			for range since / step {
				pass()
			}
			if err := f.s.turns.leases.Renew(f.Context(), own); err != nil {
				f.Fatal(err)
			}
			r.has("1")
			for range most / step {
				pass()
			}
			r.has("1 2 3 4")
			r.stop()
		}
	})
}
