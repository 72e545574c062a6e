package sqlite

import (
	"context"
	"os"
	"time"
)

// writerLock lets processes that write to one file wait for each other. SQLite itself asks
// again after growing pauses, so that one of many that write without a pause can wait
// for seconds; this lock is given on as soon as it is free. It ends with its process.
type writerLock struct {
	file *os.File
	own  chan struct{} // one transaction of this process at a time
}

// LockWriters makes changes wait at a lock file beside the database, which other
// processes use as well.
func (db *DB) LockWriters(name string) error {
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
	if err == nil {
		db.writers = &writerLock{f, make(chan struct{}, 1)}
	}
	return err
}

// take waits until the context ends. A lock that comes later is given back at once.
func (t *writerLock) take(ctx context.Context) (release func(), err error) {
	if t == nil {
		return func() {}, nil
	}
	select {
	case t.own <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	release = func() { _ = unlockFile(t.file); <-t.own }
	locked := make(chan error, 1)
	go func() { locked <- lockFile(t.file) }()
	select {
	case err := <-locked:
		if err != nil {
			<-t.own
		}
		return release, err
	case <-ctx.Done():
		go func() {
			if <-locked == nil {
				_ = unlockFile(t.file)
			}
			<-t.own
		}()
		return nil, ctx.Err()
	}
}

// lateLock is how long the end of a database waits for a lock that another process keeps.
const lateLock = 5 * time.Second

// close waits for the turn of this process, so that a lock that came late is given back
// through a file that is open. Where another process keeps the lock for longer,
// the file is closed with this process.
func (t *writerLock) close() error {
	if t == nil {
		return nil
	}
	late := time.NewTimer(lateLock)
	defer late.Stop()
	select {
	case t.own <- struct{}{}:
		return t.file.Close()
	case <-late.C:
		return nil
	}
}
