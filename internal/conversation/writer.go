package conversation

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"log/slog"
	"time"

	"countersign.dev/internal/agent"
	"countersign.dev/internal/conversation/lease"
	"countersign.dev/internal/fault"
	"countersign.dev/internal/result"
)

const (
	// Pieces of text that follow another sooner than this are joined until then, or
	// until they are this long: a model that streams word by word would otherwise cost
	// more in frames than in words. One that comes later is written at once.
	textDelay = 40 * time.Millisecond
	textSize  = 256 // bytes
)

// errShutdown ends turns and streams when the program does.
var errShutdown = errors.New("the gateway is shutting down")

// writer writes a turn's events into the conversation's log as they happen.
type writer struct {
	conversation Conversation
	limits       Limits
	events       events
	outcomes     outcomes
	log          *slog.Logger
	stop         context.CancelCauseFunc // ends the turn

	text    agent.TextDelta // not yet written
	joining bool            // text was written less than textDelay ago
	lacks   []agent.Note    // why the answer is not whole
	summary turnSummary
	lost    bool // the log cannot be written, or belongs to another turn; this one is ending
}

// turnSummary is what a turn is stored and recorded by when its events are written.
type turnSummary struct {
	code     string // success, pending_confirmation, CANCELLED, or a fault's code
	tools    int
	servers  map[string]string // by tool that was called
	unasked  []string          // tools that were not called, because only untrusted text asked for them
	messages []agent.Message
	usage    *agent.Usage
	memory   agent.Memory
	end      []Event // closes the stream, written after everything else is stored
}

// answeredBy is the model that answered: the one that was asked, or its fallback.
func (s turnSummary) answeredBy(asked string) string {
	if s.usage == nil {
		return asked
	}
	return cmp.Or(s.usage.Model, asked)
}

// write runs the turn to its end.
func (w *writer) write(ctx context.Context, turn iter.Seq2[agent.Event, error]) turnSummary {
	w.summary.code, w.summary.servers = result.StatusSuccess, make(map[string]string)
	steps := make(chan agent.Event, 64) // the agent does not wait for Redis while the model streams
	go w.run(ctx, turn, steps)
	// What is already known is written even if the turn was cancelled meanwhile.
	own := context.WithoutCancel(ctx)
	timer := time.NewTimer(0)
	<-timer.C
	for {
		select {
		case <-timer.C:
			w.joining = false
			if w.flush(own) {
				timer.Reset(textDelay)
			}
		case e, more := <-steps:
			if !more {
				return w.summary
			}
			if w.take(own, ctx, e) {
				timer.Reset(textDelay)
			}
		}
	}
}

// run runs the turn. Its reader reads every event, so it ends with the turn. A panic
// fails the turn and not the process; the conversation keeps its memory.
func (w *writer) run(ctx context.Context, turn iter.Seq2[agent.Event, error], steps chan<- agent.Event) {
	defer close(steps)
	defer func() {
		if p := recover(); p != nil {
			err := fault.From(fault.Panic("a turn", p))
			w.log.ErrorContext(ctx, "turn failed", "fault_id", err.ID, "error", err.Logged())
			steps <- agent.Failed{Outcome: result.Failed(err)}
			steps <- agent.Done{Memory: w.conversation.Memory}
		}
	}()
	for e, err := range turn {
		if err != nil && ctx.Err() == nil {
			w.log.WarnContext(ctx, "turn failed", "error", err)
		}
		steps <- e
	}
}

// take handles one event and reports whether it wrote text.
func (w *writer) take(ctx, turn context.Context, e agent.Event) (written bool) {
	w.lost = w.lost || errors.Is(context.Cause(turn), lease.ErrLost)
	text, ok := e.(agent.TextDelta)
	if !ok {
		written = w.flush(ctx)
		w.note(ctx, e)
		w.encode(ctx, turn, e)
		return written
	}
	if text.Source != w.text.Source {
		written = w.flush(ctx)
	}
	w.text = agent.TextDelta{Text: w.text.Text + text.Text, Source: text.Source}
	if !w.joining || len(w.text.Text) >= textSize {
		return w.flush(ctx) || written
	}
	return written
}

// flush writes the buffered text and reports whether there was any.
func (w *writer) flush(ctx context.Context) bool {
	if w.text.Text == "" {
		return false
	}
	w.put(ctx, Event{Type: Text, Text: w.text.Text, Source: w.text.Source})
	w.text, w.joining = agent.TextDelta{}, true
	return true
}

// note adds an event to the summary.
func (w *writer) note(ctx context.Context, e agent.Event) {
	switch e := e.(type) {
	case agent.ToolStarted:
		w.summary.tools++
		w.summary.servers[e.Call.Tool] = e.Server
	case agent.ToolFinished:
		if e.Outcome.Code() == fault.NotAskedFor.Name {
			w.summary.unasked = append(w.summary.unasked, e.Call.Tool)
		}
		if f := e.Outcome.Fault(); f != nil && f.Kind() == fault.Internal && f.Unwrap() != nil { // a server has logged the cause of its own
			w.log.ErrorContext(ctx, "tool call failed", "tool", e.Call.Tool, "fault_id", f.ID, "error", f.Logged())
		}
	case agent.Pending:
		w.summary.code = result.StatusPending
		w.outcomes.waits(ctx, w.conversation, e.Outcome.Pending().ID)
	case agent.Failed:
		w.summary.code = e.Outcome.Code()
	case agent.Done:
		if w.summary.code == fault.Cancelled.Name {
			w.lacks = append(w.lacks, stopNote)
		}
		w.summary.messages, w.summary.usage, w.summary.memory = withNotes(e.Messages, w.lacks), usageOf(e.Usage), e.Memory
	}
}

// stopNote is kept beside an answer that the person stopped: in the stream its end says it.
var stopNote = agent.Note{Kind: "stopped", Text: "Stopped. What you see may be incomplete."}

// lack notes that an event says why the answer is not whole: who reads it later must learn
// of it, too.
func (w *writer) lack(e Event) {
	switch e.Type {
	case Unavailable:
		for _, warning := range e.Warnings {
			w.lacks = append(w.lacks, agent.Note{Kind: "unavailable", Text: warning.Server + ": " + warning.Message})
		}
	case Failed:
		w.lacks = append(w.lacks, agent.Note{Kind: "broken", Text: e.Text, Code: e.Code})
	}
}

// withNotes adds notes to the answer that the messages of a turn end with. Of a turn
// without messages nothing is kept.
func withNotes(messages []agent.Message, notes []agent.Note) []agent.Message {
	if len(notes) == 0 || len(messages) == 0 {
		return messages
	}
	if messages[len(messages)-1].Role != agent.Assistant {
		messages = append(messages, agent.Message{Role: agent.Assistant})
	}
	last := &messages[len(messages)-1]
	last.Notes = append(last.Notes, notes...)
	return messages
}

// encode writes an event, or its replacement when the turn was ended from
// outside. The end itself is held back until the turn is stored.
func (w *writer) encode(ctx, turn context.Context, e agent.Event) {
	var ended *fault.Error
	switch f := e.(type) {
	case agent.Failed:
		switch cause := context.Cause(turn); {
		case errors.Is(cause, lease.ErrCancelled): // the person stopped it
			w.summary.code = fault.Cancelled.Name
			return
		case errors.Is(cause, errShutdown):
			w.summary.code, f.Outcome = fault.ServiceDown.Name, result.Failed(fault.ServiceDown.New(fault.Maintenance))
			e = f
		case errors.As(cause, &ended) && ended.Kind() == fault.Unauthenticated: // the person's token was revoked
			w.summary.code, f.Outcome = ended.Code.Name, result.Failed(ended)
			e = f
		}
	case agent.Done:
		stopped, _ := w.limits.EventOf(e)
		if w.summary.code == fault.Cancelled.Name {
			stopped.Code = w.summary.code
		}
		w.summary.end = []Event{stopped, {Type: Done}}
		return
	}
	if event, ok := w.limits.EventOf(e); ok {
		w.lack(event)
		w.put(ctx, event)
	}
}

// put appends events. A log that cannot be written ends the turn: no reader
// would ever see it.
func (w *writer) put(ctx context.Context, event Event) {
	if w.lost {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, writeTime)
	defer cancel()
	if _, err := w.events.append(ctx, w.conversation.Log(), event); err != nil {
		w.lost = true
		w.log.ErrorContext(ctx, "events could not be written", "error", err)
		w.stop(err)
	}
}
