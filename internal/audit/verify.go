package audit

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"time"
)

// Reason is how a log is broken at a line.
type Reason string

// The reasons.
const (
	Altered       Reason = "altered"        // the line is not the one that was written
	Missing       Reason = "missing"        // the event of this line was removed
	Reordered     Reason = "reordered"      // the event of this line was moved down
	Repeated      Reason = "repeated"       // the line repeats an earlier event
	NotJSON       Reason = "not JSON"       // the line is not JSON
	TruncatedTail Reason = "truncated tail" // the log ends too early, or in the middle of a line
	NoHead        Reason = "no head"        // the head is missing, so a truncated tail cannot be excluded
)

// Broken is the first broken line of a log.
type Broken struct {
	Line   uint64 // counted from 1
	Reason Reason
	Detail string // one sentence
}

// String names the line and the reason.
func (b Broken) String() string { return fmt.Sprintf("line %d: %s: %s", b.Line, b.Reason, b.Detail) }

// Remark is something for an auditor to check although the chain is valid: damage
// that was recorded when the log was opened, or a clock that went back.
type Remark struct {
	Line uint64
	Text string
}

// maxRemarks bounds a report.
const maxRemarks = 100

// clockSlack is how far back the clock may go without a remark: time servers
// adjust it.
const clockSlack = time.Second

// Report is the result of Verify.
type Report struct {
	Events  uint64    // valid events, up to the first broken line
	First   time.Time // of the first event; zero when there is none
	Last    time.Time // of the last valid event
	Head    Head      // of the last valid event: keep a copy on another system
	Broken  *Broken   // nil when the log is complete
	Remarks []Remark  // at most 100
}

// Verify checks the log at path against its chain and its head, also while a Log
// is writing it. An error means that it could not be read.
func Verify(path string) (Report, error) {
	head, err := readHead(path) // before the log: lines can be added meanwhile, never removed
	if err != nil && !errors.Is(err, errNoHead) {
		return Report{}, fmt.Errorf("verifying the audit log: %w", err)
	}
	headless := err != nil
	f, err := os.Open(path)
	if err != nil {
		return Report{}, fmt.Errorf("verifying the audit log: %w", err)
	}
	defer f.Close()
	report, err := VerifyReader(f, head)
	if err == nil && report.Broken == nil && headless {
		report.Broken = &Broken{report.Events + 1, NoHead, "PATH.head is missing or unreadable; events may have been removed here."}
	}
	return report, err
}

// VerifyReader checks a log against its chain, and that it contains at least the
// event of head. The zero Head requires none.
func VerifyReader(r io.Reader, head Head) (Report, error) {
	v := verifier{head: head}
	v.report.Head.Hash = origin
	in := lines(r)
	for {
		line, err := in.next()
		if err == io.EOF {
			v.end()
			return v.report, nil
		}
		if err != nil {
			return v.report, fmt.Errorf("reading the audit log: %w", err)
		}
		if broken := v.check(line, in); broken != nil {
			v.report.Broken = broken
			return v.report, nil
		}
	}
}

type verifier struct {
	report Report
	head   Head
}

// check adds the next line to the report, or returns how it is broken.
func (v *verifier) check(l line, rest *lineReader) *Broken {
	at := v.report.Events + 1
	if l.torn {
		return &Broken{at, TruncatedTail, "the log ends in the middle of this line."}
	}
	e, reason := parse(l.text)
	switch {
	case reason == NotJSON:
		return &Broken{at, NotJSON, "it cannot be read."}
	case reason != "":
		return &Broken{at, reason, "its text does not match its hash."}
	case e.Seq < at:
		return &Broken{at, Repeated, fmt.Sprintf("event %d is repeated here.", e.Seq)}
	case e.Seq > at:
		return displaced(at, e.Seq, rest)
	case e.Prev != v.report.Head.Hash:
		return &Broken{at, Altered, "it does not follow the line before: one of the two was replaced."}
	case at == v.head.Seq && e.Hash != v.head.Hash:
		return &Broken{at, Altered, "the head names another hash for this event."}
	}
	v.take(e)
	return nil
}

// displaced distinguishes a removed event from one that was moved down.
func displaced(at, found uint64, rest *lineReader) *Broken {
	for {
		l, err := rest.next()
		if err != nil {
			return &Broken{at, Missing, fmt.Sprintf("event %d is here and event %d is missing.", found, at)}
		}
		if e, _ := parse(l.text); e.Seq == at {
			return &Broken{at, Reordered, fmt.Sprintf("event %d is here and event %d is further down.", found, at)}
		}
	}
}

func (v *verifier) take(e Event) {
	r := &v.report
	if e.Kind == Recovery {
		v.remark(e.Seq, e.Note)
	}
	if e.Time.Before(r.Last.Add(-clockSlack)) {
		v.remark(e.Seq, fmt.Sprintf("The clock went back by %v.", r.Last.Sub(e.Time)))
	}
	if r.Events == 0 {
		r.First = e.Time
	}
	r.Events, r.Last, r.Head = e.Seq, e.Time, Head{e.Seq, e.Hash}
}

func (v *verifier) remark(line uint64, text string) {
	if len(v.report.Remarks) < maxRemarks {
		v.report.Remarks = append(v.report.Remarks, Remark{line, text})
	}
}

// end compares the last line with the head. A log can be longer than its head:
// lines were added while it was read, or a crash happened between the two.
func (v *verifier) end() {
	if v.head.Seq > v.report.Events {
		v.report.Broken = &Broken{v.report.Events + 1, TruncatedTail, fmt.Sprintf("the head names event %d and the log ends before this line.", v.head.Seq)}
	}
}

// line is one line without its newline; torn when it has none.
type line struct {
	text []byte // valid until the next one is read
	torn bool
}

type lineReader struct{ r *bufio.Reader }

func lines(r io.Reader) *lineReader { return &lineReader{bufio.NewReaderSize(r, maxLine+1)} }

// next returns io.EOF after the last line. A line that is longer than any event
// is returned in pieces, none of which is JSON.
func (l *lineReader) next() (line, error) {
	text, err := l.r.ReadSlice('\n')
	switch {
	case err == nil:
		return line{text: text[:len(text)-1]}, nil
	case errors.Is(err, bufio.ErrBufferFull):
		return line{text: text}, nil
	case errors.Is(err, io.EOF) && len(text) > 0:
		return line{text: text, torn: true}, nil
	}
	return line{}, err
}
