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

// Options are the choices of a Log. Nil and the zero value are good.
type Options struct {
	Now func() time.Time // default time.Now
}

// Log is an append-only record on disk. It is safe for many goroutines; one
// process at a time may hold a path.
//
// A write that fails leaves no trace: what it tore off is cut away before the
// next one, and every Append fails until writing works again.
type Log struct {
	path string
	now  func() time.Time

	mu     sync.Mutex // the chain and the order of writing
	file   file
	head   headFile
	last   Head
	size   int64 // bytes of whole lines
	torn   bool  // a write failed and its bytes may stand behind size
	closed bool

	syncing sync.Mutex // one sync at a time; never taken while mu is held
	kept    position   // what is known to be on disk
	suspect bool       // a sync failed: the system may have dropped its pages
}

// position is a place between two lines.
type position struct {
	seq  uint64
	size int64
}

// file is what a Log needs of its record: an *os.File opened to append.
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
// not be kept. An event whose sync alone failed may stand in the record all the
// same: it then says that something was about to happen that did not.
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

// durable says which kinds are on disk before anything that they announce.
func durable(k Kind) bool { return k == Intent || k == Confirmation || k == Recovery }

// write chains the event and hands it to the operating system.
func (l *Log) write(e *Event) (seq uint64, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return 0, os.ErrClosed
	}
	if err := l.mend(); err != nil {
		return 0, err
	}
	e.Seq, e.Prev, e.Time = l.last.Seq+1, l.last.Hash, l.now().UTC()
	line, err := seal(e)
	if err != nil {
		return 0, err
	}
	if err := l.put(line, Head{e.Seq, e.Hash}); err != nil {
		return 0, errors.Join(err, l.mend())
	}
	return e.Seq, nil
}

// put writes a line and then the head, which therefore never names an event
// that is not there.
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

// mend cuts off what a failed put left behind.
func (l *Log) mend() error {
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

// sync returns when the event is on disk. Whoever waits for a sync under way
// finds, more often than not, that the next one carried their event too: a
// hundred concurrent events cost two or three syncs.
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

// rewrite writes the lines since the last good sync once more. After a failed
// sync the system may count them as written, and would report the next sync as
// good without them.
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

// Close brings everything to disk and gives the path free. Append fails after it.
func (l *Log) Close() error {
	l.syncing.Lock()
	defer l.syncing.Unlock()
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return nil
	}
	l.closed = true
	return errors.Join(l.mend(), l.file.Sync(), l.head.Sync(), l.head.Close(), l.file.Close())
}

var _ Sink = (*Log)(nil)
