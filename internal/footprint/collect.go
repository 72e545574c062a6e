package footprint

import (
	"context"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

// headroom is how many bytes are allocated between two collections while little is alive,
// and leastGrowth by how many per cent the heap grows between them at least: a collection
// costs what is alive, so that a fixed distance would collect a large heap all the time.
const (
	headroom    = 9 << 20
	leastGrowth = 50
)

// KeepSmall runs the collector, until ctx ends, each time 9 MB have been allocated, or half
// of what is alive if that is more, where Go's default is as much as is alive. It is for a
// process that allocates little for a request and keeps something for each client: with few
// clients it collects seldom, and with many its heap is a quarter smaller.
func KeepSmall(ctx context.Context) {
	per := growth(live())
	debug.SetGCPercent(per)
	afterCollections(ctx, func() {
		if now := growth(live()); differs(now, per) {
			debug.SetGCPercent(now)
			per = now
		}
	})
}

// growth is by how many per cent a heap of which so many bytes are alive may grow.
func growth(live uint64) int {
	return max(leastGrowth, int(100*headroom/max(live, 1<<20)))
}

// differs reports whether now is worth setting: that stops the process for a moment.
func differs(now, before int) bool { return 10*now < 9*before || 10*now > 11*before }

// live returns how many bytes of the heap the last collection found in use.
func live() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

// afterCollections calls f after each collection, one call at a time, until ctx ends. A
// collection is noticed by an object that nothing refers to, which it frees.
func afterCollections(ctx context.Context, f func()) {
	type sentinel struct{ _ *byte } // a pointer, so that it shares its memory with no other
	runtime.AddCleanup(new(sentinel), func(context.Context) {
		if ctx.Err() == nil {
			f()
			afterCollections(ctx, f)
		}
	}, ctx)
}
