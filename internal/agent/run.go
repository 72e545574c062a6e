package agent

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"
	"unicode/utf8"

	"countersign.dev/internal/fault"
	"countersign.dev/internal/result"
)

// The lines that a turn adds when the model gives no complete answer.
const (
	outOfRounds = "I stopped here: this question needed more than %d steps. Please ask for a smaller part of it."
	noAnswer    = "I have no answer to that. Please ask in other words."
	tooLong     = "The answer stops here because it reached the model's maximum length. Please ask for a smaller part of it."
	declined    = "The model declined to answer this."
)

// Run runs one turn and yields its events: Started first, Done always last.
// It stops when the context ends, when the model answers without a call, when a
// change waits for its person, or after MaxRounds model calls.
//
// The error is nil except beside a Failed, where it is the cause for the log; it
// is never shown. Breaking the loop cancels the turn, and no goroutine of it
// remains.
func Run(ctx context.Context, t Turn) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		ctx, stop := context.WithCancel(ctx)
		defer stop()
		r := &run{turn: t, ids: idsOf(t.History), yield: yield, stop: stop}
		r.window = newWindow(t, &r.usage, r.clip)
		r.run(ctx)
	}
}

func (r *run) run(ctx context.Context) {
	r.emit(Started{Model: r.turn.Model.Name()})
	if r.left {
		return
	}
	r.added = []Message{TextMessage(User, r.turn.Question)}
	err := r.answer(ctx)
	r.close(err)
}

// answer asks the model until it answers without a call.
func (r *run) answer(ctx context.Context) error {
	if n := utf8.RuneCountInString(r.turn.Question); n > MaxQuestion {
		return fault.InvalidInput.New("The question has %d characters; at most %d are read.", n, MaxQuestion).Suggest("Ask in fewer words.")
	}
	r.tools = r.turn.Toolbox.Tools(ctx)
	r.warn(r.tools.Down...)
	r.system, r.taint = prompt(r.turn, r.tools), taintOf(r.turn.History, r.tools)
	r.offer = newOffer(r.turn, r.tools)
	r.window.open(ctx, r.system, r.offer.shown)
	for round := 1; ; round++ {
		m, stop, err := r.ask(ctx)
		calls := m.Calls()
		if err != nil || stop == StopLength || stop == StopRefusal || len(calls) == 0 || round == MaxRounds {
			r.conclude(m, stop, err)
			return err
		}
		r.added = append(r.added, m)
		waiting := r.step(ctx, calls)
		if err := ctx.Err(); err != nil || waiting {
			return err
		}
	}
}

// ask streams one answer of the model. On an error the message holds what came
// before it. An answer without a stop reason was cut off in transit.
func (r *run) ask(ctx context.Context) (m Message, stop StopReason, err error) {
	ctx, done := r.withTimeout(ctx)
	defer done()
	m.Role = Assistant
	r.take(&m, Delta{Note: r.window.note})
	r.window.note = ""
	for delta, err := range r.turn.Model.Stream(ctx, r.request()) {
		if err != nil {
			return m, stop, r.timeoutOr(ctx, err)
		}
		r.take(&m, delta)
		if stop = cmp.Or(delta.Stop, stop); r.left {
			return m, stop, ctx.Err()
		}
	}
	if err = ctx.Err(); err == nil && stop == "" {
		err = fault.ServiceDown.New("The model's answer broke off.").Suggest("Ask again.")
	}
	return m, stop, r.timeoutOr(ctx, err)
}

var errSlowModel = errors.New("the model exceeded its timeout")

func (r *run) withTimeout(ctx context.Context) (context.Context, context.CancelFunc) {
	if r.turn.AnswerTimeout <= 0 {
		return ctx, func() {}
	}
	return context.WithTimeoutCause(ctx, r.turn.AnswerTimeout, errSlowModel)
}

// timeoutOr returns TIMEOUT when the model was too slow, else the error.
func (r *run) timeoutOr(ctx context.Context, err error) error {
	if err == nil || !errors.Is(context.Cause(ctx), errSlowModel) {
		return err
	}
	return fault.Timeout.New("The model did not answer within %s.", r.turn.AnswerTimeout).
		Suggest("Ask again, or for a smaller part of it.").Because(errors.Join(errSlowModel, err))
}

func (r *run) request() Request {
	return Request{
		System: r.system, Person: r.turn.Person, Now: r.turn.Now,
		Messages: r.window.messages(r.added), Tools: r.offer.shown, Closed: r.tools.Closed,
	}
}

// clip writes a result of the last step again in about that many bytes. The
// answer must then say that it is incomplete.
func (r *run) clip(call, size int) json.RawMessage {
	o := &r.outcomes[len(r.outcomes)-1][call]
	o.clipped = true
	return result.ClipForModel(o.Outcome, o.untrusted, math.MaxInt, size)
}

func (r *run) take(m *Message, d Delta) {
	r.usage.Add(d.Usage)
	if d.Note != "" {
		m.Notes = append(m.Notes, Note{Kind: added, Text: d.Note})
		r.emit(TextDelta{Text: d.Note + "\n\n", Source: "gateway"})
	}
	r.usage.Model = cmp.Or(d.Model, r.usage.Model)
	if d.Opaque != nil {
		m.Parts = append(m.Parts, *d.Opaque)
	}
	if d.Call != nil {
		m.Parts = append(m.Parts, r.ids.complete(*d.Call))
	}
	if d.Text != "" {
		m.addText(d.Text)
		r.written[min(1, len(r.outcomes))].WriteString(d.Text)
		r.emit(TextDelta{Text: d.Text})
	}
}

// conclude keeps the last message of the model. Calls that will not be run are
// left out: a conversation never holds a call without its result.
func (r *run) conclude(m Message, stop StopReason, err error) {
	dropped := len(m.Calls()) > 0
	m.dropCalls()
	if m.Text() != "" || err == nil {
		r.added = append(r.added, m)
	}
	switch {
	case err != nil:
	case stop == StopLength:
		r.addLine(added, tooLong)
	case stop == StopRefusal:
		r.addLine(added, declined)
	case dropped:
		r.addLine(added, fmt.Sprintf(outOfRounds, MaxRounds))
	case m.Text() == "":
		r.addLine(added, noAnswer)
	}
}

// close ends the turn: the corrections of the answer, the servers that did not
// answer, the failure, and Done.
func (r *run) close(err error) {
	if err == nil {
		r.correct()
	}
	if len(r.warnings) > 0 {
		r.emit(Unavailable{Warnings: r.warnings})
	}
	if err != nil {
		r.fail(err)
	}
	r.emit(Done{Usage: r.usage, Messages: r.keep(), Memory: r.window.memory})
}

// keep returns what the turn adds to the conversation, its results clipped to
// what is kept of them.
func (r *run) keep() []Message {
	kept, steps := slices.Clone(r.added), r.outcomes
	for i, m := range kept {
		if m.Role != ToolRole {
			continue
		}
		kept[i].Parts = slices.Clone(m.Parts)
		for call, p := range m.Parts {
			kept[i].Parts[call] = steps[0][call].within(r.turn.Kept, withAnswer(p.(CallResult), p.(CallResult).Answer))
		}
		steps = steps[1:]
	}
	return kept
}
