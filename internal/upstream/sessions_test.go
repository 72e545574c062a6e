package upstream

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"countersign.dev/internal/access"
)

// pool is a pool of sessions with a server in memory, and a hand-set clock.
func pool(t *testing.T) (s *sessions, now *time.Time) {
	now = new(time.Now())
	u := New(nil, Options{Now: func() time.Time { return *now }})
	server := mcp.NewServer(&mcp.Implementation{Name: "memory", Version: "1"}, nil)
	client := mcp.NewClient(&mcp.Implementation{Name: "pool", Version: "1"}, nil)
	s = newSessions(u, func(ctx context.Context) (*mcp.ClientSession, error) {
		ours, theirs := mcp.NewInMemoryTransports()
		if _, err := server.Connect(context.WithoutCancel(ctx), theirs, nil); err != nil {
			return nil, err
		}
		return client.Connect(context.WithoutCancel(ctx), ours, nil)
	})
	t.Cleanup(func() { u.Close(); s.closeAll() })
	return s, now
}

func caller(name string) context.Context {
	return access.With(context.Background(), access.NewPrincipal(access.Claims{Issuer: "i", Subject: name}))
}

func TestIdleSessionsAreClosedAndBusyOnesAreNot(t *testing.T) {
	s, now := pool(t)
	idle, _, err := s.take(caller("idle"))
	if err != nil {
		t.Fatal(err)
	}
	s.give(idle, true)
	busy, _, err := s.take(caller("busy"))
	if err != nil {
		t.Fatal(err)
	}
	*now = now.Add(idleSession + time.Second)
	s.closeIdle(now.Add(-idleSession))
	if got := s.count(); got != 1 {
		t.Errorf("got %d sessions, want the busy one", got)
	}
	if err := busy.Ping(context.Background(), nil); err != nil {
		t.Errorf("the busy one: %v", err)
	}
	s.give(busy, true)
}

func TestDeadSessionIsReplacedWhenItsLastUserLeaves(t *testing.T) {
	s, _ := pool(t)
	one, _, _ := s.take(caller("alice"))
	same, _, _ := s.take(caller("alice"))
	if one != same {
		t.Fatal("got two sessions for one person")
	}
	s.give(one, false)
	other, fresh, err := s.take(caller("alice"))
	if err != nil || other == one || !fresh {
		t.Errorf("got the dead session again (%v)", err)
	}
	if err := same.Ping(context.Background(), nil); err != nil {
		t.Errorf("its other user was cut off: %v", err)
	}
	s.give(same, false)
	s.give(other, true)
}

func TestSessionsAreBounded(t *testing.T) {
	s, now := pool(t)
	var opening sync.WaitGroup
	for i := range maxSessions {
		opening.Go(func() {
			c, _, err := s.take(caller(fmt.Sprint(i)))
			if err != nil {
				t.Error(err)
				return
			}
			s.give(c, true)
		})
	}
	opening.Wait()
	*now = now.Add(time.Second)
	held, _, err := s.take(caller("one more"))
	if err != nil {
		t.Fatal(err)
	}
	if got := s.count(); got != maxSessions {
		t.Errorf("got %d sessions, want at most %d", got, maxSessions)
	}
	for _, c := range s.open {
		c.users++ // all busy
	}
	if _, _, err := s.take(caller("too many")); !errors.Is(err, errBusy) {
		t.Errorf("got %v, want busy", err)
	}
	for _, c := range s.open {
		c.users--
	}
	s.give(held, true)
}

func TestBreakerLetsOneProbeThrough(t *testing.T) {
	var b breaker
	now := time.Now()
	for range breakerFailures {
		if !b.admit(now) {
			t.Fatal("open before its time")
		}
		b.judge(now, failing)
	}
	if b.admit(now) || b.closed() {
		t.Error("still closed after failures in a row")
	}
	now = now.Add(breakerPause)
	if !b.admit(now) || b.admit(now) {
		t.Error("want exactly one probe")
	}
	b.judge(now, unjudged) // the probe's caller left: the next one decides
	if !b.admit(now) {
		t.Error("no second probe")
	}
	b.judge(now, failing)
	if b.admit(now) {
		t.Error("a failed probe must open it again")
	}
	now = now.Add(breakerPause)
	b.admit(now)
	b.judge(now, there)
	if !b.closed() || !b.admit(now) || !b.admit(now) {
		t.Error("a good probe must close it")
	}
}
