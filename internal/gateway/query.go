package gateway

import (
	"encoding/json"
	"iter"
	"net/http"

	"countersign.dev/internal/access"
	"countersign.dev/internal/conversation"
	"countersign.dev/internal/httpx"
	"countersign.dev/internal/mcpserver"
	"countersign.dev/internal/quota"
)

// chat serves questions and conversations.
type chat struct {
	service *conversation.Service
	gate    *mcpserver.Gate
	quotas  *quota.Quotas
	body    int64 // bytes of a request's body
}

// question is what a person asks.
type question struct {
	Query          string          `json:"query"`
	ConversationID string          `json:"conversationId,omitempty"`
	Model          string          `json:"model,omitempty"` // for the conversation from now on
	UserContext    json.RawMessage `json:"userContext,omitempty"`
}

func (c chat) askByGet(w http.ResponseWriter, r *http.Request, p *access.Principal) error {
	q := r.URL.Query()
	text := q.Get("query")
	if text == "" {
		text = q.Get("q")
	}
	return c.ask(w, r, p, question{Query: text, ConversationID: q.Get("conversationId")})
}

func (c chat) askByPost(w http.ResponseWriter, r *http.Request, p *access.Principal) error {
	q, err := httpx.Decode[question](w, r, c.body)
	if err != nil {
		return err
	}
	return c.ask(w, r, p, q)
}

// ask begins a turn and streams it. The turn does not need the stream: a client
// that leaves finds the rest in the conversation's events.
func (c chat) ask(w http.ResponseWriter, r *http.Request, p *access.Principal, q question) error {
	if err := c.gate.CheckUserContext(r.Context(), q.UserContext); err != nil {
		return err
	}
	release, err := c.quotas.Hold(r.Context(), quota.Streams, p.Owner())
	if err != nil {
		return err
	}
	defer release()
	p = p.WithSurface(surfaceOf(r))
	var s *httpx.Stream // begun before the turn where the question waits for others, so that its client sees a heartbeat
	asked, first, err := c.service.Ask(r.Context(), p, conversation.Question{
		Text: q.Query, Conversation: q.ConversationID, Model: q.Model, Origin: conversation.Origin{Surface: string(p.Origin().Surface)},
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
	live, stop := c.gate.Live(r)
	defer stop()
	rest := c.service.Follow(live, asked.Log(), first.ID)
	return send(s, live, after(first, rest), func(e conversation.Event) bool { return e.Type == conversation.Done })
}

// surfaceOf returns the surface of a question by how its caller was proved: the
// cookie is of our own page.
func surfaceOf(r *http.Request) access.Surface {
	if r.Header.Get("Authorization") == "" {
		return access.SurfaceChat
	}
	return access.SurfaceTerminal
}

// after yields an event before others.
func after(first conversation.Event, rest iter.Seq2[conversation.Event, error]) iter.Seq2[conversation.Event, error] {
	return func(yield func(conversation.Event, error) bool) {
		if yield(first, nil) {
			rest(yield)
		}
	}
}
