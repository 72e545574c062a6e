package app

import (
	"io"
	"runtime/debug"
	"testing"
)

// TestGatewayCollectsSooner: at half of Go's default, unless the operator has said how
// often. The gateways of this test end when they find no Redis.
func TestGatewayCollectsSooner(t *testing.T) {
	const standard = 100
	defer debug.SetGCPercent(debug.SetGCPercent(standard))
	c := &cluster{t: t, folder: t.TempDir(), redis: "redis://" + freeAddress(t), issuer: "http://" + freeAddress(t), public: "http://" + freeAddress(t)}
	file := (&replica{cluster: c, gateway: freeAddress(t), sales: freeAddress(t), keysAt: freeAddress(t)}).config("gateway", []keySet{newKeySet(t)})
	for chosen, want := range map[string]int{"": 50, "80": standard} { // what the operator has chosen the runtime has set
		err := Gateway(t.Context(), ConfigOptions{File: file, Out: io.Discard, Err: io.Discard, Getenv: func(name string) string {
			return map[string]string{"GOGC": chosen}[name]
		}})
		if err == nil {
			t.Fatal("a gateway ran without Redis")
		}
		if got := debug.SetGCPercent(standard); got != want {
			t.Errorf("with GOGC=%q: got %d, want %d", chosen, got, want)
		}
	}
}
