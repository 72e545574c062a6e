package conversation

import (
	"context"
	"iter"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"countersign.dev/internal/access"
	"countersign.dev/internal/agent"
	"countersign.dev/internal/conversation/sealed"
	"countersign.dev/internal/fault"
	"countersign.dev/internal/result"
	"countersign.dev/internal/state"
	"countersign.dev/internal/testkit"
)

// times remembers when entries were added.
type times struct {
	began time.Time
	at    []time.Duration
}

func (l *times) AppendNumbered(_ context.Context, _ string, seq int64, _ []byte, _ time.Duration) (int64, bool, error) {
	l.at = append(l.at, time.Since(l.began))
	return seq + 1, true, nil
}

func (*times) ReadAfter(context.Context, string, string, int) ([]state.Entry, error) {
	return nil, nil
}

func (*times) Watch(string, func(string)) func() { return func() {} }

func (*times) LastID(context.Context, string) (string, error) { return "", nil }

// words are a turn whose text comes at those times.
func words(at ...time.Duration) iter.Seq2[agent.Event, error] {
	return func(yield func(agent.Event, error) bool) {
		began := time.Now()
		for _, t := range at {
			time.Sleep(time.Until(began.Add(t)))
			if !yield(agent.TextDelta{Text: "word "}, nil) {
				return
			}
		}
		time.Sleep(time.Second)
	}
}

// TestTextAfterAPauseIsWrittenAtOnce: only what follows other text closely is joined.
func TestTextAfterAPauseIsWrittenAtOnce(t *testing.T) {
	const ms = time.Millisecond
	synctest.Test(t, func(t *testing.T) {
		log := &times{began: time.Now()}
		w := writer{events: events{sealed.NewLogs(log), testkit.Ring("events")}, log: slog.New(slog.DiscardHandler), stop: func(err error) { t.Error(err) }}
		w.write(t.Context(), words(0, 10*ms, 20*ms, 50*ms, 200*ms, 300*ms, 339*ms))
		want := []time.Duration{0, 40 * ms, 80 * ms, 200 * ms, 300 * ms, 340 * ms}
		if diff := cmp.Diff(want, log.at); diff != "" {
			t.Errorf("text is written at other times:\n%s", diff)
		}
	})
}

// faulty is a model that panics.
type faulty struct{ script }

func (faulty) Stream(context.Context, agent.Request) iter.Seq2[agent.Delta, error] {
	return func(func(agent.Delta, error) bool) { panic("assignment to entry in nil map") }
}

func (m faulty) Choose(string) (agent.Choice, error) { return agent.Choice{Model: m}, nil }

// TestPanicFailsItsTurnAlone: its events end, and the next question is answered.
func TestPanicFailsItsTurnAlone(t *testing.T) {
	s, _ := newService(t, faulty{}, nil)
	p := testkit.Person("ann", access.Employee)
	c, _, err := s.Ask(t.Context(), p, Question{Text: "Who?"})
	if err != nil {
		t.Fatal(err)
	}
	if got := take(t, s, c.Log(), 4); got[1].Type != Failed || got[1].Code != fault.InternalError.Name || got[3].Type != Done {
		t.Errorf("got %+v, want the failure and the end", got)
	}
	if _, _, err := s.Ask(t.Context(), p, Question{Text: "And?", Conversation: c.ID}); err != nil {
		t.Errorf("the next question: %v", err)
	}
}

// TestPanicOfAToolIsInTheLog with the reference that its answer has.
func TestPanicOfAToolIsInTheLog(t *testing.T) {
	var log testkit.Logs
	w := writer{events: events{sealed.NewLogs(&times{}), testkit.Ring("events")}, log: log.Logger(), stop: func(err error) { t.Error(err) }}
	w.write(t.Context(), agent.Run(t.Context(), agent.Turn{Model: script{}, Toolbox: toolbox(func() result.Outcome { panic("no keeper") }), Question: "Free the lion"}))
	if text := log.String(); strings.Count(text, "no keeper") != 1 || !strings.Contains(text, "fault_id=") || !strings.Contains(text, "tool=free_lion") {
		t.Errorf("got logged:\n%s", text)
	}
}

func TestPanicLeavesTheMemoryOfItsConversation(t *testing.T) {
	memory := agent.Memory{Summary: "They asked about lions."}
	w := writer{conversation: Conversation{Memory: memory}, events: events{sealed.NewLogs(&times{}), testkit.Ring("events")}, log: slog.New(slog.DiscardHandler), stop: func(err error) { t.Error(err) }}
	s := w.write(t.Context(), func(func(agent.Event, error) bool) { panic("index out of range") })
	if diff := cmp.Diff(memory, s.memory); diff != "" || s.code != fault.InternalError.Name {
		t.Errorf("the turn ended with %s (-want +got):\n%s", s.code, diff)
	}
}

// TestStopIsKeptBesideTheAnswer: also where the model had not written a word of it yet.
func TestStopIsKeptBesideTheAnswer(t *testing.T) {
	asked, called, said := agent.TextMessage(agent.User, "Who?"), agent.Message{Role: agent.ToolRole}, agent.TextMessage(agent.Assistant, "Le")
	for name, messages := range map[string][]agent.Message{"nothing came": {asked}, "a call was answered": {asked, {Role: agent.Assistant}, called}, "some of it came": {asked, said}} {
		got := withNotes(slices.Clone(messages), []agent.Note{stopNote})
		last := got[len(got)-1]
		if last.Role != agent.Assistant || len(last.Notes) != 1 || last.Notes[0].Kind != "stopped" || last.Text() != strings.TrimPrefix(messages[len(messages)-1].Text(), "Who?") {
			t.Errorf("%s: got %+v, want the note beside what the model wrote", name, got)
		}
	}
}
