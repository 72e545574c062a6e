package gateway

import (
	"context"
	"net/http"

	"countersign.dev/internal/access"
	"countersign.dev/internal/approval"
	"countersign.dev/internal/conversation"
	"countersign.dev/internal/fault"
	"countersign.dev/internal/gate"
	"countersign.dev/internal/httpx"
	"countersign.dev/internal/result"
)

// Confirmations are those of the principal in the context, as the servers that
// own them show and answer them. Package upstream has it.
type Confirmations interface {
	// Permit reports whether the principal may answer confirmations.
	Permit(ctx context.Context, id string) error
	Confirmation(ctx context.Context, id string) (result.Confirmation, error)
	// PendingOf lists what waits, oldest first, and those that cannot be shown.
	PendingOf(ctx context.Context) (shown []result.Confirmation, unshown []result.Unshown, err error)
	// Answer approves or denies one. digest is that of the preview that the
	// person saw, or empty.
	Answer(ctx context.Context, id string, approved bool, digest string) result.Outcome
}

// confirmations serves the changes that wait for the caller.
type confirmations struct {
	service       Confirmations
	conversations *conversation.Service
	page          approval.Page
	body          int64 // bytes of a request's body
}

// confirmError is document 000's shape of an error, with the code added.
type confirmError struct {
	Error   string         `json:"error"`
	Message string         `json:"message"`
	Code    string         `json:"code"`
	Details map[string]any `json:"details,omitempty"`
}

// confirmErrors writes errors as document 000 has them on this one route.
func (g *Gateway) confirmErrors() httpx.ErrorWriter {
	return httpx.ErrorWriter{Log: g.o.Log, Observer: g.o.Observer, Write: func(w http.ResponseWriter, r *http.Request, f *fault.Error) {
		g.challenge(w, f)
		_ = httpx.JSON(w, statusOf(f), confirmErrorOf(f.WithDeclared("confirmationId", r.PathValue("id"))))
	}}
}

func confirmErrorOf(f *fault.Error) confirmError {
	switch f.Code {
	case fault.UserMismatch:
		return confirmError{"Unauthorized", "You can only approve your own confirmations", f.Code.Name, f.Details}
	case fault.ConfirmationNotFound:
		return confirmError{"Confirmation not found or expired", "⏱️ Confirmation expired (5-minute TTL). Please retry the operation.", f.Code.Name, f.Details}
	}
	return confirmError{titles[f.Kind()], f.Message, f.Code.Name, f.Details}
}

var titles = map[fault.Kind]string{
	fault.Internal: "Confirmation failed", fault.Invalid: "Invalid request", fault.Unauthenticated: "Unauthenticated",
	fault.Forbidden: "Unauthorized", fault.NotFound: "Not found", fault.Conflict: "Confirmation cannot be answered",
	fault.Expired: "Confirmation not found or expired", fault.RateLimited: "Too many requests", fault.Unavailable: "Service unavailable",
}

// answer forwards a person's answer to the server that owns the confirmation,
// and records the outcome in the conversation in which it was asked for.
func (c confirmations) answer(w http.ResponseWriter, r *http.Request, _ *access.Principal) error {
	if err := c.service.Permit(r.Context(), r.PathValue("id")); err != nil {
		return err
	}
	body, err := readAnswer(w, r, c.body)
	if err != nil {
		return err
	}
	o, err := c.decide(r.Context(), r.PathValue("id"), *body.Approved, body.Digest)
	if err != nil {
		return err
	}
	httpx.Raw(w, http.StatusOK, result.ForPeople(result.EncodeEnvelope(o)))
	return nil
}

// decide answers a confirmation, which is executed whether or not its client waits.
// An error is a refusal: nothing was answered.
func (c confirmations) decide(ctx context.Context, id string, approved bool, digest string) (result.Outcome, error) {
	ctx = context.WithoutCancel(ctx)
	o := c.service.Answer(ctx, id, approved, digest)
	switch f := o.Fault(); {
	case f == nil:
	case f.Code.Status != http.StatusOK:
		return o, f
	case f.Kind() == fault.Unavailable: // a server that took too long: it may still make the change
		return o, fault.ServiceDown.New("%s It is not known yet whether the change was made. To answer again is safe.", f.Message).
			With("confirmationId", id).Because(f)
	}
	c.conversations.RecordOutcome(ctx, id, o)
	return o, nil
}

// permitted checks the right to answer, and then decides.
func (c confirmations) permitted(ctx context.Context, id string, approved bool, digest string) (result.Outcome, error) {
	if err := c.service.Permit(ctx, id); err != nil {
		return result.Outcome{}, err
	}
	return c.decide(ctx, id, approved, digest)
}

// answerBody is the body of an answer. Nothing but true approves, and nothing but
// false denies.
type answerBody struct {
	Approved *bool  `json:"approved"`
	Digest   string `json:"digest"` // of the preview that the person saw; empty: not compared
}

// readAnswer reads the body. Our own page, which is known by its cookie, must name
// the digest of what it drew; a client with a bearer token may.
func readAnswer(w http.ResponseWriter, r *http.Request, limit int64) (answerBody, error) {
	body, err := httpx.Decode[answerBody](r, limit)
	switch {
	case err != nil:
		return body, err
	case body.Approved == nil:
		return body, fault.BadRequest.New("approved must be true or false")
	case body.Digest == "" && !gate.ByToken(r):
		return body, fault.BadRequest.New("digest must be that of the request as the page shows it").Suggest("Load the page again.")
	}
	return body, nil
}

// confirmationView is a confirmation as its owner sees it.
type confirmationView struct {
	result.Confirmation

	Conversation string `json:"conversationId,omitempty"` // in which it was asked for, when it was
}

func (c confirmations) viewOf(ctx context.Context, shown result.Confirmation) (confirmationView, error) {
	conversation, err := c.conversations.ConversationOf(ctx, shown.ID)
	return confirmationView{c.page.Confirmation(shown), conversation}, err
}

// confirmationList is what waits for a person, and what of it cannot be shown.
type confirmationList struct {
	Confirmations []confirmationView `json:"confirmations"`
	Unshown       []result.Unshown   `json:"unavailable,omitempty"`
}

func (c confirmations) list(w http.ResponseWriter, r *http.Request, _ *access.Principal) error {
	shown, unshown, err := c.service.PendingOf(r.Context())
	if err != nil {
		return err
	}
	list := confirmationList{make([]confirmationView, len(shown)), unshown}
	for i := range shown {
		if list.Confirmations[i], err = c.viewOf(r.Context(), shown[i]); err != nil {
			return err
		}
	}
	return httpx.JSON(w, http.StatusOK, list)
}

// show is one of the caller's own. Its outcome may not have reached the conversation: when
// its server found it by a receipt, the answer was lost.
func (c confirmations) show(w http.ResponseWriter, r *http.Request, _ *access.Principal) error {
	shown, err := c.service.Confirmation(r.Context(), r.PathValue("id"))
	if err != nil {
		return err
	}
	if o, ok := shown.Outcome(); ok {
		c.conversations.RecordOutcome(r.Context(), shown.ID, o)
	}
	view, err := c.viewOf(r.Context(), shown)
	if err != nil {
		return err
	}
	return httpx.JSON(w, http.StatusOK, view)
}
