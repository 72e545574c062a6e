package footprint

import (
	"context"
	"runtime"
	"runtime/debug"
	"testing"
)

// TestGrowthKeepsItsDistance: a small heap grows by a fixed number of bytes, a large one by
// half, and never by less.
func TestGrowthKeepsItsDistance(t *testing.T) {
	for alive, want := range map[uint64]int{0: 900, 1 << 20: 900, 3 << 20: 300, 9 << 20: 100, 18 << 20: 50, 1 << 30: 50} {
		if got := growth(alive); got != want {
			t.Errorf("%d bytes alive: grows by %d %%, want %d", alive, got, want)
		}
	}
}

// TestCollectorFollowsWhatIsAlive: how far the heap grows is set again when a collection
// finds much more alive, and no longer once ctx has ended.
func TestCollectorFollowsWhatIsAlive(t *testing.T) {
	const standard = 100
	defer debug.SetGCPercent(debug.SetGCPercent(standard))
	ctx, end := context.WithCancel(t.Context())
	KeepSmall(ctx)
	kept := make([]byte, 64<<20)
	collect(t)
	if got := debug.SetGCPercent(leastGrowth); got != leastGrowth {
		t.Errorf("with %d MB alive the heap grows by %d %%, want %d", len(kept)>>20, got, leastGrowth)
	}
	runtime.KeepAlive(kept)
	kept = nil
	end()
	collect(t)
	if got := debug.SetGCPercent(standard); got != leastGrowth {
		t.Errorf("set to %d %% after its context had ended", got)
	}
}

// collect runs the collector and waits until what follows a collection was done: it runs in
// the order of the objects' creation or at once, so two rounds are waited for.
func collect(t *testing.T) {
	for range 2 {
		done := make(chan struct{})
		ctx, end := context.WithCancel(t.Context())
		afterCollections(ctx, func() { end(); close(done) })
		runtime.GC()
		<-done
	}
}
