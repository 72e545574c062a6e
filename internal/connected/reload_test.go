package connected_test

import (
	"bytes"
	"context"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"countersign.dev/internal/agent"
	"countersign.dev/internal/testkit"
	"countersign.dev/internal/upstream"
)

// The file is read again while the host runs: servers come, go and change their
// rules, and one that stays keeps its process and its calls.
func TestReloadKeepsWhatStays(t *testing.T) {
	r := serversOf(t, map[string]string{"stays": fakeServer("counts"), "goes": fakeServer("good")})
	reader := testkit.As(t, "rita", "reader")
	r.await(t, reader, "both", func(set agent.Toolset) bool { return len(set.Open) == 2 })
	before := r.Call(reader, "stays.work", nil)
	writeFile(t, r.folder, map[string]string{"stays": fakeServer("counts", `"rename": {"work": "labour"}`), "comes": fakeServer("good")})
	if err := r.set.Reload(r); err != nil {
		t.Fatal(err)
	}
	set := r.await(t, reader, "the new one, and the new name", func(set agent.Toolset) bool { return has("comes.work")(set) && has("stays.labour")(set) })
	if len(set.Open) != 2 {
		t.Errorf("got %v", names(set))
	}
	if o := r.Call(reader, "stays.labour", nil); o.Fault() != nil || string(o.Data()) != string(before.Data()) || len(o.Data()) == 0 {
		t.Errorf("the renamed tool: %v; got %s, before %s, want the same process and session", o.Fault(), o.Data(), before.Data())
	}
	if o := r.Call(reader, "goes.work", nil); o.Fault() == nil || o.Fault().Code.Name != "UNKNOWN_TOOL" {
		t.Errorf("the removed server: got %v", o.Fault())
	}
}

func TestAFileThatIsNotValidChangesNothing(t *testing.T) {
	r := serversOf(t, map[string]string{"stays": fakeServer("good")})
	reader := testkit.As(t, "rita", "reader")
	r.await(t, reader, "its tool", has("stays.work"))
	writeFile(t, r.folder, map[string]string{"hr": fakeServer("good")})
	if err := r.set.Reload(r); err == nil || !strings.Contains(err.Error(), "line 1") {
		t.Errorf("got %v", err)
	}
	if o := r.Call(reader, "stays.work", nil); o.Fault() != nil {
		t.Error(o.Fault())
	}
}

// An operator accepts what changed, with another process than the one that holds
// it back.
func TestAcceptReleasesAHeldTool(t *testing.T) {
	r := serversOf(t, map[string]string{"good": fakeServer("good")})
	reader := testkit.As(t, "rita", "reader")
	r.await(t, reader, "its tool", has("good.work"))
	lock := r.set.Lock().Path()
	text, err := os.ReadFile(lock)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(lock, bytes.Replace(text, []byte("Works."), []byte("Worked once."), 1), 0o600); err != nil {
		t.Fatal(err)
	}
	r.Recheck()
	r.await(t, reader, "no tool", func(set agent.Toolset) bool { return len(set.Open) == 0 && len(set.Down) == 0 })
	var out bytes.Buffer
	if err := r.set.Accept(t.Context(), "good.work", &out); err != nil {
		t.Fatal(err)
	}
	if said := out.String(); !strings.Contains(said, `-   "description": "Worked once."`) || !strings.Contains(said, "good.work was accepted") {
		t.Errorf("it printed\n%s", said)
	}
	r.Recheck()
	r.await(t, reader, "its tool again", has("good.work"))
	for name, want := range map[string]string{"good.nothing": "has no tool", "other.work": "the file has no server"} {
		if err := r.set.Accept(t.Context(), name, &out); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

// host counts how often its servers were replaced.
type host struct{ replaced, rechecked chan struct{} }

func (h host) Replace([]upstream.Server) { h.replaced <- struct{}{} }

func (h host) Recheck() { h.rechecked <- struct{}{} }

// TestTheFilesAreWatched: a file or a lock that changes is read again, and both on SIGHUP.
func TestTheFilesAreWatched(t *testing.T) {
	folder := t.TempDir()
	writeFile(t, folder, map[string]string{"good": fakeServer("good")})
	set := open(t, folder, slog.New(slog.DiscardHandler))
	hangups := make(chan os.Signal, 1) // so that the signal ends no process that does not watch yet
	signal.Notify(hangups, syscall.SIGHUP)
	defer signal.Stop(hangups)
	h := host{make(chan struct{}), make(chan struct{})}
	ctx, leave := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { defer close(ended); set.Watch(ctx, h) }()
	defer func() { leave(); <-ended }()

	within := func(what string, happened <-chan struct{}) {
		t.Helper()
		again := time.NewTicker(50 * time.Millisecond)
		defer again.Stop()
		for deadline := time.After(testkit.Patience); ; {
			select {
			case <-happened:
				return
			case <-again.C:
				if what == "SIGHUP" {
					if err := syscall.Kill(os.Getpid(), syscall.SIGHUP); err != nil {
						t.Fatal(err)
					}
				}
			case <-deadline:
				t.Fatalf("%s was not read again", what)
			}
		}
	}
	within("SIGHUP", h.replaced)
	within("SIGHUP", h.rechecked)
	for len(hangups) > 0 {
		<-hangups
	}
	writeFile(t, folder, map[string]string{"good": fakeServer("good"), "more": fakeServer("good")})
	within("the file", h.replaced)
	if err := os.WriteFile(filepath.Join(folder, "mcp.lock.json"), []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	within("the lock", h.rechecked)
}
