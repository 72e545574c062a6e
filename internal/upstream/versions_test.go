package upstream_test

import (
	"testing"

	"countersign.dev/internal/upstream"
)

// TestOldServerIsAskedForTheModernVersionOnce: a server of a handshake version refuses the
// first call of the modern one, which is made in a session then, as all others are at once.
func TestOldServerIsAskedForTheModernVersionOnce(t *testing.T) {
	const calls = 3
	for v, want := range map[version]int{legacy: calls + 1, modern: calls} {
		f := newFakeServer(t, v, "get_thing")
		u := start(t, upstream.Options{}, named("hr", f))
		for range calls {
			if o := u.Call(as("alice", "employee"), "get_thing", nil); o.Fault() != nil {
				t.Fatalf("modern: %t: %v", v, o.Fault())
			}
		}
		if got := f.seen("tools/call"); got != want {
			t.Errorf("modern: %t: got %d requests for %d calls, want %d", v, got, calls, want)
		}
	}
}
