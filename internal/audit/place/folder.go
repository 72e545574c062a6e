// Package place finds out whether files that are kept open are still at their paths, before
// each write to them and at little cost. Start with [Folder].
package place

import (
	"os"
	"time"
)

// Folder is where files lie. Its owner looks a path up, by [File.IsAt], only when the folder
// may have changed.
type Folder struct {
	path  string
	open  *os.File
	asked visit // the newest
	seen  visit // when all files were at their paths
}

// visit is when a folder was asked, and when the entries in it had changed then.
type visit struct{ at, changed time.Time }

const (
	// LookAgain is after how long a folder counts as changed in any case: what is above it
	// may not be as it was.
	LookAgain = 100 * time.Millisecond
	// settled is how long ago a folder must have changed. Later, and it may change again
	// without another time: its clock is coarse.
	settled = time.Second
)

// Open opens a folder, or another one that has come to its path.
func (f *Folder) Open(path string) error {
	open, err := os.Open(path)
	if err != nil {
		return err
	}
	_ = f.Close()
	*f = Folder{path: path, open: open}
	return nil
}

// Close ends the use of a folder, if it is open.
func (f *Folder) Close() error {
	if f.open == nil {
		return nil
	}
	return f.open.Close()
}

// Unchanged reports whether no file can have come, gone or been renamed since the owner of
// the folder has last [Folder.Seen] that all are there.
func (f *Folder) Unchanged() bool {
	f.asked = visit{at: time.Now()}
	if info, err := f.open.Stat(); err == nil {
		f.asked.changed = info.ModTime()
	}
	return !f.asked.changed.IsZero() && f.asked.changed.Equal(f.seen.changed) &&
		f.seen.at.Sub(f.seen.changed) > settled && f.asked.at.Sub(f.seen.at) < LookAgain
}

// Seen says that all files were at their paths after the folder was asked.
func (f *Folder) Seen() { f.seen = f.asked }
