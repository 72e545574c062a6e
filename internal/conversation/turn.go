package conversation

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"reflect"
	"strings"
	"time"
	"unicode/utf8"

	"countersign.dev/internal/access"
	"countersign.dev/internal/admission"
	"countersign.dev/internal/agent"
	"countersign.dev/internal/audit"
	"countersign.dev/internal/conversation/lease"
	"countersign.dev/internal/fault"
	"countersign.dev/internal/telemetry"
	"countersign.dev/internal/tokens"
)

// Question is what a person asks.
type Question struct {
	Text         string
	Conversation string // id, which may be a reserved one; empty: a new one
	Model        string // for the conversation from now on; empty: the one that it has
	Surface      string // through which it is asked

	// Entered is called once the question has its position in the queue; nil: not wanted.
	Entered func()

	// Waits is called once when the question has to wait for others of its
	// conversation; nil: not wanted.
	Waits func()
}

// check rejects questions that are empty, too long or have a NUL character.
func (q Question) check() error {
	if !utf8.ValidString(q.Text) || strings.TrimSpace(q.Text) == "" {
		return fault.BadRequest.New("Query is required.").Suggest("Ask a question of 1 to %d characters.", agent.MaxQuestion)
	}
	if strings.Contains(q.Text, "\x00") {
		return fault.BadRequest.New("The question contains a NUL character.").Suggest("Leave it out.")
	}
	if n := utf8.RuneCountInString(q.Text); n > agent.MaxQuestion {
		return fault.BadRequest.New("The question has %d characters; at most %d are read.", n, agent.MaxQuestion).Suggest("Ask in fewer words.")
	}
	return nil
}

// Models are the models that conversations can choose from. Package llm has them.
type Models interface {
	// Choose returns the model of that name, or the default when it is empty.
	Choose(name string) (agent.Choice, error)
}

// turn is one question that is being answered.
type turn struct {
	conversation Conversation
	lease        lease.Lease
	question     Question
	begins       bool // its conversation
	model        agent.Choice
	history      []agent.Message
	began        time.Time
	first        Event // its Started
	cancel       context.CancelCauseFunc
}

// turns runs turns: acquire the lease, store the question, write the events,
// store the answer, write the end, release the lease.
type turns struct {
	models   Models
	meter    func(agent.Model, access.Owner) agent.Model
	toolbox  agent.Toolbox
	system   string
	store    store
	events   events
	leases   lease.Leases
	queue    lease.Queue
	drafts   drafts
	recovery recovery
	outcomes outcomes
	audit    audit.Sink
	limits   Limits
	tokens   *tokens.Counter
	log      *slog.Logger
	now      func() time.Time
}

// open finds or makes the conversation and acquires its lease. After an error
// nothing is held.
func (r turns) open(ctx context.Context, p *access.Principal, q Question) (*turn, error) {
	if _, err := r.models.Choose(q.Model); err != nil { // before a conversation is made
		return nil, err
	}
	c, begins, err := r.conversationFor(ctx, p, q)
	if err != nil {
		return nil, err
	}
	t := &turn{conversation: c, question: q, begins: begins}
	if t.model, err = r.modelFor(c, q); err != nil {
		return nil, err
	}
	t.conversation.Model = t.model.Name()
	if t.lease, err = r.queue.Acquire(ctx, c.ID, newID(), q.Entered, q.Waits); err != nil {
		return nil, err
	}
	t.began = r.now()
	if err = r.readAgain(ctx, p, t); err == nil {
		err = r.announce(ctx, t)
	}
	if err != nil {
		r.queue.Leave(ctx, t.lease)
		r.release(context.WithoutCancel(ctx), t)
		return nil, err
	}
	return t, nil
}

// readAgain reads the conversation as the turns that the question waited for left
// it. One that was deleted meanwhile stays deleted.
func (r turns) readAgain(ctx context.Context, p *access.Principal, t *turn) error {
	if t.question.Conversation == "" {
		return nil
	}
	c, err := r.resume(ctx, p.Owner(), t.conversation.ID)
	if err != nil || c.Created.IsZero() { // deleted, or still only reserved
		return err
	}
	if t.model, err = r.modelFor(c, t.question); err != nil {
		return err
	}
	c.Model = t.model.Name()
	t.conversation, t.begins = c, false
	return nil
}

// conversationFor returns the conversation of a question, or makes it.
func (r turns) conversationFor(ctx context.Context, p *access.Principal, q Question) (c Conversation, begins bool, err error) {
	begins = q.Conversation == ""
	if !begins {
		if c, err = r.resume(ctx, p.Owner(), q.Conversation); err != nil {
			return c, false, err
		}
		begins = c.Created.IsZero()
	}
	if err := r.store.hasSpace(ctx, p.Owner(), begins); err != nil || !begins {
		return c, begins, err
	}
	c, err = r.store.create(ctx, p.Owner(), c.ID, q.Text)
	return c, begins, err
}

// resume returns the owner's conversation, or one that is only reserved, which has
// no date yet. Any other is CONVERSATION_NOT_FOUND.
func (r turns) resume(ctx context.Context, o access.Owner, id string) (Conversation, error) {
	c, err := r.store.open(ctx, o, id)
	if !fault.Is(err, notFound) {
		return c, err
	}
	if reserved, failed := r.drafts.has(ctx, o, id); failed != nil || !reserved {
		return c, cmp.Or(failed, err)
	}
	return Conversation{ID: id, Owner: o}, nil
}

// modelFor returns the model that the question names, else the conversation's,
// else the default. A conversation's model may no longer be configured.
func (r turns) modelFor(c Conversation, q Question) (agent.Choice, error) {
	if q.Model == "" && c.Model != "" {
		if model, err := r.models.Choose(c.Model); err == nil {
			return model, nil
		}
	}
	return r.models.Choose(q.Model)
}

// announce reads the history, stores the question and writes the first event,
// after the end of a turn that a crash left open.
func (r turns) announce(ctx context.Context, t *turn) (err error) {
	c := t.conversation
	if err := r.recovery.close(ctx, c.Log()); err != nil {
		return err
	}
	if t.history, err = r.store.history(ctx, c.ID); err != nil {
		return err
	}
	if err := r.recovery.opened(ctx, c.Log()); err != nil {
		return err
	}
	if err := r.store.save(ctx, c); err != nil {
		return err
	}
	t.first = Event{Type: Started, Conversation: c.ID, Request: telemetry.RequestOf(ctx).ID, Text: t.question.Text, Model: c.Model}
	if t.first.ID, err = r.events.append(ctx, c.Log(), t.first); err != nil {
		return err
	}
	var news []Event
	if t.begins {
		news = append(news, Event{Type: Titled, Conversation: c.ID, Text: c.Title})
	}
	_, err = r.events.append(ctx, PersonLog(c.Owner), append(news, Event{Type: Turn, Conversation: c.ID, Status: Running})...)
	return err
}

// run answers the question, whether or not anyone reads the events.
func (r turns) run(ctx context.Context, p *access.Principal, t *turn, ended func()) {
	bounded, stop := context.WithTimeout(ctx, r.limits.TurnTime)
	kept := r.queue.Keep(bounded, t.lease, t.cancel)
	_ = admission.From(ctx).Begin(bounded) // its error is that bounded has ended, which ends the turn too
	summary := r.answer(bounded, p, t)
	stop() // ends Keep, too
	<-kept
	defer t.cancel(nil)
	last, done := context.WithTimeout(context.WithoutCancel(ctx), writeTime)
	defer done()
	r.queue.Leave(last, t.lease)
	if errors.Is(context.Cause(ctx), lease.ErrLost) { // recovery, or the next turn, has closed the events
		r.record(last, t, summary)
		ended()
		return
	}
	r.close(last, t, summary, ended)
}

// answer runs the agent and writes its events.
func (r turns) answer(ctx context.Context, p *access.Principal, t *turn) turnSummary {
	c := t.conversation
	r.log.DebugContext(ctx, "turn started", "model", t.model.Name(), "question_sha256", telemetry.Digest(t.question.Text), "question_tokens", r.tokens.Count(t.question.Text), "history_messages", len(t.history))
	question := Message{Surface: t.question.Surface, Message: agent.TextMessage(agent.User, t.question.Text)}
	if err := r.store.add(ctx, c.ID, question); err != nil {
		r.log.WarnContext(ctx, "the question could not be stored", "error", err)
	}
	w := &writer{conversation: c, limits: r.limits, events: r.events, outcomes: r.outcomes, log: r.log, stop: t.cancel}
	return w.write(ctx, agent.Run(ctx, agent.Turn{
		Model: r.meter(t.model, p.Owner()), Toolbox: r.toolbox, System: r.system, Now: t.began,
		Person:  agent.Person{Name: p.Name(), Username: p.Username(), Email: p.Email(), Roles: p.Roles()},
		History: t.history, Question: t.question.Text, Language: t.model.Language, Memory: t.conversation.Memory,
		Tokens: r.tokens, Retain: r.limits.Retain, MaxMessages: r.limits.Messages, SummariseAbove: r.limits.SummariseAbove,
		Budget: cmp.Or(t.model.Budget, r.limits.History), Kept: agent.Kept{Rows: r.limits.Rows, Bytes: r.limits.Data}, AnswerTimeout: cmp.Or(t.model.Timeout, r.limits.Answer),
	}))
}

// close stores the turn's messages, records it, writes the end of its events and
// only then releases the conversation: turns follow each other in the log.
func (r turns) close(ctx context.Context, t *turn, s turnSummary, ended func()) {
	id := t.conversation.ID
	if len(s.messages) > 1 { // the first is the question
		if err := r.store.add(ctx, id, r.stored(t, s)...); err != nil {
			r.log.ErrorContext(ctx, "the messages of a turn could not be stored", "error", err)
		}
	}
	r.record(ctx, t, s)
	r.remember(ctx, t.conversation, s)
	ended()
	if _, err := r.events.append(ctx, t.conversation.Log(), s.end...); err != nil { // recovery writes it later
		r.log.ErrorContext(ctx, "the end of a turn could not be written", "error", err)
		return
	}
	if _, err := r.events.append(ctx, PersonLog(t.conversation.Owner), Event{Type: Turn, Conversation: id, Status: Ended}); err != nil {
		r.log.WarnContext(ctx, "the person's other pages do not learn that a turn has ended", "error", err)
	}
	if err := r.recovery.closed(ctx, id); err == nil {
		r.release(ctx, t)
	}
}

// stored is what a turn adds to its conversation after the question.
func (r turns) stored(t *turn, s turnSummary) []Message {
	var all []Message
	for _, m := range s.messages[1:] {
		message := Message{Message: m, Model: s.answeredBy(t.conversation.Model)}
		if m.Role == agent.ToolRole {
			message.Servers = s.servers
		}
		all = append(all, message)
	}
	all[len(all)-1].Usage = s.usage
	return all
}

func (r turns) record(ctx context.Context, t *turn, s turnSummary) {
	used := agent.Usage{}
	if s.usage != nil {
		used = *s.usage
	}
	r.log.InfoContext(ctx, "turn ended", "outcome", s.code, "model", s.answeredBy(t.model.Name()), "tools", s.tools,
		"input_tokens", used.InputTokens, "output_tokens", used.OutputTokens, "duration_ms", r.now().Sub(t.began).Milliseconds())
	if r.audit == nil {
		return
	}
	digest := sha256.Sum256([]byte(t.question.Text))
	err := r.audit.Append(ctx, audit.Event{
		Kind: audit.Turn, Conversation: t.conversation.ID, Digest: hex.EncodeToString(digest[:]), Outcome: s.code,
		Note: s.note(), DurationMS: r.now().Sub(t.began).Milliseconds(),
	})
	if err != nil {
		r.log.ErrorContext(ctx, "audit could not be written", "error", err)
	}
}

// remember stores what a turn changed of its conversation's record, while its lease
// is held: what the conversation keeps for its model, and what it has used.
func (r turns) remember(ctx context.Context, c Conversation, s turnSummary) {
	before := c
	c.Memory = s.memory
	if s.usage != nil {
		c.Usage.Add(s.usage)
		c.Usage.Model = ""
	}
	if reflect.DeepEqual(c, before) {
		return
	}
	if err := r.store.save(ctx, c); err != nil { // the memory is made again
		r.log.WarnContext(ctx, "what a turn changed of its conversation could not be stored", "error", err)
	}
}

// note is what the audit log says about a turn's work.
func (s turnSummary) note() string {
	note := fmt.Sprintf("tools used: %d", s.tools)
	if len(s.unasked) > 0 {
		note += ", not called because only untrusted text asked: " + strings.Join(s.unasked, ", ")
	}
	if s.usage == nil {
		return note
	}
	note += fmt.Sprintf(", tokens in: %d", s.usage.InputTokens)
	if s.usage.CachedTokens > 0 {
		note += fmt.Sprintf(" (%d of them cached)", s.usage.CachedTokens)
	}
	note += fmt.Sprintf(", tokens out: %d", s.usage.OutputTokens)
	if s.usage.Estimated {
		note += " (estimated)"
	}
	if s.usage.Currency != "" {
		note += fmt.Sprintf(", price: %.6f %s", s.usage.Cost.Units(), s.usage.Currency)
	}
	if s.usage.Model != "" {
		note += ", answered by " + s.usage.Model
	}
	return note
}

func (r turns) release(ctx context.Context, t *turn) {
	if err := r.leases.Release(ctx, t.lease); err != nil {
		r.log.WarnContext(ctx, "a conversation stays leased for a moment", "error", err)
	}
}
