package conversation

import (
	"context"
	"errors"
	"net"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/alicebob/miniredis/v2"

	"countersign.dev/internal/access"
	"countersign.dev/internal/conversation/sealed"
	"countersign.dev/internal/fault"
	"countersign.dev/internal/state"
	"countersign.dev/internal/testkit"
)

// ways are the two ways to follow a log. stop returns when yield is no longer called.
var ways = map[string]func(s *Service, ctx context.Context, l Log, after string, yield func(Event, error) bool) (stop func()){
	"Follow": func(s *Service, ctx context.Context, l Log, after string, yield func(Event, error) bool) func() {
		ctx, cancel := context.WithCancel(ctx)
		ended := make(chan struct{})
		go func() { defer close(ended); s.Follow(ctx, l, after)(yield) }()
		return func() { cancel(); <-ended }
	},
	"FollowFunc": (*Service).FollowFunc,
}

// following is a log with a reader, on a Redis in this process and a clock of its own.
type following struct {
	*testing.T
	s    *Service
	mini *miniredis.Miniredis
	log  Log
	way  func(s *Service, ctx context.Context, l Log, after string, yield func(Event, error) bool) (stop func())
}

// eachWay runs a test once for each way to follow a log that keeps so many events.
func eachWay(t *testing.T, kept int, test func(following)) {
	t.Helper()
	for name, way := range ways {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				mini := miniredis.NewMiniRedis()
				redis, err := state.Open(t.Context(), "redis://in-process", &state.Options{
					Dial: func(context.Context, string, string) (net.Conn, error) { return mini.Dial() }, Entries: kept,
				})
				if err != nil {
					t.Fatal(err)
				}
				s, err := New(Options{Models: script{}, Toolbox: toolbox(nil), Redis: redis, Ring: ring(t, "k")})
				if err != nil {
					t.Fatal(err)
				}
				test(following{T: t, s: s, mini: mini, log: logOfAnn("c1"), way: way})
				if err := errors.Join(s.Shutdown(context.Background()), redis.Close()); err != nil {
					t.Error(err)
				}
				mini.Close()
			})
		})
	}
}

// logOfAnn is the log of a conversation of ann.
func logOfAnn(id string) Log {
	return Conversation{ID: id, Owner: testkit.Person("ann", access.Employee).Owner()}.Log()
}

// read calls yield for the events of the log after an id.
func (f following) read(ctx context.Context, after string, yield func(Event, error) bool) (stop func()) {
	return f.way(f.s, ctx, f.log, after, yield)
}

// add appends events of a type to the log.
func (f following) add(n int, kind Type) {
	f.Helper()
	for range n {
		if _, err := f.s.turns.events.append(f.Context(), f.log, Event{Type: kind}); err != nil {
			f.Fatal(err)
		}
	}
}

// reader keeps what it gets: the numbers of events, and the code of the error.
type reader struct {
	*testing.T
	mu   sync.Mutex
	got  []string
	err  error
	stop func()
}

// begin follows the log after an id.
func (f following) begin(ctx context.Context, after string) *reader {
	r := &reader{T: f.T}
	r.stop = f.read(ctx, after, func(e Event, err error) bool {
		r.mu.Lock()
		defer r.mu.Unlock()
		if r.err != nil {
			f.Errorf("got %v, %v after the end", e, err)
		}
		if r.err = err; err == nil {
			number, _, _ := strings.Cut(e.ID, "-")
			r.got = append(r.got, number)
		}
		return true
	})
	return r
}

// has waits until everything waits, and compares what the reader got.
func (r *reader) has(want string) {
	r.Helper()
	synctest.Wait()
	r.mu.Lock()
	defer r.mu.Unlock()
	if got := strings.Join(r.got, " "); got != want {
		r.Errorf("got events %q (%v), want %q", got, r.err, want)
	}
}

// ends waits until everything waits, and wants that the reading has ended with a fault.
func (r *reader) ends(code *fault.Code) {
	r.Helper()
	synctest.Wait()
	r.mu.Lock()
	defer r.mu.Unlock()
	if !fault.Is(r.err, code) {
		r.Errorf("the end: got %v, want %s", r.err, code.Name)
	}
}

func TestReaderGetsEveryEventAfterItsIdOnce(t *testing.T) {
	eachWay(t, 10, func(f following) {
		f.add(3, Text)
		all, rest, next := f.begin(f.Context(), beginning), f.begin(f.Context(), "2-0"), f.begin(f.Context(), "3-0")
		all.has("1 2 3")
		rest.has("3")
		next.has("")
		f.add(2, Text)
		f.add(1, Done)
		all.has("1 2 3 4 5 6")
		rest.has("3 4 5 6")
		next.has("4 5 6")
		time.Sleep(time.Hour) // it looks from time to time, and finds nothing
		f.add(1, Answered)
		next.has("4 5 6 7")
		for _, r := range []*reader{all, rest, next} {
			if r.stop(); r.err != nil && !errors.Is(r.err, context.Canceled) {
				f.Errorf("the end: %v", r.err)
			}
		}
		f.add(1, Text)
		all.has("1 2 3 4 5 6 7")
		rest.has("3 4 5 6 7")
	})
}

// TestReaderGetsMoreThanOneReading at once: a log of more events than one read of it returns.
func TestReaderGetsMoreThanOneReading(t *testing.T) {
	t.Parallel()
	eachWay(t, 3*readAhead, func(f following) {
		f.add(2*readAhead+3, Text)
		r := f.begin(f.Context(), beginning)
		if synctest.Wait(); len(r.got) != 2*readAhead+3 {
			f.Errorf("got %d events, want %d", len(r.got), 2*readAhead+3)
		}
		r.stop()
	})
}

// TestGapEndsAReader: the event after which to read was never there, or has been trimmed.
func TestGapEndsAReader(t *testing.T) {
	eachWay(t, 10, func(f following) {
		f.add(12, Text)
		for _, after := range []string{"99-0", "3-1", "2-0"} {
			r := f.begin(f.Context(), after)
			r.ends(eventsGone)
			r.has("")
			r.stop()
		}
		r := f.begin(f.Context(), "3-0")
		r.has("4 5 6 7 8 9 10 11 12")
		r.stop()
	})
}

// TestTrimmedLogEndsASlowReader: events that were trimmed while it took the one before
// are not passed over in silence.
func TestTrimmedLogEndsASlowReader(t *testing.T) {
	eachWay(t, 10, func(f following) {
		f.add(1, Text)
		taken, r := make(chan struct{}), &reader{T: f.T}
		stop := f.read(f.Context(), beginning, func(e Event, err error) bool {
			if r.err = err; err == nil {
				r.got = append(r.got, e.ID)
				<-taken
			}
			return true
		})
		r.has("1-0")
		f.add(12, Text)
		close(taken)
		r.ends(eventsGone)
		r.has("1-0")
		stop()
	})
}

// TestEndOfARightEndsItsReader, at once and with its reason, however seldom it looks.
func TestEndOfARightEndsItsReader(t *testing.T) {
	eachWay(t, 10, func(f following) {
		f.add(1, Done)
		right, end := context.WithCancelCause(f.Context())
		r, other := f.begin(right, beginning), f.begin(f.Context(), beginning)
		time.Sleep(2 * lookTime)
		r.has("1")
		began := time.Now()
		end(fault.Unauthorized.New("The sign-in has expired."))
		r.ends(fault.Unauthorized)
		f.add(1, Text)
		r.has("1")
		other.has("1 2")
		if took := time.Since(began); took != 0 {
			f.Errorf("it took %v", took)
		}
		r.stop()
		other.stop()
	})
}

// TestShutdownEndsReaders, at once: also those of a person's log, and after the end of a
// turn, which look seldom.
func TestShutdownEndsReaders(t *testing.T) {
	eachWay(t, 10, func(f following) {
		f.add(1, Done)
		r := f.begin(f.Context(), beginning)
		f.log = PersonLog(access.Owner{Issuer: "i", Subject: "ann"})
		person := f.begin(f.Context(), beginning)
		time.Sleep(2 * lookTime)
		began := time.Now()
		if err := f.s.Shutdown(f.Context()); err != nil {
			f.Fatal(err)
		}
		r.ends(fault.ServiceDown)
		person.ends(fault.ServiceDown)
		if late := f.begin(f.Context(), beginning); true {
			late.ends(fault.ServiceDown)
			late.stop()
		}
		if took := time.Since(began); took != 0 {
			f.Errorf("it took %v", took)
		}
		r.stop()
		person.stop()
	})
}

// TestReaderThatLeavesIsNotCalledAgain: neither when it leaves of itself nor when it is
// stopped.
func TestReaderThatLeavesIsNotCalledAgain(t *testing.T) {
	eachWay(t, 10, func(f following) {
		calls := 0
		stop := f.read(f.Context(), beginning, func(Event, error) bool { calls++; return calls < 2 })
		f.add(3, Text)
		synctest.Wait()
		time.Sleep(time.Minute)
		f.add(1, Text)
		if synctest.Wait(); calls != 2 {
			f.Errorf("called %d times, want 2", calls)
		}
		stop()
		if synctest.Wait(); calls != 2 {
			f.Errorf("called %d times, want 2", calls)
		}
	})
}

// TestStoppedReaderIsNotCalled, also when it was about to be woken.
func TestStoppedReaderIsNotCalled(t *testing.T) {
	eachWay(t, 10, func(f following) {
		for range 20 {
			ctx, cancel := context.WithCancel(f.Context())
			calls := 0
			stop := f.read(ctx, beginning, func(Event, error) bool { calls++; return true })
			synctest.Wait()
			cancel()
			stop()
			before := calls
			if synctest.Wait(); calls != before {
				f.Fatal("called after it was stopped")
			}
		}
	})
}

// TestIdleReaderLooksSeldom: every 15 s.
func TestIdleReaderLooksSeldom(t *testing.T) {
	eachWay(t, 10, func(f following) {
		logs := &countingLog{ByteLog: f.s.turns.events.logs.ByteLog}
		f.s.turns.events.logs.ByteLog = logs
		f.add(1, Done)
		r := f.begin(f.Context(), beginning)
		r.has("1")
		logs.reads.Store(0)
		time.Sleep(time.Hour + time.Second)
		if got := logs.reads.Load(); got != int64(time.Hour/idleTime) {
			f.Errorf("read the log %d times in an hour, want %d", got, time.Hour/idleTime)
		}
		if r.stop(); logs.watches.Load() != 0 {
			f.Error("the log is still watched for a reader that was stopped")
		}
	})
}

// TestWakeUpsOfEventsThatWereReadCostNothing: notices that come after their events were
// read, one by one and out of order. One that names no event is looked after.
func TestWakeUpsOfEventsThatWereReadCostNothing(t *testing.T) {
	eachWay(t, 10, func(f following) {
		logs := &countingLog{ByteLog: f.s.turns.events.logs.ByteLog, late: true}
		f.s.turns.events.logs.ByteLog = logs
		f.add(5, Text)
		r := f.begin(f.Context(), beginning)
		r.has("1 2 3 4 5")
		logs.reads.Store(0)
		for _, id := range []string{"1-0", "3-0", "2-0", "5-0", "4-0"} {
			logs.wake(id)
			synctest.Wait()
		}
		if got := logs.reads.Load(); got != 0 {
			f.Errorf("events that were read were looked for %d times", got)
		}
		logs.wake("")
		synctest.Wait()
		if got := logs.reads.Load(); got != 1 {
			f.Errorf("after another change the log was read %d times, want once", got)
		}
		f.add(1, Text)
		logs.wake("6-0")
		logs.wake("2-0") // late, and takes nothing away
		r.has("1 2 3 4 5 6")
		r.stop()
	})
}

// TestIdleReadersHaveNoGoroutine with FollowFunc.
func TestIdleReadersHaveNoGoroutine(t *testing.T) {
	eachWay(t, 10, func(f following) {
		f.add(1, Done)
		f.begin(f.Context(), beginning).stop() // has the subscription begin
		synctest.Wait()
		before := runtime.NumGoroutine()
		var all []*reader
		for range 100 {
			r := f.begin(f.Context(), beginning)
			r.has("1") // one after the other, so that they share a connection
			all = append(all, r)
		}
		if more := runtime.NumGoroutine() - before; strings.HasSuffix(f.Name(), "FollowFunc") && more > 10 {
			f.Errorf("100 idle readers have %d goroutines", more)
		}
		for _, r := range all {
			r.stop()
		}
	})
}

// countingLog counts how often logs are read, and who watches them.
type countingLog struct {
	sealed.ByteLog
	reads, watches atomic.Int64

	late bool // notices are held back: the test sends them
	wake func(id string)
}

func (c *countingLog) Watch(log string, wake func(string)) func() {
	c.watches.Add(1)
	if c.late {
		c.wake = wake
		return func() { c.watches.Add(-1) }
	}
	leave := c.ByteLog.Watch(log, wake)
	return func() { c.watches.Add(-1); leave() }
}

func (c *countingLog) ReadAfter(ctx context.Context, log, after string, max int) ([]state.Entry, error) {
	c.reads.Add(1)
	return c.ByteLog.ReadAfter(ctx, log, after, max)
}
