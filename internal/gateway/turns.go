package gateway

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"time"

	"countersign.dev/internal/access"
	"countersign.dev/internal/agent"
	"countersign.dev/internal/audit"
	"countersign.dev/internal/fault"
	"countersign.dev/internal/httpx"
	"countersign.dev/internal/result"
	"countersign.dev/internal/state"
	"countersign.dev/internal/telemetry"
)

// turn is one question being answered.
type turn struct {
	conversation conversation
	id           string
	question     string
	model        agent.Choice
	began        time.Time
	first        state.Entry // its start event
	cancel       context.CancelCauseFunc
}

// errStopped is why a turn ends when its person says so.
var errStopped = errors.New("stopped by the person")

// begin claims the conversation, opens the turn's events and starts it. On an
// error nothing runs.
func (g *Gateway) begin(ctx context.Context, p *access.Principal, q question) (*turn, error) {
	if err := g.admit(p.Owner()); err != nil {
		return nil, err
	}
	t, err := g.open(ctx, p, q)
	if err != nil {
		g.leave(p.Owner())
		return nil, err
	}
	own := access.With(telemetry.WithRequest(g.life, telemetry.RequestOf(ctx)), p)
	own, t.cancel = context.WithCancelCause(own)
	g.mu.Lock()
	g.running[t.conversation.ID] = t
	g.mu.Unlock()
	go g.run(own, p, t)
	return t, nil
}

// admit counts a turn in, unless the person has too many or the end is near.
func (g *Gateway) admit(o access.Owner) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case g.life.Err() != nil:
		return fault.ServiceDown.New("The gateway is restarting. Please ask again in a moment.").After(5 * time.Second)
	case g.busy[o] >= g.o.Limits.Turns:
		return fault.Busy.New("%d of your questions are being answered. Please wait for one of them.", g.busy[o]).After(5 * time.Second)
	}
	g.busy[o]++
	g.work.Add(1)
	return nil
}

func (g *Gateway) leave(o access.Owner) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.busy[o]--; g.busy[o] == 0 {
		delete(g.busy, o)
	}
	g.work.Done()
}

// open finds or makes the conversation and holds it for this turn alone.
func (g *Gateway) open(ctx context.Context, p *access.Principal, q question) (*turn, error) {
	if _, err := g.o.Models.Choose(q.Model); err != nil { // before a conversation is made
		return nil, err
	}
	c, err := g.conversationFor(ctx, p, q)
	if err != nil {
		return nil, err
	}
	model, err := g.modelFor(c, q)
	if err != nil {
		return nil, err
	}
	c.Model = model.Name()
	t := &turn{conversation: c, id: newID(), question: q.Query, model: model, began: g.o.Now()}
	if err := g.claim(ctx, c.ID, t.id, handover); err != nil {
		return nil, err
	}
	if err := g.announce(ctx, t); err != nil {
		g.release(context.WithoutCancel(ctx), t)
		return nil, err
	}
	return t, nil
}

// How long a conversation is waited for. A turn lets go a moment after its last
// event, and the next question may follow that at once; one that was told to
// stop, on another replica, needs longer.
const (
	claimTick    = 10 * time.Millisecond
	handover     = 300 * time.Millisecond
	stopPatience = turnTick + 2*time.Second
)

// claim holds a conversation for one holder, or says BUSY.
func (g *Gateway) claim(ctx context.Context, conversation, holder string, patience time.Duration) error {
	again := time.NewTicker(claimTick)
	defer again.Stop()
	for range patience / claimTick {
		held, err := g.o.Redis.SetNX(ctx, turnKey(conversation), []byte(holder), turnLife)
		if held || err != nil {
			return err
		}
		select {
		case <-again.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return fault.Busy.New("This conversation still answers your last question.").After(2 * time.Second)
}

func (g *Gateway) conversationFor(ctx context.Context, p *access.Principal, q question) (conversation, error) {
	if q.ConversationID != "" {
		return g.archive.open(ctx, p.Owner(), q.ConversationID)
	}
	return g.archive.create(ctx, p.Owner(), q.Query)
}

// modelFor returns the model that the question names, else the conversation's,
// else the default. A conversation's model may no longer be configured.
func (g *Gateway) modelFor(c conversation, q question) (agent.Choice, error) {
	if q.Model == "" && c.Model != "" {
		if model, err := g.o.Models.Choose(c.Model); err == nil {
			return model, nil
		}
	}
	return g.o.Models.Choose(q.Model)
}

// announce keeps the question and writes the start event, behind the end of a
// turn that a crash left open.
func (g *Gateway) announce(ctx context.Context, t *turn) error {
	id := t.conversation.ID
	if err := g.closeOpen(ctx, id); err != nil {
		return err
	}
	before, err := g.o.Redis.LastID(ctx, eventsKey(id))
	if err != nil {
		return err
	}
	if err := g.o.Redis.Set(ctx, openKey(id), []byte(cmp.Or(before, logStart)), eventLife); err != nil {
		return err
	}
	if err := g.archive.touch(ctx, t.conversation); err != nil {
		return err
	}
	t.first.Data = object(startEvent{"start", id, t.conversation.Model})
	t.first.ID, err = g.tell(ctx, id, t.first.Data)
	return err
}

// run answers the question, whoever listens.
func (g *Gateway) run(ctx context.Context, p *access.Principal, t *turn) {
	defer g.leave(p.Owner())
	bounded, stop := context.WithTimeout(ctx, g.o.Limits.TurnTime)
	held := g.hold(bounded, t)
	outcome := g.answer(bounded, p, t)
	stop() // ends the holding, too
	<-held
	defer t.cancel(nil)
	last, done := context.WithTimeout(context.WithoutCancel(ctx), stateTime)
	defer done()
	g.close(last, t, outcome)
}

// answer runs the agent and writes down what happens.
func (g *Gateway) answer(ctx context.Context, p *access.Principal, t *turn) turnOutcome {
	history, err := g.archive.history(ctx, t.conversation.ID)
	if err != nil {
		g.o.Log.WarnContext(ctx, "history could not be read", "error", err)
	}
	if err := g.archive.say(ctx, t.conversation.ID, agent.TextMessage(agent.User, t.question)); err != nil {
		g.o.Log.WarnContext(ctx, "the question could not be kept", "error", err)
	}
	script := agent.Run(ctx, agent.Turn{
		Model: t.model, Toolbox: g.o.Servers, System: g.o.System, Now: t.began,
		Person:  agent.Person{Name: p.Name(), Username: p.Username(), Email: p.Email(), Roles: p.Roles()},
		History: history, Question: t.question,
		Budget: cmp.Or(t.model.Budget, g.o.Limits.History), Patience: cmp.Or(t.model.Timeout, g.o.Limits.Answer),
	})
	s := &scribe{g: g, t: t, encoder: encoder{g.o.Limits.Rows, g.o.Limits.Data}}
	return s.write(ctx, script)
}

// close keeps what the turn said, records it, writes the end of its events and
// only then frees the conversation: turns follow each other in the log.
func (g *Gateway) close(ctx context.Context, t *turn, o turnOutcome) {
	id := t.conversation.ID
	if len(o.said) > 1 { // the first is the question
		if err := g.archive.add(ctx, id, g.kept(t, o)...); err != nil {
			g.o.Log.ErrorContext(ctx, "what a turn said could not be kept", "error", err)
		}
	}
	g.record(ctx, t, o)
	g.mu.Lock()
	if g.running[id] == t {
		delete(g.running, id)
	}
	g.mu.Unlock()
	if _, err := g.tell(ctx, id, o.last...); err != nil { // whoever looks later mends it
		g.o.Log.ErrorContext(ctx, "the end of a turn could not be written", "error", err)
		return
	}
	if _, _, err := g.o.Redis.Take(ctx, openKey(id)); err == nil {
		g.release(ctx, t)
	}
}

// kept is what a turn adds to its conversation behind the question: of large
// answers what a stream shows of them.
func (g *Gateway) kept(t *turn, o turnOutcome) []entry {
	var entries []entry
	for _, m := range o.said[1:] {
		e := entry{Message: m, Model: t.conversation.Model}
		for i, p := range m.Parts {
			if r, ok := p.(agent.CallResult); ok {
				e.Servers = o.servers
				r.Answer = result.ClipEnvelope(r.Answer, g.o.Limits.Rows, g.o.Limits.Data)
				m.Parts[i] = r
			}
		}
		entries = append(entries, e)
	}
	return entries
}

func (g *Gateway) record(ctx context.Context, t *turn, o turnOutcome) {
	if g.o.Audit == nil {
		return
	}
	digest := sha256.Sum256([]byte(t.question))
	err := g.o.Audit.Append(ctx, audit.Event{
		Kind: audit.Turn, Conversation: t.conversation.ID, Digest: hex.EncodeToString(digest[:]), Outcome: o.code,
		Note: fmt.Sprintf("tools used: %d", o.tools), DurationMS: g.o.Now().Sub(t.began).Milliseconds(),
	})
	if err != nil {
		g.o.Log.ErrorContext(ctx, "audit could not be written", "error", err)
	}
}

// hold keeps the conversation to the turn while it runs, and hears a wish to
// stop it that another replica was told. The result is closed when it has ended.
func (g *Gateway) hold(ctx context.Context, t *turn) <-chan struct{} {
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(turnTick)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				g.renew(ctx, t)
			}
		}
	}()
	return ended
}

func (g *Gateway) renew(ctx context.Context, t *turn) {
	if err := g.o.Redis.Set(ctx, turnKey(t.conversation.ID), []byte(t.id), turnLife); err != nil {
		return // the store may come back; the turn learns of it when it writes
	}
	if wish, ok, err := g.o.Redis.Get(ctx, cancelKey(t.conversation.ID)); err == nil && ok && string(wish) == t.id {
		t.cancel(errStopped)
	}
}

// release frees the conversation, unless another turn holds it by now.
func (g *Gateway) release(ctx context.Context, t *turn) {
	holder, ok, err := g.o.Redis.Get(ctx, turnKey(t.conversation.ID))
	if err == nil && ok && string(holder) == t.id {
		err = g.o.Redis.Delete(ctx, turnKey(t.conversation.ID))
	}
	if err != nil {
		g.o.Log.WarnContext(ctx, "a conversation stays held for a moment", "error", err)
	}
}

// cancelTurn stops the running turn of a conversation, on whatever replica.
func (g *Gateway) cancelTurn(w http.ResponseWriter, r *http.Request, p *access.Principal) error {
	c, err := g.archive.open(r.Context(), p.Owner(), r.PathValue("id"))
	if err != nil {
		return err
	}
	stopped, err := g.stopTurn(r.Context(), c.ID)
	if err != nil {
		return err
	}
	return httpx.JSON(w, http.StatusOK, map[string]bool{"cancelled": stopped})
}

// stopTurn reports whether there was a turn to stop. One on another replica
// hears of it within turnTick.
func (g *Gateway) stopTurn(ctx context.Context, conversation string) (bool, error) {
	g.mu.Lock()
	t := g.running[conversation]
	g.mu.Unlock()
	if t != nil {
		t.cancel(errStopped)
		return true, nil
	}
	holder, ok, err := g.o.Redis.Get(ctx, turnKey(conversation))
	if err != nil || !ok {
		return false, err
	}
	return true, g.o.Redis.Set(ctx, cancelKey(conversation), holder, turnLife)
}
