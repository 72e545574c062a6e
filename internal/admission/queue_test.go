package admission_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"countersign.dev/internal/access"
	"countersign.dev/internal/admission"
	"countersign.dev/internal/fault"
)

func owner(name string) access.Owner {
	return access.Owner{Issuer: "https://issuer.test", Subject: name}
}

// worked begins the work of a person, which must be admitted at once.
func worked(t *testing.T, q *admission.Queue, name string) *admission.Work {
	t.Helper()
	w := q.Work().For(owner(name))
	if !admitted(w) {
		t.Fatalf("%s: not admitted, want a slot at once", name)
	}
	return w
}

// admitted reports whether work begins without waiting for others.
func admitted(w *admission.Work) bool {
	ctx, cancel := context.WithTimeout(context.Background(), time.Microsecond)
	defer cancel()
	return w.Begin(ctx) == nil
}

// use makes a person hold a slot for so long.
func use(t *testing.T, q *admission.Queue, name string, d time.Duration) {
	t.Helper()
	w := worked(t, q, name)
	<-time.After(d)
	w.End()
}

func TestWhoUsedLeastGoesFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := admission.New(admission.Options{Slots: 2})
		use(t, q, "heavy", 800*time.Millisecond)
		use(t, q, "middle", 400*time.Millisecond)
		use(t, q, "light", 100*time.Millisecond)
		one, two := worked(t, q, "someone"), worked(t, q, "another")
		var order []string
		for _, name := range []string{"heavy", "middle", "light"} {
			go func() {
				w := q.Work().For(owner(name))
				if err := w.Begin(t.Context()); err != nil {
					t.Error(err)
				}
				order = append(order, name)
				w.End()
			}()
			synctest.Wait()
		}
		one.End()
		synctest.Wait()
		two.End()
		synctest.Wait()
		if got := strings.Join(order, " "); got != "light middle heavy" {
			t.Errorf("got %s, want the person first who used least", got)
		}
	})
}

func TestOnesOwnRequestsStayInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := admission.New(admission.Options{Slots: 2})
		one, two := worked(t, q, "someone"), worked(t, q, "another")
		var order []int
		for i := range 3 {
			go func() {
				w := q.Work().For(owner("alice"))
				_ = w.Begin(t.Context())
				order = append(order, i)
				w.End()
			}()
			synctest.Wait()
		}
		one.End()
		synctest.Wait()
		two.End()
		if len(order) != 3 || order[0] != 0 || order[1] != 1 || order[2] != 2 {
			t.Errorf("got %v, want the order in which they came", order)
		}
	})
}

func TestLastSlotIsForPeopleBelowTheAverage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := admission.New(admission.Options{Slots: 2})
		use(t, q, "light", 10*time.Millisecond)
		use(t, q, "heavy", 500*time.Millisecond)
		first := worked(t, q, "heavy")
		if admitted(q.Work().For(owner("heavy"))) {
			t.Error("got the last slot, want it left to others")
		}
		if w := q.Work().For(owner("light")); !admitted(w) {
			t.Error("a light person was not admitted beside a heavy one")
		} else {
			w.End()
		}
		first.End()
	})
}

func TestSomeoneAloneHasEverySlot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := admission.New(admission.Options{Slots: 3})
		use(t, q, "alice", time.Second)
		for range 3 {
			defer worked(t, q, "alice").End()
		}
		if admitted(q.Work().For(owner("alice"))) {
			t.Error("got a fourth slot of three")
		}
	})
}

func TestUsageIsForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := admission.New(admission.Options{Slots: 2})
		use(t, q, "heavy", time.Second)
		<-time.After(20 * time.Second) // 20 halvings
		use(t, q, "light", 2*time.Millisecond)
		defer worked(t, q, "light").End()
		defer worked(t, q, "heavy").End() // the last slot
	})
}

func TestRequestThatWaitsTooLongIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		refused := 0
		q := admission.New(admission.Options{Slots: 2, Refused: func(string) { refused++ }})
		one, two := worked(t, q, "someone"), worked(t, q, "another")
		began := time.Now()
		var f *fault.Error
		if err := q.Work().For(owner("alice")).Admit(t.Context()); !errors.As(err, &f) || f.Code != fault.TooManyRequests || f.RetryAfter != time.Second {
			t.Errorf("got %v, want RATE_LIMITED with a time to wait", err)
		}
		if waited := time.Since(began); waited != 2*time.Second || refused != 1 {
			t.Errorf("got %d refusals after %s, want one after 2 s", refused, waited)
		}
		gone, leave := context.WithCancel(t.Context())
		leave()
		if err := q.Work().For(owner("alice")).Admit(gone); !errors.Is(err, context.Canceled) {
			t.Errorf("a client that left: got %v", err)
		}
		one.End()
		two.End()
		defer worked(t, q, "alice").End() // nothing was leaked
		defer worked(t, q, "alice").End()
	})
}

// A request can be admitted at the very moment when it gives up.
func TestAdmissionThatCameTooLateLeavesNoSlot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := admission.New(admission.Options{Slots: 2})
		for i := range 100 {
			one, two := worked(t, q, fmt.Sprint("someone", i)), worked(t, q, fmt.Sprint("another", i))
			ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
			go func() { <-time.After(time.Millisecond); one.End(); two.End() }()
			w := q.Work().For(owner("alice"))
			_ = w.Begin(ctx)
			synctest.Wait()
			w.End()
			cancel()
		}
		if !free(q) {
			t.Error("got a slot taken, want none")
		}
	})
}

func TestOnePersonsLineIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := admission.New(admission.Options{Slots: 2})
		one, two := worked(t, q, "someone"), worked(t, q, "another")
		ctx, cancel := context.WithCancel(t.Context())
		for range 100 {
			go func() { _ = q.Work().For(owner("alice")).Begin(ctx) }()
		}
		synctest.Wait()
		if err := q.Work().For(owner("alice")).Begin(ctx); !fault.Is(err, fault.TooManyRequests) {
			t.Errorf("got %v, want RATE_LIMITED at once", err)
		}
		cancel()
		synctest.Wait()
		one.End()
		two.End()
		worked(t, q, "alice").End()
	})
}

// A server of the same process may need the slot to answer: work that waits has
// none, whatever its other goroutines do.
func TestWorkThatWaitsOutsideHasNoSlot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := admission.New(admission.Options{Slots: 2})
		w := worked(t, q, "alice")
		ctx := admission.With(t.Context(), w)
		both := func() bool {
			one, two := q.Work().For(owner("bob")), q.Work().For(owner("carol"))
			defer one.End()
			defer two.End()
			return admitted(one) && admitted(two)
		}
		back, other := admission.Outside(ctx), admission.Outside(ctx)
		back()
		if !both() {
			t.Error("one of two goroutines is outside: want its slot free")
		}
		other()
		if both() {
			t.Error("both are back: want the slot taken again")
		}
		w.End()
		admission.Outside(ctx)()
		if !both() {
			t.Error("got a slot for work that has ended")
		}
	})
}

// TestBoundedCallHasADeadlineAndNoSlot: a caller's own deadline stays.
func TestBoundedCallHasADeadlineAndNoSlot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := admission.New(admission.Options{Slots: 2})
		ctx := admission.With(t.Context(), worked(t, q, "alice"))
		own, end := context.WithTimeout(ctx, time.Hour)
		defer end()
		for limit, ctx := range map[time.Duration]context.Context{time.Second: ctx, time.Hour: own} {
			call, done := admission.Bounded(ctx, time.Second)
			if got, ok := call.Deadline(); !ok || time.Until(got).Round(time.Second) != limit {
				t.Errorf("got %v, %v, want %v", time.Until(got), ok, limit)
			}
			if !free(q) {
				t.Error("a call to a store holds the slot")
			}
			if done(); free(q) {
				t.Error("the call has ended: want the slot taken again")
			}
		}
	})
}

// Many people begin, wait outside, give up and end in any order: at most as many
// work at once as there are slots, and every slot is free in the end. Times are
// whole steps, so that a request is also admitted at the moment at which it gives up.
func TestSlotsAreBoundedAndNoneLeaks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const slots = 3
		const step = 100 * time.Microsecond
		q := admission.New(admission.Options{Slots: slots})
		var working, most atomic.Int64
		var group sync.WaitGroup
		for i := range 400 {
			random := rand.New(rand.NewPCG(uint64(i), 1))
			// Never 0: a timer that has expired before it is waited for runs where it is
			// read, and the race detector of Go 1.26 crashes when two of one bubble do so
			// at once (golang.org/issue/78156).
			pause := func() { <-time.After(time.Duration(1+random.IntN(10)) * step) }
			group.Go(func() {
				ctx, cancel := context.WithTimeout(t.Context(), time.Duration(1+random.IntN(300))*step)
				defer cancel()
				w := q.Work().For(owner(string(rune('a' + i%7))))
				defer w.End()
				ctx = admission.With(ctx, w)
				pause()
				if w.Begin(ctx) != nil {
					return
				}
				most.Store(max(most.Load(), working.Add(1)))
				pause()
				working.Add(-1)
				back := admission.Outside(ctx)
				pause()
				back()
				pause()
			})
		}
		group.Wait()
		if got := most.Load(); got != slots {
			t.Errorf("got %d at once, want %d", got, slots)
		}
		for range slots {
			defer worked(t, q, "new").End()
		}
	})
}

// TestWorkThatEndsWhileItWaitsHasNoSlot: the queue admits work at the moment at
// which its request ends.
func TestWorkThatEndsWhileItWaitsHasNoSlot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := admission.New(admission.Options{Slots: 2})
		first, second := worked(t, q, "alice"), worked(t, q, "bob")
		w := q.Work().For(owner("carol"))
		begun := make(chan error)
		go func() { begun <- w.Begin(t.Context()) }()
		synctest.Wait() // it waits in the line
		w.End()
		first.End()
		<-begun
		second.End()
		for range 2 {
			defer worked(t, q, "new").End()
		}
	})
}

func TestWithoutAQueueEverythingIsAdmitted(t *testing.T) {
	var q *admission.Queue
	w := q.Work().For(owner("alice"))
	if err := errors.Join(w.Begin(t.Context()), w.Admit(t.Context())); err != nil {
		t.Error(err)
	}
	admission.Outside(t.Context())()
	w.End()
}

// serve runs one request of alice through a bracket, and returns its queue.
func serve(t *testing.T, body io.Reader, h http.HandlerFunc) (*admission.Queue, *httptest.ResponseRecorder) {
	t.Helper()
	q, answer := admission.New(admission.Options{Slots: 2}), httptest.NewRecorder()
	handler := q.Bracket(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		work := admission.From(r.Context()).For(owner("alice"))
		if err := work.Admit(r.Context()); err != nil {
			t.Error(err)
		}
		h(w, r)
	}))
	func() {
		defer func() { _ = recover() }()
		handler.ServeHTTP(answer, httptest.NewRequestWithContext(t.Context(), "POST", "/", body))
	}()
	return q, answer
}

// free reports whether all slots are.
func free(q *admission.Queue) bool {
	one, two := q.Work().For(owner("bob")), q.Work().For(owner("carol"))
	defer one.End()
	defer two.End()
	return admitted(one) && admitted(two)
}

func TestSlowBodyAndSlowReaderHoldNoSlot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		body, sender := io.Pipe()
		arrived, answered := make(chan struct{}), make(chan struct{})
		var q *admission.Queue
		ended := make(chan struct{})
		work := make(chan *admission.Work, 1)
		go func() {
			defer close(ended)
			q, _ = serve(t, body, func(w http.ResponseWriter, r *http.Request) {
				work <- admission.From(r.Context())
				_, _ = io.ReadAll(r.Body)
				<-arrived
				_, _ = w.Write([]byte("answer"))
				<-answered
			})
		}()
		w := <-work
		synctest.Wait()
		if w.Admitted() {
			t.Error("got a slot while the body arrives")
		}
		_ = sender.Close()
		synctest.Wait()
		if !w.Admitted() {
			t.Error("got no slot when the body had arrived")
		}
		close(arrived)
		synctest.Wait()
		if w.Admitted() {
			t.Error("got a slot while the answer is sent")
		}
		close(answered)
		<-ended
		if !free(q) {
			t.Error("got a slot taken after the request")
		}
	})
}

func TestPanicLeavesNoSlot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		if q, _ := serve(t, http.NoBody, func(http.ResponseWriter, *http.Request) { panic("broken") }); !free(q) {
			t.Error("got a slot taken after a panic")
		}
	})
}

func TestBytesAreCounted(t *testing.T) {
	for name, c := range map[string]struct {
		body io.Reader
		want int64
	}{
		"declared":     {strings.NewReader("12345"), 6}, // was counted before it was read
		"not declared": {struct{ io.Reader }{strings.NewReader("12345")}, 11},
	} {
		var got int64
		serve(t, c.body, func(w http.ResponseWriter, r *http.Request) {
			admission.From(r.Context()).OnEnd(func(bytes int64) { got = bytes })
			_, _ = io.ReadAll(r.Body)
			_, _ = w.Write([]byte("answer"))
		})
		if got != c.want {
			t.Errorf("%s: got %d bytes, want %d", name, got, c.want)
		}
	}
}
