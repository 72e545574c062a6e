package gateway

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"countersign.dev/internal/access"
	"countersign.dev/internal/confirm"
	"countersign.dev/internal/conversation"
	"countersign.dev/internal/fault"
	"countersign.dev/internal/httpx"
	"countersign.dev/internal/result"
)

// confirmations serves the changes that wait for the caller.
type confirmations struct {
	service       Confirmations
	servers       Servers
	conversations *conversation.Service
	publicURL     string
	body          int64 // bytes of a request's body
}

// confirmError is document 000's shape of an error, with the code added.
type confirmError struct {
	Error   string `json:"error"`
	Message string `json:"message"`
	Code    string `json:"code"`
}

// confirmErrors writes errors as document 000 has them on this one route.
func (g *Gateway) confirmErrors() httpx.ErrorWriter {
	return httpx.ErrorWriter{Log: g.o.Log, Write: func(w http.ResponseWriter, _ *http.Request, f *fault.Error) {
		g.challenge(w, f)
		_ = httpx.JSON(w, statusOf(f), confirmErrorOf(f))
	}}
}

func confirmErrorOf(f *fault.Error) confirmError {
	switch f.Code {
	case fault.UserMismatch:
		return confirmError{"Unauthorized", "You can only approve your own confirmations", f.Code.Name}
	case fault.ConfirmationNotFound:
		return confirmError{"Confirmation not found or expired", "The confirmation is unknown or its 5 minutes are over. Please ask for the change again.", f.Code.Name}
	}
	return confirmError{titles[f.Kind()], f.Message, f.Code.Name}
}

var titles = map[fault.Kind]string{
	fault.Internal: "Confirmation failed", fault.Invalid: "Invalid request", fault.Unauthenticated: "Unauthenticated",
	fault.Forbidden: "Unauthorized", fault.NotFound: "Not found", fault.Conflict: "Confirmation already answered",
	fault.Expired: "Confirmation not found or expired", fault.RateLimited: "Too many requests", fault.Unavailable: "Service unavailable",
}

// answer forwards a person's answer to the server that owns the confirmation,
// and records the outcome in the conversation in which it was asked for.
func (c confirmations) answer(w http.ResponseWriter, r *http.Request, p *access.Principal) error {
	approved, err := approval(w, r, c.body)
	if err != nil {
		return err
	}
	id := confirm.ID(r.PathValue("id"))
	server, err := c.ownerOf(r.Context(), p, id)
	if err != nil {
		return err
	}
	// An answer that was sent is executed, whether or not its client waits.
	ctx := context.WithoutCancel(r.Context())
	o := c.servers.Execute(ctx, server, string(id), approved)
	if o.Fault() != nil && o.Fault().Code.Status != http.StatusOK {
		return o.Fault()
	}
	c.conversations.RecordOutcome(ctx, string(id), o)
	httpx.Raw(w, http.StatusOK, result.EncodeEnvelope(o))
	return nil
}

// approval reads the body. Nothing but true approves, and nothing but false
// denies.
func approval(w http.ResponseWriter, r *http.Request, limit int64) (bool, error) {
	body, err := httpx.Decode[struct {
		Approved *bool `json:"approved"`
	}](w, r, limit)
	if err != nil {
		return false, err
	}
	if body.Approved == nil {
		return false, fault.BadRequest.New("approved must be true or false")
	}
	return *body.Approved, nil
}

// ownerOf returns the server that owns a confirmation of p; empty when Redis
// does not have it, because a server's own store may.
func (c confirmations) ownerOf(ctx context.Context, p *access.Principal, id confirm.ID) (string, error) {
	r, err := c.service.Get(ctx, p, id)
	if fault.Is(err, fault.ConfirmationNotFound) {
		return "", nil
	}
	return r.Server, err
}

// confirmationView is a confirmation as its owner sees it.
type confirmationView struct {
	ID      confirm.ID      `json:"confirmationId"`
	State   confirm.State   `json:"state"`
	Action  string          `json:"action"`
	Server  string          `json:"mcpServer"`
	Message string          `json:"message"`
	Data    map[string]any  `json:"confirmationData"`
	Created time.Time       `json:"created"`
	Expires time.Time       `json:"expires"`
	Receipt json.RawMessage `json:"receipt,omitempty"` // the answer, once it was given

	Conversation string `json:"conversationId,omitempty"` // in which it was asked for, when it was
}

func (c confirmations) viewOf(ctx context.Context, r confirm.Record) (confirmationView, error) {
	conversation, err := c.conversations.ConversationOf(ctx, string(r.ID))
	data := dataWithApproval(r.Data, approvalURL(c.publicURL, string(r.ID)))
	return confirmationView{r.ID, r.State, r.Action, r.Server, r.Summary, data, r.Created, r.Expires, r.Answer, conversation}, err
}

func (c confirmations) list(w http.ResponseWriter, r *http.Request, p *access.Principal) error {
	records, err := c.service.PendingOf(r.Context(), p)
	if err != nil {
		return err
	}
	views := make([]confirmationView, len(records))
	for i, record := range records {
		if views[i], err = c.viewOf(r.Context(), record); err != nil {
			return err
		}
	}
	return httpx.JSON(w, http.StatusOK, map[string]any{"confirmations": views})
}

func (c confirmations) show(w http.ResponseWriter, r *http.Request, p *access.Principal) error {
	record, err := c.service.Get(r.Context(), p, confirm.ID(r.PathValue("id")))
	if err != nil {
		return err
	}
	view, err := c.viewOf(r.Context(), record)
	if err != nil {
		return err
	}
	return httpx.JSON(w, http.StatusOK, view)
}
