package session

import (
	"strings"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"

	"countersign.dev/internal/fault"
	"countersign.dev/internal/state"
	"countersign.dev/internal/testkit"
)

func TestTicketIsExchangedOnceAndInTime(t *testing.T) {
	mini := miniredis.RunT(t)
	redis, err := state.Open(t.Context(), "redis://"+mini.Addr(), &state.Options{Timeout: testkit.Patience})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = redis.Close() }()
	now := time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)
	tickets := Tickets{testkit.Ring("cookie"), redis, func() time.Time { return now }}
	issue := func(token string) string {
		t.Helper()
		ticket, err := tickets.Issue(t.Context(), token)
		if err != nil {
			t.Fatal(err)
		}
		return ticket
	}
	refused := func(what, ticket string) {
		t.Helper()
		if token, err := tickets.Redeem(t.Context(), ticket); token != "" || !fault.Is(err, fault.Unauthorized) {
			t.Errorf("%s: got %q, %v, want UNAUTHENTICATED", what, token, err)
		}
	}
	ann := issue("token of ann")
	for _, key := range mini.Keys() {
		stored, _ := mini.Get(key)
		if strings.Contains(key+stored, ann) || strings.Contains(stored, "token of ann") {
			t.Errorf("Redis shows a ticket or its token: %s = %s", key, stored)
		}
	}
	if token, err := tickets.Redeem(t.Context(), ann); token != "token of ann" || err != nil {
		t.Errorf("got %q, %v", token, err)
	}
	refused("used", ann)
	refused("unknown", "nonsense")
	late := issue("token of ann")
	mini.FastForward(TicketLife)
	refused("late", late)
	one, other := issue("token of ann"), issue("token of bob")
	stored, _ := mini.Get(ticketKey(digestOf(one)))
	if err := mini.Set(ticketKey(digestOf(other)), stored); err != nil {
		t.Fatal(err)
	}
	refused("another's", other)

	// Somebody who puts a used ticket back gives it no more time than it had.
	testkit.PutKey(t, mini, ticketKey(digestOf(one)), stored)
	if token, err := tickets.Redeem(t.Context(), one); token != "token of ann" || err != nil {
		t.Errorf("put back in time: got %q, %v", token, err)
	}
	now = now.Add(TicketLife)
	testkit.PutKey(t, mini, ticketKey(digestOf(one)), stored)
	refused("put back late", one)
}
