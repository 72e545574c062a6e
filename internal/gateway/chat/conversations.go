package chat

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"time"

	"countersign.dev/internal/access"
	"countersign.dev/internal/agent"
	"countersign.dev/internal/conversation"
	"countersign.dev/internal/fault"
	"countersign.dev/internal/httpx"
	"countersign.dev/internal/live"
	"countersign.dev/internal/quota"
	"countersign.dev/internal/result"
)

// The shapes of conversations on the wire.
type (
	conversationView struct {
		ID      string    `json:"id"`
		Title   string    `json:"title"`
		Model   string    `json:"model,omitempty"` // that answered last
		Created time.Time `json:"created"`
		Updated time.Time `json:"updated"`
		Error   string    `json:"error,omitempty"` // why it cannot be read
	}
	wholeConversation struct {
		conversationView
		Running     bool          `json:"running"`     // a question is being answered
		LastEventID string        `json:"lastEventId"` // the messages contain everything up to here: follow the events after it
		Messages    []messageView `json:"messages"`
		Next        string        `json:"next,omitempty"` // after which message to go on: there are more

		Usage *agent.UsageView `json:"usage,omitempty"` // of all its turns
	}
	messageView struct {
		ID      string          `json:"id"`
		Role    agent.Role      `json:"role"`
		Content string          `json:"content"`         // of a tool: the envelope as people read it
		Model   string          `json:"model,omitempty"` // of an answer, and of what was called for it
		Tool    string          `json:"tool,omitempty"`  // of a tool: its name
		Server  string          `json:"server,omitempty"`
		Args    json.RawMessage `json:"args,omitempty"` // what a next page is asked for with
		At      time.Time       `json:"at"`

		Notes []noteView       `json:"notes,omitempty"` // what the gateway added to an answer
		Usage *agent.UsageView `json:"usage,omitempty"` // of the turn, on its last message
	}
	noteView struct { // as in the event
		Kind   string            `json:"kind"`
		Ranges []agent.TextRange `json:"spans,omitempty"`
		Text   string            `json:"text"`
		Code   string            `json:"code,omitempty"`
	}
)

func viewOf(c conversation.Conversation) conversationView {
	return conversationView{ID: c.ID, Title: c.Title, Model: c.Model, Created: c.Created, Updated: c.Updated}
}

// owned opens the caller's conversation that the path names.
func (a API) owned(r *http.Request, p *access.Principal) (conversation.Conversation, error) {
	return a.Conversations.Open(r.Context(), p.Owner(), r.PathValue("id"))
}

// List is GET /api/conversations: the caller's own.
func (a API) List(w http.ResponseWriter, r *http.Request, p *access.Principal) error {
	list, err := a.Conversations.List(r.Context(), p.Owner())
	if err != nil {
		return err
	}
	views := make([]conversationView, len(list))
	for i, one := range list {
		views[i] = viewOf(one.Conversation)
		if one.Unreadable != "" {
			views[i].Title, views[i].Error = "This conversation cannot be read", one.Unreadable
		}
	}
	return httpx.JSON(w, http.StatusOK, map[string]any{"conversations": views})
}

// Show is GET /api/conversations/{id}: a page of its messages, from the first one or
// after the one that ?after= names.
func (a API) Show(w http.ResponseWriter, r *http.Request, p *access.Principal) error {
	owned, err := a.owned(r, p)
	if err != nil {
		return err
	}
	page, err := a.Conversations.Messages(r.Context(), owned, r.URL.Query().Get("after"))
	if err != nil {
		return err
	}
	return httpx.JSON(w, http.StatusOK, pageOf(owned, page))
}

// pageOf encodes a conversation with a page of its messages.
func pageOf(owned conversation.Conversation, page conversation.Stored) wholeConversation {
	view := wholeConversation{conversationView: viewOf(owned), Running: page.Running, LastEventID: page.LastEvent, Messages: []messageView{}}
	if page.More {
		view.Next = page.Messages[len(page.Messages)-1].ID
	}
	if owned.Usage != (agent.Usage{}) {
		view.Usage = owned.Usage.View()
	}
	var before agent.Message
	for _, m := range page.Messages {
		view.Messages = append(view.Messages, messagesOf(m, before)...)
		before = m.Message
	}
	return view
}

// messagesOf encodes one stored message; the results of one step are several,
// and the message before has the calls that they answer.
func messagesOf(m conversation.Message, before agent.Message) []messageView {
	var views []messageView
	if text := m.Text(); text != "" || len(m.Notes) > 0 {
		view := messageView{ID: m.ID, Role: m.Role, Content: text, Model: m.Model, At: m.At}
		for _, n := range m.Notes {
			view.Notes = append(view.Notes, noteView{n.Kind, n.Ranges, n.Text, n.Code})
		}
		views = append(views, view)
	}
	for i, answered := range m.Results() {
		views = append(views, messageView{
			ID: m.ID + "." + strconv.Itoa(i), Role: agent.ToolRole, Content: string(result.ForPeople(result.Unmarked(answered.Answer))), Model: m.Model,
			Tool: answered.Tool, Server: m.Servers[answered.Tool], Args: argsFor(answered, before), At: m.At,
		})
	}
	if last := len(views) - 1; last >= 0 {
		views[last].Usage = m.Usage.View()
	}
	return views
}

func argsFor(answered agent.CallResult, before agent.Message) json.RawMessage {
	if c := agent.CallOf(before, answered); json.Valid(c.Args) { // models make mistakes
		return c.Args
	}
	return nil
}

// renaming is the body of a rename.
type renaming struct {
	Title string `json:"title"`
}

// Rename is PATCH /api/conversations/{id}.
func (a API) Rename(w http.ResponseWriter, r *http.Request, p *access.Principal) error {
	owned, err := a.owned(r, p)
	if err != nil {
		return err
	}
	body, err := httpx.Decode[renaming](r, a.MaxBody)
	if err != nil {
		return err
	}
	if strings.TrimSpace(body.Title) == "" {
		return fault.BadRequest.New("title must not be empty")
	}
	if err := a.Conversations.Rename(r.Context(), owned, body.Title); err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// Delete is DELETE /api/conversations/{id}, also of one that cannot be read.
func (a API) Delete(w http.ResponseWriter, r *http.Request, p *access.Principal) error {
	owned, err := a.Conversations.OpenListed(r.Context(), p.Owner(), r.PathValue("id"))
	if err != nil {
		return err
	}
	if err := a.Conversations.Delete(r.Context(), owned); err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// Cancel stops the running turn of a conversation, on whatever replica.
func (a API) Cancel(w http.ResponseWriter, r *http.Request, p *access.Principal) error {
	owned, err := a.owned(r, p)
	if err != nil {
		return err
	}
	cancelled, err := a.Conversations.Cancel(r.Context(), owned)
	if err != nil {
		return err
	}
	return httpx.JSON(w, http.StatusOK, map[string]bool{"cancelled": cancelled})
}

// Follow streams a conversation's events: after Last-Event-ID (or
// ?after= for clients that cannot set a header), or from now on. It stays open
// until the client leaves.
func (a API) Follow(w http.ResponseWriter, r *http.Request, p *access.Principal) error {
	owned, err := a.owned(r, p)
	if err != nil {
		return err
	}
	after, err := live.LastEventID(r)
	if err != nil {
		return err
	}
	release, err := a.Quotas.Hold(r.Context(), quota.Streams, p.Owner())
	if err != nil {
		return err
	}
	defer release()
	if after, err = a.Conversations.Position(r.Context(), owned.Log(), after); err != nil {
		return err
	}
	right, stop := a.Gate.Live(r)
	defer stop()
	s, err := httpx.NewStream(w, r)
	if err != nil {
		return err
	}
	defer s.Close()
	return send(s, right, a.Conversations.Follow(right, owned.Log(), after), func(conversation.Event) bool { return false })
}
