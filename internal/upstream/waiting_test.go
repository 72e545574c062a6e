package upstream_test

import (
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"

	"countersign.dev/internal/access"
	"countersign.dev/internal/confirm"
	"countersign.dev/internal/state"
	"countersign.dev/internal/testkit"
	"countersign.dev/internal/upstream"
)

// TestAbandonedChangeIsListedAgain: what a crash left applying waits again, and what is
// being applied does not.
func TestAbandonedChangeIsListedAgain(t *testing.T) {
	r, err := state.Open(t.Context(), "redis://"+miniredis.RunT(t).Addr(), &state.Options{Timeout: testkit.Patience})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.Close() })
	store := state.NewConfirmations(r, testkit.Ring("record"))
	service := confirm.NewService(store, &sink{}, nil)
	u := start(t, upstream.Options{Entries: state.NewEntries(r), Confirm: service}, newNotes(t, modern).server())
	who, err := access.From(writer)
	if err != nil {
		t.Fatal(err)
	}
	acquired := func(at time.Time) confirm.ID {
		record, err := service.Open(t.Context(), who, confirm.Request{Action: "create", Server: "notes", Summary: "Create?"})
		if err == nil {
			_, _, err = store.Acquire(t.Context(), confirm.Reply{ID: record.ID, Server: "notes", Approved: true}, who.Owner(), at)
		}
		if err != nil {
			t.Fatal(err)
		}
		return record.ID
	}
	acquired(time.Now())
	abandoned := acquired(time.Now().Add(-time.Minute))
	shown, unshown, err := u.PendingOf(writer)
	if err != nil || len(unshown) != 0 || len(shown) != 1 || shown[0].ID != string(abandoned) || shown[0].State != "pending" {
		t.Errorf("got %+v, %+v, %v, want the abandoned one as it waits", shown, unshown, err)
	}
}

// TestExpiredChangeIsNotListedAsUnshown: it does not wait, whether its server can be asked
// or not.
func TestExpiredChangeIsNotListedAsUnshown(t *testing.T) {
	hr := newFakeServer(t, modern, "get_thing")
	hr.Close()
	listed := entries{}
	u := start(t, upstream.Options{Entries: listed}, named("hr", hr))
	for left, want := range map[time.Duration]int{-time.Second: 0, time.Minute: 1} {
		listed["a"] = confirm.Entry{ID: "a", State: confirm.Pending, Server: "hr", Expires: time.Now().Add(left)}
		if shown, unshown, err := u.PendingOf(as("alice", "employee")); err != nil || len(shown) != 0 || len(unshown) != want {
			t.Errorf("%v left: got %+v, %+v, %v, want %d that cannot be shown", left, shown, unshown, err, want)
		}
	}
}
