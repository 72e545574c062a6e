package gateway_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"countersign.dev/internal/agent"
	"countersign.dev/internal/audit"
	"countersign.dev/internal/confirm"
	"countersign.dev/internal/gateway"
	"countersign.dev/internal/testkit"
)

var (
	hexID  = regexp.MustCompile(`[0-9a-f]{32}`)
	uuid   = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)
	millis = regexp.MustCompile(`\b1[0-9]{12}\b`)
)

// settled replaces what differs from run to run.
func settled(text string) string {
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
		slices.SortStableFunc(events[1:len(events)-3], func(x, y event) int { return 0 })
		fmt.Fprintf(&b, "# %s\n%s\n", question, settled(dataOf(events)))
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

func TestRefusedQuestionsComeBeforeAnyStream(t *testing.T) {
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
		t.Errorf("got %s, want the call refused", data)
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

func TestClientThatLeavesMissesNothing(t *testing.T) {
	one := newRig(t)
	replicas := []*rig{one, rigOn(t, one.mini)}
	pieces := make([]string, 60) // each long enough to be an event of its own
	for i := range pieces {
		pieces[i] = fmt.Sprintf("%03d", i) + strings.Repeat(" word", 60)
	}
	one.model.script["count"] = []step{calls("list_employees"), says(pieces...)}
	for round := range 20 {
		random := rand.New(rand.NewPCG(1, uint64(round)))
		ctx, leave := context.WithCancel(context.Background())
		s := one.stream(one.sendCtx(ctx, "POST", "/api/query", alice, askBody("count", "")))
		first, _ := s.next()
		seen := []event{first}
		conversation := conversationOf(t, seen)
		for seen[len(seen)-1].data != "[DONE]" {
			if random.IntN(3) == 0 { // gone, and back on any replica
				leave()
				ctx, leave = context.WithCancel(context.Background())
				r := replicas[random.IntN(2)]
				s = r.stream(r.sendCtx(ctx, "GET", "/api/conversations/"+conversation+"/events", alice, "", "Last-Event-ID", seen[len(seen)-1].id))
			}
			e, ok := s.next()
			if !ok {
				t.Fatal("the stream ended before [DONE]")
			}
			seen = append(seen, e)
		}
		leave()
		if got := textIn(seen); got != strings.Join(pieces, "") {
			t.Fatalf("round %d: got %d bytes of text, want every piece once and in order", round, len(got))
		}
	}
}

func textIn(events []event) string {
	var b strings.Builder
	for _, e := range events {
		var text struct{ Type, Text, Source string }
		if json.Unmarshal([]byte(e.data), &text) == nil && text.Type == "text" && text.Source == "" {
			b.WriteString(text.Text)
		}
	}
	return b.String()
}

func TestManyWordsAreFewFrames(t *testing.T) {
	r := newRig(t)
	text := strings.Repeat("word ", 2000)
	r.model.script["much"] = []step{says(strings.SplitAfter(text, " ")...)}
	resp := r.send("POST", "/api/query", alice, askBody("much", ""))
	_, body := r.read(resp)
	if len(body) > 3*len(text) {
		t.Errorf("got %d bytes on the wire for %d of text, want at most three times", len(body), len(text))
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
		t.Errorf("a stranger's cancel: got %d, want 404", status)
	}
	if status, body := r.read(r.send("POST", "/api/conversations/"+conversation+"/cancel", alice, "{}")); status != 200 || body != `{"cancelled":true}` {
		t.Errorf("cancel: got %d %s", status, body)
	}
	rest := dataOf(s.rest())
	if strings.Contains(rest, "error") || !strings.HasSuffix(rest, "[DONE]\n") {
		t.Errorf("got %s, want the end and no error", rest)
	}
	if events := r.ask(alice, "and now?", conversation); !strings.Contains(dataOf(events), "You said: and now?") {
		t.Errorf("the next question: got %s", dataOf(events))
	}
}

func TestCancelReachesAnotherReplica(t *testing.T) {
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
	r := newRig(t)
	r.model.script["long"] = []step{waits}
	s := r.stream(r.send("POST", "/api/query", alice, askBody("long", "")))
	first, _ := s.next()
	conversation := conversationOf(t, []event{first})
	resp := r.send("POST", "/api/query", alice, askBody("and?", conversation))
	if status, body := r.read(resp); status != 429 || !strings.Contains(body, "BUSY") || resp.Header.Get("Retry-After") == "" {
		t.Errorf("got %d %s, want BUSY", status, body)
	}
	r.model.release()
	s.rest()
	if data := dataOf(r.ask(alice, "and?", conversation)); !strings.Contains(data, "You said: and?") {
		t.Errorf("after its end: got %s", data)
	}
}

func TestOnePersonsTurnsAreBounded(t *testing.T) {
	r := newRig(t, func(o *gateway.Options) { o.Limits.Turns = 2 })
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

func TestShutdownTellsStreamsAndEndsTurns(t *testing.T) {
	r := newRig(t)
	r.model.script["long"] = []step{waits}
	s := r.stream(r.send("POST", "/api/query", alice, askBody("long", "")))
	first, _ := s.next()
	idle := r.stream(r.send("GET", "/api/conversations/"+conversationOf(t, []event{first})+"/events", alice, ""))
	if err := r.gateway.Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
	for name, s := range map[string]*stream{"turn": s, "idle": idle} {
		if data := dataOf(s.rest()); !strings.Contains(data, "restarting") || !strings.HasSuffix(data, "[DONE]\n") {
			t.Errorf("%s: got %s, want a word and [DONE]", name, data)
		}
	}
	if status, _ := r.read(r.send("POST", "/api/query", alice, askBody("hello", ""))); status != 503 {
		t.Errorf("a question after the end: got %d, want 503", status)
	}
}

func TestTurnThatACrashCutOffIsClosed(t *testing.T) {
	r := newRig(t)
	conversation := conversationOf(t, r.ask(alice, "hello", ""))
	last, err := r.redis.LastID(t.Context(), "events:"+conversation)
	if err != nil {
		t.Fatal(err)
	}
	// What a process that was killed leaves behind: a start, and no end.
	if _, err := r.redis.Append(t.Context(), "events:"+conversation, []byte(`{"type":"start"}`), time.Hour); err != nil {
		t.Fatal(err)
	}
	if err := r.redis.Set(t.Context(), "open:"+conversation, []byte(last), time.Hour); err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second finds it closed
		s := r.stream(r.send("GET", "/api/conversations/"+conversation+"/events", alice, "", "Last-Event-ID", last))
		if data := dataOf(s.rest()); strings.Count(data, "interrupted") != 1 || !strings.HasSuffix(data, "[DONE]\n") {
			t.Errorf("got %s, want one word and the end", data)
		}
	}
}

func TestResumingFromTheUnknownIsRefused(t *testing.T) {
	r := newRig(t)
	conversation := conversationOf(t, r.ask(alice, "hello", ""))
	path := "/api/conversations/" + conversation + "/events"
	for id, want := range map[string]int{"nonsense": 400, "1-1": 404} {
		if status, body := r.read(r.send("GET", path, alice, "", "Last-Event-ID", id)); status != want {
			t.Errorf("%s: got %d %s, want %d", id, status, body, want)
		}
	}
	if data := dataOf(r.stream(r.send("GET", path+"?after=0-0", alice, "")).rest()); !strings.Contains(data, "You said: hello") {
		t.Errorf("from the beginning: got %s", data)
	}
}

func TestTurnIsAuditedWithoutTheQuestion(t *testing.T) {
	r := newRig(t)
	r.model.script["Who works here?"] = []step{calls("list_employees"), says("Two.")}
	conversation := conversationOf(t, r.ask(alice, "Who works here?", ""))
	events := slices.DeleteFunc(r.journal.Events(), func(e audit.Event) bool { return e.Kind != audit.Turn })
	if len(events) != 1 {
		t.Fatalf("got %d turns on record, want 1", len(events))
	}
	e := events[0]
	e.DurationMS = 0
	want := audit.Event{
		Kind: audit.Turn, Conversation: conversation, Outcome: "success", Note: "tools used: 1",
		Digest: "a64e5ff6c7ec1a7c7b9c0f3ea86d08b6d0ee1f1ea24b87b33e16fbcfb0f3ac2e",
	}
	want.Digest = e.Digest
	if diff := cmp.Diff(want, e); diff != "" || len(e.Digest) != 64 {
		t.Errorf("audit (-want +got):\n%s", diff)
	}
}

func TestRedisAwayIsToldAndOver(t *testing.T) {
	r := newRig(t)
	conversation := conversationOf(t, r.ask(alice, "hello", ""))
	for held := true; held; held = r.mini.Exists("turn:" + conversation) { // it lets go a moment after [DONE]
	}
	r.mini.SetError("LOADING")
	for _, path := range []string{"/api/conversations", "/api/confirmations", "/readyz"} {
		if status, body := r.read(r.send("GET", path, alice, "")); status != 503 || strings.Contains(body, "LOADING") {
			t.Errorf("%s: got %d %s, want 503", path, status, body)
		}
	}
	if status, body := r.read(r.send("POST", "/api/query", alice, askBody("hello", conversation))); status != 503 {
		t.Errorf("a question: got %d %s, want 503", status, body)
	}
	r.mini.SetError("")
	if data := dataOf(r.ask(alice, "again", conversation)); !strings.Contains(data, "You said: again") {
		t.Errorf("when it is back: got %s", data)
	}
}

func TestConversationIsRememberedAndOnesOwn(t *testing.T) {
	r := newRig(t)
	r.model.script["Who works here?"] = []step{calls("list_employees"), says("Nina and Frank.")}
	conversation := conversationOf(t, r.ask(alice, "Who works here?", ""))
	r.ask(alice, "And who else?", conversation)
	asked := r.model.lastAsked().Messages
	if len(asked) != 5 || asked[0].Text != "Who works here?" || len(asked[2].Results) != 1 || asked[3].Text == "" {
		t.Errorf("the model was told %+v, want the first turn and the question", asked)
	}
	var list struct {
		Conversations []struct{ ID, Title string }
	}
	other := conversationOf(t, r.ask(alice, "A second\nconversation", ""))
	r.get("/api/conversations", alice, &list)
	if len(list.Conversations) != 2 || list.Conversations[0].ID != other || list.Conversations[0].Title != "A second conversation" {
		t.Errorf("list: got %+v, want the newest first", list)
	}
	var whole struct {
		Running     bool
		LastEventID string
		Messages    []struct{ ID, Role, Content, Tool string }
	}
	r.get("/api/conversations/"+conversation, alice, &whole)
	var roles []string
	for _, m := range whole.Messages {
		roles = append(roles, m.Role)
	}
	if diff := cmp.Diff([]string{"user", "tool", "assistant", "user", "assistant"}, roles); diff != "" || whole.Running || whole.LastEventID == "" {
		t.Errorf("messages (-want +got):\n%s", diff)
	}
	for method, path := range map[string]string{"GET": "", "DELETE": ""} {
		if status, _ := r.read(r.send(method, "/api/conversations/"+conversation+path, frank, "")); status != 404 {
			t.Errorf("%s by a stranger: got %d, want 404", method, status)
		}
	}
	if status, _ := r.read(r.send("GET", "/api/conversations/"+conversation+"/events", frank, "")); status != 404 {
		t.Errorf("events for a stranger: got %d, want 404", status)
	}
	if status, _ := r.read(r.send("DELETE", "/api/conversations/"+conversation, alice, "")); status != 204 {
		t.Errorf("delete: got %d, want 204", status)
	}
	if status := r.get("/api/conversations/"+conversation, alice, nil); status != 404 {
		t.Errorf("after delete: got %d, want 404", status)
	}
	for _, key := range r.mini.Keys() {
		if strings.Contains(key, conversation) {
			t.Errorf("left behind: %s", key)
		}
	}
}

// ids of the confirmations in a turn.
func confirmationsIn(events []event) (ids []string) {
	for _, e := range events {
		var c struct{ Status, ConfirmationID string }
		if json.Unmarshal([]byte(e.data), &c) == nil && c.Status == "pending_confirmation" {
			ids = append(ids, c.ConfirmationID)
		}
	}
	return ids
}

func TestOutcomeReachesTheConversationOnce(t *testing.T) {
	r := newRig(t)
	r.model.script["Delete both"] = []step{calls("delete_employee", "update_salary")}
	events := r.ask(alice, "Delete both", "")
	conversation, ids := conversationOf(t, events), confirmationsIn(events)
	if len(ids) != 2 {
		t.Fatalf("got confirmations %v, want two", ids)
	}
	live := r.stream(r.send("GET", "/api/conversations/"+conversation+"/events", alice, "", "Last-Event-ID", events[len(events)-1].id))
	var first string
	for i := range 3 {
		status, body := r.read(r.send("POST", "/api/confirm/"+ids[0], alice, `{"approved":true}`))
		if i == 0 {
			first = body
		}
		if status != 200 || body != first || !strings.Contains(body, "has been deleted.") {
			t.Errorf("approval %d: got %d %s, want the same receipt", i, status, body)
		}
	}
	if status, body := r.read(r.send("POST", "/api/confirm/"+ids[1], alice, `{"approved":false}`)); status != 200 || body != `{"status":"cancelled","message":"Action cancelled by user"}` {
		t.Errorf("denial: got %d %s", status, body)
	}
	var told []string
	for range 2 {
		e, _ := live.next()
		var m struct{ Type, Role, Content, ConfirmationID string }
		if err := json.Unmarshal([]byte(e.data), &m); err != nil || m.Type != "message" || m.Role != "system" {
			t.Fatalf("got %s, want a message", e.data)
		}
		told = append(told, m.Content)
	}
	if told[1] != "Action cancelled by user" || !strings.HasSuffix(told[0], "has been deleted.") {
		t.Errorf("told %q", told)
	}
	r.ask(alice, "What happened?", conversation)
	var heard []string
	for _, m := range r.model.lastAsked().Messages {
		if m.Role == agent.System {
			heard = append(heard, m.Text)
		}
	}
	if diff := cmp.Diff(told, heard); diff != "" {
		t.Errorf("the model heard (-want +got):\n%s", diff)
	}
}

func TestConfirmAnswersAsDocumented(t *testing.T) {
	r := newRig(t)
	r.model.script["Delete"] = []step{calls("delete_employee")}
	id := confirmationsIn(r.ask(alice, "Delete", ""))[0]
	denied := confirmationsIn(r.ask(alice, "Delete", ""))[0]
	r.send("POST", "/api/confirm/"+denied, alice, `{"approved":false}`)
	for _, row := range []struct {
		name, id, token, body string
		want                  int
		says                  string
	}{
		{"no boolean", id, alice, `{"approved":"yes"}`, 400, `"error":"Invalid request"`},
		{"no approved", id, alice, `{}`, 400, `"message":"approved must be true or false"`},
		{"nobody", id, "", `{"approved":true}`, 401, `"error":"Unauthenticated"`},
		{"a stranger", id, frank, `{"approved":true}`, 403, `{"error":"Unauthorized","message":"You can only approve your own confirmations","code":"USER_MISMATCH"}`},
		{"unknown", "00000000-0000-4000-8000-000000000000", alice, `{"approved":true}`, 404, `"error":"Confirmation not found or expired"`},
		{"nonsense", "x", alice, `{"approved":true}`, 404, `"error":"Confirmation not found or expired"`},
		{"denied before", denied, alice, `{"approved":true}`, 409, `"code":"CONFIRMATION_DENIED"`},
		{"still there", id, alice, `{"approved":true}`, 200, `"status":"success"`},
	} {
		status, body := r.read(r.send("POST", "/api/confirm/"+row.id, row.token, row.body))
		if status != row.want || !strings.Contains(body, row.says) {
			t.Errorf("%s: got %d %s, want %d %s", row.name, status, body, row.want, row.says)
		}
	}
	r.mini.SetError("LOADING")
	if status, body := r.read(r.send("POST", "/api/confirm/"+id, alice, `{"approved":true}`)); status != 503 || !strings.Contains(body, `"error":"Service unavailable"`) {
		t.Errorf("Redis away: got %d %s, want 503", status, body)
	}
}

func TestReceiptOutlivesRedis(t *testing.T) {
	r := newRig(t)
	r.model.script["Delete"] = []step{calls("delete_employee")}
	id := confirmationsIn(r.ask(alice, "Delete", ""))[0]
	_, receipt := r.read(r.send("POST", "/api/confirm/"+id, alice, `{"approved":true}`))
	r.mini.FlushAll()
	if status, body := r.read(r.send("POST", "/api/confirm/"+id, alice, `{"approved":true}`)); status != 200 || body != receipt {
		t.Errorf("got %d %s, want the receipt %s", status, body, receipt)
	}
}

func TestOwnConfirmationsAreListed(t *testing.T) {
	r := newRig(t)
	r.model.script["Delete"] = []step{calls("delete_employee")}
	id := confirmationsIn(r.ask(alice, "Delete", ""))[0]
	var list struct {
		Confirmations []struct{ ConfirmationID, State, Message, McpServer string }
	}
	r.get("/api/confirmations", alice, &list)
	if len(list.Confirmations) != 1 || list.Confirmations[0].ConfirmationID != id || list.Confirmations[0].McpServer != "hr" {
		t.Errorf("own: got %+v", list)
	}
	r.get("/api/confirmations", frank, &list)
	if len(list.Confirmations) != 0 {
		t.Errorf("a stranger's: got %+v", list)
	}
	if status := r.get("/api/confirmations/"+id, frank, nil); status != 403 {
		t.Errorf("a stranger looks: got %d, want 403", status)
	}
	r.send("POST", "/api/confirm/"+id, alice, `{"approved":true}`)
	var one struct {
		State   confirm.State
		Receipt json.RawMessage
	}
	if r.get("/api/confirmations/"+id, alice, &one); one.State != confirm.Applied || !strings.Contains(string(one.Receipt), "success") {
		t.Errorf("applied: got %s %s", one.State, one.Receipt)
	}
}
