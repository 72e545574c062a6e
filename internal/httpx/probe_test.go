package httpx_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"countersign.dev/internal/httpx"
)

func TestProbeRunsOneCheckForAllCallers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var checks, fresh atomic.Int32
		down := errors.New("down")
		p := httpx.Probe{Check: func(ctx context.Context) error {
			checks.Add(1)
			time.Sleep(time.Second) // of the bubble's clock: a slow store
			return errors.Join(down, ctx.Err())
		}}
		ask := func() {
			was, err := p.Ask(t.Context())
			if was {
				fresh.Add(1)
			}
			if !errors.Is(err, down) {
				t.Errorf("got %v, want the result of the check", err)
			}
		}
		var callers sync.WaitGroup
		for range 100 {
			callers.Go(ask)
		}
		callers.Wait()
		if checks.Load() != 1 || fresh.Load() != 1 {
			t.Errorf("100 callers: got %d checks, %d fresh, want 1 and 1", checks.Load(), fresh.Load())
		}
		time.Sleep(5*time.Second - 1)
		if ask(); checks.Load() != 1 {
			t.Errorf("within 5 s: got %d checks, want 1", checks.Load())
		}
		time.Sleep(time.Nanosecond)
		if ask(); checks.Load() != 2 {
			t.Errorf("after 5 s: got %d checks, want 2", checks.Load())
		}
	})
}

func TestCallerWhoLeavesDoesNotEndTheCheck(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := httpx.Probe{Check: func(ctx context.Context) error {
			time.Sleep(3 * time.Second)
			return ctx.Err()
		}}
		left, leave := context.WithTimeout(t.Context(), time.Second)
		defer leave()
		go func() { _, _ = p.Ask(left) }() // runs the check
		synctest.Wait()
		if _, err := p.Ask(left); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a caller who waits no longer: got %v", err)
		}
		if fresh, err := p.Ask(t.Context()); fresh || err != nil {
			t.Errorf("got fresh %v, %v, want the result of the check that others began", fresh, err)
		}
	})
}
