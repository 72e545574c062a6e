package audit

import (
	"fmt"
	"io"
	"time"
)

// maxRemarks bounds a report.
const maxRemarks = 100

// clockSlack is how far back the clock may go without a remark: time servers
// adjust it.
const clockSlack = time.Second

// VerifyReader checks a log against its chain, and that it contains at least the
// event of head. The zero Head requires none.
func VerifyReader(r io.Reader, head Head) (Report, error) {
	v := verifier{head: head}
	err := v.read(r)
	v.end()
	return v.report, err
}

type verifier struct {
	report       Report
	head         Head
	attestations map[uint64][]attestation // what others say about events of this log, by number
	unsigned     unsigned
	lost         uint64 // the file with the events up to this one is missing
	sawAny       bool
	watch        *Head // an event to look for
	met          bool  // it was found
}

// attestation is what someone else says that an event's hash is.
type attestation struct {
	hash string
	by   string // "the log of gateway", "Redis"
}

// read checks every line, until one is broken.
func (v *verifier) read(r io.Reader) error {
	if !v.sawAny {
		v.report.Head.Hash, v.sawAny = genesis, true
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
	case e.Kind == Recovery && statusOf(e.Step) == Recovered:
		v.remark(Recovered, e.Seq, e.Note+" What was there cannot be known.")
	case e.Kind == Recovery:
		v.remark(statusOf(e.Step), e.Seq, e.Note)
	case e.Kind == Anchored && e.Step != "":
		v.remark(Contradicted, e.Seq, e.Note)
	case e.Kind == Opened && e.Log != nil:
		v.identify(e)
	}
	v.unsigned.see(e)
	if e.Time.Before(r.Last.Add(-clockSlack)) && len(r.Remarks) < maxRemarks/2 { // others are needed more
		v.remark(Whole, e.Seq, fmt.Sprintf("The clock went back by %v.", r.Last.Sub(e.Time)))
	}
	if r.First.IsZero() {
		r.First = e.Time
	}
	for _, c := range v.attestations[e.Seq] {
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
	if status := v.report.Status(); len(v.report.Remarks) < maxRemarks || Worse(s, status) != status {
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
	for seq, attestations := range v.attestations {
		if seq > last {
			last, by = seq, attestations[0].by
		}
	}
	if by != "" {
		v.remark(Contradicted, v.report.Events+1, fmt.Sprintf("%s names event %d and the log ends before this line: what events %d to %d were cannot be known.", by, last, v.report.Events+1, last))
	}
}
