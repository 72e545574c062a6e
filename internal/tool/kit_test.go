package tool_test

import (
	"testing"

	"github.com/alicebob/miniredis/v2"

	"countersign.dev/internal/access"
	"countersign.dev/internal/confirm"
	"countersign.dev/internal/seal"
	"countersign.dev/internal/state"
)

// newDesk makes a desk on a Redis of the test's own.
func newDesk(t testing.TB, h *house) *confirm.Desk {
	t.Helper()
	m := miniredis.NewMiniRedis()
	m.ClockTTL(true)
	if err := m.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(m.Close)
	redis, err := state.Open(t.Context(), "redis://"+m.Addr(), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = redis.Close() })
	return confirm.NewDesk(state.NewConfirmations(redis), h.journal, nil)
}

func ring(t testing.TB) *seal.Ring {
	t.Helper()
	r, err := seal.NewRing("cursor", seal.RandomSecret())
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// catalogue is a principal with a catalogue token.
func catalogue() *access.Principal {
	return access.NewPrincipal(access.Claims{Issuer: "countersign", Subject: "gateway", Purpose: access.PurposeCatalogue})
}
