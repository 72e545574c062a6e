package live

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"time"

	"countersign.dev/internal/access"
	"countersign.dev/internal/conversation"
	"countersign.dev/internal/fault"
	"countersign.dev/internal/httpx"
	"countersign.dev/internal/quota"
)

// lookTime is how often a person's stream looks which servers answer.
const lookTime = 2 * time.Second

// The data objects of a person's stream. Each says what has changed, and nothing
// that only its owner may read: a client reads that where it belongs.
type (
	conversationNews struct {
		Type           string `json:"type"` // conversation: it began
		ConversationID string `json:"conversationId"`
		Title          string `json:"title"`
	}
	turnNews struct {
		Type           string `json:"type"` // turn
		ConversationID string `json:"conversationId"`
		State          string `json:"state"` // running, ended
	}
	changeNews struct {
		Type           string    `json:"type"` // change: it waits, or was answered
		ConfirmationID string    `json:"confirmationId"`
		Server         string    `json:"server"`
		Tool           string    `json:"tool"`
		State          string    `json:"state"`
		Expires        time.Time `json:"expires"`
	}
	serverNews struct {
		Type    string `json:"type"` // server: it comes or goes
		Server  string `json:"server"`
		Healthy bool   `json:"healthy"`
	}
	endNews struct {
		Type  string `json:"type"` // error: the stream ends
		Error string `json:"error"`
		Code  string `json:"code"`
	}
)

func newsOf(e conversation.Event) any {
	switch e.Type {
	case conversation.Titled:
		return conversationNews{"conversation", e.Conversation, e.Text}
	case conversation.Turn:
		return turnNews{"turn", e.Conversation, e.Status}
	case conversation.Change:
		return changeNews{"change", e.Confirmation, e.Server, e.Tool, e.Status, e.Expires}
	}
	return nil
}

// Events serves GET /api/events: what changes in all conversations of the caller,
// which changes wait or were answered through whatever surface, and which servers
// come and go. Last-Event-ID (or ?after=) resumes without loss or repetition; the
// state of servers has no id and is sent again.
func (s *Server) Events(w http.ResponseWriter, r *http.Request, p *access.Principal) error {
	if err := s.begin(); err != nil {
		return err
	}
	defer s.work.Done()
	release, err := s.o.Quotas.Hold(r.Context(), quota.Streams, p.Owner())
	if err != nil {
		return err
	}
	defer release()
	log := conversation.PersonLog(p.Owner())
	after, err := LastEventID(r)
	if err != nil {
		return err
	}
	if after, err = s.o.Conversations.Position(r.Context(), log, after); err != nil {
		return err
	}
	stream, err := httpx.NewStream(w, r)
	if err != nil {
		return err
	}
	defer stream.Close()
	ctx, stop := s.o.Right(r)
	defer stop()
	looking, leave := context.WithCancel(ctx)
	looked := make(chan struct{})
	go func() {
		defer close(looked)
		defer func() {
			if p := recover(); p != nil { // ends the stream, and not the process
				s.o.Log.ErrorContext(looking, "the servers could not be looked at", "error", fault.Panic("their state", p))
				stop()
			}
		}()
		s.look(looking, stream)
	}()
	defer func() { leave(); <-looked }()
	return s.send(ctx, stream, log, after)
}

// send sends a person's events until the client leaves or its right ends.
func (s *Server) send(ctx context.Context, stream *httpx.Stream, log conversation.Log, after string) error {
	for e, err := range s.o.Conversations.Follow(ctx, log, after) {
		if ctx.Err() != nil { // the caller's right has ended, or the client has disconnected
			if why := s.o.Ended(ctx); why != nil {
				_ = s.last(stream, why)
			}
			return nil
		}
		if err != nil {
			return s.last(stream, fault.From(err))
		}
		if news := newsOf(e); news != nil && stream.Send(httpx.Event{ID: e.ID, Data: httpx.Compact(news)}) != nil {
			return nil
		}
	}
	return nil
}

func (s *Server) last(stream *httpx.Stream, f *fault.Error) error {
	_ = stream.Send(httpx.Event{Data: httpx.Compact(endNews{"error", f.Message, f.Code.Name})})
	return f
}

// look sends the state of each server, and each change of it.
func (s *Server) look(ctx context.Context, stream *httpx.Stream) {
	if s.o.EachServer == nil {
		return
	}
	known := map[string]bool{}
	tick := time.NewTicker(lookTime)
	defer tick.Stop()
	for {
		s.o.EachServer(func(name string, healthy bool, _, _ int64, _ time.Duration) {
			if was, seen := known[name]; seen && was == healthy {
				return
			}
			known[name] = healthy
			_ = stream.Send(httpx.Event{Data: httpx.Compact(serverNews{"server", name, healthy})}) // a failure ends the stream
		})
		select {
		case <-ctx.Done():
			return
		case <-stream.Done():
			return
		case <-tick.C:
		}
	}
}

// LastEventID returns the id of the event after which a client of an event stream
// goes on: of Last-Event-ID, or of ?after= for clients that cannot set a header.
// Empty: from now on.
func LastEventID(r *http.Request) (string, error) {
	after := r.Header.Get("Last-Event-ID")
	if after == "" {
		after = r.URL.Query().Get("after")
	}
	if after != "" && !isEventID(after) {
		return "", fault.BadRequest.New("That is not the id of an event.").Suggest("Send the id of the last event that arrived, or none.")
	}
	return after, nil
}

// isEventID reports whether a text is an event's id: two numbers of 64 bits, as
// Redis makes them.
func isEventID(text string) bool {
	at, sequence, found := strings.Cut(text, "-")
	_, errAt := strconv.ParseUint(at, 10, 64)
	_, errSequence := strconv.ParseUint(sequence, 10, 64)
	return found && errAt == nil && errSequence == nil
}
