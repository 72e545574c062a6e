package agent

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"

	"countersign.dev/internal/fault"
	"countersign.dev/internal/result"
)

// Limits of a step.
const (
	parallel = 8  // calls that run at one time
	maxCalls = 32 // calls that one answer of a model may ask for
)

// ending is the end of one call.
type ending struct {
	index   int
	outcome result.Outcome
}

// step runs the calls of one answer side by side and reports whether a change
// now waits for its person. Starts are told in the order of the calls, ends as
// they happen; the results are kept in the order of the calls.
func (r *run) step(ctx context.Context, calls []Call) (waiting bool) {
	endings := make(chan ending, len(calls)) // room for all: no call waits for a slow reader
	var running sync.WaitGroup
	defer running.Wait()
	results := make([]Part, len(calls))
	for started, ended := 0, 0; ended < len(calls); ended++ {
		for ; started < len(calls) && started-ended < parallel; started++ {
			index, c := started, calls[started]
			r.emit(ToolStarted{Call: c, Server: r.server(c.Tool)})
			running.Go(func() { endings <- ending{index, r.call(ctx, c, index)} })
		}
		e := <-endings
		results[e.index] = r.finished(calls[e.index], e.outcome)
		waiting = waiting || e.outcome.Pending() != nil
	}
	r.said = append(r.said, Message{Role: ToolRole, Parts: results})
	return waiting
}

// call runs one call, or says why it is not run. A toolbox that panics costs
// its own call and not the process.
func (r *run) call(ctx context.Context, c Call, index int) (o result.Outcome) {
	defer func() {
		if p := recover(); p != nil {
			o = result.Failed(fmt.Errorf("tool %s panicked: %v", c.Tool, p))
		}
	}()
	if err := r.mayCall(c, index); err != nil {
		return result.Failed(err)
	}
	if err := ctx.Err(); err != nil {
		return result.Failed(err)
	}
	return r.turn.Toolbox.Call(ctx, c.Tool, c.Args)
}

// mayCall refuses what must not even reach the toolbox: a model calls what it
// was shown, and nothing else.
func (r *run) mayCall(c Call, index int) error {
	if index >= maxCalls {
		return fault.TooManyRequests.New("At most %d calls are run in one step.", maxCalls).Suggest("Ask for the rest in the next step.")
	}
	if r.open(c.Tool) == nil {
		return r.refusal(c.Tool)
	}
	if !json.Valid(c.Args) || !bytes.HasPrefix(bytes.TrimSpace(c.Args), []byte("{")) {
		return fault.ValidationError.New("The arguments of %s are not a JSON object.", c.Tool)
	}
	return nil
}

func (r *run) refusal(name string) error {
	for _, closed := range r.tools.Closed {
		if closed.Name == name {
			return fault.Insufficient.New("%s needs one of these roles: %s.", name, strings.Join(closed.Roles, ", "))
		}
	}
	return fault.UnknownTool.New("There is no tool named %q.", name)
}

func (r *run) open(name string) *Tool {
	for i := range r.tools.Open {
		if r.tools.Open[i].Name == name {
			return &r.tools.Open[i]
		}
	}
	return nil
}

func (r *run) server(name string) string {
	if t := r.open(name); t != nil {
		return t.Server
	}
	return ""
}

// finished tells what a call came to and returns it as the model will read it.
func (r *run) finished(c Call, o result.Outcome) CallResult {
	server := r.server(c.Tool)
	r.emit(ToolFinished{Call: c, Server: server, Outcome: o})
	r.partial.note(c, o)
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
	return CallResult{ID: c.ID, Tool: c.Tool, Answer: answer, Failed: o.Fault() != nil, Guarded: marked}
}

// whole completes what a model may leave out of a call: the id, and the
// arguments of a tool that needs none.
func whole(c Call, message, index int) Call {
	if c.ID == "" {
		c.ID = fmt.Sprintf("call_%d_%d", message, index+1)
	}
	if len(bytes.TrimSpace(c.Args)) == 0 {
		c.Args = json.RawMessage("{}")
	}
	return c
}
