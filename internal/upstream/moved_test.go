package upstream_test

import (
	"slices"
	"testing"

	"countersign.dev/internal/fault"
	"countersign.dev/internal/mcpfile"
	"countersign.dev/internal/upstream"
)

// TestApprovedChangeGoesToNoOtherServerOfTheSameName: a person approves a change at the
// server that the card was made for. One that is reached in another way is not called, and
// rules for other tools of the same one change nothing.
func TestApprovedChangeGoesToNoOtherServerOfTheSameName(t *testing.T) {
	first, second := newNotes(t, modern), newNotes(t, modern)
	at := func(n *notes, key string, deny ...string) upstream.Server {
		s := n.server()
		s.Key, s.Rules = key, mcpfile.Rules{Roles: []string{"writer"}, Deny: deny}
		return s
	}
	u := hostWith(t, upstream.Options{}, at(first, "first"))
	kept, moved := u.Call(writer, "notes.create", nil).Pending().ID, u.Call(writer, "notes.create", nil).Pending().ID
	servers := upstream.Foreign{Upstream: u}

	servers.Replace([]upstream.Server{at(first, "first", "fail")})
	if o := u.Answer(writer, kept, true, ""); o.Fault() != nil || !slices.Equal(first.received(), []string{"create {}"}) {
		t.Errorf("under other rules: got %s and calls %v", o.Code(), first.received())
	}
	servers.Replace([]upstream.Server{at(second, "second")})
	for range 2 {
		if o := u.Answer(writer, moved, true, ""); o.Code() != fault.ConfirmationStale.Name {
			t.Errorf("at another address: got %s, want CONFIRMATION_STALE", o.Code())
		}
	}
	if len(first.received()) != 1 || len(second.received()) != 0 {
		t.Errorf("the first server received %v, the second %v", first.received(), second.received())
	}
}
