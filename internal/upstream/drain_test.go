package upstream

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"countersign.dev/internal/access"
)

// leaving is a server that says when its connection was closed.
type leaving struct {
	scriptedServer
	closed atomic.Bool
}

func (l *leaving) Close() { l.closed.Store(true) }

// TestCallUnderWayOutlastsTheRemovalOfItsServer: the connection is closed when the call
// has its answer, and no other call is sent.
func TestCallUnderWayOutlastsTheRemovalOfItsServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &leaving{scriptedServer: scriptedServer{took: time.Second}}
		u := New([]Server{{Name: "notes", Timeout: 5 * time.Second, WriteTimeout: 5 * time.Second, Foreign: func(func()) Adapter { return s }, Rules: freely(nil)}}, Options{Audit: &memorySink{}})
		defer u.Close()
		failed := make(chan error, 1)
		go func() {
			o := u.Call(caller(access.SurfaceAPI), "notes.read", nil)
			if f := o.Fault(); f != nil {
				failed <- f
				return
			}
			failed <- nil
		}()
		synctest.Wait()
		if len(s.sent) != 1 {
			t.Fatalf("%d calls are under way", len(s.sent))
		}
		Foreign{Upstream: u}.Replace(nil)
		synctest.Wait()
		if s.closed.Load() {
			t.Error("the connection was closed under the call")
		}
		if o := u.Call(caller(access.SurfaceAPI), "notes.read", nil); o.Fault() == nil || o.Fault().Code.Name != "UNKNOWN_TOOL" {
			t.Errorf("a call after the removal: got %v", o.Fault())
		}
		if err := <-failed; err != nil {
			t.Errorf("the call under way: %v", err)
		}
		synctest.Wait()
		if !s.closed.Load() || len(s.sent) != 1 {
			t.Errorf("closed is %v after %d calls, want the connection closed after one", s.closed.Load(), len(s.sent))
		}
	})
}
