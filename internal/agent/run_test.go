package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"countersign.dev/internal/fault"
	"countersign.dev/internal/result"
	"github.com/google/go-cmp/cmp"
)

type tools = map[string]func(context.Context, json.RawMessage) result.Outcome

func turn(m Model, b Toolbox) Turn {
	return Turn{Model: m, Toolbox: b, Question: "Who lives here?", Now: time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)}
}

// collect runs a turn and returns its events and their names.
func collect(t *testing.T, ctx context.Context, turn Turn) (events []Event, names string) {
	t.Helper()
	var list []string
	for e, err := range Run(ctx, turn) {
		if _, failed := e.(Failed); err != nil != failed {
			t.Errorf("%T came with error %v", e, err)
		}
		events = append(events, e)
		list = append(list, reflect.TypeOf(e).Name())
	}
	return events, strings.Join(list, " ")
}

func find[E Event](events []Event) (found []E) {
	for _, e := range events {
		if e, ok := e.(E); ok {
			found = append(found, e)
		}
	}
	return found
}

// textOf joins what the model wrote, or with "gateway" the gateway's lines and notes.
func textOf(events []Event, source string) string {
	var b strings.Builder
	for _, e := range events {
		switch e := e.(type) {
		case TextDelta:
			if e.Source == source {
				b.WriteString(e.Text)
			}
		case Note:
			if source != "" {
				b.WriteString("\n\n" + e.Text)
			}
		}
	}
	return b.String()
}

func want(t *testing.T, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestEventsComeInOrder(t *testing.T) {
	m := scripted(calls("list_animals"), says("Leo ", "lives here."))
	events, names := collect(t, t.Context(), turn(m, boxOf(tools{"list_animals": answers(`["Leo"]`)})))
	want(t, names, "Started ToolStarted ToolFinished TextDelta TextDelta Done")
	done := events[len(events)-1].(Done)
	wanted := []Message{
		TextMessage(User, "Who lives here?"),
		{Role: Assistant, Parts: []Part{Call{ID: "id-list_animals", Tool: "list_animals", Args: json.RawMessage(`{}`)}}},
		{Role: ToolRole, Parts: []Part{CallResult{ID: "id-list_animals", Tool: "list_animals", Answer: json.RawMessage(`{"status":"success","data":["Leo"]}`)}}},
		TextMessage(Assistant, "Leo lives here."),
	}
	if d := cmp.Diff(wanted, done.Messages); d != "" {
		t.Errorf("messages (-want +got):\n%s", d)
	}
	if d := cmp.Diff(wanted[:3], m.asked[1].Messages); d != "" {
		t.Errorf("second request (-want +got):\n%s", d)
	}
	if done.Usage != (Usage{InputTokens: 10, OutputTokens: 1}) {
		t.Errorf("usage: %+v", done.Usage)
	}
}

func TestSlowCallDelaysNoOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := boxOf(tools{
			"slow": after(9*time.Second, result.Success(json.RawMessage(`1`), nil, "")),
			"fast": after(time.Second, result.Success(json.RawMessage(`2`), nil, "")),
			"bad":  after(2*time.Second, result.Failed(errors.New("boom"))),
		})
		start := time.Now()
		ends := map[string]time.Duration{}
		var last Done
		for e := range Run(t.Context(), turn(scripted(calls("slow", "fast", "bad"), says("Done.")), b)) {
			switch e := e.(type) {
			case ToolFinished:
				ends[e.Call.Tool] = time.Since(start)
			case Done:
				last = e
			}
		}
		if d := cmp.Diff(map[string]time.Duration{"fast": time.Second, "bad": 2 * time.Second, "slow": 9 * time.Second}, ends); d != "" {
			t.Errorf("ends (-want +got):\n%s", d)
		}
		var order []string
		for _, r := range last.Messages[2].Results() {
			order = append(order, fmt.Sprint(r.Tool, r.Failed))
		}
		want(t, strings.Join(order, " "), "slowfalse fastfalse badtrue")
	})
}

// TestChangesKeepTheirOrder: the changes of one answer run one after the other, as they
// were asked for, though the first is the slowest; reads wait for none of them.
func TestChangesKeepTheirOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ok := result.Success(json.RawMessage(`1`), nil, "")
		b := boxOf(tools{"first": after(3*time.Second, ok), "second": after(2*time.Second, result.Failed(errors.New("boom"))), "third": after(time.Second, ok), "look": after(time.Second, ok)})
		for i := range b.Open {
			b.Open[i].Kind = map[string]result.Kind{"first": result.Edit, "second": result.Edit, "third": result.Write, "look": result.Read}[b.Open[i].Name]
		}
		start := time.Now()
		ends := map[string]time.Duration{}
		for e := range Run(t.Context(), turn(scripted(calls("first", "second", "look", "third"), says("Done.")), b)) {
			if e, ok := e.(ToolFinished); ok {
				ends[e.Call.Tool] = time.Since(start)
			}
		}
		if d := cmp.Diff(map[string]time.Duration{"look": time.Second, "first": 3 * time.Second, "second": 5 * time.Second, "third": 6 * time.Second}, ends); d != "" {
			t.Errorf("ends (-want +got):\n%s", d)
		}
	})
}

func TestAtMostEightCallsRunAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var names []string
		for range 20 {
			names = append(names, "one")
		}
		b := boxOf(tools{"one": after(time.Second, result.Success(json.RawMessage(`1`), nil, ""))})
		start := time.Now()
		_, _ = collect(t, t.Context(), turn(scripted(calls(names...), says("Done.")), b))
		if took := time.Since(start); took != 3*time.Second {
			t.Errorf("20 calls of 1 s took %s, want 3 s", took)
		}
	})
}

func TestPendingEndsTheTurnWithoutTheModel(t *testing.T) {
	m := scripted(calls("free_lion", "list_animals", "free_bear"))
	b := boxOf(tools{"free_lion": pending("c1"), "free_bear": pending("c2"), "list_animals": answers(`[]`)})
	events, _ := collect(t, t.Context(), turn(m, b))
	if len(m.asked) != 1 {
		t.Errorf("the model was asked %d times", len(m.asked))
	}
	if got := find[Pending](events); len(got) != 2 || got[0].Outcome.Pending() == nil {
		t.Errorf("pendings: %+v", got)
	}
	if got := find[ToolFinished](events); len(got) != 3 {
		t.Errorf("%d calls finished, want 3", len(got))
	}
	if _, ok := events[len(events)-1].(Done); !ok {
		t.Error("Done is not last")
	}
	if text := textOf(events, "") + textOf(events, "gateway"); text != "" {
		t.Errorf("text about a change that waits: %q", text)
	}
}

func TestTurnEndsAfterMaxRounds(t *testing.T) {
	ran := 0
	b := boxOf(tools{"again": func(context.Context, json.RawMessage) result.Outcome {
		ran++
		return result.Success(json.RawMessage(`1`), nil, "")
	}})
	m := scripted(calls("again"))
	events, _ := collect(t, t.Context(), turn(m, b))
	if len(m.asked) != MaxRounds || ran != MaxRounds-1 {
		t.Errorf("asked %d times, ran %d calls", len(m.asked), ran)
	}
	want(t, textOf(events, "gateway"), "I stopped here: this question needed more than 12 steps. Please ask for a smaller part of it.")
	for _, msg := range events[len(events)-1].(Done).Messages {
		for _, c := range msg.Calls() {
			if c.ID == "" {
				t.Error("a call without an id")
			}
		}
	}
}

func TestModelCallsOnlyOfferedTools(t *testing.T) {
	b := boxOf(tools{"open": answers(`1`)})
	b.Closed = []ClosedTool{{Name: "closed", Roles: []string{"keeper", "vet"}, Info: result.ToolInfo{Title: "Open a cage", Roles: []string{"keeper", "vet"}}}}
	m := scripted(calls("closed", "invented"), says("Sorry."))
	events, _ := collect(t, t.Context(), turn(m, b)) // box.Call would panic on either
	var codes []string
	for _, f := range find[ToolFinished](events) {
		codes = append(codes, f.Call.Tool+" "+f.Outcome.Code())
		if f.Call.Tool == "closed" && !strings.Contains(f.Outcome.Fault().Message, "open a cage: that needs the role keeper or vet") {
			t.Errorf("the roles are not named: %s", f.Outcome.Fault().Message)
		}
	}
	if len(codes) != 2 || !strings.Contains(strings.Join(codes, ","), "closed INSUFFICIENT_PERMISSIONS") || !strings.Contains(strings.Join(codes, ","), "invented UNKNOWN_TOOL") {
		t.Errorf("codes: %v", codes)
	}
}

func TestInvalidArgumentsDoNotReachTheToolbox(t *testing.T) {
	for _, args := range []string{`{"a":`, `[1]`, `"x"`, `null`} {
		m := scripted(callsWith("open", args), says("Sorry."))
		b := box{Toolset: Toolset{Open: []Tool{{ToolInfo: result.ToolInfo{Name: "open"}}}}} // no function: a call would panic
		events, _ := collect(t, t.Context(), turn(m, b))
		want(t, find[ToolFinished](events)[0].Outcome.Code(), "VALIDATION_ERROR")
	}
}

func TestPanicOfTheToolboxFailsItsCallOnly(t *testing.T) {
	b := boxOf(tools{"bad": func(context.Context, json.RawMessage) result.Outcome { panic("secret") }})
	events, names := collect(t, t.Context(), turn(scripted(calls("bad"), says("Sorry.")), b))
	want(t, names, "Started ToolStarted ToolFinished TextDelta Done")
	o := find[ToolFinished](events)[0].Outcome
	if o.Code() != "INTERNAL_ERROR" || strings.Contains(o.Fault().Message, "secret") {
		t.Errorf("outcome: %s %s", o.Code(), o.Fault().Message)
	}
}

func TestIncompleteListIsReported(t *testing.T) {
	const hint = "Showing 1 of 1+ animals. Results are incomplete. Narrow by species."
	for text, wantHint := range map[string]bool{
		"Leo lives here.":                              true,
		"Ask me if you want to know more.":             true,
		"All animals: Leo. The list is not truncated.": true,
		"Here are the first 1 animals: Leo.":           false,
		"Leo, and there are more.":                     false,
		"This is an incomplete list: Leo.":             false,
		"Showing 1+ animals.":                          false,
		"There may be more rows on the next page.":     false,
	} {
		m := scripted(calls("list_animals"), says(text))
		events, _ := collect(t, t.Context(), turn(m, boxOf(tools{"list_animals": page(true, "c1")})))
		got := textOf(events, "gateway")
		if strings.Contains(got, hint) != wantHint {
			t.Errorf("%q: gateway said %q", text, got)
		}
		if tr := find[Truncated](events); len(tr) != 1 || tr[0] != (Truncated{Tool: "list_animals", Hint: hint}) {
			t.Errorf("truncated: %+v", tr)
		}
		messages := events[len(events)-1].(Done).Messages
		if last := messages[len(messages)-1]; strings.Contains(last.Text(), hint) || (len(last.Notes) == 1 && last.Notes[0].Text == hint) != wantHint {
			t.Errorf("history keeps %q, notes %+v", last.Text(), last.Notes)
		}
	}
}

func TestReadingTheNextPageCompletesAList(t *testing.T) {
	b := boxOf(tools{"list_animals": func(ctx context.Context, args json.RawMessage) result.Outcome {
		return page(!strings.Contains(string(args), "c1"), "c1")(ctx, args)
	}})
	m := scripted(calls("list_animals"), callsWith("list_animals", `{"cursor":"c1"}`), says("Two animals."))
	events, _ := collect(t, t.Context(), turn(m, b))
	want(t, textOf(events, "gateway"), "")
}

func TestUnavailableServersAreReportedOnce(t *testing.T) {
	down := func(context.Context, json.RawMessage) result.Outcome {
		return result.Failed(fault.ServiceDown.New("The zoo does not answer."))
	}
	b := boxOf(tools{"a": down, "b": down})
	b.Down = []Warning{{Server: "aquarium", Code: "SERVICE_UNAVAILABLE", Message: "The aquarium does not answer."}, {Server: "farm", Code: "CANCELLED"}}
	m := scripted(calls("a", "b"), says("No server answers."))
	events, names := collect(t, t.Context(), turn(m, b))
	got := find[Unavailable](events)
	if len(got) != 1 || len(got[0].Warnings) != 2 || !strings.HasSuffix(names, "Unavailable Done") {
		t.Errorf("%s: %+v", names, got)
	}
	if !strings.Contains(m.asked[0].System, "aquarium") {
		t.Error("the model does not know which server is down")
	}
}

func TestFailingModelEndsInFailedAndDone(t *testing.T) {
	events, names := collect(t, t.Context(), turn(scripted(breaks(errors.New("http 500: key sk-1"))), boxOf(nil)))
	want(t, names, "Started TextDelta Failed Done")
	f := find[Failed](events)[0].Outcome
	if f.Code() != "INTERNAL_ERROR" || strings.Contains(f.Fault().Message, "sk-1") {
		t.Errorf("failed: %s %s", f.Code(), f.Fault().Message)
	}
	messages := events[len(events)-1].(Done).Messages
	if len(messages) != 2 || messages[1].Text() != "Let me " {
		t.Errorf("messages: %+v", messages)
	}
}

func TestLongQuestionNeverReachesTheModel(t *testing.T) {
	m := scripted(says("Hm."))
	long := turn(m, boxOf(nil))
	long.Question = strings.Repeat("ä", MaxQuestion+1)
	_, names := collect(t, t.Context(), long)
	want(t, names, "Started Failed Done")
	if len(m.asked) != 0 {
		t.Error("the model was asked")
	}
}

func TestEmptyAnswerGetsALine(t *testing.T) {
	events, _ := collect(t, t.Context(), turn(scripted(says()), boxOf(nil)))
	want(t, textOf(events, "gateway"), noAnswer)
}

func TestCancelledTurnEndsAtOnce(t *testing.T) {
	for name, m := range map[string]*script{"thinking": scripted(hangs), "calling": scripted(calls("slow", "slow"), says("never"))} {
		synctest.Test(t, func(t *testing.T) { // fails when a goroutine outlives it
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			start := time.Now()
			b := boxOf(tools{"slow": after(time.Hour, result.Outcome{})})
			events, names := collect(t, ctx, turn(m, b))
			if took := time.Since(start); took != time.Second {
				t.Errorf("%s: took %s", name, took)
			}
			if !strings.HasSuffix(names, "Failed Done") {
				t.Errorf("%s: %s", name, names)
			}
			for _, msg := range events[len(events)-1].(Done).Messages {
				if len(msg.Calls()) > 0 && name != "calling" {
					t.Errorf("%s: a call without its result is kept", name)
				}
			}
		})
	}
}

func TestSlowModelTimesOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		slow := turn(scripted(calls("slow"), hangs), boxOf(tools{"slow": after(time.Hour, result.Success(json.RawMessage(`1`), nil, ""))}))
		slow.AnswerTimeout = 20 * time.Second
		events, names := collect(t, t.Context(), slow)
		want(t, names, "Started ToolStarted ToolFinished Failed Done")
		if took := time.Since(start); took != time.Hour+20*time.Second { // the timeout does not count tools
			t.Errorf("took %s", took)
		}
		failed := find[Failed](events)[0].Outcome
		want(t, failed.Code(), fault.Timeout.Name)
		want(t, failed.Fault().Message, "The model did not answer within 20s.")
	})
}

func TestLeavingTheLoopCancelsTheTurn(t *testing.T) {
	for _, leaveAt := range []string{"Started", "ToolStarted", "ToolFinished", "TextDelta"} {
		synctest.Test(t, func(t *testing.T) {
			b := boxOf(tools{"fast": answers(`1`), "slow": after(time.Hour, result.Success(json.RawMessage(`1`), nil, ""))})
			m := scripted(saysAndCalls("One moment."), says("Done."))
			if leaveAt != "TextDelta" {
				m = scripted(calls("fast", "slow"), says("Done."))
			}
			start := time.Now()
			for e := range Run(t.Context(), turn(m, b)) {
				if reflect.TypeOf(e).Name() == leaveAt {
					break
				}
			}
			if took := time.Since(start); took != 0 {
				t.Errorf("left at %s, took %s", leaveAt, took)
			}
		})
	}
}

func saysAndCalls(text string) func(context.Context, func(Delta, error) bool) {
	return func(_ context.Context, yield func(Delta, error) bool) {
		_ = yield(Delta{Text: text}, nil) && yield(Delta{Call: &Call{Tool: "slow"}, Stop: StopCalls}, nil)
	}
}

func TestModelThatIgnoresTheEndIsNotYielded(t *testing.T) {
	ignoring := func(_ context.Context, yield func(Delta, error) bool) {
		yield(Delta{Text: "a"}, nil)
	}
	for range Run(t.Context(), turn(scripted(ignoring), boxOf(nil))) {
		break
	}
}

func TestProgressOfACallIsPassedOnWithinItsLimits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var late func(result.Progress)
		m := scripted(calls("import_animals"), says("Done."))
		events, _ := collect(t, t.Context(), turn(m, boxOf(tools{"import_animals": func(ctx context.Context, _ json.RawMessage) result.Outcome {
			late = result.ProgressOf(ctx)
			for second := range 2 * maxReports {
				for range 10 {
					late(result.Progress{Done: float64(second), Total: 2 * maxReports, Message: "importing"})
				}
				time.Sleep(time.Second)
			}
			return result.Success(nil, nil, "")
		}})))
		late(result.Progress{}) // is dropped
		reports := find[ToolProgress](events)
		if len(reports) != maxReports {
			t.Fatalf("got %d reports, want %d", len(reports), maxReports)
		}
		for i, r := range reports {
			if r.Call.Tool != "import_animals" || r.Server != "zoo" || r.Progress.Done != float64(i) || r.Progress.Message != "importing" {
				t.Fatalf("report %d: got %+v, want the first one of its second", i, r)
			}
		}
	})
}
