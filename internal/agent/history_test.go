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
		{0, "one, call, 900, answer one, two, call, 900, answer two, three, call, 900, answer three, now?"},
		{2500, "one, call, 900, answer one, two, call, 900, answer two, three, call, 900, answer three, now?"},
		{240, "one, answer one, two, answer two, three, call, 900, answer three, now?"},
		{10, "two, answer two, three, answer three, now?"},
		{1, "three, answer three, now?"},
	} {
		want(t, outline(fit(history, running, row.tokens)), row.want)
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
		{10, "q, call, short, call, short, call, 902"},
	} {
		want(t, outline(fit(nil, running, row.tokens)), row.want)
	}
	want(t, outline(running), "q, call, 900, call, 901, call, 902") // what is stored stays whole
}

func TestEveryRequestOfATurnIsWithinItsBudget(t *testing.T) {
	const budget = 1000
	b := boxOf(tools{"again": func(context.Context, json.RawMessage) result.Outcome {
		return answers(`"`+strings.Repeat("x", 2000)+`"`)(nil, nil)
	}})
	m := scripted(calls("again"))
	long := turn(m, b)
	long.History = []Message{TextMessage(User, "before"), toolMessage(strings.Repeat("1", 3000)), TextMessage(Assistant, "answer")}
	long.Budget = budget
	_, _ = collect(t, t.Context(), long)
	if len(m.asked) != MaxRounds {
		t.Fatalf("asked %d times, want %d", len(m.asked), MaxRounds)
	}
	for i, r := range m.asked {
		// The newest result (2,032 bytes) always fits here; short ones and calls are small.
		if got := size(r.Messages) / bytesPerToken; got > budget {
			t.Errorf("request %d has %d tokens, want at most %d", i+1, got, budget)
		}
	}
}
