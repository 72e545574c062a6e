package audit

import (
	"context"
	"errors"
	"io"
	"os"
	"sync"
	"time"

	"countersign.dev/internal/fault"
)

// Options are the options of a Log. Nil and the zero value are valid.
type Options struct {
	Now func() time.Time // default time.Now
}

// Log is an append-only audit log on disk. It is safe for concurrent use; one
// process at a time can open a path.
//
// A failed write leaves no partial line: the next write truncates it first, and
// every Append fails until that works.
type Log struct {
	path string
	now  func() time.Time

	mu     sync.Mutex // the chain and the order of writing
	file   file
	head   headFile
	last   Head
	size   int64 // bytes of whole lines
	torn   bool  // a write failed and its bytes may follow size
	closed bool

	syncing sync.Mutex // one sync at a time; never taken while mu is held
	kept    position   // the end of what is synced to disk
	suspect bool       // a sync failed: the operating system may have dropped its pages
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

// Append implements [Sink]. It returns SERVICE_UNAVAILABLE when the event could
// not be written. When only the sync failed, the event may still be in the log,
// although its step was not taken.
func (l *Log) Append(ctx context.Context, e Event) error {
	attribute(ctx, &e)
	clipTexts(&e)
	at, err := l.write(&e)
	if err == nil && durable(e.Kind) {
		err = l.sync(at)
	}
	if err != nil {
		return fault.ServiceDown.New("The audit log cannot be written.").Because(err)
	}
	return nil
}

// durable reports whether an event is synced before Append returns.
func durable(k Kind) bool { return k == Intent || k == Confirmation || k == Recovery }

// write chains the event and hands it to the operating system.
func (l *Log) write(e *Event) (seq uint64, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return 0, os.ErrClosed
	}
	if err := l.repair(); err != nil {
		return 0, err
	}
	e.Seq, e.Prev, e.Time = l.last.Seq+1, l.last.Hash, l.now().UTC()
	line, err := seal(e)
	if err != nil {
		return 0, err
	}
	if err := l.put(line, Head{e.Seq, e.Hash}); err != nil {
		return 0, errors.Join(err, l.repair())
	}
	return e.Seq, nil
}

// put writes a line and then the head, so that the head never names an event
// that is missing.
func (l *Log) put(line []byte, head Head) error {
	l.torn = true
	if _, err := l.file.Write(line); err != nil {
		return err
	}
	if _, err := l.head.WriteAt(head.encode(), 0); err != nil {
		return err
	}
	l.torn, l.last = false, head
	l.size += int64(len(line))
	return nil
}

// repair truncates what a failed put left.
func (l *Log) repair() error {
	if !l.torn {
		return nil
	}
	if err := l.file.Truncate(l.size); err != nil {
		return err
	}
	if _, err := l.head.WriteAt(l.last.encode(), 0); err != nil {
		return err
	}
	l.torn = false
	return nil
}

// sync returns when the event is on disk. Concurrent callers share syncs: while
// one runs, later events collect for the next, so that a hundred concurrent
// events cost two or three syncs.
func (l *Log) sync(seq uint64) error {
	l.syncing.Lock()
	defer l.syncing.Unlock()
	if l.kept.seq >= seq {
		return nil
	}
	end := l.end()
	if err := l.rewrite(end); err != nil {
		return err
	}
	if err := l.file.Sync(); err != nil {
		l.suspect = true
		return err
	}
	l.kept, l.suspect = end, false
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

// Close syncs everything to disk and releases the path. Append fails after it.
func (l *Log) Close() error {
	l.syncing.Lock()
	defer l.syncing.Unlock()
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return nil
	}
	l.closed = true
	return errors.Join(l.repair(), l.file.Sync(), l.head.Sync(), l.head.Close(), l.file.Close())
}

var _ Sink = (*Log)(nil)
