package audit

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"countersign.dev/internal/audit/place"
)

// Open opens the log at path, or creates one, readable by its owner only, and
// continues its chain. Damage by a crash is repaired and recorded in the log: a
// torn last line is truncated, lines that the head names but the disk lost are
// counted. A log whose last complete line is invalid is not continued, and one
// that another process has open is refused.
func Open(path string, o *Options) (_ *Log, err error) {
	l := &Log{path: path, headPath: headPath(path)}
	if o != nil {
		l.o = *o
	}
	if l.o.Now == nil {
		l.o.Now = time.Now
	}
	l.signing.start(l.o.Signer, l.signLate)
	if err := l.open(); err != nil {
		return nil, fmt.Errorf("opening the audit log %s: %w", path, err)
	}
	return l, nil
}

// open locks both files, finds the end of the chain, repairs it, and records the
// damage.
func (l *Log) open() (err error) {
	head, err := openPrivate(l.headPath, os.O_WRONLY)
	if err != nil {
		return err
	}
	f, err := openPrivate(l.path, os.O_RDWR|os.O_APPEND)
	if err != nil {
		return errors.Join(err, head.Close())
	}
	l.file, l.head = f, head
	err = errors.Join(lock(head), lock(f), l.folder.Open(filepath.Dir(l.path)))
	if err == nil {
		err = l.resume(f, head)
	}
	if err != nil {
		_ = l.folder.Close()
		return errors.Join(err, f.Close(), head.Close())
	}
	return nil
}

func (l *Log) resume(f, head *os.File) (err error) {
	if l.disk.file, _, err = place.Of(f); err != nil {
		return err
	}
	if l.disk.head, _, err = place.Of(head); err != nil {
		return err
	}
	tail, err := readTail(f)
	if err != nil {
		return err
	}
	var before *Identity
	if tail.size == 0 {
		if tail, before, err = l.afterRotation(tail); err != nil {
			return err
		}
	}
	named, headErr := readHead(l.path)
	if headErr != nil && !errors.Is(headErr, errNoHead) {
		return headErr
	}
	first := firstEvent(f)
	l.began = first.Time
	if first.Log == nil {
		first.Log = before
	}
	if first.Log != nil { // the head may be lost
		named.Log = cmp.Or(named.Log, first.Log.ID)
	}
	if err := l.begin(tail, named); err != nil {
		return err
	}
	found := append(damage(tail, named, headErr), named.unproven(l.o.Signer, l.path, l.last)...)
	if len(found) > 0 { // one event replaces the head: until then all of it can be found again
		if err := l.Append(context.Background(), joined(found)); err != nil {
			return err
		}
	}
	l.signing.paused = false
	return l.writeHead(l.last, true)
}

// afterRotation finds the end of the chain in the newest renamed file: a crash
// happened before the new file had its first line.
func (l *Log) afterRotation(t tail) (tail, *Identity, error) {
	segments, err := segmentsOf(l.path)
	if err != nil || len(segments) == 0 {
		return t, nil, err
	}
	newest, err := os.Open(segments[len(segments)-1])
	if err != nil {
		return t, nil, err
	}
	defer newest.Close()
	before, err := readTail(newest)
	l.opening = stepRotated
	t.last = before.last
	return t, firstEvent(newest).Log, err
}

// begin continues the chain at the end of the tail.
func (l *Log) begin(t tail, named storedHead) error {
	l.last, l.size, l.others, l.found = t.last, t.size, t.last.Seq, t.last.Seq
	l.id = named.Log
	if l.o.Name != "" || l.o.Signer != nil {
		l.id = cmp.Or(l.id, newID())
		l.opening = cmp.Or(l.opening, stepOpened)
	}
	if t.torn > 0 {
		if err := l.file.Truncate(l.size); err != nil {
			return err
		}
	}
	l.kept = position{l.last.Seq, l.size}
	l.signing.last = named.signed
	l.signing.paused = named.signed.Head() != l.last || !l.o.Signer.made(named.signed)
	return errors.Join(l.file.Sync(), syncFolder(l.path))
}

// firstEvent is the first event of a file; the zero event without one.
func firstEvent(f *os.File) Event {
	line, err := lines(io.NewSectionReader(f, 0, 1<<62)).next()
	if err != nil || line.torn {
		return Event{}
	}
	e, broken := parse(line.text)
	if broken != "" {
		return Event{}
	}
	return e
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
		return tail{last: Head{Hash: genesis}, torn: info.Size()}, err
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

// damage describes what is missing at the end of a log. A head that is
// behind the log is no damage: a crash can happen between a line and its head.
func damage(t tail, named storedHead, headErr error) []Event {
	var found []Event
	whole := t.size > 0 || t.last.Seq > 0
	end := max(named.Seq, named.signed.Seq)
	note := func(step, format string, args ...any) {
		found = append(found, Event{Kind: Recovery, Step: step, Note: fmt.Sprintf(format, args...)})
	}
	if t.torn > 0 {
		note(stepTorn, "%d bytes of a torn last line were truncated.", t.torn)
	}
	switch {
	case headErr != nil && whole:
		note(stepHead, "The head was missing or unreadable: events after number %d may have been lost.", t.last.Seq)
	case headErr != nil: // a new log
	case end > t.last.Seq:
		note(stepLost, "The head named event %d and the log ended with %d: %d events were lost.", end, t.last.Seq, end-t.last.Seq)
	case named.Seq == t.last.Seq && named.Hash != t.last.Hash:
		note(stepHead, "The head named another hash for event %d.", t.last.Seq)
	}
	if named.Unwritten > 0 {
		note(stepUnwritten, "%d events could not be written before the process ended.", named.Unwritten)
	}
	return found
}

// unproven describes lines that a start finds and that the signature of the head is not of.
// They get the next one, so the log says for good that they had none. Those of a crash are
// the lines of [signDelay], or since the head was last written to disk when the power failed.
func (h storedHead) unproven(by *Signer, path string, last Head) []Event {
	note := func(step, format string, args ...any) []Event {
		return []Event{{Kind: Recovery, Step: step, Note: fmt.Sprintf(format, args...)}}
	}
	switch {
	case by == nil || last.Seq == 0 || h.signed.Head() == last && by.made(h.signed):
		return nil
	case h.Hash == "" || by.made(h.signed) && h.signed.Seq > last.Seq: // no head, or lost lines: damage says so
		return note(stepUnsigned, "No signature shows that events 1 to %d are as they were written.", last.Seq)
	case !by.made(h.signed):
		return note(stepRewritten, "The head had no signature of this process: nothing shows that events 1 to %d are as they were written.", last.Seq)
	}
	switch behind := linesBehind(path, h.signed.Head()); {
	case !behind.follow:
		return note(stepRewritten, "The signed head named event %d with the hash %s and the log has another one there: it was rewritten, or replaced by another one, before the process started.", h.signed.Seq, h.signed.Hash)
	case behind.added():
		return note(stepAdded, "Events %d to %d were added after the process before had ended in order.", h.signed.Seq+1, last.Seq)
	default:
		return note(stepUnsigned, "Events %d to %d were not signed when the process started, %d of them of changes, approvals or revocations: the process before was killed, or they were forged.", h.signed.Seq+1, last.Seq, behind.changes)
	}
}

// linesBehind reads the lines after the signed head.
func linesBehind(path string, signed Head) unsigned {
	u := unsigned{after: signed}
	for e, err := range Newest(path) {
		if u.see(e); err != nil || e.Seq <= signed.Seq {
			break
		}
	}
	return u
}

// joined is one event for several, with the step of the most severe one.
func joined(found []Event) Event {
	e := found[0]
	for _, more := range found[1:] {
		if worst := Worse(statusOf(e.Step), statusOf(more.Step)); worst != statusOf(e.Step) {
			e.Step = more.Step
		}
		e.Note += " " + more.Note
	}
	return e
}
