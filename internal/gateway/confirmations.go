package gateway

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"countersign.dev/internal/access"
	"countersign.dev/internal/agent"
	"countersign.dev/internal/confirm"
	"countersign.dev/internal/fault"
	"countersign.dev/internal/httpx"
	"countersign.dev/internal/result"
)

// refusal is document 000's shape of an error, with the code added.
type refusal struct {
	Error   string `json:"error"`
	Message string `json:"message"`
	Code    string `json:"code"`
}

// confirmSurface draws errors as document 000 has them on this one route.
func (g *Gateway) confirmSurface() httpx.Surface {
	return httpx.Surface{Log: g.o.Log, Write: func(w http.ResponseWriter, _ *http.Request, f *fault.Error) {
		g.challenge(w, f)
		_ = httpx.JSON(w, statusOf(f), refusalOf(f))
	}}
}

func refusalOf(f *fault.Error) refusal {
	switch f.Code {
	case fault.UserMismatch:
		return refusal{"Unauthorized", "You can only approve your own confirmations", f.Code.Name}
	case fault.ConfirmationNotFound:
		return refusal{"Confirmation not found or expired", "The confirmation is unknown or its 5 minutes are over. Please ask for the change again.", f.Code.Name}
	}
	return refusal{titles[f.Kind()], f.Message, f.Code.Name}
}

var titles = map[fault.Kind]string{
	fault.Internal: "Confirmation failed", fault.Invalid: "Invalid request", fault.Unauthenticated: "Unauthenticated",
	fault.Forbidden: "Unauthorized", fault.NotFound: "Not found", fault.Conflict: "Confirmation already answered",
	fault.Expired: "Confirmation not found or expired", fault.RateLimited: "Too many requests", fault.Unavailable: "Service unavailable",
}

// confirm forwards a person's answer to the server that owns the confirmation,
// and lets the conversation that it came from know.
func (g *Gateway) confirm(w http.ResponseWriter, r *http.Request, p *access.Principal) error {
	approved, err := approval(w, r, g.o.Limits.Body)
	if err != nil {
		return err
	}
	id := confirm.ID(r.PathValue("id"))
	server, err := g.ownerOf(r.Context(), p, id)
	if err != nil {
		return err
	}
	// An answer that was sent is carried out, whether or not its sender waits.
	ctx := context.WithoutCancel(r.Context())
	o := g.o.Servers.Execute(ctx, server, string(id), approved)
	if o.Fault() != nil && o.Fault().Code.Status != http.StatusOK {
		return o.Fault()
	}
	g.heard(ctx, string(id), o)
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
// does not know it, for a server's own store may.
func (g *Gateway) ownerOf(ctx context.Context, p *access.Principal, id confirm.ID) (string, error) {
	r, err := g.o.Desk.Get(ctx, p, id)
	if fault.Is(err, fault.ConfirmationNotFound) {
		return "", nil
	}
	return r.Server, err
}

// remember keeps which conversation a confirmation came from.
func (g *Gateway) remember(ctx context.Context, conversation, id string) {
	if err := g.o.Redis.Set(ctx, askedKey(id), []byte(conversation), confirm.TTL+confirm.Memory); err != nil {
		g.o.Log.WarnContext(ctx, "the outcome will not reach its conversation", "error", err)
	}
}

// heard writes the outcome of an answered confirmation into the conversation
// that it came from: once, however often it is asked for.
func (g *Gateway) heard(ctx context.Context, id string, o result.Outcome) {
	ctx, cancel := context.WithTimeout(ctx, stateTime)
	defer cancel()
	sentence, final := sentenceOf(o)
	if !final {
		return
	}
	if err := g.report(ctx, id, sentence); err != nil {
		g.o.Log.WarnContext(ctx, "an outcome did not reach its conversation", "error", err)
	}
}

func (g *Gateway) report(ctx context.Context, id, sentence string) error {
	conversation, known, err := g.o.Redis.Get(ctx, askedKey(id))
	if err != nil || !known {
		return err
	}
	if _, there, err := g.archive.find(ctx, string(conversation)); err != nil || !there {
		return err
	}
	first, err := g.o.Redis.SetNX(ctx, toldKey(id), []byte("1"), confirm.TTL+confirm.Memory)
	if err != nil || !first {
		return err
	}
	if err := g.archive.say(ctx, string(conversation), agent.TextMessage(agent.System, sentence)); err != nil {
		_ = g.o.Redis.Delete(ctx, toldKey(id)) // whoever asks next tries again
		return err
	}
	_, err = g.tell(ctx, string(conversation), object(messageEvent{"message", agent.System, sentence, id, g.o.Now().UTC()}))
	return err
}

// sentenceOf returns what people are told of an answer, in the tool's own
// words. It is not final while nobody knows whether the change was made.
func sentenceOf(o result.Outcome) (sentence string, final bool) {
	switch {
	case o.Pending() != nil:
		return "", false
	case o.Fault() != nil:
		kind := o.Fault().Kind()
		return o.Fault().Message, kind != fault.Unavailable && o.Fault().Code != fault.InternalError
	case o.Denied() == nil && o.Message() == "":
		return "The change was made.", true
	}
	return o.Message(), true
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

func (g *Gateway) confirmationOf(ctx context.Context, r confirm.Record) (confirmationView, error) {
	conversation, _, err := g.o.Redis.Get(ctx, askedKey(string(r.ID)))
	data := dataWithApproval(r.Data, approvalURL(g.o.PublicURL, string(r.ID)))
	return confirmationView{r.ID, r.State, r.Action, r.Server, r.Summary, data, r.Created, r.Expires, r.Answer, string(conversation)}, err
}

func (g *Gateway) listConfirmations(w http.ResponseWriter, r *http.Request, p *access.Principal) error {
	records, err := g.o.Desk.PendingOf(r.Context(), p)
	if err != nil {
		return err
	}
	views := make([]confirmationView, len(records))
	for i, record := range records {
		if views[i], err = g.confirmationOf(r.Context(), record); err != nil {
			return err
		}
	}
	return httpx.JSON(w, http.StatusOK, map[string]any{"confirmations": views})
}

func (g *Gateway) showConfirmation(w http.ResponseWriter, r *http.Request, p *access.Principal) error {
	record, err := g.o.Desk.Get(r.Context(), p, confirm.ID(r.PathValue("id")))
	if err != nil {
		return err
	}
	view, err := g.confirmationOf(r.Context(), record)
	if err != nil {
		return err
	}
	return httpx.JSON(w, http.StatusOK, view)
}
