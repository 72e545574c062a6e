package app

import (
	"context"
	"log/slog"
	"path/filepath"
	"testing"
	"time"

	"countersign.dev/internal/access"
	"countersign.dev/internal/auth"
	"countersign.dev/internal/confirm"
	"countersign.dev/internal/conversation"
	"countersign.dev/internal/embedded"
	"countersign.dev/internal/testkit"
)

// TestChangesOfEveryProcessReachTheirPersonsLog: one process serves the tools,
// another the chat.
func TestChangesOfEveryProcessReachTheirPersonsLog(t *testing.T) {
	redis, err := embedded.StartRedis()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(redis.Close)
	p := testkit.Person("ann", access.Employee)
	serving, chat := platformOn(t, redis.URL()), platformOn(t, redis.URL())
	r, err := serving.confirmations.Open(t.Context(), p, confirm.Request{Action: "free_lion", Server: "zoo"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := chat.confirmations.Answer(t.Context(), p, r.ID, false, nil); err != nil {
		t.Fatal(err)
	}
	entries, err := chat.redis.ReadAfter(t.Context(), "person:"+p.Owner().String(), "", 10, 0)
	if err != nil || len(entries) != 2 {
		t.Fatalf("got %d entries, %v, want 2", len(entries), err)
	}
	for i, state := range []confirm.State{confirm.Pending, confirm.Denied} {
		var e conversation.Event
		if err := e.UnmarshalBinary(entries[i].Data); err != nil || e.Type != conversation.Change || e.Status != string(state) || e.Tool != "free_lion" {
			t.Errorf("entry %d: got %+v, %v, want %s", i, e, err, state)
		}
	}
}

func platformOn(t *testing.T, redisURL string) *platform {
	t.Helper()
	folder := t.TempDir()
	keys, err := auth.LoadOrCreateKeys(filepath.Join(folder, "keys.pem"))
	if err != nil {
		t.Fatal(err)
	}
	life := newLifetime()
	pl, err := newPlatform(t.Context(), life, slog.New(slog.DiscardHandler), keys, filepath.Join(folder, "audit.jsonl"), redisURL)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		if err := life.end(ctx); err != nil {
			t.Error(err)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	return pl
}
