package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"unicode/utf8"

	"countersign.dev/internal/fault"
	"countersign.dev/internal/result"
)

// The lines that a turn adds when the model leaves a person without an answer.
const (
	outOfRounds = "I stopped here: this question needed more than %d steps. Please ask for a smaller part of it."
	noAnswer    = "I have no answer to that. Please ask in other words."
	cutOff      = "The answer stops here because it reached the model's maximum length. Please ask for a smaller part of it."
	declined    = "The model declined to answer this."
)

// Run runs one turn and yields what happens: Started first, Done always last.
// It stops when the context ends, when the model answers without a call, when a
// change waits for its person, or after MaxRounds model calls.
//
// The error is nil but beside a Failed, where it is the cause for the log; it
// is never shown. Whoever stops ranging ends the turn: when the loop is left,
// no goroutine of the turn is left either.
func Run(ctx context.Context, t Turn) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		ctx, stop := context.WithCancel(ctx)
		defer stop()
		r := &run{turn: t, yield: yield, stop: stop}
		r.whole(ctx)
	}
}

// run is a turn under way.
type run struct {
	turn     Turn
	tools    Toolset
	system   string
	said     []Message // what the turn adds to the conversation
	usage    Usage
	partial  partial
	warnings []Warning

	yield func(Event, error) bool
	stop  context.CancelFunc
	gone  bool // whoever ranged over the turn has left
}

func (r *run) whole(ctx context.Context) {
	r.emit(Started{Model: r.turn.Model.Name()})
	if r.gone {
		return
	}
	r.said = []Message{TextMessage(User, r.turn.Question)}
	err := r.answer(ctx)
	r.close(err)
}

// answer asks the model until nothing is left to do.
func (r *run) answer(ctx context.Context) error {
	if n := utf8.RuneCountInString(r.turn.Question); n > MaxQuestion {
		return fault.InvalidInput.New("The question has %d characters; at most %d are read.", n, MaxQuestion).Suggest("Ask in fewer words.")
	}
	r.tools = r.turn.Toolbox.Tools(ctx)
	r.warn(r.tools.Down...)
	r.system = prompt(r.turn, r.tools)
	for round := 1; ; round++ {
		m, stop, err := r.ask(ctx)
		calls := m.Calls()
		if err != nil || stop == StopLength || stop == StopRefusal || len(calls) == 0 || round == MaxRounds {
			r.conclude(m, stop, err)
			return err
		}
		r.said = append(r.said, m)
		waiting := r.step(ctx, calls)
		if err := ctx.Err(); err != nil || waiting {
			return err
		}
	}
}

// ask streams one answer of the model. On an error the message holds what came
// before it. An answer without a stop reason was cut off on its way.
func (r *run) ask(ctx context.Context) (m Message, stop StopReason, err error) {
	ctx, done := r.patient(ctx)
	defer done()
	m.Role = Assistant
	for delta, err := range r.turn.Model.Stream(ctx, r.request()) {
		if err != nil {
			return m, stop, r.reason(ctx, err)
		}
		r.take(&m, delta)
		if stop = cmp.Or(delta.Stop, stop); r.gone {
			return m, stop, ctx.Err()
		}
	}
	if err = ctx.Err(); err == nil && stop == "" {
		err = fault.ServiceDown.New("The model's answer broke off.").Suggest("Ask again.")
	}
	return m, stop, r.reason(ctx, err)
}

var errSlowModel = errors.New("the model took longer than it may")

func (r *run) patient(ctx context.Context) (context.Context, context.CancelFunc) {
	if r.turn.Patience <= 0 {
		return ctx, func() {}
	}
	return context.WithTimeoutCause(ctx, r.turn.Patience, errSlowModel)
}

// reason tells a model that was too slow from everything else that ends it.
func (r *run) reason(ctx context.Context, err error) error {
	if err == nil || !errors.Is(context.Cause(ctx), errSlowModel) {
		return err
	}
	return fault.Timeout.New("The model did not answer within %s.", r.turn.Patience).
		Suggest("Ask again, or for a smaller part of it.").Because(errors.Join(errSlowModel, err))
}

func (r *run) request() Request {
	return Request{
		System: r.system, Person: r.turn.Person, Now: r.turn.Now,
		Messages: fit(r.turn.History, r.said, r.turn.Budget), Tools: r.tools.Open, Closed: r.tools.Closed,
	}
}

func (r *run) take(m *Message, d Delta) {
	if d.Usage != nil {
		r.usage.InputTokens += d.Usage.InputTokens
		r.usage.OutputTokens += d.Usage.OutputTokens
	}
	if d.Opaque != nil {
		m.Parts = append(m.Parts, *d.Opaque)
	}
	if d.Call != nil {
		m.Parts = append(m.Parts, whole(*d.Call, len(r.said), len(m.Calls())))
	}
	if d.Text != "" {
		m.addText(d.Text)
		r.emit(TextDelta{Text: d.Text})
	}
}

// conclude keeps the last message of the model. Calls that will not be run are
// left out: a conversation never holds a call without its result.
func (r *run) conclude(m Message, stop StopReason, err error) {
	unread := len(m.Calls()) > 0
	m.dropCalls()
	if m.Text() != "" || err == nil {
		r.said = append(r.said, m)
	}
	switch {
	case err != nil:
	case stop == StopLength:
		r.add(cutOff)
	case stop == StopRefusal:
		r.add(declined)
	case unread:
		r.add(fmt.Sprintf(outOfRounds, MaxRounds))
	case m.Text() == "":
		r.add(noAnswer)
	}
}

// close ends the turn: what the model left unsaid, which servers were missed,
// why it failed, and Done.
func (r *run) close(err error) {
	if err == nil && r.partial.untold(r.said) {
		r.add(r.partial.hint())
	}
	if len(r.warnings) > 0 {
		r.emit(Unavailable{Warnings: r.warnings})
	}
	if err != nil {
		r.fail(err)
	}
	r.emit(Done{Usage: r.usage, Messages: r.said})
}

// add says a line in the gateway's name and keeps it with the answer, so that
// the conversation reads as it was streamed.
func (r *run) add(line string) {
	last := len(r.said) - 1
	if r.said[last].Role != Assistant {
		r.said = append(r.said, Message{Role: Assistant})
		last++
	}
	if r.said[last].Text() != "" {
		line = "\n\n" + line
	}
	r.said[last].addText(line)
	r.emit(TextDelta{Text: line, Source: "gateway"})
}

// warn keeps one warning per server.
func (r *run) warn(more ...Warning) {
	for _, w := range more {
		known := false
		for _, have := range r.warnings {
			known = known || have.Server == w.Server
		}
		if !known {
			r.warnings = append(r.warnings, w)
		}
	}
}

// emit yields an event unless nobody listens any more; then it ends the turn.
func (r *run) emit(e Event) { r.tell(e, nil) }

func (r *run) fail(cause error) { r.tell(Failed{Outcome: result.Failed(cause)}, cause) }

func (r *run) tell(e Event, cause error) {
	if r.gone || r.yield(e, cause) {
		return
	}
	r.gone = true
	r.stop()
}
