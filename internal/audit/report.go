package audit

import (
	"fmt"
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

// statusOf is the status of a log in which a start found something, by the step of its event.
func statusOf(step string) Status {
	switch step {
	case stepAdded:
		return Damaged
	case stepRewritten:
		return Contradicted
	case stepUnwritten:
		return Unwritten
	case stepUnsigned:
		return Whole
	}
	return Recovered
}

// Remark is something for an auditor to check although the chain is valid: damage
// that was recorded when the log was opened, or a clock that went back.
type Remark struct {
	Line   uint64 // number of the event; 0: of no event
	Text   string
	Status Status // Whole: nothing is unknown
}

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
