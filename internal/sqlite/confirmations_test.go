package sqlite_test

import (
	"encoding/json"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"countersign.dev/internal/access"
	"countersign.dev/internal/confirm"
	"countersign.dev/internal/sqlite"
)

var (
	noon = time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)
	ann  = access.Owner{Issuer: "os", Subject: "1000"}
	bob  = access.Owner{Issuer: "os", Subject: "1001"}
)

func waitingRecord(id confirm.ID) confirm.Record {
	return confirm.Record{
		ID: id, State: confirm.Pending, Action: "cleanup", Server: "tasks", Input: json.RawMessage(`{ "big":12345678901234567890, "text":"<b>&\u2028" }`),
		Digest: "d", Owner: ann, Data: map[string]any{"digest": "seen"}, Created: noon, Expires: noon.Add(confirm.TTL),
	}
}

// TestConfirmationsInAFile is the life of a confirmation, from two processes over one
// file.
func TestConfirmationsInAFile(t *testing.T) {
	ctx, now := t.Context(), noon
	file := filepath.Join(t.TempDir(), "local.db")
	open := func() *sqlite.Confirmations {
		db, err := sqlite.Open(ctx, "local", file, sqlite.WaitingSchema)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = db.Close() })
		return sqlite.NewConfirmations(db, func() time.Time { return now })
	}
	here, there := open(), open()
	r := waitingRecord("a")
	if err := here.Create(ctx, r); err != nil {
		t.Fatal(err)
	}
	if here.Create(ctx, r) == nil {
		t.Error("a second record of the same id was accepted")
	}
	want := func(state confirm.State, answer string) {
		t.Helper()
		got, ok, err := there.Get(ctx, "tasks", "a")
		if err != nil || !ok || got.State != state || string(got.Answer) != answer {
			t.Errorf("got %s %s, %v, %v, want %s %s", got.State, got.Answer, ok, err, state, answer)
		}
		got.State, got.Acquired, got.Answer = r.State, r.Acquired, nil
		if diff := cmp.Diff(r, got); diff != "" {
			t.Errorf("the record (-want +got):\n%s", diff)
		}
	}
	acquires := func(want confirm.Acquisition, c *sqlite.Confirmations, reply confirm.Reply, owner access.Owner) {
		t.Helper()
		if _, got, err := c.Acquire(ctx, reply, owner, now); got != want || err != nil {
			t.Errorf("acquire: got %d, %v, want %d", got, err, want)
		}
	}
	yes := confirm.Reply{ID: "a", Server: "tasks", Approved: true, Digest: "seen"}
	want(confirm.Pending, "")
	if _, ok, _ := there.Get(ctx, "codesearch", "a"); ok {
		t.Error("another server has it")
	}
	acquires(confirm.Unknown, there, confirm.Reply{ID: "none", Server: "tasks"}, ann)
	acquires(confirm.Unknown, there, confirm.Reply{ID: "a", Server: "codesearch", Approved: true}, ann)
	acquires(confirm.Foreign, there, yes, bob)
	acquires(confirm.Other, there, confirm.Reply{ID: "a", Server: "tasks", Approved: true, Digest: "other"}, ann)
	want(confirm.Pending, "")

	var won atomic.Int32
	var all sync.WaitGroup
	for i := range 8 {
		c := []*sqlite.Confirmations{here, there}[i%2]
		all.Go(func() {
			if _, acquired, err := c.Acquire(ctx, yes, ann, now); err == nil && acquired == confirm.Acquired {
				won.Add(1)
			}
		})
	}
	all.Wait()
	if won.Load() != 1 {
		t.Errorf("%d won of eight at once, want one", won.Load())
	}
	want(confirm.Applying, "")
	acquires(confirm.Busy, there, yes, ann)
	for i, moves := range []bool{true, false} {
		if moved, err := here.Settle(ctx, confirm.Record{ID: "a"}, confirm.Applied, json.RawMessage(`{ "status":"success" }`)); moved != moves || err != nil {
			t.Errorf("settling %d: got %v, %v", i, moved, err)
		}
	}
	want(confirm.Applied, `{ "status":"success" }`)
	acquires(confirm.Ended, there, yes, ann)

	now = noon.Add(confirm.Memory + time.Second)
	if _, ok, err := there.Get(ctx, "tasks", "a"); ok || err != nil {
		t.Errorf("after a day: got %v, %v, want none", ok, err)
	}
	acquires(confirm.Unknown, there, yes, ann)
}
