package chat

import (
	"encoding/json"
	"iter"
	"net/http"

	"countersign.dev/internal/access"
	"countersign.dev/internal/conversation"
	"countersign.dev/internal/gate"
	"countersign.dev/internal/httpx"
	"countersign.dev/internal/quota"
)

// question is what a person asks.
type question struct {
	Query          string          `json:"query"`
	ConversationID string          `json:"conversationId,omitempty"`
	Model          string          `json:"model,omitempty"` // for the conversation from now on
	UserContext    json.RawMessage `json:"userContext,omitempty"`
}

// AskByGet is GET /api/query, for clients that can only open an address.
func (a API) AskByGet(w http.ResponseWriter, r *http.Request, p *access.Principal) error {
	q := r.URL.Query()
	text := q.Get("query")
	if text == "" {
		text = q.Get("q")
	}
	return a.ask(w, r, p, question{Query: text, ConversationID: q.Get("conversationId")})
}

// AskByPost is POST /api/query.
func (a API) AskByPost(w http.ResponseWriter, r *http.Request, p *access.Principal) error {
	q, err := httpx.Decode[question](r, a.MaxBody)
	if err != nil {
		return err
	}
	return a.ask(w, r, p, q)
}

// ask begins a turn and streams it. The turn does not need the stream: a client
// that leaves finds the rest in the conversation's events.
func (a API) ask(w http.ResponseWriter, r *http.Request, p *access.Principal, q question) error {
	if err := a.Gate.CheckUserContext(r.Context(), q.UserContext); err != nil {
		return err
	}
	release, err := a.Quotas.Hold(r.Context(), quota.Streams, p.Owner())
	if err != nil {
		return err
	}
	defer release()
	p = p.WithSurface(SurfaceOf(r))
	var s *httpx.Stream // begun before the turn where the question waits for others, so that its client sees a heartbeat
	asked, first, err := a.Conversations.Ask(r.Context(), p, conversation.Question{
		Text: q.Query, Conversation: q.ConversationID, Model: q.Model, Surface: string(p.Provenance().Surface),
		Waits: func() { s, _ = httpx.NewStream(w, r) },
	})
	if err == nil && s == nil {
		s, err = httpx.NewStream(w, r)
	}
	if s != nil {
		defer s.Close()
	}
	if err != nil {
		return ended(s, err)
	}
	live, stop := a.Gate.Live(r)
	defer stop()
	rest := a.Conversations.Follow(live, asked.Log(), first.ID)
	return send(s, live, after(first, rest), func(e conversation.Event) bool { return e.Type == conversation.Done })
}

// SurfaceOf returns the surface of a question by how its caller was proved: the
// cookie is of our own page.
func SurfaceOf(r *http.Request) access.Surface {
	if gate.ByToken(r) {
		return access.SurfaceTerminal
	}
	return access.SurfaceChat
}

// after yields an event before others.
func after(first conversation.Event, rest iter.Seq2[conversation.Event, error]) iter.Seq2[conversation.Event, error] {
	return func(yield func(conversation.Event, error) bool) {
		if yield(first, nil) {
			rest(yield)
		}
	}
}
