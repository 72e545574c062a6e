package gateway

import (
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"time"

	"countersign.dev/internal/access"
	"countersign.dev/internal/agent"
	"countersign.dev/internal/httpx"
)

// The shapes of conversations on the wire.
type (
	conversationView struct {
		ID      string    `json:"id"`
		Title   string    `json:"title"`
		Model   string    `json:"model,omitempty"` // that answered last
		Created time.Time `json:"created"`
		Updated time.Time `json:"updated"`
	}
	wholeConversation struct {
		conversationView
		Running     bool          `json:"running"`     // a question is being answered
		LastEventID string        `json:"lastEventId"` // the messages tell everything up to here: follow the events after it
		Messages    []messageView `json:"messages"`
	}
	messageView struct {
		ID      string          `json:"id"`
		Role    agent.Role      `json:"role"`
		Content string          `json:"content"`         // of a tool: the envelope as it was read
		Model   string          `json:"model,omitempty"` // of an answer, and of what was called for it
		Tool    string          `json:"tool,omitempty"`  // of a tool: its name
		Server  string          `json:"server,omitempty"`
		Args    json.RawMessage `json:"args,omitempty"` // what a next page is asked for with
		At      time.Time       `json:"at"`
	}
)

func viewOf(c conversation) conversationView {
	return conversationView{c.ID, c.Title, c.Model, c.Created, c.Updated}
}

func (g *Gateway) listConversations(w http.ResponseWriter, r *http.Request, p *access.Principal) error {
	list, err := g.archive.list(r.Context(), p.Owner())
	if err != nil {
		return err
	}
	views := make([]conversationView, len(list))
	for i, c := range list {
		views[i] = viewOf(c)
	}
	return httpx.JSON(w, http.StatusOK, map[string]any{"conversations": views})
}

func (g *Gateway) showConversation(w http.ResponseWriter, r *http.Request, p *access.Principal) error {
	c, err := g.archive.open(r.Context(), p.Owner(), r.PathValue("id"))
	if err != nil {
		return err
	}
	view := wholeConversation{conversationView: viewOf(c), Messages: []messageView{}}
	if view.LastEventID, view.Running, err = g.told(r, c.ID); err != nil { // before the messages: rather an event twice than none
		return err
	}
	ids, entries, err := g.archive.read(r.Context(), c.ID)
	if err != nil {
		return err
	}
	var calls []agent.Call // of the step before
	for i, e := range entries {
		view.Messages = append(view.Messages, messagesOf(ids[i], e, calls)...)
		calls = e.Calls()
	}
	return httpx.JSON(w, http.StatusOK, view)
}

// told returns the id up to which a conversation's messages tell its events: a
// running turn is told by its events alone, from its beginning.
func (g *Gateway) told(r *http.Request, conversation string) (id string, running bool, err error) {
	if err := g.mend(r.Context(), conversation); err != nil {
		return "", false, err
	}
	before, open, err := g.o.Redis.Get(r.Context(), openKey(conversation))
	if err != nil {
		return "", false, err
	}
	if !open {
		id, err = g.o.Redis.LastID(r.Context(), eventsKey(conversation))
		return id, false, err
	}
	id, closed, err := g.endOf(r.Context(), conversation, string(before))
	if err != nil || closed {
		return id, false, err
	}
	return string(before), true, nil
}

// messagesOf draws one stored message; the results of one step are several, and
// the calls that they answer stand in the message before.
func messagesOf(id string, e entry, calls []agent.Call) []messageView {
	var views []messageView
	if text := e.Text(); text != "" {
		views = append(views, messageView{ID: id, Role: e.Role, Content: text, Model: e.Model, At: e.At})
	}
	for i, result := range e.Results() {
		views = append(views, messageView{
			ID: id + "." + strconv.Itoa(i), Role: agent.ToolRole, Content: string(result.Answer), Model: e.Model,
			Tool: result.Tool, Server: e.Servers[result.Tool], Args: argsFor(result.ID, calls), At: e.At,
		})
	}
	return views
}

func argsFor(call string, calls []agent.Call) json.RawMessage {
	for _, c := range calls {
		if c.ID == call {
			return argsOf(c)
		}
	}
	return nil
}

func (g *Gateway) deleteConversation(w http.ResponseWriter, r *http.Request, p *access.Principal) error {
	c, err := g.archive.open(r.Context(), p.Owner(), r.PathValue("id"))
	if err != nil {
		return err
	}
	if _, err := g.stopTurn(r.Context(), c.ID); err != nil {
		return err
	}
	if err := g.claim(r.Context(), c.ID, newID(), stopPatience); err != nil { // a turn would write on
		return err
	}
	if err := g.archive.remove(context.WithoutCancel(r.Context()), c); err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}
