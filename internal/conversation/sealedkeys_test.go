package conversation

import (
	"context"
	"strconv"
	"testing"
	"time"

	"countersign.dev/internal/access"
	"countersign.dev/internal/conversation/lease"
	"countersign.dev/internal/result"
	"countersign.dev/internal/testkit"
)

// TestKeysAreSealedForTheirPlace: of each kind of key, a value of which any byte was
// changed, that of another conversation or of another kind, and one that is not
// sealed or with other keys count as absent.
func TestKeysAreSealedForTheirPlace(t *testing.T) {
	s, mini := newService(t, script{}, nil)
	ctx, keys := t.Context(), s.turns.recovery.keys
	for _, key := range []func(string) string{lease.Key, lease.CancelKey, openKey, linkKey, recordedKey} {
		for _, id := range []string{"c1", "c2"} {
			if err := keys.Set(ctx, key(id), "1-0", time.Hour); err != nil {
				t.Fatal(err)
			}
		}
	}
	foreign := keys
	foreign.Ring = testkit.Ring("other")
	for _, key := range []func(string) string{lease.Key, lease.CancelKey, openKey, linkKey, recordedKey} {
		original := testkit.StoredKey(t, mini, key("c1"))
		forgeries := map[string]string{
			"of another conversation": testkit.StoredKey(t, mini, key("c2")), "not sealed": "1-0", "empty": "", "cut": original[:len(original)-1],
			"in the clear": `{"value":"1-0","expires":"2999-01-01T00:00:00Z"}`,
		}
		for i := range original {
			forgeries["byte "+strconv.Itoa(i)] = original[:i] + string([]byte{original[i] ^ 1}) + original[i+1:]
		}
		for _, other := range []func(string) string{lease.Key, lease.CancelKey, openKey, linkKey, recordedKey} {
			if other("c1") != key("c1") {
				forgeries["of "+other("c1")] = testkit.StoredKey(t, mini, other("c1"))
			}
		}
		if err := foreign.Set(ctx, key("c1"), "1-0", time.Hour); err != nil {
			t.Fatal(err)
		}
		forgeries["sealed with another key"] = testkit.StoredKey(t, mini, key("c1"))
		for name, forged := range forgeries {
			testkit.PutKey(t, mini, key("c1"), forged)
			if value, ok, err := keys.Get(ctx, key("c1")); ok || value != "" || err != nil {
				t.Errorf("%s, %s: get: got %q, %v, %v, want none", key("c1"), name, value, ok, err)
			}
			if _, done, err := keys.SetNew(ctx, key("c1"), "2-0", time.Hour, time.Hour); !done || err != nil {
				t.Errorf("%s, %s: set: got %v, %v, want it replaced", key("c1"), name, done, err)
			}
		}
		testkit.PutKey(t, mini, key("c1"), original)
		if value, ok, err := keys.Get(ctx, key("c1")); value != "1-0" || !ok || err != nil {
			t.Errorf("%s, put back as it was: got %q, %v, %v", key("c1"), value, ok, err)
		}
	}
}

// TestOldOpenTurnIsNotClosedAgain: the key of a turn that has ended, put back,
// adds nothing to the events, and nothing is taken for running.
func TestOldOpenTurnIsNotClosedAgain(t *testing.T) {
	s, mini := newService(t, script{}, nil)
	p := testkit.Person("ann", access.Employee)
	c := asked(t, s, p)
	settled(t, s, c.ID)
	if err := s.turns.recovery.keys.Set(t.Context(), openKey(c.ID), beginning, eventTTL); err != nil {
		t.Fatal(err)
	}
	old := testkit.StoredKey(t, mini, openKey(c.ID))
	mini.Del(openKey(c.ID))
	if _, _, err := s.Ask(t.Context(), p, Question{Text: "And now?", Conversation: c.ID}); err != nil {
		t.Fatal(err)
	}
	take(t, s, c.Log(), 8)
	settled(t, s, c.ID)
	for _, forged := range []string{old, "0-0", ""} {
		testkit.PutKey(t, mini, openKey(c.ID), forged)
		if page, err := s.Messages(t.Context(), c, ""); page.LastEvent != "8-0" || page.Running || err != nil {
			t.Errorf("put back: got %s, %v, %v, want the last event, and none running", page.LastEvent, page.Running, err)
		}
	}
	if got := entries(t, mini, c.Log().key); len(got) != 8 {
		t.Errorf("got %d events, want the 8 of two turns", len(got))
	}
	if _, err := s.turns.leases.Acquire(t.Context(), c.ID, "third", time.Second); err != nil {
		t.Fatal(err)
	}
	if _, err := s.turns.events.append(t.Context(), c.Log(), Event{Type: Started}); err != nil {
		t.Fatal(err)
	}
	testkit.PutKey(t, mini, openKey(c.ID), old)
	if page, err := s.Messages(t.Context(), c, ""); page.LastEvent != "" && page.LastEvent != beginning || !page.Running || err != nil {
		t.Errorf("in the place of a running turn's: got %q, %v, %v, want it running", page.LastEvent, page.Running, err)
	}
}

// settled returns when the last turn of a conversation has released its lease.
func settled(t *testing.T, s *Service, conversation string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	own, err := s.turns.leases.Acquire(ctx, conversation, "test", 30*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.turns.leases.Release(ctx, own); err != nil {
		t.Fatal(err)
	}
}

// TestForgedMarkHidesNoOutcome: only the gateway says that an outcome was written.
func TestForgedMarkHidesNoOutcome(t *testing.T) {
	s, mini := newService(t, script{}, nil)
	c := asked(t, s, testkit.Person("ann", access.Employee))
	s.turns.outcomes.waits(t.Context(), c, "x")
	testkit.PutKey(t, mini, recordedKey("x"), "1")
	for range 2 { // written once
		s.RecordOutcome(t.Context(), "x", result.Cancelled("Action cancelled by user"))
	}
	if got := take(t, s, c.Log(), 5)[4]; got.Type != Answered {
		t.Errorf("got %+v, want the outcome", got)
	}
	if got := entries(t, mini, c.Log().key); len(got) != 5 {
		t.Errorf("got %d events, want 5", len(got))
	}
}
