package gateway

import (
	"context"
	"errors"
	"net/http"
	"regexp"
	"time"

	"countersign.dev/internal/access"
	"countersign.dev/internal/fault"
	"countersign.dev/internal/httpx"
	"countersign.dev/internal/state"
)

const (
	readAhead = 200              // entries of one look at the log
	patience  = 15 * time.Second // for a new entry, before looking whether somebody still writes
)

// eventsGone is told rather than skipped over: a stream has no silent gap.
var eventsGone = &fault.Code{
	Name: "EVENTS_GONE", Kind: fault.NotFound, Status: http.StatusNotFound,
	Meaning: "What followed that event is no longer kept.",
	Suggest: "Read the conversation again and follow it from its lastEventId.",
}

// tell writes data objects to a conversation's events and returns the id of the
// last one.
func (g *Gateway) tell(ctx context.Context, conversation string, data ...[]byte) (id string, err error) {
	for _, d := range data {
		if id, err = g.o.Redis.Append(ctx, eventsKey(conversation), d, eventLife); err != nil {
			return "", err
		}
	}
	return id, nil
}

// streamTurn sends the events of a turn until its end. Every event was written
// to the log before: who comes back later misses none.
func (g *Gateway) streamTurn(w http.ResponseWriter, r *http.Request, t *turn) error {
	s, err := httpx.NewStream(w, r)
	if err != nil {
		return err
	}
	defer s.Close()
	if s.Send(httpx.Event{ID: t.first.ID, Data: t.first.Data}) != nil {
		return nil // the client is gone; the turn goes on
	}
	return g.follow(r.Context(), s, t.conversation.ID, t.first.ID, closesTurn)
}

func closesTurn(e state.Entry) bool { return string(e.Data) == done }

func never(state.Entry) bool { return false }

// followConversation streams a conversation's events: behind Last-Event-ID (or
// ?after= for clients that cannot set a header), or from now on. It stays open
// until the client leaves.
func (g *Gateway) followConversation(w http.ResponseWriter, r *http.Request, p *access.Principal) error {
	c, err := g.archive.open(r.Context(), p.Owner(), r.PathValue("id"))
	if err != nil {
		return err
	}
	if err := g.mend(r.Context(), c.ID); err != nil {
		return err
	}
	after, err := g.position(r, c.ID)
	if err != nil {
		return err
	}
	s, err := httpx.NewStream(w, r)
	if err != nil {
		return err
	}
	defer s.Close()
	return g.follow(r.Context(), s, c.ID, after, never)
}

// logStart stands before the first event of a conversation.
const logStart = "0-0"

var entryID = regexp.MustCompile(`^[0-9]{1,20}-[0-9]{1,20}$`)

// position is where a stream begins. Without one it is the end of the log: the
// conversation itself told everything before.
func (g *Gateway) position(r *http.Request, conversation string) (string, error) {
	after := r.Header.Get("Last-Event-ID")
	if after == "" {
		after = r.URL.Query().Get("after")
	}
	if after == "" {
		return g.o.Redis.LastID(r.Context(), eventsKey(conversation))
	}
	if after == logStart {
		return "", nil
	}
	if !entryID.MatchString(after) {
		return "", fault.BadRequest.New("Last-Event-ID is not the id of an event.").Suggest("Send the id of the last event that arrived, or none.")
	}
	_, err := g.o.Redis.ReadAfter(r.Context(), eventsKey(conversation), after, 1, 0)
	return after, gap(err)
}

func gap(err error) error {
	if errors.Is(err, state.ErrGap) {
		return eventsGone.New("What followed that event is no longer kept.").Because(err)
	}
	return err
}

// follow sends what the log has behind an id, and what comes, until last says
// so, the client leaves, or the gateway ends.
func (g *Gateway) follow(ctx context.Context, s *httpx.Stream, conversation, after string, last func(state.Entry) bool) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	defer context.AfterFunc(g.life, stop)()
	for {
		entries, err := g.o.Redis.ReadAfter(ctx, eventsKey(conversation), after, readAhead, patience)
		if err == nil && len(entries) == 0 {
			err = g.mend(ctx, conversation)
		}
		if err != nil {
			return g.breakOff(ctx, s, err)
		}
		for _, e := range entries {
			if s.Send(httpx.Event{ID: e.ID, Data: e.Data}) != nil || last(e) {
				return nil
			}
			after = e.ID
		}
	}
}

// breakOff tells why a stream ends before its turn. These events are in no log
// and have no id: the client resumes after the last one that has.
func (g *Gateway) breakOff(ctx context.Context, s *httpx.Stream, err error) error {
	switch {
	case g.life.Err() != nil:
		err = fault.ServiceDown.New("The gateway is restarting. The answer can be picked up in a moment.")
	case ctx.Err() != nil:
		return nil // nobody listens any more
	}
	f := fault.From(gap(err))
	_ = s.Send(httpx.Event{Data: object(errorEvent{"error", f.Message, f.Code.Name})})
	_ = s.Send(httpx.Event{Data: []byte(done)})
	return f
}

// mend closes the events of a turn that a crash cut off, so that nobody waits
// for its end. Of many that find it, one does so.
func (g *Gateway) mend(ctx context.Context, conversation string) error {
	if _, runs, err := g.o.Redis.Get(ctx, turnKey(conversation)); err != nil || runs {
		return err
	}
	return g.closeOpen(ctx, conversation)
}

func (g *Gateway) closeOpen(ctx context.Context, conversation string) error {
	before, open, err := g.o.Redis.Take(ctx, openKey(conversation))
	if err != nil || !open {
		return err
	}
	if _, closed, err := g.endOf(ctx, conversation, string(before)); err != nil || closed {
		return err
	}
	_, err = g.tell(ctx, conversation,
		object(errorEvent{"error", "The answer was interrupted. Please ask again.", fault.ServiceDown.Name}),
		object(stopEvent{Type: "stop"}), []byte(done))
	return err
}

// endOf looks for the end of the turn whose events begin behind an id.
func (g *Gateway) endOf(ctx context.Context, conversation, before string) (id string, closed bool, err error) {
	if before == logStart {
		before = ""
	}
	for {
		entries, err := g.o.Redis.ReadAfter(ctx, eventsKey(conversation), before, readAhead, 0)
		if errors.Is(err, state.ErrGap) { // so long a turn that its beginning was trimmed
			return "", false, nil
		}
		if err != nil || len(entries) == 0 {
			return "", false, err
		}
		for _, e := range entries {
			if before = e.ID; closesTurn(e) {
				return e.ID, true, nil
			}
		}
	}
}
