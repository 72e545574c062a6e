package conversation

import (
	"context"
	"errors"
	"runtime"
	"strconv"
	"testing"
	"time"

	"countersign.dev/internal/fault"
	"countersign.dev/internal/testkit"
)

// promptly is less than the time after which a delivery looks of itself.
const promptly = idleTime - 2*time.Second

// told is what a delivery said last.
type told struct {
	e   Event
	err error
}

// delivered begins a delivery whose reader takes each event from a channel.
func delivered(ctx context.Context, t *testing.T, s *Service, l Log) (*Delivery, <-chan told) {
	t.Helper()
	all := make(chan told)
	stopped := make(chan struct{})
	d := s.Deliver(ctx, l, beginning, func(e Event, err error) bool {
		select {
		case all <- told{e, err}:
			return true
		case <-stopped:
			return false
		}
	})
	t.Cleanup(func() { close(stopped); d.Stop() })
	return d, all
}

func expect(t *testing.T, all <-chan told, what string, within time.Duration) told {
	t.Helper()
	select {
	case one := <-all:
		return one
	case <-time.After(within):
		t.Fatalf("%s: nothing was delivered", what)
	}
	return told{}
}

// rests waits until a delivery has no goroutine.
func rests(t *testing.T, d *Delivery) {
	t.Helper()
	for until := time.Now().Add(testkit.Patience); time.Now().Before(until); runtime.Gosched() {
		d.mu.Lock()
		awake := d.awake
		d.mu.Unlock()
		if !awake {
			return
		}
	}
	t.Fatal("the delivery does not rest")
}

// TestDeliveryHasEveryEventOnceAndNoGoroutineBetween writes events while the delivery
// rests, and while it hands over the one before.
func TestDeliveryHasEveryEventOnceAndNoGoroutineBetween(t *testing.T) {
	s, _ := newService(t, script{}, nil)
	l := logOf("c1")
	d, all := delivered(t.Context(), t, s, l)
	write := func() {
		if _, err := s.turns.events.append(t.Context(), l, Event{Type: Done}); err != nil { // after an end it looks seldom
			t.Fatal(err)
		}
	}
	for n := 1; n < 30; n += 2 {
		write()
		write()
		for seq := n; seq < n+2; seq++ {
			if got := expect(t, all, strconv.Itoa(seq), promptly); got.err != nil || got.e.ID != strconv.Itoa(seq)+"-0" {
				t.Fatalf("got %s (%v), want %d", got.e.ID, got.err, seq)
			}
		}
		if n%4 == 1 {
			rests(t, d)
		}
	}
	d.Stop()
	write()
	if d.wake(false); d.awake {
		t.Error("a delivery that was stopped reads")
	}
}

// TestDeliveryFindsATurnThatWasCutOff: its replica has died, and a reader has to write its end.
func TestDeliveryFindsATurnThatWasCutOff(t *testing.T) {
	s, _ := newService(t, script{}, nil)
	l := logOf("c1")
	if _, err := s.turns.events.append(t.Context(), l, Event{Type: Started}); err != nil {
		t.Fatal(err)
	}
	if err := s.turns.recovery.keys.Set(t.Context(), openKey("c1"), beginning, eventTTL); err != nil {
		t.Fatal(err)
	}
	_, all := delivered(t.Context(), t, s, l)
	for _, want := range []Type{Started, Failed, Stopped, Done} {
		if got := expect(t, all, string(want), testkit.Patience); got.e.Type != want {
			t.Fatalf("got %+v, want %s", got, want)
		}
	}
}

func TestDeliveryEndsWithItsReaderAndTheService(t *testing.T) {
	s, _ := newService(t, script{}, nil)
	l := logOf("c1")
	if _, err := s.turns.events.append(t.Context(), l, Event{Type: Done}); err != nil {
		t.Fatal(err)
	}
	ctx, leave := context.WithCancel(t.Context())
	left, ofLeft := delivered(ctx, t, s, l)
	stays, ofStays := delivered(t.Context(), t, s, l)
	expect(t, ofLeft, "the event", promptly)
	expect(t, ofStays, "the event", promptly)
	rests(t, left)
	rests(t, stays)
	leave()
	if got := expect(t, ofLeft, "the end of a reader", promptly); !errors.Is(got.err, context.Canceled) {
		t.Errorf("a reader that left: got %+v", got)
	}
	if err := s.Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := expect(t, ofStays, "the end of the service", promptly); fault.From(got.err).Kind() != fault.Unavailable {
		t.Errorf("the service ends: got %+v", got)
	}
}

// TestFollowAndDeliveryAreTheSame: both give a log's events after an id, and end with
// the service, whose end they say.
func TestFollowAndDeliveryAreTheSame(t *testing.T) {
	s, _ := newService(t, script{}, nil)
	l := logOf("c1")
	for _, e := range []Event{{Type: Started}, {Type: Text, Text: "one"}, {Type: Done}} {
		if _, err := s.turns.events.append(t.Context(), l, e); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), testkit.Patience/4)
	defer cancel()
	_, all := delivered(ctx, t, s, l)
	seen := 0
	for e, err := range s.Follow(ctx, l, beginning) {
		other := expect(t, all, "what Follow has", testkit.Patience)
		if e.ID != other.e.ID || e.Type != other.e.Type || e.Text != other.e.Text || (err == nil) != (other.err == nil) {
			t.Fatalf("Follow has %+v (%v), the delivery %+v", e, err, other)
		}
		if err != nil {
			if fault.From(err).Kind() != fault.Unavailable || ctx.Err() != nil {
				t.Errorf("got %v (the reader: %v), want that the service ends", err, ctx.Err())
			}
			return
		}
		if seen++; seen == 3 {
			if err := s.Shutdown(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
	}
	t.Errorf("Follow ended without an error after %d events", seen)
}
