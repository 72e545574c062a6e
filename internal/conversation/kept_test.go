package conversation

import (
	"context"
	"testing"
	"time"

	"countersign.dev/internal/access"
	"countersign.dev/internal/agent"
	"countersign.dev/internal/conversation/lease"
	"countersign.dev/internal/conversation/sealed"
	"countersign.dev/internal/fault"
	"countersign.dev/internal/testkit"
)

// TestConversationInUseStaysListed: for as long as its record, however long ago its owner began one, and if a list
// was read while it was being made.
func TestConversationInUseStaysListed(t *testing.T) {
	s, redis := newService(t, script{}, nil)
	ann := access.Owner{Issuer: "i", Subject: "ann"}
	c, err := s.turns.store.create(t.Context(), ann, "", "hello")
	if err != nil {
		t.Fatal(err)
	}
	if all, err := s.List(t.Context(), ann); err != nil || len(all) != 0 { // another tab, before it is stored
		t.Errorf("listed %+v, %v", all, err)
	}
	for range 4 { // a turn each ten days
		if err := s.turns.store.save(t.Context(), c); err != nil {
			t.Fatal(err)
		}
		if all, err := s.List(t.Context(), ann); err != nil || len(all) != 1 {
			t.Errorf("listed %+v, %v", all, err)
		}
		redis.FastForward(10 * 24 * time.Hour)
	}
	if all, err := s.List(t.Context(), ann); err != nil || len(all) != 1 {
		t.Errorf("after 40 days: listed %+v, %v", all, err)
	}
}

// TestRenameChangesTheTitleAlone: of the record as it is now, whatever it was when the request came, and a deleted
// conversation stays deleted.
func TestRenameChangesTheTitleAlone(t *testing.T) {
	s, _ := newService(t, script{}, nil)
	p := testkit.Person("ann", access.Employee)
	before := asked(t, s, p)
	settled(t, s, before.ID)
	newer := before
	newer.Usage, newer.Memory = agent.Usage{InputTokens: 5000}, agent.Memory{Summary: "what came before"}
	if err := s.turns.store.save(t.Context(), newer); err != nil {
		t.Fatal(err)
	}
	if err := s.Rename(t.Context(), before, "Title"); err != nil {
		t.Fatal(err)
	}
	got, err := s.Open(t.Context(), p.Owner(), before.ID)
	if err != nil || got.Title != "Title" || got.Usage.InputTokens != 5000 || got.Memory.Summary == "" {
		t.Errorf("got %+v, %v", got, err)
	}
	if held, err := s.turns.leases.Held(t.Context(), before.ID); held || err != nil {
		t.Errorf("its lease is held: %t, %v", held, err)
	}
	if err := s.Delete(t.Context(), got); err != nil {
		t.Fatal(err)
	}
	if err := s.Rename(t.Context(), got, "Back"); !fault.Is(err, notFound) {
		t.Errorf("after its deletion: %v", err)
	}
	if _, err := s.Open(t.Context(), p.Owner(), before.ID); !fault.Is(err, notFound) {
		t.Errorf("it is there again: %v", err)
	}
}

// interposed does something after a key was read.
type interposed struct {
	sealed.Store
	after string
	do    func()
}

func (i *interposed) Get(ctx context.Context, key string) ([]byte, bool, error) {
	value, ok, err := i.Store.Get(ctx, key)
	if do := i.do; key == i.after && do != nil {
		i.do = nil
		do()
	}
	return value, ok, err
}

// TestTurnThatBeginsIsNotEnded by a reader that saw no lease, whichever of the two keys it read before.
func TestTurnThatBeginsIsNotEnded(t *testing.T) {
	for name, after := range map[string]func(id string) string{"the lease": lease.Key, "the mark": openKey} {
		for crashed := range 2 {
			s, _ := newService(t, script{}, nil)
			c, err := s.turns.store.create(t.Context(), access.Owner{Issuer: "i", Subject: "ann"}, "", "hello")
			if err != nil {
				t.Fatal(err)
			}
			running := s.turns.recovery
			if crashed == 1 { // a turn before has left its mark, and no end
				if err := running.opened(t.Context(), c.Log()); err != nil {
					t.Fatal(err)
				}
			}
			reader := running
			store := &interposed{Store: running.keys.Store, after: after(c.ID)}
			reader.keys.Store = store
			reader.leases = lease.New(reader.keys, time.Minute)
			store.do = func() {
				if _, err := running.leases.Acquire(t.Context(), c.ID, newID(), time.Second); err != nil {
					t.Error(err)
				}
				if err := running.close(t.Context(), c.Log()); err != nil {
					t.Error(err)
				}
				if err := running.opened(t.Context(), c.Log()); err != nil {
					t.Error(err)
				}
			}
			if _, err := reader.recover(t.Context(), c.Log()); err != nil {
				t.Error(err)
			}
			events, err := s.turns.events.read(t.Context(), c.Log(), beginning)
			if want := 3 * crashed; err != nil || len(events) != want { // the end of the one before, once
				t.Errorf("after %s, crashed %d: the log has %+v, %v", name, crashed, events, err)
			}
			if mark, err := running.find(t.Context(), c.ID); err != nil || !mark.open {
				t.Errorf("after %s, crashed %d: the turn's mark is gone: %v", name, crashed, err)
			}
		}
	}
}
