package conversation

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"countersign.dev/internal/access"
	"countersign.dev/internal/admission"
	"countersign.dev/internal/agent"
	"countersign.dev/internal/audit"
	"countersign.dev/internal/conversation/lease"
	"countersign.dev/internal/conversation/sealed"
	"countersign.dev/internal/fault"
	"countersign.dev/internal/quota"
	"countersign.dev/internal/result"
	"countersign.dev/internal/seal"
	"countersign.dev/internal/state"
	"countersign.dev/internal/telemetry"
	"countersign.dev/internal/tokens"
)

// Options are the parts of a Service. Models, Toolbox, Redis and Ring are
// required.
type Options struct {
	Models  Models
	System  string // a company's own instructions to the model
	Toolbox agent.Toolbox
	// Meter wraps the model of a turn, to count what its person uses; nil: nothing is counted.
	Meter func(agent.Model, access.Owner) agent.Model
	Redis *state.Redis
	Ring  *seal.Ring // seals the records
	Audit audit.Sink // nil: nothing is recorded
	// Watch calls end when the principal's token is revoked or expires: their turns end.
	// Nil: tokens are not revoked.
	Watch  func(p *access.Principal, end func(error)) (stop func())
	Limits Limits
	Quotas *quota.Quotas // bound the turns of one person; nil: nothing
	Log    *slog.Logger
	Now    func() time.Time

	Admission *admission.Queue // decides whose turn is worked on first; nil: all at once
}

// Service keeps and runs the conversations of all people. Shutdown ends it.
type Service struct {
	turns  turns
	quotas *quota.Quotas
	queue  *admission.Queue
	redis  *state.Redis
	watch  func(*access.Principal, func(error)) func()
	alive  context.Context // ends with Shutdown
	end    context.CancelCauseFunc

	mu      sync.Mutex
	running map[string]*turn // by conversation
	work    sync.WaitGroup   // turns
}

// New makes a service of its parts, or says that some are missing.
func New(o Options) (*Service, error) {
	if o.Models == nil || o.Toolbox == nil || o.Redis == nil || o.Ring == nil {
		return nil, errors.New("conversations need models, a toolbox, Redis and a ring")
	}
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	if o.Now == nil {
		o.Now = time.Now
	}
	o.Limits.fill()
	if o.Meter == nil {
		o.Meter = func(m agent.Model, _ access.Owner) agent.Model { return m }
	}
	if o.Watch == nil {
		o.Watch = func(*access.Principal, func(error)) func() { return func() {} }
	}
	s := &Service{redis: o.Redis, quotas: o.Quotas, queue: o.Admission, watch: o.Watch, running: make(map[string]*turn)}
	s.alive, s.end = context.WithCancelCause(context.Background())
	logs, keys := sealed.NewLogs(o.Redis), sealed.Keys{Store: o.Redis, Ring: o.Ring, Log: o.Log, Now: o.Now}
	t := turns{
		models: o.Models, meter: o.Meter, toolbox: o.Toolbox, system: o.System, audit: o.Audit, limits: o.Limits, tokens: &tokens.Counter{}, log: o.Log, now: o.Now,
		store:  store{keys: o.Redis, owned: o.Redis, logs: logs, sizes: o.Redis, quotas: o.Quotas, sealer: sealer{o.Ring}, log: o.Log, now: o.Now},
		events: events{logs, o.Ring}, leases: lease.New(keys, o.Limits.TurnTime), drafts: drafts{keys},
	}
	t.queue = lease.NewQueue(state.NewLines(o.Redis), t.leases)
	t.recovery = recovery{keys, t.events, t.leases}
	t.outcomes = outcomes{keys, t.store, t.events, o.Log, o.Now}
	s.turns = t
	return s, nil
}

// Ask begins a turn and returns its conversation and its first event. It waits, no
// longer than ctx, while other questions of the conversation are answered: three
// may wait, and one more is BUSY. The turn goes on when ctx ends: its events are in
// the conversation's log.
func (s *Service) Ask(ctx context.Context, p *access.Principal, q Question) (Conversation, Event, error) {
	if err := q.check(); err != nil {
		return Conversation{}, Event{}, err
	}
	free, err := s.reserve(ctx, p.Owner())
	if err != nil {
		return Conversation{}, Event{}, err
	}
	t, err := s.open(ctx, p, q)
	if err != nil {
		free()
		return Conversation{}, Event{}, err
	}
	s.quotas.Spent(p.Owner(), quota.Turn)
	request := telemetry.RequestOf(ctx)
	request.Conversation = t.conversation.ID
	own := telemetry.WithStep(access.With(telemetry.WithRequest(s.alive, request), p), telemetry.Step{Component: "conversation", Action: "turn"})
	own, t.cancel = context.WithCancelCause(own)
	s.mu.Lock()
	s.running[t.conversation.ID] = t
	s.mu.Unlock()
	unwatch := s.watch(p, t.cancel)
	work := s.queue.Work().For(p.Owner())
	own = admission.With(own, work)
	go func() {
		defer free()
		defer unwatch()
		defer work.End()
		s.turns.run(own, p, t, func() { s.ended(t) })
	}()
	return t.conversation, t.first, nil
}

// open opens a turn. A shutdown while the question waits is SERVICE_UNAVAILABLE.
func (s *Service) open(ctx context.Context, p *access.Principal, q Question) (*turn, error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	defer context.AfterFunc(s.alive, stop)()
	t, err := s.turns.open(ctx, p, q)
	if err != nil && s.alive.Err() != nil {
		return nil, restarting()
	}
	return t, err
}

func restarting() error {
	return fault.ServiceDown.New(fault.Maintenance).Suggest("The gateway is restarting. Ask again in a moment.").After(5 * time.Second)
}

// reserve takes a slot for a turn until free is called: BUSY at the person's
// limit, SERVICE_UNAVAILABLE during shutdown.
func (s *Service) reserve(ctx context.Context, o access.Owner) (free func(), err error) {
	release, err := s.quotas.Hold(ctx, quota.Turns, o)
	if err != nil {
		return nil, err
	}
	if !s.begin() {
		release()
		return nil, restarting()
	}
	return func() { release(); s.work.Done() }, nil
}

// begin makes Shutdown wait for one more turn. It returns false during shutdown.
func (s *Service) begin() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.alive.Err() != nil {
		return false
	}
	s.work.Add(1)
	return true
}

func (s *Service) ended(t *turn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.running[t.conversation.ID] == t {
		delete(s.running, t.conversation.ID)
	}
}

// Open returns the owner's conversation, or CONVERSATION_NOT_FOUND.
func (s *Service) Open(ctx context.Context, o access.Owner, id string) (Conversation, error) {
	return s.turns.store.open(ctx, o, id)
}

// OpenListed is Open that also finds conversations in the owner's list whose record
// cannot be read, so that they can be deleted.
func (s *Service) OpenListed(ctx context.Context, o access.Owner, id string) (Conversation, error) {
	return s.turns.store.openListed(ctx, o, id)
}

// Begin reserves the id of a conversation, which is made with its first question.
func (s *Service) Begin(ctx context.Context, o access.Owner) (Conversation, error) {
	id, err := s.turns.drafts.reserve(ctx, o)
	return Conversation{ID: id, Owner: o}, err
}

// Resume is Open that also finds reserved conversations, which have no question yet.
func (s *Service) Resume(ctx context.Context, o access.Owner, id string) (Conversation, error) {
	return s.turns.resume(ctx, o, id)
}

// List returns the owner's conversations, newest first.
func (s *Service) List(ctx context.Context, o access.Owner) ([]Listed, error) {
	return s.turns.store.list(ctx, o)
}

// Stored is a page of what is stored of a conversation.
type Stored struct {
	Messages  []Message // oldest first
	More      bool      // others follow
	LastEvent string    // up to which all pages contain its events: a running turn is in its events alone
	Running   bool      // a question is being answered
}

// Messages returns a page of a conversation's messages, those that follow the one
// with the id after: 1 MiB of them or a little more, since a call and its results stay
// together. Empty: from the first one.
func (s *Service) Messages(ctx context.Context, c Conversation, after string) (page Stored, err error) {
	page.LastEvent, page.Running, err = s.turns.recovery.covered(ctx, c.Log()) // read first: at-least-once
	if err != nil {
		return Stored{}, err
	}
	page.Messages, page.More, err = s.turns.store.page(ctx, c.ID, after)
	return page, err
}

// Cancel drops the questions of a conversation that wait, stops its running turn,
// on whatever replica, and reports whether there was any.
func (s *Service) Cancel(ctx context.Context, c Conversation) (bool, error) {
	waited, err := s.turns.queue.Clear(ctx, c.ID)
	if err != nil {
		return false, err
	}
	stopped, err := s.stop(ctx, c)
	return waited || stopped, err
}

// stop stops the running turn of a conversation.
func (s *Service) stop(ctx context.Context, c Conversation) (bool, error) {
	s.mu.Lock()
	t := s.running[c.ID]
	s.mu.Unlock()
	if t != nil {
		t.cancel(lease.ErrCancelled)
		return true, nil
	}
	return s.turns.leases.Cancel(ctx, c.ID)
}

const renameWait = 100 * time.Millisecond // for a turn that is just ending

// Rename gives a conversation another title, of at most 120 characters. While a
// question is being answered it is BUSY: the turn would write the old one again.
func (s *Service) Rename(ctx context.Context, c Conversation, title string) error {
	own, err := s.turns.leases.Acquire(ctx, c.ID, newID(), renameWait)
	if fault.Is(err, fault.Busy) {
		return fault.Busy.New("A question of this conversation is being answered.").Suggest("Rename it when the answer is complete.")
	}
	if err != nil {
		return err
	}
	defer func() { _ = s.turns.leases.Release(context.WithoutCancel(ctx), own) }() // it ends on its own
	if c, err = s.turns.store.open(ctx, c.Owner, c.ID); err != nil {               // as it is now: it may have been deleted
		return err
	}
	c.Title = titleOf(title)
	return s.turns.store.save(ctx, c)
}

// Delete stops the running turn and deletes everything of a conversation.
func (s *Service) Delete(ctx context.Context, c Conversation) error {
	if _, err := s.Cancel(ctx, c); err != nil {
		return err
	}
	if _, err := s.turns.leases.Acquire(ctx, c.ID, newID(), lease.CancelWait); err != nil { // a running turn would go on writing
		return err
	}
	ctx = context.WithoutCancel(ctx)
	if err := s.redis.Leave(ctx, ownedKey(c.Owner), c.ID); err != nil {
		return err
	}
	for _, key := range []string{recordKey(c.ID), draftKey(c.ID)} { // first: readers that the deletion of the log wakes must not find them
		if err := s.redis.Delete(ctx, key); err != nil {
			return err
		}
	}
	for _, log := range []string{messagesKey(c.ID), c.Log().key} {
		if err := s.redis.Drop(ctx, log); err != nil {
			return err
		}
	}
	for _, key := range []string{openKey(c.ID), lease.CancelKey(c.ID), lease.Key(c.ID)} {
		if err := s.redis.Delete(ctx, key); err != nil {
			return err
		}
	}
	return nil
}

// Covered returns the id of the event up to which a conversation's messages contain
// its events. A running turn is in its events alone, from its beginning.
func (s *Service) Covered(ctx context.Context, c Conversation) (lastEvent string, err error) {
	lastEvent, _, err = s.turns.recovery.covered(ctx, c.Log())
	return lastEvent, err
}

// Position checks the id of the event after which a reader wants to follow a
// log; empty is the end of the log. EVENTS_GONE says that there would be a gap.
func (s *Service) Position(ctx context.Context, l Log, after string) (string, error) {
	if _, err := s.recover(ctx, l); err != nil {
		return "", err
	}
	if after == "" {
		return s.turns.events.last(ctx, l)
	}
	if after == beginning {
		return after, nil
	}
	_, err := s.turns.events.read(ctx, l, after)
	return after, err
}

// recover ends a turn that was cut off, and reports whether one runs.
func (s *Service) recover(ctx context.Context, l Log) (running bool, err error) {
	if l.conversation == "" {
		return false, nil
	}
	return s.turns.recovery.recover(ctx, l)
}

// ConversationOf returns the id of the conversation in which a change was asked
// for; empty when it was not in one.
func (s *Service) ConversationOf(ctx context.Context, confirmation string) (string, error) {
	return s.turns.outcomes.conversationOf(ctx, confirmation)
}

// RecordOutcome writes the outcome of an answered confirmation into its
// conversation, once.
func (s *Service) RecordOutcome(ctx context.Context, confirmation string, o result.Outcome) {
	s.turns.outcomes.record(ctx, confirmation, o)
}

// Ready reports whether questions can be answered: the store is there and the
// service does not shut down.
func (s *Service) Ready(ctx context.Context) error {
	if s.alive.Err() != nil {
		return fault.ServiceDown.New(fault.Maintenance)
	}
	return s.redis.Ping(ctx)
}

// Shutdown ends every turn and every reading of a log, and waits for the turns, but no
// longer than ctx.
func (s *Service) Shutdown(ctx context.Context) error {
	s.mu.Lock()
	s.end(errShutdown)
	s.mu.Unlock()
	ended := make(chan struct{})
	go func() { defer close(ended); s.work.Wait() }()
	select {
	case <-ended:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
