package gateway

import (
	"context"
	"errors"
	"iter"
	"time"

	"countersign.dev/internal/agent"
	"countersign.dev/internal/fault"
	"countersign.dev/internal/result"
)

// Pieces of text are joined until they are this old or this long: a model that
// speaks word by word would otherwise cost more in frames than in words.
const (
	linger   = 40 * time.Millisecond
	longText = 256 // bytes
)

// scribe writes a turn's events into the conversation's log as they happen.
type scribe struct {
	g       *Gateway
	t       *turn
	encoder encoder
	text    agent.TextDelta // not yet written
	outcome turnOutcome
	lost    bool // the log cannot be written; the turn is ending
}

// turnOutcome is what a turn came to.
type turnOutcome struct {
	code    string // success, pending_confirmation, CANCELLED, or a fault's code
	tools   int
	servers map[string]string // by tool that was called
	said    []agent.Message
	last    [][]byte // what closes the stream, written after everything else is kept
}

// write runs the turn to its end.
func (s *scribe) write(ctx context.Context, script iter.Seq2[agent.Event, error]) turnOutcome {
	s.outcome.code, s.outcome.servers = result.StatusSuccess, make(map[string]string)
	events := make(chan agent.Event, 64) // the agent does not wait for Redis while it can speak on
	go s.listen(ctx, script, events)
	// What is already known is written even if the turn was cancelled meanwhile.
	own := context.WithoutCancel(ctx)
	timer := time.NewTimer(0)
	<-timer.C
	for {
		select {
		case <-timer.C:
			s.flush(own)
		case e, more := <-events:
			if !more {
				return s.outcome
			}
			if s.take(own, ctx, e) {
				timer.Reset(linger)
			}
		}
	}
}

// listen ranges over the turn. It ends when the turn does: whoever reads the
// events reads them all.
func (s *scribe) listen(ctx context.Context, script iter.Seq2[agent.Event, error], events chan<- agent.Event) {
	defer close(events)
	for e, err := range script {
		if err != nil && ctx.Err() == nil {
			s.g.o.Log.WarnContext(ctx, "turn failed", "error", err)
		}
		events <- e
	}
}

// take handles one event and reports whether text now waits for more.
func (s *scribe) take(ctx, turn context.Context, e agent.Event) (waits bool) {
	if text, ok := e.(agent.TextDelta); ok && (s.text.Text == "" || text.Source == s.text.Source) {
		waits = s.text.Text == ""
		s.text = agent.TextDelta{Text: s.text.Text + text.Text, Source: text.Source}
		if len(s.text.Text) >= longText {
			s.flush(ctx)
		}
		return waits
	}
	s.flush(ctx)
	if text, ok := e.(agent.TextDelta); ok { // of another source
		s.text = text
		return true
	}
	s.note(ctx, e)
	s.tell(ctx, s.rendered(turn, e))
	return false
}

func (s *scribe) flush(ctx context.Context) {
	if s.text.Text == "" {
		return
	}
	s.tell(ctx, s.encoder.encode(s.text))
	s.text = agent.TextDelta{}
}

// note keeps what the turn will be remembered by.
func (s *scribe) note(ctx context.Context, e agent.Event) {
	switch e := e.(type) {
	case agent.ToolStarted:
		s.outcome.tools++
		s.outcome.servers[e.Call.Tool] = e.Server
	case agent.Pending:
		s.outcome.code = result.StatusPending
		s.g.remember(ctx, s.t.conversation.ID, e.Outcome.Pending().ID)
	case agent.Failed:
		s.outcome.code = e.Outcome.Code()
	case agent.Done:
		s.outcome.said = e.Messages
	}
}

// rendered draws an event, or what stands for it when the turn was ended from
// outside. The end itself is held back until the turn is kept.
func (s *scribe) rendered(turn context.Context, e agent.Event) [][]byte {
	switch f := e.(type) {
	case agent.Failed:
		switch cause := context.Cause(turn); {
		case errors.Is(cause, errStopped): // the person knows
			s.outcome.code = "CANCELLED"
			return nil
		case errors.Is(cause, errShutdown):
			f.Outcome = result.Failed(fault.ServiceDown.New("The gateway is restarting. Please ask again in a moment."))
			return s.encoder.encode(f)
		}
	case agent.Done:
		s.outcome.last = s.encoder.encode(e)
		return nil
	}
	return s.encoder.encode(e)
}

// tell writes data objects. A log that cannot be written ends the turn: nobody
// would ever hear of it.
func (s *scribe) tell(ctx context.Context, data [][]byte) {
	if len(data) == 0 || s.lost {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, stateTime)
	defer cancel()
	if _, err := s.g.tell(ctx, s.t.conversation.ID, data...); err != nil {
		s.lost = true
		s.g.o.Log.ErrorContext(ctx, "events could not be written", "error", err)
		s.t.cancel(err)
	}
}
