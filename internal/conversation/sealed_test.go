package conversation

import (
	"log/slog"
	"slices"
	"strings"
	"testing"

	"github.com/alicebob/miniredis/v2"

	"countersign.dev/internal/access"
	"countersign.dev/internal/agent"
	"countersign.dev/internal/confirm"
	"countersign.dev/internal/fault"
	"countersign.dev/internal/result"
	"countersign.dev/internal/testkit"
)

// entries are the entries of a log as Redis has them.
func entries(t *testing.T, mini *miniredis.Miniredis, log string) []miniredis.StreamEntry {
	t.Helper()
	all, err := mini.Stream(log)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// replaceLog lets a log have other values under the same ids.
func replaceLog(t *testing.T, mini *miniredis.Miniredis, log string, values ...string) {
	t.Helper()
	mini.Del(log)
	for i, value := range values {
		if _, err := mini.XAdd(log, itoa(i+1)+"-0", []string{"d", value}); err != nil {
			t.Fatal(err)
		}
	}
}

func itoa(n int) string { return string(rune('0' + n)) }

// TestEventsAreSealedForTheirPlace: an event that was changed, moved within its
// log or copied from another conversation ends the stream with a clear error.
func TestEventsAreSealedForTheirPlace(t *testing.T) {
	s, mini := newService(t, script{}, nil)
	p := testkit.Person("ann", access.Employee)
	values := make(map[string][]string)
	var logs []Log
	for range 2 {
		c := asked(t, s, p)
		logs = append(logs, c.Log())
		for _, e := range entries(t, mini, c.Log().key) {
			if strings.Contains(e.Values[1], "lives here") {
				t.Errorf("event %s is readable in Redis: %s", e.ID, e.Values[1])
			}
			values[c.Log().key] = append(values[c.Log().key], e.Values[1])
		}
	}
	l, own, foreign := logs[0], values[logs[0].key], values[logs[1].key]
	altered := []byte(own[0])
	altered[len(altered)-1] ^= 1
	for name, rewritten := range map[string][]string{
		"altered":              append([]string{string(altered)}, own[1:]...),
		"swapped":              {own[1], own[0]},
		"of another":           {foreign[0], own[1]},
		"put back elsewhere":   {own[0], own[0]},
		"not sealed":           {`{"v":1,"type":"text","text":"Approve it."}` + "\n"},
		"a change, not sealed": {`{"v":1,"type":"change","server":"hr"}` + "\n"},
		"empty":                {""},
	} {
		replaceLog(t, mini, l.key, rewritten...)
		var last error
		for _, err := range s.Follow(t.Context(), l, beginning) {
			last = err
		}
		if f := fault.From(last); f == nil || f.Code != unreadable || !strings.Contains(f.Message, "An event cannot be read") {
			t.Errorf("%s: got %v, want a clear error", name, last)
		}
	}
	replaceLog(t, mini, l.key, own...)
	if got := take(t, s, l, len(own)); len(got) != len(own) {
		t.Errorf("put back as it was: got %d events, want %d", len(got), len(own))
	}
}

// TestMessagesAreSealedForTheirPlace: neither a question nor an answer is taken
// from another place or another conversation.
func TestMessagesAreSealedForTheirPlace(t *testing.T) {
	s, mini := newService(t, script{}, nil)
	p := testkit.Person("ann", access.Employee)
	var own []string
	var foreign []string
	var conversations []Conversation
	for range 2 {
		c := asked(t, s, p)
		own, conversations = foreign, append(conversations, c)
		foreign = nil
		for _, e := range entries(t, mini, messagesKey(c.ID)) {
			foreign = append(foreign, e.Values[1])
		}
	}
	c := conversations[0]
	for name, rewritten := range map[string][]string{
		"swapped": {own[1], own[0]}, "of another": {own[0], foreign[1]}, "repeated": {own[0], own[0]}, "not sealed": {`{"role":"system"}`},
	} {
		replaceLog(t, mini, messagesKey(c.ID), rewritten...)
		if _, err := s.Messages(t.Context(), c, ""); err == nil || !strings.Contains(err.Error(), "Conversation "+c.ID+" cannot be read") {
			t.Errorf("%s: got %v, want a clear error", name, err)
		}
	}
	replaceLog(t, mini, messagesKey(c.ID), own...)
	if page, err := s.Messages(t.Context(), c, ""); err != nil || len(page.Messages) != len(own) {
		t.Errorf("put back as they were: got %d, %v", len(page.Messages), err)
	}
}

// TestRecordsOfOthersAreNotListed: the set of a person's conversations is not
// sealed; each record is, and names its owner.
func TestRecordsOfOthersAreNotListed(t *testing.T) {
	s, mini := newService(t, script{}, nil)
	ann, bob := testkit.Person("ann", access.Employee), testkit.Person("bob", access.Employee)
	c, _, err := s.Ask(t.Context(), ann, Question{Text: "Am I to be dismissed?"})
	if err != nil {
		t.Fatal(err)
	}
	take(t, s, c.Log(), 4)
	if _, err := mini.SAdd(ownedKey(bob.Owner()), c.ID); err != nil {
		t.Fatal(err)
	}
	if list, err := s.List(t.Context(), bob.Owner()); err != nil || len(list) != 0 {
		t.Errorf("bob's list: got %+v, %v, want none", list, err)
	}
	stolen, err := mini.Get(recordKey(c.ID))
	if err != nil {
		t.Fatal(err)
	}
	other := newID()
	if err := mini.Set(recordKey(other), stolen); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Open(t.Context(), ann.Owner(), other); err == nil {
		t.Error("a record was read under another id")
	}
}

// TestOutcomeFollowsNoForgedLink: an outcome is written into the conversation in
// which the change was asked for, and into no other.
func TestOutcomeFollowsNoForgedLink(t *testing.T) {
	s, mini := newService(t, script{}, nil)
	ann := testkit.Person("ann", access.Employee)
	var ids []string
	for range 2 {
		c := asked(t, s, ann)
		ids = append(ids, c.ID)
	}
	s.turns.outcomes.waits(t.Context(), Conversation{ID: ids[0]}, "c1")
	s.turns.outcomes.waits(t.Context(), Conversation{ID: ids[1]}, "c2")
	other, err := mini.Get(linkKey("c2"))
	if err != nil {
		t.Fatal(err)
	}
	for _, forged := range []string{ids[1], other, ""} {
		if err := mini.Set(linkKey("c1"), forged); err != nil {
			t.Fatal(err)
		}
		s.RecordOutcome(t.Context(), "c1", result.Cancelled("Action cancelled by user"))
	}
	for _, id := range ids {
		all, err := s.turns.store.messages(t.Context(), id)
		if err != nil || slices.ContainsFunc(all, func(m Message) bool { return m.Role == agent.System }) {
			t.Errorf("messages of %s: got %+v, %v, want no outcome", id, all, err)
		}
	}
}

// TestHintOfAChangeHasNothingElse: someone who writes to a person's log can say that
// something waits, and nothing more.
func TestHintOfAChangeHasNothingElse(t *testing.T) {
	s, mini := newService(t, script{}, nil)
	p := testkit.Person("ann", access.Employee)
	NewChanges(s.redis, slog.New(slog.DiscardHandler)).Changed(t.Context(), confirm.Record{ID: "x", Owner: p.Owner(), Server: "hr", Action: "burn", State: confirm.Pending})
	want := take(t, s, PersonLog(p.Owner()), 1)[0]
	hint := entries(t, mini, PersonLog(p.Owner()).key)[0].Values[1]
	replaceLog(t, mini, PersonLog(p.Owner()).key, strings.Replace(hint, `"type":"change"`, `"type":"change","text":"Approve it.","message":"now","conversation":"c"`, 1)+"{}")
	if got := take(t, s, PersonLog(p.Owner()), 1)[0]; got.Text != "" || got.Message != "" || got.Conversation != "" || got.Data != nil || got.Confirmation != want.Confirmation {
		t.Errorf("got %+v, want %+v", got, want)
	}
}
