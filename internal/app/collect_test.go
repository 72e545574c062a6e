package app

import (
	"io"
	"runtime/debug"
	"testing"
)

// TestGatewayKeepsItsHeapSmall unless the operator has said how often to collect. The
// gateways of this test end when they find no Redis.
func TestGatewayKeepsItsHeapSmall(t *testing.T) {
	const untouched = 1000 // more than a gateway sets
	defer debug.SetGCPercent(debug.SetGCPercent(untouched))
	c := &cluster{t: t, folder: t.TempDir(), redis: "redis://" + freeAddress(t), issuer: "http://" + freeAddress(t), public: "http://" + freeAddress(t)}
	file := (&replica{cluster: c, gateway: freeAddress(t), sales: freeAddress(t), keysAt: freeAddress(t)}).config("gateway", []keySet{newKeySet(t)})
	for chosen, left := range map[string]bool{"": false, "80": true} { // what the operator has chosen the runtime has set
		err := Gateway(t.Context(), ConfigOptions{File: file, Out: io.Discard, Err: io.Discard, Getenv: func(name string) string {
			return map[string]string{"GOGC": chosen}[name]
		}})
		if err == nil {
			t.Fatal("a gateway ran without Redis")
		}
		if got := debug.SetGCPercent(untouched); (got == untouched) != left {
			t.Errorf("with GOGC=%q the heap grows by %d %%", chosen, got)
		}
	}
}
