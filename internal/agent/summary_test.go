package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"countersign.dev/internal/result"
)

// turnsAboutLions is a conversation of turns about lions, each of four messages.
func turnsAboutLions(turns int) (all []Message) {
	for i := range turns {
		all = append(all, TextMessage(User, fmt.Sprintf("question %d", i)), callMessage(), toolMessage(list(5)), TextMessage(Assistant, fmt.Sprintf("answer %d", i)))
	}
	return all
}

// longTurn is a turn of a language model after a conversation that is too long.
func longTurn(m Model, turns int) Turn {
	long := turn(m, boxOf(tools{}))
	long.Language, long.Retain, long.History, long.Budget = true, 4, turnsAboutLions(turns), 1300
	return long
}

func memoryOf(events []Event) Memory { return events[len(events)-1].(Done).Memory }

func sent(r Request) string {
	var b strings.Builder
	for _, m := range r.Messages {
		fmt.Fprintf(&b, "%s: %s\n", m.Role, lineOf(m.Role, m.Parts[0]))
	}
	return b.String()
}

func TestOlderTurnsAreSummarisedOnceAndTheSummaryIsExtended(t *testing.T) {
	m := scripted(says("They spoke of ", "lions."), says("Leo."))
	events, _ := collect(t, t.Context(), longTurn(m, 12))
	if len(m.asked) != 2 || len(m.asked[0].Tools) > 0 || len(m.asked[0].Messages) != 1 || !strings.Contains(sent(m.asked[0]), "Person: question 0") {
		t.Fatalf("%d requests, the first is\n%s", len(m.asked), sent(m.asked[0]))
	}
	if got := sent(m.asked[1]); !strings.Contains(got, "no instruction:\nThey spoke of lions.") || strings.Contains(got, "question 0") || !strings.Contains(got, "question 11") || strings.Contains(got, leftOut) {
		t.Errorf("the second request is\n%s", got)
	}
	want(t, textOf(events, "")+textOf(events, "gateway"), "Leo.")
	first := memoryOf(events)
	if first.Summary != "They spoke of lions." || first.Covered == 0 || first.Covered%4 != 0 || first.Covered > 11*4 || first.Untrusted {
		t.Errorf("kept %+v", first)
	}
	if used := events[len(events)-1].(Done).Usage; used.OutputTokens != 2 {
		t.Errorf("usage %+v, want that of both requests", used)
	}

	m = scripted(says("Leo again."))
	again := longTurn(m, 13)
	again.Memory = first
	events, _ = collect(t, t.Context(), again)
	if len(m.asked) != 1 || memoryOf(events).Covered != first.Covered || !strings.Contains(sent(m.asked[0]), "They spoke of lions.") {
		t.Errorf("%d requests, want that the summary is used as it is", len(m.asked))
	}

	m = scripted(says("Lions and bears."), says("Bruno."))
	later := longTurn(m, 24)
	later.Memory = first
	events, _ = collect(t, t.Context(), later)
	if got := memoryOf(events); len(m.asked) != 2 || !strings.Contains(sent(m.asked[0]), "Summary of what came before:\nThey spoke of lions.") || strings.Contains(sent(m.asked[0]), "question 0") ||
		got.Summary != "Lions and bears." || got.Covered <= first.Covered {
		t.Errorf("kept %+v after\n%s", got, sent(m.asked[0]))
	}
}

func TestSummaryOfUntrustedTextIsMarked(t *testing.T) {
	m := scripted(says("The ticket says: free the lion."), says("Leo."))
	long := longTurn(m, 12)
	r := long.History[2].Parts[0].(CallResult)
	answer, _ := result.EncodeForModel(result.Success(json.RawMessage(`[{"note":"Free the lion"}]`), nil, ""), []string{"note"})
	r.Answer, r.Untrusted = answer, true
	long.History[2].Parts[0] = r
	events, _ := collect(t, t.Context(), long)
	got := memoryOf(events)
	if !strings.Contains(sent(m.asked[0]), "<<untrusted ") {
		t.Errorf("the model that summarises reads\n%s", sent(m.asked[0]))
	}
	if !got.Untrusted || result.Unmark(got.Summary) != "The ticket says: free the lion." || got.Summary == result.Unmark(got.Summary) || !strings.Contains(sent(m.asked[1]), got.Summary) {
		t.Errorf("kept %+v", got)
	}

	m = scripted(says("Lions and bears."), says("Bruno."))
	later := longTurn(m, 24) // its own text is trusted, the summary that it extends is not
	later.Memory = got
	events, _ = collect(t, t.Context(), later)
	if got := memoryOf(events); !got.Untrusted || result.Unmark(got.Summary) != "Lions and bears." {
		t.Errorf("kept %+v", got)
	}
}

func TestWithoutASummaryTurnsAreLeftOutAndTheModelReadsThat(t *testing.T) {
	calling := func(_ context.Context, yield func(Delta, error) bool) {
		yield(Delta{Text: "I look that up.", Call: &Call{Tool: "open"}, Stop: StopCalls}, nil)
	}
	for name, first := range map[string]func(context.Context, func(Delta, error) bool){
		"fails": breaks(errors.New("no")), "says nothing": says(""), "calls a tool": calling, "hangs": hangs,
	} {
		synctest.Test(t, func(t *testing.T) {
			m := scripted(first, says("Leo."))
			events, names := collect(t, t.Context(), longTurn(m, 120))
			want(t, name+": "+names, name+": Started TextDelta Done")
			if got := memoryOf(events); got.Summary != "" || got.Covered != 0 || !strings.Contains(sent(m.asked[1]), leftOut) {
				t.Errorf("%s: kept %+v and sent\n%s", name, got, sent(m.asked[1]))
			}
		})
	}
	m := scripted(says("Leo."))
	planner := longTurn(m, 120)
	planner.Language = false
	_, _ = collect(t, t.Context(), planner)
	if len(m.asked) != 1 || !strings.Contains(sent(m.asked[0]), leftOut) {
		t.Errorf("a planner was asked %d times", len(m.asked))
	}
}

func TestCountsDecideWhenToSummarise(t *testing.T) {
	for name, c := range map[string]struct {
		set     func(*Turn)
		summary bool
	}{
		"nothing":            {func(*Turn) {}, false},
		"messages":           {func(t *Turn) { t.MaxMessages = 20 }, true},
		"few messages":       {func(t *Turn) { t.MaxMessages = 60 }, false},
		"tokens":             {func(t *Turn) { t.SummariseAbove = 500 }, true},
		"fewer tokens":       {func(t *Turn) { t.SummariseAbove = 50_000 }, false},
		"without any budget": {func(t *Turn) { t.Budget, t.SummariseAbove = 0, 500 }, true},
	} {
		m := scripted(says("Lions."))
		long := longTurn(m, 12)
		long.Budget = 100_000
		c.set(&long)
		events, _ := collect(t, t.Context(), long)
		if got := memoryOf(events); (got.Summary != "") != c.summary {
			t.Errorf("%s: kept %+v", name, got)
		}
	}
}

func TestSummaryIsBounded(t *testing.T) {
	m := scripted(says(strings.Repeat("lions é ", 4000)), says("Leo."))
	events, _ := collect(t, t.Context(), longTurn(m, 12))
	if got := memoryOf(events).Summary; len(got) > maxSummary || len(got) < maxSummary/2 {
		t.Errorf("the summary has %d bytes", len(got))
	}
}

// warned is a model whose first answer, the summary, brings a line of the gateway's.
type warned struct{ asked int }

func (*warned) Name() string { return "warned" }

func (m *warned) Stream(context.Context, Request) iter.Seq2[Delta, error] {
	return func(yield func(Delta, error) bool) {
		if m.asked++; m.asked == 1 && !yield(Delta{Note: "80% of the budget"}, nil) {
			return
		}
		yield(Delta{Text: "x", Stop: StopEnd}, nil)
	}
}

func TestNoteBesideASummaryReachesThePerson(t *testing.T) {
	m := &warned{}
	u := turn(m, box{})
	u.Language, u.Budget, u.MaxMessages, u.Retain = true, 100_000, 4, 2
	for range 6 {
		u.History = append(u.History, TextMessage(User, "q"), TextMessage(Assistant, "a"))
	}
	events, _ := collect(t, t.Context(), u)
	if m.asked != 2 || !slices.ContainsFunc(events, func(e Event) bool {
		d, ok := e.(TextDelta)
		return ok && strings.Contains(d.Text, "80%")
	}) {
		t.Errorf("asked %d times, got %v", m.asked, events)
	}
}
