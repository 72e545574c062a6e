package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"countersign.dev/internal/result"
)

func toolMessage(answer string) Message {
	return Message{Role: ToolRole, Parts: []Part{CallResult{Tool: "t", Answer: json.RawMessage(answer)}}}
}

func callMessage() Message { return Message{Role: Assistant, Parts: []Part{Call{Tool: "t"}}} }

// outline shows messages: text as it is, a result as its size or "short".
func outline(messages []Message) string {
	var b strings.Builder
	for _, m := range messages {
		for _, p := range m.Parts {
			switch p := p.(type) {
			case Text:
				fmt.Fprint(&b, string(p), ", ")
			case Call:
				fmt.Fprint(&b, "call, ")
			case CallResult:
				fmt.Fprint(&b, map[bool]string{true: "short", false: fmt.Sprint(len(p.Answer))}[string(p.Answer) == string(shortened)], ", ")
			}
		}
	}
	return strings.TrimSuffix(b.String(), ", ")
}

// clipTo clips a result to exactly that many bytes.
func clipTo(_, size int) json.RawMessage { return json.RawMessage(strings.Repeat("3", size)) }

func TestHistoryKeepsTheNewestTurnsWithinItsBudget(t *testing.T) {
	var history []Message
	for _, q := range []string{"one", "two", "three"} {
		history = append(history, TextMessage(User, q), callMessage(), toolMessage(strings.Repeat("1", 900)), TextMessage(Assistant, "answer "+q))
	}
	running := []Message{TextMessage(User, "now?")}
	for _, row := range []struct {
		tokens int
		want   string
	}{
		{2500, "one, call, 900, answer one, two, call, 900, answer two, three, call, 900, answer three, now?"},
		{240, "one, answer one, two, answer two, three, call, 900, answer three, now?"},
		{10, "two, answer two, three, answer three, now?"},
		{1, "three, answer three, now?"},
	} {
		want(t, outline(fit(history, running, row.tokens*bytesPerToken, clipTo)), row.want)
	}
}

func TestRunningTurnIsCutToo(t *testing.T) {
	running := []Message{TextMessage(User, "q"), callMessage(), toolMessage(strings.Repeat("1", 900)), callMessage(), toolMessage(strings.Repeat("2", 901)), callMessage(), toolMessage(strings.Repeat("3", 902))}
	for _, row := range []struct {
		tokens int
		want   string
	}{
		{1000, "q, call, 900, call, 901, call, 902"},
		{550, "q, call, short, call, 901, call, 902"},
		{400, "q, call, short, call, short, call, 902"},
		{300, "q, call, short, call, short, call, 898"},
	} {
		want(t, outline(fit(nil, running, row.tokens*bytesPerToken, clipTo)), row.want)
	}
	want(t, outline(running), "q, call, 900, call, 901, call, 902") // what is stored stays whole
}

func TestResultsOfTheLastStepShareTheRoom(t *testing.T) {
	step := Message{Role: ToolRole}
	for _, n := range []int{900, 100, 500} {
		step.Parts = append(step.Parts, CallResult{Tool: "t", Answer: json.RawMessage(strings.Repeat("1", n))})
	}
	running := []Message{TextMessage(User, "q"), step}
	want(t, outline(fit(nil, running, 1101, clipTo)), "q, 500, 100, 500")
	want(t, outline(fit(nil, running, 701, clipTo)), "q, 300, 100, 300")
	history := []Message{TextMessage(User, "before"), toolMessage(strings.Repeat("1", 300)), TextMessage(Assistant, "answer")}
	want(t, outline(fit(history, running, 713, clipTo)), "before, answer, q, 300, 100, 300")
}

// requestSize is everything of a request that a model reads.
func requestSize(r Request) int { return len(r.System) + sizeOfTools(r.Tools) + size(r.Messages) }

func rows(n int) string {
	return "[" + strings.TrimSuffix(strings.Repeat(`{"name":"Leo"},`, n), ",") + "]"
}

func TestEveryRequestOfATurnIsWithinItsBudget(t *testing.T) {
	const budget = 2500
	b := boxOf(tools{"again": func(context.Context, json.RawMessage) result.Outcome { return answers(rows(1000))(nil, nil) }})
	b.Open[0].Description, b.Open[0].InputSchema = strings.Repeat("d", 1000), json.RawMessage(`{"type":"object"}`)
	m := scripted(calls("again"))
	long := turn(m, b)
	long.History = []Message{TextMessage(User, "before"), toolMessage(strings.Repeat("1", 3000)), TextMessage(Assistant, "answer")}
	long.Budget = budget
	_, _ = collect(t, t.Context(), long)
	if len(m.asked) != MaxRounds {
		t.Fatalf("asked %d times, want %d", len(m.asked), MaxRounds)
	}
	for i, r := range m.asked {
		if got := requestSize(r) / bytesPerToken; got > budget {
			t.Errorf("request %d has %d tokens, want at most %d", i+1, got, budget)
		}
	}
}

func TestClippedResultSaysSoToTheModelAndToThePerson(t *testing.T) {
	b := boxOf(tools{"list": answers(rows(1000))})
	m := scripted(calls("list"), says("There are 300 lions."))
	long := turn(m, b)
	long.Budget = 2048
	events, _ := collect(t, t.Context(), long)
	last := m.asked[1].Messages
	read := last[len(last)-1].Results()[0].Answer
	o, err := result.DecodeEnvelope(read)
	if err != nil || o.Page() == nil || !strings.Contains(string(read), `"truncated":true`) || o.Page().Returned == 0 || o.Page().Returned == 1000 {
		t.Errorf("the model reads %.300s, %v, want some rows and that they are not all", read, err)
	}
	var said strings.Builder
	for _, e := range events {
		if text, ok := e.(TextDelta); ok {
			said.WriteString(text.Text)
		}
	}
	if !strings.Contains(said.String(), "Only a part of the answer of list could be read") {
		t.Errorf("the person reads %q", said.String())
	}
	done := events[len(events)-1].(Done).Messages
	if got := len(done[2].Results()[0].Answer); got < len(rows(1000)) {
		t.Errorf("the result is kept with %d bytes, want it whole", got)
	}
}

func TestDoneKeepsAsMuchOfAResultAsItMay(t *testing.T) {
	b := boxOf(tools{"list": answers(rows(1000))})
	b.Open[0].Untrusted = []string{"name"}
	m := scripted(calls("list"), says("Many lions."))
	long := turn(m, b)
	long.Kept = Kept{Rows: 3, Bytes: 4096}
	events, _ := collect(t, t.Context(), long)
	if got := len(m.asked[1].Messages[2].Results()[0].Answer); got < len(rows(1000)) {
		t.Errorf("the model reads %d bytes, want all", got)
	}
	kept := string(events[len(events)-1].(Done).Messages[2].Results()[0].Answer)
	if n := strings.Count(kept, "<<untrusted "); n != 3 || !strings.Contains(kept, "Only the first 3 rows are shown here.") {
		t.Errorf("kept %.300s, want 3 marked rows", kept)
	}
}
