package agent

import (
	"context"
	"slices"
	"strings"

	"countersign.dev/internal/fault"
	"countersign.dev/internal/result"
)

// run is a turn under way.
type run struct {
	turn     Turn
	tools    Toolset
	system   string
	offer    *offer
	window   *window
	added    []Message       // what the turn adds to the conversation, as the model reads it
	outcomes [][]toolOutcome // of each step, by call
	usage    Usage
	written  [2]strings.Builder // the model's own words: before the first result, and since then
	repairs  repairs
	ids      callIDs
	taint    taint // what others wrote and the model has read
	warnings []Warning

	yield func(Event, error) bool
	stop  context.CancelFunc
	left  bool // the caller left the loop
}

// addLine adds a line in the gateway's name, and keeps it beside the answer.
func (r *run) addLine(kind, line string) {
	last := r.keepNote(Note{Kind: kind, Text: line})
	if last.Text() != "" || len(last.Notes) > 1 {
		line = "\n\n" + line
	}
	r.emit(TextDelta{Text: line, Source: "gateway"})
}

// keepNote adds a note to the last message of the answer and returns that message: a
// conversation that is read later has what was streamed.
func (r *run) keepNote(n Note) *Message {
	if r.added[len(r.added)-1].Role != Assistant {
		r.added = append(r.added, Message{Role: Assistant})
	}
	last := &r.added[len(r.added)-1]
	last.Notes = append(last.Notes, n)
	return last
}

// added is the kind of a note that corrects nothing: why an answer ends where it does.
const added = "added"

// warn keeps one warning per server. A server that did not answer before the turn
// was cancelled is not reported.
func (r *run) warn(more ...Warning) {
	for _, w := range more {
		known := func(have Warning) bool { return have.Server == w.Server }
		if w.Code != fault.Cancelled.Name && !slices.ContainsFunc(r.warnings, known) {
			r.warnings = append(r.warnings, w)
		}
	}
}

// emit yields an event, unless the caller has left the loop; leaving it cancels
// the turn.
func (r *run) emit(e Event) { r.send(e, nil) }

// fail yields Failed with its cause.
func (r *run) fail(cause error) { r.send(Failed{Outcome: result.Failed(cause)}, cause) }

func (r *run) send(e Event, cause error) {
	if r.left || r.yield(e, cause) {
		return
	}
	r.left = true
	r.stop()
}

// toolOutcome is the outcome of a call with what is needed to write it again.
type toolOutcome struct {
	result.Outcome
	call      Call
	untrusted []string // fields
	clipped   bool     // the model reads a part of it
}

// within returns the result as it is kept.
func (o toolOutcome) within(k Kept, whole CallResult) CallResult {
	uncounted := o.Page() == nil && len(o.Data()) > 0 && o.Data()[0] == '['
	if k != (Kept{}) && (uncounted || o.Rows() > k.Rows || len(whole.Answer) > k.Bytes) {
		whole.Answer = result.ClipForModel(o.Outcome, o.untrusted, k.Rows, k.Bytes)
	}
	return whole
}
