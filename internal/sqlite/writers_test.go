package sqlite

import (
	"context"
	"errors"
	"path/filepath"
	"testing"
)

// TestLockThatCameLateIsGivenBackBeforeItsFileIsClosed: the race detector finds a file
// that is closed while the lock that no call waits for any more is given back.
func TestLockThatCameLateIsGivenBackBeforeItsFileIsClosed(t *testing.T) {
	t.Parallel()
	for range 40 { // which of the two gets the lock first is not ours to say
		closeLate(t)
	}
}

func closeLate(t *testing.T) {
	name := filepath.Join(t.TempDir(), "lock")
	open := func() *writerLock {
		var db DB
		if err := db.LockWriters(name); err != nil {
			t.Fatal(err)
		}
		return db.writers
	}
	holder, late, next := open(), open(), open()
	release, err := holder.take(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	gone, leave := context.WithCancel(t.Context())
	leave()
	for { // either of the two ends is taken
		if _, err := late.take(gone); !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		if len(late.own) == 1 {
			break // it waits for the lock
		}
	}
	release()
	if release, err = next.take(t.Context()); err != nil { // behind the late one, or before it
		t.Fatal(err)
	}
	release()
	for _, one := range []*writerLock{late, next, holder} {
		if err := one.close(); err != nil {
			t.Error(err)
		}
	}
}
