package audit

import (
	"bufio"
	"errors"
	"fmt"
	"io"
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

// Status is how far a log can be trusted, and the exit status of `audit verify`.
type Status int

// The statuses. 0, 1 and 2 mean what they mean for every command.
const (
	Whole        Status = 0
	Damaged      Status = 3 // a line was altered, removed, moved or added
	Recovered    Status = 4 // the end was cut or torn when a process opened the log
	Lost         Status = 5 // a file is missing: the head, an older file, or a log that another one names
	Contradicted Status = 6 // a signature, another log, Redis or --expect-head says otherwise
	Unwritten    Status = 7 // events could not be written
	Moved        Status = 8 // the file was renamed or deleted while it was written
)

// severity orders the statuses: the first that was found is reported.
var severity = []Status{Damaged, Contradicted, Lost, Moved, Unwritten, Recovered}

// String names the status in words.
func (s Status) String() string {
	switch s {
	case Whole:
		return "whole"
	case Damaged:
		return "lines were altered, removed or added"
	case Recovered:
		return "the end was lost or torn in a crash"
	case Lost:
		return "a file is missing"
	case Contradicted:
		return "a signature, another log, Redis or the expected head says otherwise"
	case Unwritten:
		return "events could not be written"
	case Moved:
		return "a file was renamed or deleted while it was written"
	}
	return fmt.Sprintf("status %d", int(s))
}

// Worse returns the more severe of two statuses.
func Worse(a, b Status) Status {
	for _, s := range severity {
		if a == s || b == s {
			return s
		}
	}
	return Whole
}

// Remark is something for an auditor to check although the chain is valid: damage
// that was recorded when the log was opened, or a clock that went back.
type Remark struct {
	Line   uint64 // number of the event; 0: of no event
	Text   string
	Status Status // Whole: nothing is unknown
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
	Log     Identity  // as the log names itself; zero when it does not
	Start   Head      // the event before the first one of the files that were read
}

// Status is the most severe one of what was found.
func (r Report) Status() Status {
	worst := Whole
	if r.Broken != nil {
		worst = r.Broken.Status()
	}
	for _, m := range r.Remarks {
		worst = Worse(worst, m.Status)
	}
	return worst
}

// Status is Lost for a log without a head, and else Damaged.
func (b Broken) Status() Status {
	if b.Reason == NoHead {
		return Lost
	}
	return Damaged
}

// Verify checks the log at path, with the files that were rotated from it,
// against its chain and its head, also while a Log is writing it. An error means
// that it could not be read.
func Verify(path string) (Report, error) {
	results, err := VerifyAll([]string{path}, Evidence{})
	if err != nil {
		return Report{}, err
	}
	return results[0].Report, nil
}

// VerifyReader checks a log against its chain, and that it contains at least the
// event of head. The zero Head requires none.
func VerifyReader(r io.Reader, head Head) (Report, error) {
	v := verifier{head: head}
	err := v.read(r)
	v.end()
	return v.report, err
}

type verifier struct {
	report Report
	head   Head
	claims map[uint64][]claim // what others say about events of this log, by number
	lost   uint64             // the file with the events up to this one is missing
	sawAny bool
	watch  *Head // an event to look for
	met    bool  // it was found
}

// claim is what somebody else says that an event's hash is.
type claim struct {
	hash string
	by   string // "the log of gateway", "Redis"
}

// read checks every line, until one is broken.
func (v *verifier) read(r io.Reader) error {
	if !v.sawAny {
		v.report.Head.Hash, v.sawAny = origin, true
	}
	in := lines(r)
	for v.report.Broken == nil {
		line, err := in.next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return fmt.Errorf("reading the audit log: %w", err)
		}
		v.report.Broken = v.check(line, in)
	}
	return nil
}

// check adds the next line to the report, or returns how it is broken.
func (v *verifier) check(l line, rest *lineReader) *Broken {
	at := v.report.Events + 1
	if l.torn {
		return &Broken{at, TruncatedTail, "the log ends in the middle of this line."}
	}
	e, reason := parse(l.text)
	if reason == "" && at == 1 && e.Kind == Opened && e.Seq > 1 {
		at = e.Seq
		v.continues(e)
	}
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

// continues begins with a file that is not the log's first.
func (v *verifier) continues(e Event) {
	v.report.Events, v.report.Head = e.Seq-1, Head{e.Seq - 1, e.Prev}
	v.report.Start = v.report.Head
	status, why := Lost, "older files of this log are missing"
	if e.Step == stepMoved {
		status, why = Moved, "the file before was renamed or deleted while it was written"
	}
	v.remark(status, e.Seq, fmt.Sprintf("The log begins here: %s. What events 1 to %d were cannot be known from these files.", why, e.Seq-1))
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
	switch {
	case e.Kind == Recovery && e.Step == stepUnwritten:
		v.remark(Unwritten, e.Seq, e.Note+" What they were cannot be known.")
	case e.Kind == Recovery:
		v.remark(Recovered, e.Seq, e.Note+" What was there cannot be known.")
	case e.Kind == Anchored && e.Step == stepWentBack:
		v.remark(Contradicted, e.Seq, e.Note)
	case e.Kind == Opened && e.Log != nil:
		v.identify(e)
	}
	if e.Time.Before(r.Last.Add(-clockSlack)) {
		v.remark(Whole, e.Seq, fmt.Sprintf("The clock went back by %v.", r.Last.Sub(e.Time)))
	}
	if r.First.IsZero() {
		r.First = e.Time
	}
	for _, c := range v.claims[e.Seq] {
		if c.hash != e.Hash {
			v.remark(Contradicted, e.Seq, fmt.Sprintf("%s has another hash for this event: this log was rewritten, or that one was.", c.by))
		}
	}
	r.Events, r.Last, r.Head = e.Seq, e.Time, Head{e.Seq, e.Hash}
	v.met = v.met || v.watch != nil && *v.watch == r.Head
}

// identify notes whose log it is. A log that changes its id was continued by
// something else.
func (v *verifier) identify(e Event) {
	if id := v.report.Log.ID; id != "" && id != e.Log.ID {
		v.remark(Contradicted, e.Seq, fmt.Sprintf("The log changes its id from %s to %s.", id, e.Log.ID))
	}
	v.report.Log = *e.Log
}

func (v *verifier) remark(s Status, line uint64, text string) {
	if len(v.report.Remarks) < maxRemarks || s != Whole && v.report.Status() == Whole {
		v.report.Remarks = append(v.report.Remarks, Remark{line, text, s})
	}
}

// end compares the last line with the head and with what others saw. A log can be
// longer than its head: lines were added while it was read, or a crash happened
// between the two.
func (v *verifier) end() {
	if v.report.Broken != nil {
		return
	}
	if v.head.Seq > v.report.Events {
		v.report.Broken = &Broken{v.report.Events + 1, TruncatedTail, fmt.Sprintf("the head names event %d and the log ends before this line.", v.head.Seq)}
	}
	last, by := max(v.report.Events, v.lost), ""
	for seq, claims := range v.claims {
		if seq > last {
			last, by = seq, claims[0].by
		}
	}
	if by != "" {
		v.remark(Contradicted, v.report.Events+1, fmt.Sprintf("%s names event %d and the log ends before this line: what events %d to %d were cannot be known.", by, last, v.report.Events+1, last))
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
