package pool_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"testing"
	"time"

	"countersign.dev/internal/domain/tasks/pool"
	"countersign.dev/internal/domain/tasks/store"
	"countersign.dev/internal/fault"
	"countersign.dev/internal/sqlite"
)

const key = "project_0"

// TestCallerDoesNotWaitForAnUpgrade: a workspace that another process keeps from being
// upgraded ends each call at its deadline, and is opened when it can be.
func TestCallerDoesNotWaitForAnUpgrade(t *testing.T) {
	p := pool.New(t.TempDir(), time.Now)
	unlock := locked(t, p)
	for _, caller := range []string{"the first caller", "another caller"} {
		if err := late(t, p); !fault.Is(err, fault.Timeout) {
			t.Errorf("%s: got %v, want TIMEOUT", caller, err)
		}
	}
	unlock()
	if err := p.With(t.Context(), key, "/somewhere", func(w *store.Workspace) error { return w.Ready(t.Context()) }); err != nil {
		t.Errorf("when it is free: %v", err)
	}
	if err := p.Close(); err != nil {
		t.Error(err)
	}
}

// TestCloseEndsAnUpgrade: nothing of the pool uses a file that it waited for.
func TestCloseEndsAnUpgrade(t *testing.T) {
	p := pool.New(t.TempDir(), time.Now)
	unlock := locked(t, p)
	_ = late(t, p)
	if err := p.Close(); err != nil {
		t.Error(err)
	}
	unlock() // SQLite removes the journal with the last connection to a file
	if _, err := os.Stat(p.File(key) + "-wal"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a connection is left: the journal is there, %v", err)
	}
}

// late makes a call whose deadline passes while it waits.
func late(t *testing.T, p *pool.Pool) error {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	return p.With(ctx, key, "/somewhere", func(*store.Workspace) error {
		t.Error("it was opened")
		return nil
	})
}

// locked makes the file of a workspace without its schema, and holds SQLite's write
// lock, which an upgrade needs, until unlock.
func locked(t *testing.T, p *pool.Pool) (unlock func()) {
	t.Helper()
	db, err := sqlite.Open(t.Context(), "tasks", p.File(key), "")
	if err != nil {
		t.Fatal(err)
	}
	tx, err := db.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return func() {
		if err := errors.Join(tx.Rollback(), db.Close()); err != nil {
			t.Error(err)
		}
	}
}
