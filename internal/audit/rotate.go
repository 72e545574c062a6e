package audit

import (
	"cmp"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"

	"countersign.dev/internal/audit/place"
)

// need is why the files must change before the next write.
type need uint8

const (
	nothing  need = iota
	rotation      // the file is full or old
	moved         // the file at the path is another, or none
	headGone      // the head at the path is another, or none
)

// due returns what must be done before the next write.
func (l *Log) due() need {
	if !l.folder.Unchanged() {
		switch {
		case !l.disk.file.IsAt(l.path):
			return moved
		case !l.disk.head.IsAt(l.headPath):
			return headGone
		}
		l.folder.Seen()
	}
	switch {
	case l.size == 0 || l.opening != "":
		return nothing
	case l.o.MaxSize > 0 && l.size >= l.o.MaxSize, l.o.MaxAge > 0 && l.o.Now().Sub(l.began) >= l.o.MaxAge:
		return rotation
	}
	return nothing
}

// maintain rotates the file, or makes a new one when it was renamed or deleted.
func (l *Log) maintain() error {
	l.mu.Lock()
	why := l.due()
	closed := l.closed
	l.mu.Unlock()
	if why == nothing || closed {
		return nil
	}
	l.syncing.Lock()
	defer l.syncing.Unlock()
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return os.ErrClosed
	}
	switch l.due() { // another writer may have done it
	case rotation:
		return l.rotate()
	case moved:
		return l.reopen(stepMoved)
	case headGone:
		return l.reopenHead()
	}
	return nil
}

// rotate renames the file and goes on in a new one. The chain needs nothing but
// the end of the renamed file, so a crash between any two steps loses no line:
// opening finds the newest renamed file where the path has none.
func (l *Log) rotate() error {
	if err := errors.Join(l.repair(), l.file.Sync()); err != nil {
		return err
	}
	to := segmentPath(l.path, l.last.Seq)
	if _, err := os.Lstat(to); !errors.Is(err, os.ErrNotExist) {
		return err // nothing is overwritten: a log that lost its beginning uses numbers twice
	}
	if err := os.Rename(l.path, to); err != nil {
		return fmt.Errorf("rotating the audit log: %w", err)
	}
	return l.reopen(stepRotated)
}

// reopen makes a new file at the path. Both locks are held.
func (l *Log) reopen(step string) error {
	f, err := openPrivate(l.path, os.O_RDWR|os.O_APPEND)
	if err != nil {
		return err
	}
	id, size, err := place.Of(f)
	if err == nil && size > 0 {
		err = fmt.Errorf("the audit log %s was replaced by another file while it was written: move it away", l.path)
	}
	if err = errors.Join(err, lock(f), l.folder.Open(filepath.Dir(l.path))); err != nil {
		return errors.Join(err, f.Close())
	}
	_ = errors.Join(l.file.Sync(), l.file.Close()) // its lines were handed over before; the new file says where they end
	l.file, l.disk.file, l.size, l.torn = f, id, 0, false
	l.kept, l.suspect = position{l.last.Seq, 0}, false
	l.opening = cmp.Or(l.opening, step)
	return syncFolder(l.path)
}

// reopenHead makes the head again after others renamed or deleted it.
func (l *Log) reopenHead() error {
	f, err := openPrivate(l.headPath, os.O_WRONLY)
	if err != nil {
		return err
	}
	id, _, err := place.Of(f)
	if err = errors.Join(err, lock(f), l.folder.Open(filepath.Dir(l.path))); err != nil {
		return errors.Join(err, f.Close())
	}
	_ = l.head.Close() // it has no name any more
	l.head, l.disk.head = f, id
	return l.writeHead(l.last, true)
}

// openPrivate opens a file, or makes it, readable by its owner only.
func openPrivate(path string, mode int) (*os.File, error) {
	f, err := os.OpenFile(path, mode|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	if err := f.Chmod(0o600); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

func newID() string {
	var b [8]byte
	_, _ = rand.Read(b[:]) // crypto/rand.Read never fails since Go 1.24
	return hex.EncodeToString(b[:])
}

var segmentShape = regexp.MustCompile(`\.\d{12}$`)

// segmentPath is the name of a file that was rotated after that event.
func segmentPath(path string, last uint64) string { return fmt.Sprintf("%s.%012d", path, last) }

// segmentsOf lists the renamed files of a log, the oldest first.
func segmentsOf(path string) (segments []string, err error) {
	found, err := filepath.Glob(escapeGlob(path) + ".*")
	for _, name := range found {
		if name == path+segmentShape.FindString(name) && name != path {
			segments = append(segments, name)
		}
	}
	slices.Sort(segments)
	return segments, err
}

var globMeta = regexp.MustCompile(`[*?[\\]`)

func escapeGlob(path string) string { return globMeta.ReplaceAllString(path, `\$0`) }

// syncFolder makes the names of new files durable.
func syncFolder(path string) error {
	folder, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	return errors.Join(folder.Sync(), folder.Close())
}

// position is a position between two lines.
type position struct {
	seq  uint64
	size int64
}

// file is the log file: an *os.File opened with O_APPEND.
type file interface {
	io.WriteCloser
	Truncate(size int64) error
	Sync() error
}

type headFile interface {
	io.WriterAt
	Sync() error
	Close() error
}

// put writes a line and then the head, so that the head never names an event
// that is missing. now: the head is signed at once.
func (l *Log) put(line []byte, head Head, now bool) error {
	l.torn = true
	if _, err := l.file.Write(line); err != nil {
		return err
	}
	if err := l.writeHead(head, now); err != nil {
		return err
	}
	l.torn, l.last = false, head
	l.size += int64(len(line))
	return nil
}

// writeHead overwrites the head in place, which works on a full disk.
func (l *Log) writeHead(at Head, now bool) error {
	h := SignedHead{Log: l.id, Name: l.o.Name, Seq: at.Seq, Hash: at.Hash, Unwritten: l.unwritten}
	_, err := l.head.WriteAt(l.signing.head(h, now), 0)
	return err
}

// signLate signs the end of the log, if no change was written meanwhile.
func (l *Log) signLate() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.signing.waiting = false
	if !l.closed && !l.torn && l.signing.last.Head() != l.last {
		l.torn = l.writeHead(l.last, true) != nil
	}
}

// repair truncates what a failed put left.
func (l *Log) repair() error {
	if !l.torn {
		return nil
	}
	if err := errors.Join(l.file.Truncate(l.size), l.writeHead(l.last, true)); err != nil {
		return err
	}
	l.torn = false
	return nil
}

func (l *Log) end() position {
	l.mu.Lock()
	defer l.mu.Unlock()
	return position{l.last.Seq, l.size}
}

// rewrite writes the lines since the last successful sync again. After a failed
// sync the operating system may count them as written, and report the next sync
// as successful without them.
func (l *Log) rewrite(end position) error {
	if !l.suspect {
		return nil
	}
	f, err := os.OpenFile(l.path, os.O_RDWR, 0) // the append-only descriptor cannot write in place
	if err != nil {
		return err
	}
	defer f.Close()
	lines := io.NewSectionReader(f, l.kept.size, end.size-l.kept.size)
	_, err = io.Copy(io.NewOffsetWriter(f, l.kept.size), lines)
	return err
}
