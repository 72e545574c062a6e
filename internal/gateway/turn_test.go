package gateway_test

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"countersign.dev/internal/agent"
	"countersign.dev/internal/audit"
	"countersign.dev/internal/conversation"
	"countersign.dev/internal/fault"
	"countersign.dev/internal/quota"
	"countersign.dev/internal/result"
	"countersign.dev/internal/testkit"
)

var (
	hexID  = regexp.MustCompile(`[0-9a-f]{32}`)
	uuid   = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)
	millis = regexp.MustCompile(`\b1[0-9]{12}\b`)
)

// normalised replaces what differs from run to run.
func normalised(text string) string {
	text = uuid.ReplaceAllString(text, "CONFIRMATION")
	return millis.ReplaceAllString(hexID.ReplaceAllString(text, "CONVERSATION"), "1700000000000")
}

func TestTurnOnTheWire(t *testing.T) {
	r := newRig(t)
	r.servers.down = []agent.Warning{{Server: "finance", Code: "TIMEOUT", Message: "The finance service did not answer in time."}}
	r.model.script["Who works here?"] = []step{calls("list_employees"), says("Nina <Patel> ", "and ", "Frank.")}
	r.model.script["Delete both"] = []step{calls("delete_employee", "update_salary")}
	var b strings.Builder
	for _, question := range []string{"Who works here?", "Delete both"} {
		events := r.ask(alice, question, "")
		fmt.Fprintf(&b, "# %s\n%s\n", question, normalised(dataOf(events)))
		for i, e := range events {
			if e.id == "" {
				t.Errorf("event %d has no id: %s", i, e.data)
			}
		}
	}
	lines := strings.Split(b.String(), "\n")
	testkit.Golden(t, "turns.golden", []byte(strings.Join(ordered(lines), "\n")))
}

// ordered puts the events of calls that run side by side into one order.
func ordered(lines []string) []string {
	from := slices.IndexFunc(lines, func(l string) bool { return l == "# Delete both" }) + 2
	slices.Sort(lines[from : len(lines)-4])
	return lines
}

// TestCorrectionIsANote: the gateway's correction is an event beside the answer.
func TestCorrectionIsANote(t *testing.T) {
	r := newRig(t)
	r.model.script["Who works here?"] = []step{calls("list_employees"), says("12,345 people.")}
	got := dataOf(r.ask(alice, "Who works here?", ""))
	const note = `{"type":"note","kind":"invented","spans":[{"start":0,"end":6}],"text":"Not from the data: 12,345 is the model's own."}`
	if !strings.Contains(got, note) {
		t.Errorf("the stream lacks %s:\n%s", note, got)
	}
	id := strings.Split(strings.SplitAfter(got, `"conversationId":"`)[1], `"`)[0]
	_, stored := r.read(r.send("GET", "/api/conversations/"+id, alice, ""))
	if notes := `"notes":[` + strings.Replace(note, `"type":"note",`, "", 1); !strings.Contains(stored, notes) || !strings.Contains(stored, `"content":"12,345 people."`) {
		t.Errorf("the conversation lacks %s beside the model's own words:\n%s", notes, stored)
	}
}

func TestSlowModelTimesOut(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(o *conversation.Options) { o.Limits.Answer = time.Second })
	r.model.script["Who works here?"] = []step{waits}
	got := dataOf(r.ask(alice, "Who works here?", ""))
	for _, want := range []string{"One moment. ", `"error":"The model did not answer within 1s. Ask again, or for a smaller part of it."`, `"code":"TIMEOUT"`, "[DONE]"} {
		if !strings.Contains(got, want) {
			t.Errorf("the stream lacks %s:\n%s", want, got)
		}
	}
	id := strings.Split(strings.SplitAfter(got, `"conversationId":"`)[1], `"`)[0]
	if _, stored := r.read(r.send("GET", "/api/conversations/"+id, alice, "")); !strings.Contains(stored, `"kind":"broken"`) || !strings.Contains(stored, `"code":"TIMEOUT"`) {
		t.Errorf("the conversation lacks why the answer broke off:\n%s", stored)
	}
}

func TestRejectedQuestionsGetNoStream(t *testing.T) {
	r := newRig(t)
	long := strings.Repeat("é", 2049)
	for _, row := range []struct {
		name, method, path, body string
		want                     int
	}{
		{"missing", "GET", "/api/query", "", 400},
		{"empty", "GET", "/api/query?query=", "", 400},
		{"blank", "POST", "/api/query", `{"query":" \n "}`, 400},
		{"2,049 characters", "POST", "/api/query", askBody(long, ""), 400},
		{"a NUL", "POST", "/api/query", askBody("who\x00", ""), 400},
		{"a NUL in the address", "GET", "/api/query?query=who%00", "", 400},
		{"bad UTF-8 in the address", "GET", "/api/query?query=who%ff", "", 400},
		{"half a JSON", "POST", "/api/query", `{"query":"hel`, 400},
		{"unknown field", "POST", "/api/query", `{"query":"hello","roles":["executive"]}`, 400},
		{"too large", "POST", "/api/query", `{"query":"` + strings.Repeat("x", 300<<10) + `"}`, 413},
		{"no JSON", "POST", "/api/query", "", 415},
		{"somebody else's conversation", "POST", "/api/query", askBody("hello", strings.Repeat("0", 32)), 404},
		{"contradicting userContext", "POST", "/api/query", `{"query":"hello","userContext":{"username":"eve.thompson"}}`, 403},
		{"wrong method", "PUT", "/api/query", `{}`, 405},
		{"unknown route", "GET", "/api/nothing", "", 404},
	} {
		resp := r.send(row.method, row.path, alice, row.body)
		status, body := r.read(resp)
		if status != row.want || resp.Header.Get("Content-Type") != "application/json" || !strings.Contains(body, `"status":"error"`) {
			t.Errorf("%s: got %d %s %s, want %d and an envelope", row.name, status, resp.Header.Get("Content-Type"), body, row.want)
		}
	}
	if events := r.ask(alice, long[:2*2048], ""); events[len(events)-1].data != "[DONE]" {
		t.Error("a question of 2,048 characters was not answered")
	}
}

func TestUserContextGivesNoRight(t *testing.T) {
	r := newRig(t)
	r.model.script["list"] = []step{calls("list_employees"), says("ok")}
	body := `{"query":"list","userContext":{"userId":"e9f0","username":"frank.davis","roles":["executive","hr-read"]}}`
	events := r.stream(r.send("POST", "/api/query", frank, body)).rest()
	if data := dataOf(events); !strings.Contains(data, "INSUFFICIENT_PERMISSIONS") || strings.Contains(data, "Nina") {
		t.Errorf("got %s, want the call rejected", data)
	}
}

func TestFailedTurnStillEnds(t *testing.T) {
	r := newRig(t)
	r.model.script["break"] = []step{fails}
	data := dataOf(r.ask(alice, "break", ""))
	if !strings.Contains(data, `"type":"error"`) || !strings.HasSuffix(data, "[DONE]\n") || strings.Contains(data, "10.0.0.1") {
		t.Errorf("got %s, want an error without internals and [DONE]", data)
	}
}

func TestCancelStopsTheTurn(t *testing.T) {
	r := newRig(t)
	r.model.script["long"] = []step{waits}
	s := r.stream(r.send("POST", "/api/query", alice, askBody("long", "")))
	first, _ := s.next()
	conversation := conversationOf(t, []event{first})
	s.next()
	if status, _ := r.read(r.send("POST", "/api/conversations/"+conversation+"/cancel", frank, "{}")); status != 404 {
		t.Errorf("another person's cancel: got %d, want 404", status)
	}
	if status, body := r.read(r.send("POST", "/api/conversations/"+conversation+"/cancel", alice, "{}")); status != 200 || body != `{"cancelled":true}` {
		t.Errorf("cancel: got %d %s", status, body)
	}
	rest := dataOf(s.rest())
	if strings.Contains(rest, "error") || !strings.HasSuffix(rest, `{"type":"stop","reason":"cancelled"}`+"\n[DONE]\n") {
		t.Errorf("got %s, want the end and no error", rest)
	}
	var whole struct { // who reads it later learns of it, too
		Messages []struct {
			Content string
			Notes   []struct{ Kind, Text string }
		}
	}
	r.get("/api/conversations/"+conversation, alice, &whole)
	if last := whole.Messages[len(whole.Messages)-1]; last.Content == "" || len(last.Notes) != 1 || last.Notes[0].Kind != "stopped" {
		t.Errorf("stored: got %+v, want what was written, and that it was stopped", whole.Messages)
	}
	if events := r.ask(alice, "and now?", conversation); !strings.Contains(dataOf(events), "You said: and now?") {
		t.Errorf("the next question: got %s", dataOf(events))
	}
}

// TestCancelledCallIsNoFailureOfItsServer: a server that a person did not wait for
// is not reported as unavailable.
func TestCancelledCallIsNoFailureOfItsServer(t *testing.T) {
	r := newRig(t)
	running := make(chan struct{})
	r.servers.call["get_employee"] = func(ctx context.Context, _ json.RawMessage) result.Outcome {
		close(running)
		<-ctx.Done()
		return result.Failed(ctx.Err())
	}
	r.model.script["slow"] = []step{calls("get_employee")}
	s := r.stream(r.send("POST", "/api/query", alice, askBody("slow", "")))
	first, _ := s.next()
	<-running
	r.read(r.send("POST", "/api/conversations/"+conversationOf(t, []event{first})+"/cancel", alice, "{}"))
	rest := dataOf(s.rest())
	if strings.Contains(rest, "unavailable") || strings.Contains(rest, "TIMEOUT") || strings.Contains(rest, `"type":"error"`) || !strings.Contains(rest, `{"type":"stop","reason":"cancelled"}`) {
		t.Errorf("got %s, want it stopped and no server blamed", rest)
	}
}

func TestCancelReachesAnotherReplica(t *testing.T) {
	t.Parallel()
	one := newRig(t)
	two := rigOn(t, one.mini)
	one.model.script["long"] = []step{waits}
	s := one.stream(one.send("POST", "/api/query", alice, askBody("long", "")))
	first, _ := s.next()
	conversation := conversationOf(t, []event{first})
	if status, body := two.read(two.send("POST", "/api/conversations/"+conversation+"/cancel", alice, "{}")); status != 200 || body != `{"cancelled":true}` {
		t.Errorf("cancel: got %d %s", status, body)
	}
	if rest := s.rest(); len(rest) == 0 || rest[len(rest)-1].data != "[DONE]" {
		t.Errorf("got %v, want the end", rest)
	}
}

func TestDeletionEndsTheRunningTurn(t *testing.T) {
	r := newRig(t)
	r.model.script["long"] = []step{waits}
	s := r.stream(r.send("POST", "/api/query", alice, askBody("long", "")))
	first, _ := s.next()
	conversation := conversationOf(t, []event{first})
	if status, body := r.read(r.send("DELETE", "/api/conversations/"+conversation, alice, "")); status != 204 {
		t.Fatalf("got %d %s, want 204", status, body)
	}
	for _, key := range r.mini.Keys() {
		if strings.Contains(key, conversation) {
			t.Errorf("left behind: %s", key)
		}
	}
}

func TestOneQuestionAtATimePerConversation(t *testing.T) {
	r := newRig(t, limited(quota.Limits{Turns: 10}))
	r.model.script["long"] = []step{waits}
	s := r.stream(r.send("POST", "/api/query", alice, askBody("long", "")))
	first, _ := s.next()
	conversation := conversationOf(t, []event{first})
	var waiting []*stream
	for _, question := range []string{"one", "two", "three"} { // a stream is begun when the question has its place in the line
		waiting = append(waiting, r.stream(r.send("POST", "/api/query", alice, askBody(question, conversation))))
	}
	resp := r.send("POST", "/api/query", alice, askBody("four", conversation))
	if status, body := r.read(resp); status != 429 || !strings.Contains(body, "BUSY") || !strings.Contains(body, fault.TooBusy) || resp.Header.Get("Retry-After") == "" {
		t.Errorf("the fourth that waits: got %d %s, want BUSY", status, body)
	}
	r.model.release()
	s.rest()
	for i, s := range waiting {
		if data := dataOf(s.rest()); !strings.Contains(data, "You said: "+[]string{"one", "two", "three"}[i]) {
			t.Errorf("question %d: got %s", i+1, data)
		}
	}
	var whole struct {
		Messages []struct{ Role, Content string }
	}
	r.get("/api/conversations/"+conversation, alice, &whole)
	var asked []string
	for _, m := range whole.Messages {
		if m.Role == "user" {
			asked = append(asked, m.Content)
		}
	}
	if want := []string{"long", "one", "two", "three"}; !slices.Equal(asked, want) {
		t.Errorf("got %q, want the order in which they were asked, %q", asked, want)
	}
}

func TestCancellingDropsWhatWaits(t *testing.T) {
	r := newRig(t)
	other := rigOn(t, r.mini)
	r.model.script["long"] = []step{waits}
	s := r.stream(r.send("POST", "/api/query", alice, askBody("long", "")))
	first, _ := s.next()
	conversation := conversationOf(t, []event{first})
	waiting := other.stream(other.send("POST", "/api/query", alice, askBody("and?", conversation)))
	if status, body := r.read(r.send("POST", "/api/conversations/"+conversation+"/cancel", alice, "")); status != 200 || !strings.Contains(body, "true") {
		t.Fatalf("got %d %s", status, body)
	}
	if data := dataOf(s.rest()); !strings.Contains(data, `"reason":"cancelled"`) {
		t.Errorf("the running one: got %s", data)
	}
	if data := dataOf(waiting.rest()); !strings.Contains(data, "CANCELLED") || !strings.HasSuffix(data, "[DONE]\n") || strings.Contains(data, "You said") {
		t.Errorf("the waiting one: got %s, want CANCELLED", data)
	}
}

func TestTurnsOfOnePersonAreLimited(t *testing.T) {
	r := newRig(t, limited(quota.Limits{Turns: 2}))
	r.model.script["long"] = []step{waits}
	for range 2 {
		r.stream(r.send("POST", "/api/query", alice, askBody("long", ""))).next()
	}
	if status, body := r.read(r.send("POST", "/api/query", alice, askBody("hello", ""))); status != 429 || !strings.Contains(body, "BUSY") {
		t.Errorf("the third: got %d %s, want BUSY", status, body)
	}
	if data := dataOf(r.ask(frank, "hello", "")); !strings.Contains(data, "You said: hello") {
		t.Errorf("another person: got %s", data)
	}
}

func TestTurnIsAuditedWithoutTheQuestion(t *testing.T) {
	r := newRig(t)
	r.model.script["Who works here?"] = []step{calls("list_employees"), says("Two.")}
	conversation := conversationOf(t, r.ask(alice, "Who works here?", ""))
	events := slices.DeleteFunc(r.audit.Events(), func(e audit.Event) bool { return e.Kind != audit.Turn })
	if len(events) != 1 {
		t.Fatalf("got %d turns on record, want 1", len(events))
	}
	e := events[0]
	e.DurationMS = 0
	want := audit.Event{
		Kind: audit.Turn, Conversation: conversation, Outcome: "success", Note: "tools used: 1, tokens in: 7, tokens out: 3",
		Digest: fmt.Sprintf("%x", sha256.Sum256([]byte("Who works here?"))),
	}
	if diff := cmp.Diff(want, e); diff != "" {
		t.Errorf("audit (-want +got):\n%s", diff)
	}
}

func TestRedisOutageIsUnavailableAndEnds(t *testing.T) {
	r := newRig(t)
	conversation := conversationOf(t, r.ask(alice, "hello", ""))
	for leased := true; leased; leased = r.mini.Exists("turn:" + conversation) { // it is released a moment after [DONE]
	}
	r.mini.SetError("LOADING")
	for _, path := range []string{"/api/conversations", "/api/confirmations", "/readyz"} {
		if status, body := r.read(r.send("GET", path, alice, "")); status != 503 || strings.Contains(body, "LOADING") {
			t.Errorf("%s: got %d %s, want 503", path, status, body)
		}
	}
	status, body := 429, ""
	for status == 429 { // the turn before gives its slot back a moment after its lease
		status, body = r.read(r.send("POST", "/api/query", alice, askBody("hello", conversation)))
	}
	if status != 503 {
		t.Errorf("a question: got %d %s, want 503", status, body)
	}
	r.mini.SetError("")
	if data := dataOf(r.ask(alice, "again", conversation)); !strings.Contains(data, "You said: again") {
		t.Errorf("when it is back: got %s", data)
	}
}

// TestWhatAnAnswerLacksIsKept: who reads it later learns that a server was not asked, and
// that it broke off, and so does the model of the next turn.
func TestWhatAnAnswerLacksIsKept(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.model.script["break"] = []step{func(_ context.Context, _ *model, yield func(agent.Delta, error) bool) {
		if yield(agent.Delta{Text: "Overdue are: Acme ($1,000), "}, nil) {
			yield(agent.Delta{}, fault.ServiceDown.New("The model's answer broke off.").Suggest("Ask again."))
		}
	}}
	r.model.script["tickets"] = []step{says("There are 4 open tickets.")}
	down := []agent.Warning{{Server: "finance", Code: "SERVICE_UNAVAILABLE", Message: "It could not be asked."}}
	for question, want := range map[string][]string{
		"break":   {"Overdue are: Acme ($1,000), ", "broken", "The model's answer broke off. Ask again."},
		"tickets": {"There are 4 open tickets.", "unavailable", "finance: It could not be asked."},
	} {
		r.servers.mu.Lock()
		r.servers.down = map[string][]agent.Warning{"tickets": down}[question]
		r.servers.mu.Unlock()
		conversation := conversationOf(t, r.ask(alice, question, ""))
		var whole struct {
			Messages []struct {
				Content string
				Notes   []struct{ Kind, Text string }
			}
		}
		r.get("/api/conversations/"+conversation, alice, &whole)
		last := whole.Messages[len(whole.Messages)-1]
		if last.Content != want[0] || len(last.Notes) != 1 || last.Notes[0].Kind != want[1] || last.Notes[0].Text != want[2] {
			t.Errorf("%s: stored %+v, want %q", question, whole.Messages, want)
		}
	}
}
