package tool_test

import (
	"testing"

	"countersign.dev/internal/access"
	"countersign.dev/internal/confirm"
	"countersign.dev/internal/seal"
	"countersign.dev/internal/testkit/domaintest"
)

// newConfirmations makes a confirmation service on a Redis of its own.
func newConfirmations(t testing.TB, h *harness) *confirm.Service {
	t.Helper()
	return confirm.NewService(domaintest.NewRedis(t), h.sink, nil)
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
