package session

import (
	"strings"
	"testing"

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
	tickets := Tickets{testkit.Ring("cookie"), redis}
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
}
