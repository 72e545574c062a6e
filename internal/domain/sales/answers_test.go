package sales_test

import (
	"strings"
	"testing"

	"countersign.dev/internal/company"
	"countersign.dev/internal/fault"
	"countersign.dev/internal/testkit/conformance"
)

func TestEmptyStoreIsNotReadyByName(t *testing.T) {
	t.Parallel()
	onEveryEngine(t, func(t *testing.T, stored *conformance.Store) {
		r := engineOf(stored.Empty()).store
		err := r.Ready(t.Context())
		if !fault.Is(err, fault.ServiceDown) || !strings.Contains(err.Error(), "customers") && !strings.Contains(err.Error(), "deals") {
			t.Fatalf("got %v, want a named collection that is empty", err)
		}
		b := fixtureOf(company.At(day).Sales())
		b.deals = nil
		fill(t, r, b)
		if err := r.Ready(t.Context()); err == nil || !strings.Contains(err.Error(), "deals") {
			t.Fatalf("got %v, want deals named", err)
		}
		fill(t, r, fixtureOf(company.At(day).Sales()))
		if err := r.Ready(t.Context()); err != nil {
			t.Fatal(err)
		}
	})
}
