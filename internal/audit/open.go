package audit

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"
)

// Open opens the log at path, or creates one, readable by its owner only, and
// continues its chain. Damage by a crash is repaired and recorded in the log: a
// torn last line is truncated, lines that the head names but the disk lost are
// counted. A log whose last complete line is invalid is not continued, and one
// that another process has open is refused.
func Open(path string, o *Options) (_ *Log, err error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("opening the audit log: %w", err)
	}
	defer func() {
		if err != nil {
			_ = f.Close()
		}
	}()
	if err := lock(f); err != nil {
		return nil, fmt.Errorf("opening the audit log %s: %w", path, err)
	}
	l := &Log{path: path, now: time.Now, file: f}
	if o != nil && o.Now != nil {
		l.now = o.Now
	}
	if err := l.resume(f); err != nil {
		return nil, fmt.Errorf("opening the audit log %s: %w", path, err)
	}
	return l, nil
}

// resume finds the end of the chain, repairs it, and records the damage.
func (l *Log) resume(f *os.File) error {
	tail, err := readTail(f)
	if err != nil {
		return err
	}
	named, err := readHead(l.path)
	if err != nil && !errors.Is(err, errNoHead) {
		return err
	}
	found := damage(tail, named, err)
	if l.head, err = os.OpenFile(headPath(l.path), os.O_WRONLY|os.O_CREATE, 0o600); err != nil {
		return err
	}
	if err := l.begin(tail); err != nil {
		return errors.Join(err, l.head.Close())
	}
	for _, e := range found {
		if err := l.Append(context.Background(), e); err != nil {
			return errors.Join(err, l.head.Close())
		}
	}
	return nil
}

// begin continues the chain at the end of the tail and repairs both files.
func (l *Log) begin(t tail) error {
	l.last, l.size, l.torn = t.last, t.size, t.torn > 0
	if err := l.repair(); err != nil {
		return err
	}
	if _, err := l.head.WriteAt(l.last.encode(), 0); err != nil {
		return err
	}
	l.kept = position{l.last.Seq, l.size}
	return errors.Join(l.file.Sync(), syncFolder(l.path))
}

// tail is the end of a log as it was read.
type tail struct {
	last Head
	size int64 // bytes up to the end of the last whole line
	torn int64 // bytes after it
}

func readTail(f *os.File) (tail, error) {
	info, err := f.Stat()
	if err != nil {
		return tail{}, err
	}
	end, err := afterNewline(f, info.Size())
	if err != nil || end == 0 {
		return tail{last: Head{Hash: origin}, torn: info.Size()}, err
	}
	start, err := afterNewline(f, end-1)
	if err != nil {
		return tail{}, err
	}
	if end-start > maxLine {
		return tail{}, errors.New("its last line is longer than any event: verify it before it is continued")
	}
	line := make([]byte, end-1-start)
	if _, err := f.ReadAt(line, start); err != nil {
		return tail{}, err
	}
	e, broken := parse(line)
	if broken != "" {
		return tail{}, fmt.Errorf("its last line is broken (%s): verify it before it is continued", broken)
	}
	return tail{last: Head{e.Seq, e.Hash}, size: end, torn: info.Size() - end}, nil
}

// afterNewline returns the offset after the last newline before end, or 0.
func afterNewline(r io.ReaderAt, end int64) (int64, error) {
	buf := make([]byte, 64<<10)
	for end > 0 {
		chunk := buf[:min(end, int64(len(buf)))]
		end -= int64(len(chunk))
		if _, err := r.ReadAt(chunk, end); err != nil {
			return 0, err
		}
		if i := bytes.LastIndexByte(chunk, '\n'); i >= 0 {
			return end + int64(i) + 1, nil
		}
	}
	return 0, nil
}

// damage describes in events what is missing at the end of a log. A head that is
// behind the log is no damage: a crash can happen between a line and its head.
func damage(t tail, named Head, headErr error) []Event {
	var found []Event
	note := func(step, format string, args ...any) {
		found = append(found, Event{Kind: Recovery, Step: step, Note: fmt.Sprintf(format, args...)})
	}
	if t.torn > 0 {
		note("torn", "%d bytes of a torn last line were truncated.", t.torn)
	}
	switch {
	case headErr != nil && t.size > 0:
		note("head", "The head was missing or unreadable: events after number %d may have been lost.", t.last.Seq)
	case headErr != nil: // a new log
	case named.Seq > t.last.Seq:
		note("lost", "The head named event %d and the log ended with %d: %d events were lost.", named.Seq, t.last.Seq, named.Seq-t.last.Seq)
	case named.Seq == t.last.Seq && named.Hash != t.last.Hash:
		note("head", "The head named another hash for event %d.", t.last.Seq)
	}
	return found
}

// syncFolder makes the names of new files durable.
func syncFolder(path string) error {
	folder, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	return errors.Join(folder.Sync(), folder.Close())
}
