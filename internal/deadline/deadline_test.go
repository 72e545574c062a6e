package deadline_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"countersign.dev/internal/deadline"
)

// TestDeadlineEndsAsATimeoutDoes: it ends by its time, with the context that it is made
// from, and when its call is over, whether something waits for it or asks.
func TestDeadlineEndsAsATimeoutDoes(t *testing.T) {
	type key struct{}
	for name, c := range map[string]struct {
		end  func(cancel func(), d *deadline.Context)
		want error
	}{
		"its time":    {func(func(), *deadline.Context) { <-time.After(time.Second) }, context.DeadlineExceeded},
		"its context": {func(cancel func(), _ *deadline.Context) { cancel() }, context.Canceled},
		"its call":    {func(_ func(), d *deadline.Context) { d.End() }, context.Canceled},
	} {
		for _, waited := range []bool{false, true} {
			synctest.Test(t, func(t *testing.T) {
				above, cancel := context.WithCancel(context.WithValue(t.Context(), key{}, name))
				defer cancel()
				d := new(deadline.Context)
				d.Start(above, time.Second)
				defer d.End()
				var child context.Context = d
				if waited {
					var done func()
					child, done = context.WithCancel(d)
					defer done()
				}
				if at, ok := d.Deadline(); d.Err() != nil || !ok || time.Until(at) != time.Second || child.Value(key{}) != name {
					t.Errorf("%s: not as it was made: %v, %v", name, d.Err(), at)
				}
				c.end(cancel, d)
				synctest.Wait()
				if !errors.Is(d.Err(), c.want) || !errors.Is(child.Err(), c.want) {
					t.Errorf("%s, waited for %v: got %v and %v, want %v", name, waited, d.Err(), child.Err(), c.want)
				}
				<-d.Done()
				cancel()
				d.End()
				if !errors.Is(d.Err(), c.want) {
					t.Errorf("%s: then it was %v", name, d.Err())
				}
			})
		}
	}
}

// TestDeadlineOfAboveIsKept: a call ends when its caller's time does, if that is sooner.
func TestDeadlineOfAboveIsKept(t *testing.T) {
	above, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	want, _ := above.Deadline()
	var d deadline.Context
	d.Start(above, time.Minute)
	if at, ok := d.Deadline(); at != want || !ok {
		t.Errorf("got %v, want %v", at, want)
	}
}

// TestDetachedHasTheValuesAlone: it ends by End, and by nothing else.
func TestDetachedHasTheValuesAlone(t *testing.T) {
	type key struct{}
	for _, waited := range []bool{false, true} {
		above, cancel := context.WithTimeout(context.WithValue(t.Context(), key{}, "value"), time.Hour)
		var d deadline.Context
		d.Detach(above)
		if waited {
			_ = d.Done()
		}
		cancel()
		if _, ok := d.Deadline(); ok || d.Err() != nil || d.Value(key{}) != "value" {
			t.Errorf("waited for %v: a deadline: %v, ended: %v", waited, ok, d.Err())
		}
		d.End()
		if <-d.Done(); !errors.Is(d.Err(), context.Canceled) {
			t.Errorf("got %v", d.Err())
		}
	}
}
