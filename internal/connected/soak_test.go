package connected_test

import (
	"os"
	"runtime"
	"strings"
	"testing"

	"countersign.dev/internal/testkit"
)

// Ten thousand calls use one session of one process, and leave nothing behind.
func TestManyCallsUseOneSession(t *testing.T) {
	calls := 10000
	if testing.Short() {
		calls = 1000
	}
	r := serversOf(t, map[string]string{"counts": fakeServer("counts")})
	reader := testkit.As(t, "rita", "reader")
	r.await(t, reader, "its tool", has("counts.work"))
	first := string(r.Call(reader, "counts.work", nil).Data())
	if !strings.Contains(first, "1 handshakes") {
		t.Fatalf("got %s", first)
	}
	goroutines, descriptors := runtime.NumGoroutine(), openFiles(t)
	for range calls {
		if o := r.Call(reader, "counts.work", nil); o.Fault() != nil || string(o.Data()) != first {
			t.Fatalf("got %s %v, want %s: the same process and session", o.Data(), o.Fault(), first)
		}
	}
	if now := runtime.NumGoroutine(); now > goroutines+2 {
		t.Errorf("%d goroutines, before there were %d", now, goroutines)
	}
	if now := openFiles(t); now > descriptors+2 {
		t.Errorf("%d descriptors, before there were %d", now, descriptors)
	}
}

func openFiles(t *testing.T) int {
	t.Helper()
	files, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Skip("descriptors are counted on Linux only")
	}
	return len(files)
}
