package agent

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"sync"
	"time"

	"countersign.dev/internal/fault"
	"countersign.dev/internal/result"
)

// Limits of a step.
const (
	parallel = 8  // calls that run at one time
	maxCalls = 32 // calls that one answer of a model may ask for
)

// callOutcome is the outcome of the call of that index.
type callOutcome struct {
	index   int
	outcome result.Outcome
}

// step runs the calls of one answer in parallel, those that change something one after
// the other, and reports whether a change now waits for its person. ToolStarted comes in the order of the calls, ToolProgress
// and ToolFinished as they happen; the results are kept in the order of the calls.
func (r *run) step(ctx context.Context, calls []Call) (waiting bool) {
	outcomes := make(chan callOutcome, len(calls)) // buffered for all: no call waits for a slow reader
	reports := make(chan callReport, parallel)
	var running sync.WaitGroup
	defer running.Wait()
	results, whole := make([]Part, len(calls)), make([]toolOutcome, len(calls))
	var changes queue
	for started, ended := 0, 0; ended < len(calls); {
		for ; started < len(calls) && started-ended < parallel; started++ {
			index, c := started, calls[started]
			r.emit(ToolStarted{Call: c, Server: r.server(c.Tool)})
			wrong, follows := r.check(c, index), r.taint.mark(ctx, r.open(c.Tool))
			first, ended := changes.join(r.open(c.Tool))
			running.Go(func() {
				<-first
				outcomes <- callOutcome{index, r.call(withReports(follows, index, reports), c, wrong)}
				close(ended)
			})
		}
		select {
		case p := <-reports:
			if c := calls[p.index]; results[p.index] == nil { // the call has not ended
				r.emit(ToolProgress{Call: c, Server: r.server(c.Tool), Progress: p.progress})
			}
		case e := <-outcomes:
			results[e.index], whole[e.index] = r.finished(calls[e.index], e.outcome)
			waiting = waiting || e.outcome.Pending() != nil
			ended++
		}
	}
	for _, p := range results {
		answer := p.(CallResult)
		r.taint.read(answer, r.open(answer.Tool))
	}
	r.added, r.outcomes = append(r.added, Message{Role: ToolRole, Parts: results}), append(r.outcomes, whole)
	return waiting
}

// queue has the changes of a step run one after the other, in the order of their calls,
// so that what they make is numbered as they were asked for. Reads wait for nothing.
type queue struct{ last chan struct{} }

// join returns what a call waits for, and what it closes when it has ended.
func (q *queue) join(t *Tool) (first <-chan struct{}, ended chan struct{}) {
	before, ended := q.last, make(chan struct{})
	if t != nil && (t.Kind == result.Edit || t.Kind == result.Write) {
		q.last = ended
		if before != nil {
			return before, ended
		}
	}
	none := make(chan struct{})
	close(none)
	return none, ended
}

// call runs one call, unless there is a reason why it must not run. A panic of
// the toolbox fails its call and not the process.
func (r *run) call(ctx context.Context, c Call, wrong error) (o result.Outcome) {
	defer func() {
		if p := recover(); p != nil {
			o = result.Failed(fault.Panic(c.Tool, p))
		}
	}()
	if wrong != nil {
		return result.Failed(wrong)
	}
	if err := ctx.Err(); err != nil {
		return result.Failed(err)
	}
	if r.offer.index != nil && c.Tool == FindTools {
		return r.offer.find(c.Args)
	}
	return r.turn.Toolbox.Call(ctx, c.Tool, c.Args)
}

// check rejects a call before the toolbox sees it: a model calls the tools that
// it was offered, and nothing else.
func (r *run) check(c Call, index int) error {
	if index >= maxCalls {
		return fault.TooManyRequests.New("At most %d calls are run in one step.", maxCalls).Suggest("Ask for the rest in the next step.")
	}
	t := r.open(c.Tool)
	if t == nil {
		return r.notOffered(c.Tool)
	}
	if !r.offer.offers(c.Tool) {
		return notYet(c.Tool)
	}
	if !json.Valid(c.Args) || !bytes.HasPrefix(bytes.TrimSpace(c.Args), []byte("{")) {
		return r.repairs.say(c.Tool, len(r.added), fault.ValidationError.New("The arguments of %s are not a JSON object.", c.Tool))
	}
	if err := r.offer.full(c.Tool); err != nil { // here, because searches run beside each other
		return err
	}
	if err := r.taint.refuse(t, asked(r.turn.History, r.turn.Question)); err != nil {
		return err
	}
	if t.Arguments == nil {
		return nil
	}
	fields, err := t.Arguments.Wrong(c.Args)
	if err == nil {
		return nil
	}
	return r.repairs.say(c.Tool, len(r.added), fault.From(err).With("expected", expected(t.InputSchema, fields)))
}

func (r *run) notOffered(name string) error {
	for _, closed := range r.tools.Closed {
		if closed.Name == name {
			return fault.Insufficient.New("%s", closed.Info.Refusal())
		}
	}
	f := fault.UnknownTool.New("There is no tool named %q.", name).With("tool", name)
	if near := closest(name, r.offer.shown); len(near) > 0 {
		f = f.Instruct("Call one of: %s.", strings.Join(near, ", "))
	}
	return r.repairs.say(name, len(r.added), f)
}

func (r *run) open(name string) *Tool { return r.offer.tool(name) }

func (r *run) server(name string) string {
	if t := r.open(name); t != nil {
		return t.Server
	}
	return ""
}

// finished emits a call's outcome and returns it as the model reads it.
func (r *run) finished(c Call, o result.Outcome) (CallResult, toolOutcome) {
	server := r.server(c.Tool)
	r.emit(ToolFinished{Call: c, Server: server, Outcome: o})
	r.window.found(r.offer.take(c, o), r.offer.found)
	switch {
	case o.Pending() != nil:
		r.emit(Pending{Server: server, Outcome: o})
	case o.Page() != nil && o.Page().More:
		r.emit(Truncated{Tool: c.Tool, Hint: o.Page().Hint})
	case server != "" && (o.Code() == fault.ServiceDown.Name || o.Code() == fault.Timeout.Name):
		r.warn(Warning{Server: server, Code: o.Code(), Message: o.Fault().Message})
	}
	var untrusted []string
	if t := r.open(c.Tool); t != nil {
		untrusted = t.Untrusted
	}
	answer, marked := result.EncodeForModel(o, untrusted)
	return r.window.read(CallResult{ID: c.ID, Tool: c.Tool, Answer: answer, Failed: o.Fault() != nil, Untrusted: marked}), toolOutcome{Outcome: o, call: c, untrusted: untrusted}
}

// Limits of the progress of one call.
const (
	reportPause = time.Second // at least, between two reports
	maxReports  = 100
)

// callReport is a report of the call of that index.
type callReport struct {
	index    int
	progress result.Progress
}

// withReports asks for the progress of one call. Reports beyond the limits are
// dropped, and so is one that the turn has no time to take.
func withReports(ctx context.Context, index int, reports chan<- callReport) context.Context {
	var (
		mu    sync.Mutex
		count int
		last  time.Time
	)
	return result.WithProgress(ctx, func(p result.Progress) {
		mu.Lock()
		defer mu.Unlock()
		now := time.Now()
		if count == maxReports || count > 0 && now.Sub(last) < reportPause {
			return
		}
		select {
		case reports <- callReport{index, p}:
			count, last = count+1, now
		default:
		}
	})
}
