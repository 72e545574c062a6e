package audit

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
)

// Events iterates over the events of the log at path, in order. It checks each
// line by itself but not the chain: Verify does that. The first invalid line ends
// it with an error; a torn last line is skipped, because it may still be written.
func Events(path string) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		f, err := os.Open(path)
		if err != nil {
			yield(Event{}, fmt.Errorf("reading the audit log: %w", err))
			return
		}
		defer f.Close()
		readEvents(f, yield)
	}
}

func readEvents(r io.Reader, yield func(Event, error) bool) {
	in := lines(r)
	for n := 1; ; n++ {
		l, err := in.next()
		if err == io.EOF || l.torn {
			return
		}
		if err != nil {
			yield(Event{}, fmt.Errorf("reading the audit log: %w", err))
			return
		}
		e, broken := parse(l.text)
		if broken != "" {
			yield(Event{}, fmt.Errorf("reading the audit log: line %d: %s", n, broken))
			return
		}
		if !yield(e, nil) {
			return
		}
	}
}

// About says whose log is at path and what its last event is. What it says is not
// verified.
func About(path string) (SignedHead, error) {
	stored, err := readHead(path)
	if err != nil {
		return SignedHead{}, fmt.Errorf("reading the audit log: %w", err)
	}
	h := stored.SignedHead
	for e, err := range Events(path) {
		if err == nil && e.Log != nil { // each file begins with it
			h.Log, h.Name = e.Log.ID, e.Log.Name
		}
		break
	}
	return h, nil
}

// Newest iterates over the events of the log at path and of the files that were
// rotated from it, the newest first. Like Events it checks each line by itself; what is
// being written at that moment may be left out.
func Newest(path string) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		files, err := segmentsOf(path)
		if err != nil {
			yield(Event{}, fmt.Errorf("reading the audit log: %w", err))
			return
		}
		for _, name := range slices.Backward(append(files, path)) {
			if more, err := newestOf(name, yield); err != nil {
				yield(Event{}, fmt.Errorf("reading the audit log: %w", err))
				return
			} else if !more {
				return
			}
		}
	}
}

// eventAt returns the event with a number; false when no file has it, or a line after it is invalid.
func eventAt(path string, seq uint64) (Event, bool) {
	for e, err := range Newest(path) {
		if err != nil || e.Seq <= seq {
			return e, err == nil && e.Seq == seq
		}
	}
	return Event{}, false
}

// newestOf yields the events of one file from its end.
func newestOf(name string, yield func(Event, error) bool) (more bool, err error) {
	f, err := os.Open(name)
	if errors.Is(err, fs.ErrNotExist) { // rotated at this moment: its new name comes next, or was before
		return true, nil
	}
	if err != nil {
		return false, err
	}
	defer f.Close()
	ends, err := lineEnds(f)
	if err != nil {
		return false, err
	}
	for i, end := range slices.Backward(ends) {
		start := int64(0)
		if i > 0 {
			start = ends[i-1]
		}
		text := make([]byte, end-start-1)
		if _, err := f.ReadAt(text, start); err != nil {
			return false, err
		}
		e, broken := parse(text)
		if broken != "" {
			return false, fmt.Errorf("line %d of %s: %s", i+1, filepath.Base(name), broken)
		}
		if !yield(e, nil) {
			return false, nil
		}
	}
	return true, nil
}

// lineEnds are the positions after the newlines of a file.
func lineEnds(r io.Reader) (ends []int64, err error) {
	buffer := make([]byte, 64<<10)
	at := int64(0)
	for {
		n, err := r.Read(buffer)
		for i, b := range buffer[:n] {
			if b == '\n' {
				ends = append(ends, at+int64(i)+1)
			}
		}
		at += int64(n)
		if err == io.EOF {
			return ends, nil
		}
		if err != nil {
			return nil, err
		}
	}
}
