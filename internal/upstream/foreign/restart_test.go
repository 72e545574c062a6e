package foreign

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
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

// broken starts a program that ends at once.
type broken struct{ starts *int }

func (b broken) Transport() mcp.Transport { return b }
func (broken) Traced() bool               { return false }

func (b broken) Connect(context.Context) (mcp.Connection, error) {
	*b.starts++
	return nil, errors.New("it has ended")
}

// TestABrokenProcessIsNotStartedForEachCaller: callers do not start it more often than
// its waits allow.
func TestABrokenProcessIsNotStartedForEachCaller(t *testing.T) {
	now, starts := time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC), 0
	s := New(Options{Name: "notes", Connection: broken{&starts}})
	defer s.Close()
	s.starts.now = func() time.Time { return now }
	for _, want := range []int{2, 3} {
		for range 10 {
			if _, err := s.Tools(t.Context()); err == nil {
				t.Fatal("a process that ended has tools")
			}
		}
		if starts != want {
			t.Errorf("it was started %d times for many callers, want %d", starts, want)
		}
		now = now.Add(restartFirst)
	}
}
