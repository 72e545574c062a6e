package upstream

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"countersign.dev/internal/access"
	"countersign.dev/internal/fault"
	"countersign.dev/internal/mcpfile"
	"countersign.dev/internal/result"
)

// listedServer counts how often it is asked for its tools. A silent one never says.
type listedServer struct {
	scriptedServer
	silent bool
	asked  atomic.Int32
}

func (n *listedServer) Tools(ctx context.Context) ([]result.ToolInfo, error) {
	n.asked.Add(1)
	if n.silent {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	return n.scriptedServer.Tools(ctx)
}

// TestSilentServerIsWaitedForOnce: however often a caller lists the tools.
func TestSilentServerIsWaitedForOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u := New([]Server{{Name: "notes", Foreign: func(func()) Adapter { return &listedServer{silent: true} }}}, Options{})
		defer u.Close()
		began := time.Now()
		for range 10 {
			if set := u.Tools(caller(access.SurfaceAPI)); len(set.Down) != 1 {
				t.Fatalf("got %+v, want the server among those that are down", set)
			}
		}
		if took := time.Since(began); took != discoveryWait {
			t.Errorf("ten lists took %s, want %s", took, discoveryWait)
		}
	})
}

// panicking is an adapter that panics when it is asked for its tools.
type panicking struct{ scriptedServer }

func (*panicking) Tools(context.Context) ([]result.ToolInfo, error) { panic("no schema") }

func TestServerWhoseToolsPanicIsDownAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u := New([]Server{
			{Name: "faulty", Foreign: func(func()) Adapter { return &panicking{} }},
			{Name: "notes", Foreign: func(func()) Adapter { return &scriptedServer{} }, Rules: freely(nil)},
		}, Options{})
		defer u.Close()
		set := u.Tools(caller(access.SurfaceAPI))
		if len(set.Down) != 1 || set.Down[0].Server != "faulty" || set.Down[0].Code != fault.ServiceDown.Name || len(set.Open) != 3 {
			t.Errorf("got %+v, want the tools of notes, and faulty down", set)
		}
	})
}

// TestFloodOfChangesIsFollowedInPart: a burst at once, and the rest with one more
// list when the period has ended.
func TestFloodOfChangesIsFollowedInPart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := &listedServer{}
		var announce func()
		u := New([]Server{{Name: "notes", Foreign: func(changed func()) Adapter { announce = changed; return n }}}, Options{})
		defer u.Close()
		synctest.Wait()
		for range 1000 {
			announce()
			synctest.Wait()
		}
		if want := int32(1 + changesBurst); n.asked.Load() != want {
			t.Errorf("it was asked %d times for its tools, want %d", n.asked.Load(), want)
		}
		time.Sleep(changesPeriod)
		synctest.Wait()
		if want := int32(1 + changesBurst + 1); n.asked.Load() != want {
			t.Errorf("after the period: it was asked %d times, want %d", n.asked.Load(), want)
		}
	})
}

// TestSilentServerAnswersForItsOwnNamesAlone: what another server has, or none, is not
// said to be on it, and nothing of it is said to those who may use none of its tools.
func TestSilentServerAnswersForItsOwnNamesAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		silent := func(func()) Adapter { return &listedServer{silent: true} }
		u := New([]Server{
			{Name: "silent", Foreign: silent, Rules: freely(nil)},
			{Name: "guarded", Foreign: silent, Rules: mcpfile.Rules{Roles: []string{"guard"}}},
			{Name: "other", Foreign: silent, Rules: mcpfile.Rules{Roles: []string{"employee"}}},
			{Name: "notes", Foreign: func(func()) Adapter { return &scriptedServer{} }, Rules: freely(nil)},
		}, Options{Audit: &memorySink{}})
		defer u.Close()
		for name, want := range map[string]string{
			"nope": "", "hr.list": "", "notes.nope": "", "silently.read": "", "guarded.read": "", "silent.read": "silent", "other.add": "other",
		} {
			f, code := u.Call(caller(access.SurfaceAPI), name, nil).Fault(), fault.UnknownTool.Name
			if want != "" {
				code = fault.ServiceDown.Name
			}
			if f == nil || f.Code.Name != code || want != "" && f.Details["server"] != want {
				t.Errorf("%s: got %v, want %s of %q", name, f, code, want)
			}
		}
		if o := u.Call(caller(access.SurfaceAPI), "notes.read", nil); o.Fault() != nil {
			t.Errorf("notes.read: got %v", o.Fault())
		}
	})
}
