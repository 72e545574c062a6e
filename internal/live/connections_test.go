package live

import (
	"context"
	"maps"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"countersign.dev/internal/access"
	"countersign.dev/internal/seal"
)

// kept is a store without times of its own, as of somebody who puts back what ended.
type kept struct {
	values map[string][]byte
	sets   map[string]map[string]bool
}

func (k kept) Set(_ context.Context, key string, value []byte, _ time.Duration) error {
	k.values[key] = value
	return nil
}

func (k kept) Get(_ context.Context, key string) ([]byte, bool, error) {
	value, ok := k.values[key]
	return value, ok, nil
}

func (k kept) Delete(_ context.Context, key string) error { delete(k.values, key); return nil }

func (k kept) Join(_ context.Context, set, member string, _ time.Duration) error {
	if k.sets[set] == nil {
		k.sets[set] = map[string]bool{}
	}
	k.sets[set][member] = true
	return nil
}

func (k kept) Leave(_ context.Context, set, member string) error {
	delete(k.sets[set], member)
	return nil
}

func (k kept) Members(_ context.Context, set string) ([]string, error) {
	return slices.Sorted(maps.Keys(k.sets[set])), nil
}

// TestEntryPutBackIsNotListed: an entry of a connection that is closed is not listed
// after the time for which it was made, and another person's never.
func TestEntryPutBackIsNotListed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ring, err := seal.NewRing("live", seal.RandomSecret())
		if err != nil {
			t.Fatal(err)
		}
		store, ctx := kept{map[string][]byte{}, map[string]map[string]bool{}}, t.Context()
		c, alice, bob := NewConnections(store, ring), access.Owner{Issuer: "i", Subject: "alice"}, access.Owner{Issuer: "i", Subject: "bob"}
		if err := c.renew(ctx, alice, Connection{SessionID: "s", ClientID: "one"}, time.Minute); err != nil {
			t.Fatal(err)
		}
		old := store.values[entryKey("one")]
		check := func(when string, o access.Owner, want int) {
			t.Helper()
			if got, err := c.of(ctx, o); err != nil || len(got) != want {
				t.Errorf("%s: got %v %v, want %d", when, got, err, want)
			}
		}
		check("open", alice, 1)
		if err := c.remove(ctx, alice, "one"); err != nil {
			t.Fatal(err)
		}
		check("closed", alice, 0)
		for _, o := range []access.Owner{alice, bob} {
			<-time.After(time.Minute)
			store.values[entryKey("one")] = old
			_ = store.Join(ctx, ownerKey(o), "one", 0)
			check("put back for "+o.Subject, o, 0)
		}
	})
}
