package mcpsession

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// pool is a pool of sessions with a server in memory, and a hand-set clock.
func pool(t *testing.T, change ...func(*mcp.Server)) (p *Pool, now *time.Time) {
	now = new(time.Now())
	server := mcp.NewServer(&mcp.Implementation{Name: "memory", Version: "1"}, nil)
	for _, c := range change {
		c(server)
	}
	client := NewClient(nil)
	p = NewPool(Options{Client: client, Now: func() time.Time { return *now }, Connect: func(ctx context.Context) (*mcp.ClientSession, error) {
		ours, theirs := mcp.NewInMemoryTransports()
		if _, err := server.Connect(context.WithoutCancel(ctx), theirs, nil); err != nil {
			return nil, err
		}
		return client.Connect(context.WithoutCancel(ctx), ours, nil)
	}})
	t.Cleanup(p.Close)
	return p, now
}

// TestReasonOfACancelledCallIsPlain: what it gets is no text of the program.
func TestReasonOfACancelledCallIsPlain(t *testing.T) {
	began, reasons := make(chan struct{}), make(chan string, 1)
	s, _ := pool(t, func(server *mcp.Server) {
		server.AddTool(&mcp.Tool{Name: "wait", InputSchema: json.RawMessage(`{"type":"object"}`)}, func(ctx context.Context, _ *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			close(began)
			<-ctx.Done()
			return nil, ctx.Err()
		})
		server.AddReceivingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler {
			return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
				if params, ok := req.GetParams().(*mcp.CancelledParams); ok {
					reasons <- params.Reason
				}
				return next(ctx, method, req)
			}
		})
	})
	ctx, leave := context.WithCancel(t.Context())
	go func() { <-began; leave() }()
	if _, err := s.Call(ctx, "alice", "wait", nil); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want it cancelled", err)
	}
	if got := <-reasons; got != "The caller no longer waits for the answer." {
		t.Errorf("the server got %q", got)
	}
}

func TestCallThatWasNotSentSaysWhyInOneLine(t *testing.T) {
	err := NotSent(errors.Join(context.DeadlineExceeded, errors.New("dialing")))
	if !errors.Is(err, ErrNotSent) || !errors.Is(err, context.DeadlineExceeded) || err.Error() != "the call was not sent: context deadline exceeded: dialing" {
		t.Errorf("got %v", err)
	}
}

func TestIdleSessionsAreClosedAndBusyOnesAreNot(t *testing.T) {
	s, now := pool(t)
	idle, _, err := s.acquire(context.Background(), "idle")
	if err != nil {
		t.Fatal(err)
	}
	s.release(idle, true)
	busy, _, err := s.acquire(context.Background(), "busy")
	if err != nil {
		t.Fatal(err)
	}
	*now = now.Add(DefaultIdle + time.Second)
	s.closeIdle()
	if got := s.count(); got != 1 {
		t.Errorf("got %d sessions, want the busy one", got)
	}
	if err := busy.Ping(context.Background(), nil); err != nil {
		t.Errorf("the busy one: %v", err)
	}
	s.release(busy, true)
}

func TestDeadSessionIsReplacedWhenItsLastUserLeaves(t *testing.T) {
	s, _ := pool(t)
	one, _, _ := s.acquire(context.Background(), "alice")
	same, _, _ := s.acquire(context.Background(), "alice")
	if one != same {
		t.Fatal("got two sessions for one person")
	}
	s.release(one, false)
	other, fresh, err := s.acquire(context.Background(), "alice")
	if err != nil || other == one || !fresh {
		t.Errorf("got the dead session again (%v)", err)
	}
	if err := same.Ping(context.Background(), nil); err != nil {
		t.Errorf("its other user was cut off: %v", err)
	}
	s.release(same, false)
	s.release(other, true)
}

func TestSessionsAreBounded(t *testing.T) {
	s, now := pool(t)
	var opening sync.WaitGroup
	for i := range DefaultMax {
		opening.Go(func() {
			c, _, err := s.acquire(context.Background(), fmt.Sprint(i))
			if err != nil {
				t.Error(err)
				return
			}
			s.release(c, true)
		})
	}
	opening.Wait()
	*now = now.Add(time.Second)
	held, _, err := s.acquire(context.Background(), "one more")
	if err != nil {
		t.Fatal(err)
	}
	if got := s.count(); got != DefaultMax {
		t.Errorf("got %d sessions, want at most %d", got, DefaultMax)
	}
	for _, c := range s.open {
		c.users++ // all busy
	}
	if _, _, err := s.acquire(context.Background(), "too many"); !errors.Is(err, ErrBusy) {
		t.Errorf("got %v, want busy", err)
	}
	for _, c := range s.open {
		c.users--
	}
	s.release(held, true)
}

func (p *Pool) count() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.open)
}
