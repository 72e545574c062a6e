package audit

import (
	"fmt"
	"io"
	"iter"
	"os"
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
