package audit

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"countersign.dev/internal/audit/place"
	"countersign.dev/internal/fault"
)

// Options are the options of a Log. Nil and the zero value are valid.
type Options struct {
	Now     func() time.Time // default time.Now
	Name    string           // of the process, for other logs: "gateway", "hr"
	Signer  *Signer          // nil: heads are not signed
	MaxSize int64            // bytes of a file, after which it is rotated; 0: no limit
	MaxAge  time.Duration    // age of a file's first event, after which it is rotated; 0: no limit
}

// Log is an append-only audit log on disk. It is safe for concurrent use; one
// process at a time can open a path.
//
// A failed write leaves no partial line: the next write truncates it first, and
// every Append fails until that works. Events that could not be written are
// counted in the head, and in the log as soon as it can be written again.
//
// A file that is full or old is renamed to PATH.000001 and so on, and the chain
// goes on in a new one. So it does when others rename or delete the file.
type Log struct {
	path     string
	headPath string
	o        Options

	mu        sync.Mutex // the chain and the order of writing
	file      file
	disk      struct{ file, head place.File } // which files they are, to notice that they were renamed
	folder    place.Folder
	head      headFile
	id        string // random, made with the log; empty: not yet
	last      Head
	size      int64 // bytes of whole lines
	began     time.Time
	torn      bool // a write failed and its bytes may follow size
	closed    bool
	found     uint64    // number of the last event when the process opened the log
	opening   string    // the step of the line that the file still needs at its beginning
	unwritten uint64    // events that could not be written
	since     time.Time // when the first of them was to be written
	others    uint64    // number of the last event that is not Anchored
	signing   signing
	sealer    sealer

	syncing sync.Mutex // one sync or change of files at a time; never taken while mu is held
	kept    position   // the end of what is synced to disk
	suspect bool       // a sync failed: the operating system may have dropped its pages
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

// write chains the event and hands it to the operating system, after the lines
// that the file still needs.
func (l *Log) write(e *Event) (seq uint64, err error) {
	if err := l.maintain(); err != nil {
		l.missed(err)
		return 0, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return 0, os.ErrClosed
	}
	if err := l.add(e); err != nil {
		l.count()
		return 0, errors.Join(err, l.repair())
	}
	if e.Kind != Anchored {
		l.others = e.Seq
	}
	return e.Seq, nil
}

// add writes the event after what must come before it.
func (l *Log) add(e *Event) error {
	if err := l.repair(); err != nil {
		return err
	}
	if err := l.settle(); err != nil {
		return err
	}
	return l.chain(e)
}

// settle writes the lines that are due before the next event.
func (l *Log) settle() error {
	if l.opening != "" {
		e := Event{Kind: Opened, Step: l.opening, Log: &Identity{ID: l.id, Name: l.o.Name, Key: l.o.Signer.PublicKey()}}
		if l.last.Seq > 0 {
			e.Note = fmt.Sprintf("Continues after event %d with the hash %s.", l.last.Seq, l.last.Hash)
		}
		last, size := l.last, l.size
		err := l.chain(&e)
		if err == nil { // after a power failure, too, no more than this line follows the end of the process before
			err = errors.Join(l.file.Sync(), l.head.Sync())
		}
		if err != nil {
			l.last, l.size, l.torn = last, size, true
			return err
		}
		l.opening = ""
	}
	if l.unwritten > 0 {
		n := l.unwritten
		e := Event{Kind: Recovery, Step: stepUnwritten, Count: int(n), Note: fmt.Sprintf("%d events could not be written, the first at %s.", n, l.since.Format(time.RFC3339))}
		l.unwritten = 0 // the event that is written now has the count
		if err := l.chain(&e); err != nil {
			l.unwritten = n
			return err
		}
	}
	return nil
}

// chain gives an event its number and writes it.
func (l *Log) chain(e *Event) error {
	e.Seq, e.Prev, e.Time = l.last.Seq+1, l.last.Hash, l.o.Now().UTC()
	line := l.sealer.seal(e)
	if l.size == 0 {
		l.began = e.Time
	}
	return l.put(line, Head{e.Seq, e.Hash}, durable(e.Kind) || e.Kind == Opened)
}

// missed counts an event that found no file to be written to.
func (l *Log) missed(err error) {
	if errors.Is(err, os.ErrClosed) {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.count()
	l.torn = true // the count is to be written to the head
	_ = l.repair()
}

// count counts an event that could not be written.
func (l *Log) count() {
	if l.unwritten == 0 {
		l.since = l.o.Now().UTC()
	}
	l.unwritten++
	l.torn = true // the head needs the count
}

// SignedHead returns the end of the log, and the number of its last event that is
// not an anchor.
func (l *Log) SignedHead() (h SignedHead, others uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	h = SignedHead{Log: l.id, Name: l.o.Name, Seq: l.last.Seq, Hash: l.last.Hash, Unwritten: l.unwritten}
	l.o.Signer.sign(&h)
	return h, l.others
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

// Close writes that the process ended in order, unless it wrote nothing or the disk is full,
// syncs everything to disk and releases the path. Append fails after it.
func (l *Log) Close() error {
	l.syncing.Lock()
	defer l.syncing.Unlock()
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return nil
	}
	l.closed = true
	l.signing.timer.Stop()
	if l.repair() == nil && l.o.Signer != nil && l.opening == "" && l.unwritten == 0 {
		_ = l.chain(&Event{Kind: Opened, Step: stepClosed}) // repaired below
	}
	return errors.Join(l.repair(), l.writeHead(l.last, true), l.file.Sync(), l.head.Sync(), l.head.Close(), l.file.Close(), l.folder.Close())
}

var _ Sink = (*Log)(nil)
