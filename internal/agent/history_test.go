package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"

	"countersign.dev/internal/result"
	"countersign.dev/internal/tokens"
)

func toolMessage(answer string) Message {
	return Message{Role: ToolRole, Parts: []Part{CallResult{Tool: "t", Answer: json.RawMessage(answer)}}}
}

func callMessage() Message { return Message{Role: Assistant, Parts: []Part{Call{Tool: "t"}}} }

// list is the answer of a list with that many rows of 4 tokens and more.
func list(rows int) string {
	all := make([]string, rows)
	for i := range all {
		all[i] = fmt.Sprintf(`{"n":%d}`, i)
	}
	o := result.Success(json.RawMessage("["+strings.Join(all, ",")+"]"), &result.Page{Limit: rows, Returned: rows}, "")
	return string(result.EncodeEnvelope(o))
}

// outline shows messages: text as it is, and of a result its rows.
func outline(messages []Message) string {
	var all []string
	for _, m := range messages {
		for _, p := range m.Parts {
			switch p := p.(type) {
			case Text:
				all = append(all, string(p))
			case Call:
				all = append(all, "call")
			case CallResult:
				all = append(all, fmt.Sprint(strings.Count(string(p.Answer), `"n":`)))
			}
		}
	}
	return strings.Join(all, ", ")
}

// clipsRows clips a result of that many rows to about that many bytes.
func clipsRows(rows int) clipper {
	o, err := result.DecodeEnvelope(json.RawMessage(list(rows)))
	if err != nil {
		panic(err)
	}
	return func(_, size int) json.RawMessage { return result.ClipForModel(o, nil, math.MaxInt, size) }
}

func fitterOf(retain, lastRows int) fitter {
	return fitter{measure{&tokens.Counter{}, false}, retain, clipsRows(lastRows)}
}

func TestHistoryKeepsTheNewestTurnsWithinItsBudget(t *testing.T) {
	var history []Message
	for _, q := range []string{"one", "two", "three"} {
		history = append(history, TextMessage(User, q), callMessage(), toolMessage(list(200)), TextMessage(Assistant, "answer "+q))
	}
	running := []Message{TextMessage(User, "now?")}
	for _, row := range []struct {
		tokens, retain int
		want           string
		dropped        int
	}{
		{9000, 0, "one, call, 200, answer one, two, call, 200, answer two, three, call, 200, answer three, now?", 0},
		{2300, 0, "one, call, 5, answer one, two, call, 200, answer two, three, call, 200, answer three, now?", 0},
		{960, 0, "one, answer one, two, answer two, three, call, 200, answer three, now?", 0},
		{990, 8, "one, answer one, two, call, 0, answer two, three, call, 200, answer three, now?", 0},
		{138, 0, "two, answer two, three, call, 5, answer three, now?", 1},
		{10, 0, "now?", 3},
		{10, 1, "three, call, 0, answer three, now?", 2},
		{10, 5, "two, call, 0, answer two, three, call, 0, answer three, now?", 1},
	} {
		got, dropped := fitterOf(row.retain, 0).fit(history, running, row.tokens)
		want(t, fmt.Sprintf("%d, %d: %s", row.tokens, row.retain, outline(got)), fmt.Sprintf("%d, %d: %s", row.tokens, row.retain, row.want))
		if dropped != row.dropped {
			t.Errorf("%d tokens: %d turns are said to be left out, want %d", row.tokens, dropped, row.dropped)
		}
	}
}

func TestRunningTurnIsCutToo(t *testing.T) {
	running := []Message{TextMessage(User, "q"), callMessage(), toolMessage(list(200)), callMessage(), toolMessage(list(201)), callMessage(), toolMessage(list(202))}
	f := fitterOf(0, 202)
	for _, row := range []struct {
		tokens int
		want   string
	}{
		{9000, "q, call, 200, call, 201, call, 202"},
		{2300, "q, call, 5, call, 201, call, 202"},
		{1300, "q, call, 5, call, 5, call, 202"},
		{1080, "q, call, 0, call, 5, call, 202"},
	} {
		got, _ := f.fit(nil, running, row.tokens)
		want(t, fmt.Sprintf("%d: %s", row.tokens, outline(got)), fmt.Sprintf("%d: %s", row.tokens, row.want))
	}
	got, _ := f.fit(nil, running, 600)
	if rows := got[6].Results()[0]; f.size(got) > 600 || !strings.HasPrefix(outline(got), "q, call, 0, call, 0, call, ") || strings.Count(string(rows.Answer), `"n":`) < 20 {
		t.Errorf("%d tokens: %s", f.size(got), outline(got))
	}
	want(t, outline(running), "q, call, 200, call, 201, call, 202") // what is stored stays whole
}

func TestResultsOfTheLastStepShareTheRoom(t *testing.T) {
	step := Message{Role: ToolRole}
	for _, n := range []int{200, 10, 100} {
		step.Parts = append(step.Parts, CallResult{Tool: "t", Answer: json.RawMessage(list(n))})
	}
	f := fitterOf(0, 200)
	running := []Message{TextMessage(User, "q"), step}
	got, _ := f.fit(nil, running, 1000)
	rows := got[1].Results()
	if f.size(got) > 1000 || f.part(rows[1]) != f.part(step.Parts[1]) || f.part(rows[2]) != f.part(step.Parts[2]) || f.part(rows[0]) < 200 || f.part(rows[0]) >= f.part(step.Parts[0]) {
		t.Errorf("%d tokens: %s", f.size(got), outline(got))
	}
}

// requestSize is everything of a request that a model reads.
func requestSize(r Request) int {
	m := measure{count: &tokens.Counter{}}
	return m.count.Count(r.System) + m.toolSize(r.Tools) + m.size(r.Messages)
}

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
		if got := requestSize(r); got > budget {
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
