package conversation

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/google/go-cmp/cmp"

	"countersign.dev/internal/access"
	"countersign.dev/internal/agent"
	"countersign.dev/internal/confirm"
	"countersign.dev/internal/conversation/lease"
	"countersign.dev/internal/fault"
	"countersign.dev/internal/quota"
	"countersign.dev/internal/result"
	"countersign.dev/internal/state"
	"countersign.dev/internal/testkit"
)

// blocked is a model that says that it began, and then waits for its end.
type blocked struct {
	script
	began chan struct{}
}

func (b blocked) Stream(ctx context.Context, _ agent.Request) iter.Seq2[agent.Delta, error] {
	return func(yield func(agent.Delta, error) bool) {
		close(b.began)
		<-ctx.Done()
		if yield(agent.Delta{Text: "too late"}, nil) {
			yield(agent.Delta{}, ctx.Err())
		}
	}
}

func (b blocked) Choose(string) (agent.Choice, error) { return agent.Choice{Model: b}, nil }

// script is a model that calls its tool once when it has one, and then answers.
type script struct{}

func (script) Name() string { return "script" }

func (script) Stream(_ context.Context, r agent.Request) iter.Seq2[agent.Delta, error] {
	return func(yield func(agent.Delta, error) bool) {
		if len(r.Tools) > 0 && r.Messages[len(r.Messages)-1].Role == agent.User {
			yield(agent.Delta{Call: &agent.Call{ID: "1", Tool: r.Tools[0].Name, Args: json.RawMessage(`{}`)}, Stop: agent.StopCalls}, nil)
			return
		}
		yield(agent.Delta{Text: "Leo.", Usage: &agent.Usage{OutputTokens: 1}, Stop: agent.StopEnd}, nil)
	}
}

func (s script) Choose(string) (agent.Choice, error) { return agent.Choice{Model: s}, nil }

// toolbox has at most one tool.
type toolbox func() result.Outcome

func (b toolbox) Tools(context.Context) agent.Toolset {
	if b == nil {
		return agent.Toolset{}
	}
	return agent.Toolset{Open: []agent.Tool{{ToolInfo: result.ToolInfo{Name: "free_lion"}, Server: "zoo"}}}
}

func (b toolbox) Call(context.Context, string, json.RawMessage) result.Outcome { return b() }

func newService(t *testing.T, models Models, b toolbox) (*Service, *miniredis.Miniredis) {
	t.Helper()
	mini := miniredis.RunT(t)
	redis, err := state.Open(t.Context(), "redis://"+mini.Addr(), &state.Options{Timeout: testkit.Patience})
	if err != nil {
		t.Fatal(err)
	}
	s, err := New(Options{Models: models, Toolbox: b, Redis: redis, Ring: ring(t, "k")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(s.Shutdown(context.Background()), redis.Close()); err != nil {
			t.Error(err)
		}
	})
	return s, mini
}

// take reads n events of a log from its beginning.
func take(t *testing.T, s *Service, l Log, n int) (all []Event) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), testkit.Patience)
	defer cancel()
	for e, err := range s.Follow(ctx, l, beginning) {
		if err != nil {
			t.Fatal(err)
		}
		if all = append(all, e); len(all) == n {
			return all
		}
	}
	t.Fatalf("got %d events, want %d: %+v", len(all), n, all)
	return nil
}

// asked is a conversation with one question and its answer: four events.
func asked(t *testing.T, s *Service, p *access.Principal) Conversation {
	t.Helper()
	c, _, err := s.Ask(t.Context(), p, Question{Text: "Who lives here?"})
	if err != nil {
		t.Fatal(err)
	}
	take(t, s, c.Log(), 4)
	return c
}

func TestEventsOfAConversationAreNumberedFromOne(t *testing.T) {
	s, _ := newService(t, script{}, nil)
	p := testkit.Person("ann", access.Employee)
	c, first, err := s.Ask(t.Context(), p, Question{Text: "Who lives here?"})
	if err != nil {
		t.Fatal(err)
	}
	want := []Event{
		{ID: "1-0", Type: Started, Conversation: c.ID, Text: "Who lives here?", Model: "script"},
		{ID: "2-0", Type: Text, Text: "Leo."},
		{ID: "3-0", Type: Stopped, Usage: &agent.Usage{OutputTokens: 1}},
		{ID: "4-0", Type: Done},
	}
	if d := cmp.Diff(want, take(t, s, c.Log(), 4)); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if d := cmp.Diff(want[0], first); d != "" {
		t.Errorf("first (-want +got):\n%s", d)
	}
}

func TestOutcomeOfAChangeReachesItsConversationOnce(t *testing.T) {
	pending := result.Waiting(result.Pending{ID: "c1", Message: "Release the lion?"})
	s, _ := newService(t, script{}, func() result.Outcome { return pending })
	p := testkit.Person("ann", access.Employee)
	c, _, err := s.Ask(t.Context(), p, Question{Text: "Free the lion"})
	if err != nil {
		t.Fatal(err)
	}
	take(t, s, c.Log(), 6)
	if id, err := s.ConversationOf(t.Context(), "c1"); id != c.ID || err != nil {
		t.Errorf("conversation of the change: got %s, %v", id, err)
	}
	outcome := result.Success(json.RawMessage(`{}`), nil, "The lion is free.")
	for range 2 { // the second is not written again
		s.RecordOutcome(t.Context(), "c1", outcome)
	}
	s.RecordOutcome(t.Context(), "elsewhere", outcome)
	if _, _, err := s.Ask(t.Context(), p, Question{Text: "And?", Conversation: c.ID}); err != nil {
		t.Fatal(err)
	}
	got := take(t, s, c.Log(), 8)[6:]
	got[0].At = time.Time{}
	want := []Event{
		{ID: "7-0", Type: Answered, Conversation: c.ID, Confirmation: "c1", Text: "The lion is free.", Status: "success"},
		{ID: "8-0", Type: Started, Conversation: c.ID, Text: "And?", Model: "script"},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

// executor makes every change.
type executor struct{}

func (executor) Apply(context.Context, confirm.Record) (json.RawMessage, error) {
	return json.RawMessage(`{}`), nil
}

func (executor) Find(context.Context, access.Owner, confirm.ID) (json.RawMessage, bool, error) {
	return nil, false, nil
}

func TestPersonsLogHasTitlesAndChangesOfEverySurface(t *testing.T) {
	s, mini := newService(t, script{}, nil)
	p := testkit.Person("ann", access.Employee)
	elsewhere := func() *confirm.Service { // another process, which knows no conversation
		redis, err := state.Open(t.Context(), "redis://"+mini.Addr(), &state.Options{Timeout: testkit.Patience})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = redis.Close() })
		return confirm.NewService(state.NewConfirmations(redis, testkit.Ring("record")), &testkit.MemorySink{}, &confirm.Options{Notifier: NewChanges(redis, slog.New(slog.DiscardHandler))})
	}
	opening, answering := elsewhere(), elsewhere()
	open := func(who *access.Principal, action string) confirm.Record {
		r, err := opening.Open(t.Context(), who, confirm.Request{Action: action, Server: "zoo", Summary: "secret"})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	lion, bear := open(p, "free_lion"), open(p, "free_bear")
	open(testkit.Person("bob", access.Employee), "free_wolf")
	for range 2 { // a repeated answer changes nothing
		if _, err := answering.Answer(t.Context(), p, confirm.Reply{ID: lion.ID, Server: "zoo", Approved: true}, executor{}); err != nil {
			t.Fatal(err)
		}
	}
	c, _, err := s.Ask(t.Context(), p, Question{Text: "Who lives here?"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := answering.Answer(t.Context(), p, confirm.Reply{ID: bear.ID, Server: "zoo"}, executor{}); err != nil {
		t.Fatal(err)
	}
	change := func(r confirm.Record, state confirm.State) Event {
		return Event{Type: Change, Confirmation: string(r.ID), Server: "zoo", Tool: r.Action, Status: string(state), Expires: r.Expires}
	}
	want := []Event{
		change(lion, confirm.Pending), change(bear, confirm.Pending), change(lion, confirm.Applied),
		{Type: Titled, Conversation: c.ID, Text: "Who lives here?"}, change(bear, confirm.Denied),
	}
	var got, turns []Event
	for _, e := range take(t, s, PersonLog(p.Owner()), len(want)+2) {
		e.ID = ""
		if e.Type == Turn {
			turns = append(turns, e)
			continue
		}
		got = append(got, e)
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if d := cmp.Diff([]Event{{Type: Turn, Conversation: c.ID, Status: Running}, {Type: Turn, Conversation: c.ID, Status: Ended}}, turns); d != "" {
		t.Errorf("turns (-want +got):\n%s", d)
	}
}

func TestRecordThatCannotBeReadIsRejectedAndListedWithTheReason(t *testing.T) {
	s, mini := newService(t, script{}, nil)
	p := testkit.Person("ann", access.Employee)
	var conversations []Conversation
	for range 2 {
		c := asked(t, s, p)
		conversations = append(conversations, c)
	}
	old := conversations[0].ID
	if err := mini.Set("conversation:"+old, `{"id":"`+old+`"}`); err != nil {
		t.Fatal(err)
	}
	_, err := s.Open(t.Context(), p.Owner(), old)
	if f := fault.From(err); f == nil || f.Code != unreadable || f.Message != "Conversation "+old+" cannot be read: it is not sealed." {
		t.Errorf("open: got %v", err)
	}
	list, err := s.List(t.Context(), p.Owner())
	if err != nil || len(list) != 2 || list[0].ID != conversations[1].ID || list[0].Unreadable != "" {
		t.Errorf("list: got %+v, %v, want the other one first", list, err)
	} else if list[1].ID != old || list[1].Unreadable != "Conversation "+old+" cannot be read: it is not sealed." {
		t.Errorf("list: got %+v, want the unreadable one with the reason", list[1])
	}
	// A message that cannot be read ends the question, too: no answer without its history.
	if _, err := mini.XAdd("messages:"+conversations[1].ID, "9-0", []string{"d", "2.x"}); err != nil {
		t.Fatal(err)
	}
	if _, _, err := s.Ask(t.Context(), p, Question{Text: "And?", Conversation: conversations[1].ID}); err == nil {
		t.Error("a question was answered without its history")
	}
}

func TestEventOfAnotherVersionEndsAStreamWithAClearError(t *testing.T) {
	s, mini := newService(t, script{}, nil)
	l := PersonLog(testkit.Person("ann", access.Employee).Owner())
	if _, err := mini.XAdd(l.key, "1-0", []string{"d", `{"v":2,"type":"titled"}` + "\n"}); err != nil {
		t.Fatal(err)
	}
	for e, err := range s.Follow(t.Context(), l, beginning) {
		if f := fault.From(err); f == nil || f.Message != "An event cannot be read: its format is version 2 and this program reads version 1." {
			t.Errorf("got %+v, %v", e, err)
		}
	}
}

func TestTurnThatLostItsLeaseWritesNothingMore(t *testing.T) {
	model := blocked{began: make(chan struct{})}
	s, mini := newService(t, model, nil)
	p := testkit.Person("ann", access.Employee)
	c, first, err := s.Ask(t.Context(), p, Question{Text: "Who lives here?"})
	if err != nil {
		t.Fatal(err)
	}
	<-model.began
	mini.Del(lease.Key(c.ID))
	if _, err := s.turns.leases.Acquire(t.Context(), c.ID, "another", time.Second); err != nil {
		t.Fatal(err)
	}
	s.mu.Lock()
	lost := s.running[c.ID]
	s.mu.Unlock()
	lost.cancel(s.turns.leases.Renew(t.Context(), lost.lease))
	if err := s.Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
	if last, err := s.turns.events.last(t.Context(), c.Log()); last != first.ID || err != nil {
		t.Errorf("last event: got %s, %v, want the first", last, err)
	}
	if all, err := s.turns.store.messages(t.Context(), c.ID); len(all) != 1 || err != nil {
		t.Errorf("messages: got %+v, %v, want the question", all, err)
	}
	if got, _, err := s.turns.recovery.keys.Get(t.Context(), lease.Key(c.ID)); got != "another" || err != nil {
		t.Errorf("lease: got %q, %v, want the other holder's", got, err)
	}
}

// TestEventsCountAsStoredBytes: a person is over the limit by the events of their
// conversations, where the messages alone are not.
func TestEventsCountAsStoredBytes(t *testing.T) {
	s, mini := newService(t, script{}, nil)
	p := testkit.Person("ann", access.Employee)
	c := asked(t, s, p)
	take(t, s, PersonLog(p.Owner()), 3) // its title, and the turn's begin and end
	settled(t, s, c.ID)
	stored := int64(0)
	for _, log := range []string{messagesKey(c.ID), c.Log().key, PersonLog(p.Owner()).key} {
		for _, e := range entries(t, mini, log) {
			stored += int64(len(e.Values[1]))
		}
	}
	space := func(limit int64) error {
		q := quota.New(quota.Options{Limits: quota.Limits{Stored: limit}})
		defer q.Close()
		s.turns.store.quotas = q
		return s.turns.store.hasSpace(t.Context(), p.Owner(), false)
	}
	if err := space(stored); !fault.Is(err, fault.TooManyRequests) || strings.Contains(fault.Sentence(err), "bytes") {
		t.Errorf("at the limit: got %v, want RATE_LIMITED, and no bytes for people: %s", err, fault.Sentence(err))
	}
	if err := space(stored + 1); err != nil {
		t.Errorf("below the limit: got %v", err)
	}
	if err := s.Delete(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	person := int64(0)
	for _, e := range entries(t, mini, PersonLog(p.Owner()).key) {
		person += int64(len(e.Values[1]))
	}
	if err := space(person + 1); err != nil {
		t.Errorf("after the deletion: got %v", err)
	}
}
