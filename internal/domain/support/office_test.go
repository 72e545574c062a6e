package support_test

import (
	"testing"
	"time"

	"countersign.dev/internal/company"
	"countersign.dev/internal/domain/support"
	"countersign.dev/internal/testkit/domaintest"
)

// office is the domain as the kernel runs it, with the sample company.
type office struct {
	*domaintest.Harness
	store support.Store
}

func newOffice(t *testing.T, store support.Store) *office {
	t.Helper()
	server := support.New(store, func() time.Time { return day })
	if err := server.Seed(t.Context(), company.At(day)); err != nil {
		t.Fatal(err)
	}
	return &office{domaintest.Open(t, "support", server), store}
}

func onBothStores(t *testing.T, test func(t *testing.T, o *office)) {
	t.Helper()
	for _, name := range []string{"memory", "search"} {
		t.Run(name, func(t *testing.T) { test(t, newOffice(t, engines[name](t).Store)) })
	}
}

func (o *office) ticket(id string) support.Ticket {
	o.Helper()
	row, _, err := o.store.Ticket(o.Context(), everything, id)
	if err != nil {
		o.Fatal(err)
	}
	return row
}
