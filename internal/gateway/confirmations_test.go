package gateway_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"countersign.dev/internal/agent"
	"countersign.dev/internal/confirm"
	"countersign.dev/internal/fault"
	"countersign.dev/internal/state"
	"countersign.dev/internal/testkit"
)

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
	var written []string
	for range 2 {
		e, _ := live.next()
		var m struct{ Type, Role, Content, ConfirmationID string }
		if err := json.Unmarshal([]byte(e.data), &m); err != nil || m.Type != "message" || m.Role != "system" {
			t.Fatalf("got %s, want a message", e.data)
		}
		written = append(written, m.Content)
	}
	if written[1] != "Action cancelled by user" || !strings.HasSuffix(written[0], "has been deleted.") {
		t.Errorf("messages: got %q", written)
	}
	r.ask(alice, "What happened?", conversation)
	var received []string
	for _, m := range r.model.lastAsked().Messages {
		if m.Role == agent.System {
			received = append(received, m.Text())
		}
	}
	if diff := cmp.Diff(written, received); diff != "" {
		t.Errorf("the model received (-want +got):\n%s", diff)
	}
}

// TestLostOutcomeReachesTheConversationWhenItIsRead: the change was made, and the process
// that would have recorded it ended.
func TestLostOutcomeReachesTheConversationWhenItIsRead(t *testing.T) {
	r := newRig(t)
	r.model.script["Delete"] = []step{calls("delete_employee")}
	events := r.ask(alice, "Delete", "")
	conversation, id := conversationOf(t, events), confirm.ID(confirmationsIn(events)[0])
	entry, _, err := r.servers.entries.Find(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	store := state.NewConfirmations(r.redis, testkit.Ring("record"))
	record, _, err := store.Acquire(t.Context(), confirm.Reply{ID: id, Server: "hr", Approved: true}, entry.Owner, time.Now().Add(-time.Minute))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.servers.Apply(t.Context(), record); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		var shown struct{ State string }
		if r.get("/api/confirmations/"+string(id), alice, &shown); shown.State != "applied" {
			t.Errorf("shown as %q, want it applied", shown.State)
		}
	}
	r.ask(alice, "What happened?", conversation)
	var received []string
	for _, m := range r.model.lastAsked().Messages {
		if m.Role == agent.System {
			received = append(received, m.Text())
		}
	}
	if diff := cmp.Diff([]string{"Frank Davis has been deleted."}, received); diff != "" {
		t.Errorf("the model received (-want +got):\n%s", diff)
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
		{"no token", id, "", `{"approved":true}`, 401, `"error":"Unauthenticated"`},
		{"another person", id, frank, `{"approved":true}`, 403, `{"error":"Unauthorized","message":"You can only approve your own confirmations","code":"USER_MISMATCH","details":{"confirmationId":"`},
		{"unknown", "00000000-0000-4000-8000-000000000000", alice, `{"approved":true}`, 404, `{"error":"Confirmation not found or expired","message":"⏱️ Confirmation expired (5-minute TTL). Please retry the operation."`},
		{"unknown, by its id", "00000000-0000-4000-8000-000000000000", alice, `{"approved":true}`, 404, `"details":{"confirmationId":"00000000-0000-4000-8000-000000000000"}`},
		{"nonsense", "x", alice, `{"approved":true}`, 404, `"error":"Confirmation not found or expired"`},
		{"denied before", denied, alice, `{"approved":true}`, 409, `{"error":"Confirmation cannot be answered","message":"`},
		{"denied before, its code", denied, alice, `{"approved":true}`, 409, `"code":"CONFIRMATION_DENIED"`},
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

// TestAnswerWithoutAnOutcomeIsARefusal: a server that took too long may still make the change, so nothing
// says that it was not made, and the conversation gets no outcome.
func TestAnswerWithoutAnOutcomeIsARefusal(t *testing.T) {
	r := newRig(t)
	r.model.script["Delete"] = []step{calls("delete_employee")}
	events := r.ask(alice, "Delete", "")
	id := confirmationsIn(events)[0]
	r.servers.fail = fault.Timeout.New("The hr service did not answer in time.")
	if status, body := r.read(r.send("POST", "/api/confirm/"+id, alice, `{"approved":true}`)); status != 503 || !strings.Contains(body, "To answer again is safe.") {
		t.Errorf("got %d %s, want 503", status, body)
	}
	r.servers.fail = nil
	if status, body := r.read(r.send("POST", "/api/confirm/"+id, alice, `{"approved":true}`)); status != 200 || !strings.Contains(body, "has been deleted.") {
		t.Errorf("again: got %d %s", status, body)
	}
	r.ask(alice, "What happened?", conversationOf(t, events))
	for _, m := range r.model.lastAsked().Messages {
		if m.Role == agent.System && !strings.HasSuffix(m.Text(), "has been deleted.") {
			t.Errorf("the model received %q", m.Text())
		}
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

// digestOfFrank is the SHA-256 of
// {"confirmationData":{"employeeName":"Frank Davis","origin":{"surface":"terminal"}},"message":"Delete Frank Davis?"}.
const digestOfFrank = "f6dd81c30d83efb7c1f606ccaf8b6f9c99e881f47a8c558012bca8c5b5a45607"

func TestOwnConfirmationsAreListed(t *testing.T) {
	r := newRig(t)
	r.model.script["Delete"] = []step{calls("delete_employee")}
	asked := r.ask(alice, "Delete", "")
	id := confirmationsIn(asked)[0]
	type waiting struct {
		ConfirmationID, State, Message, McpServer, ConversationID string

		ConfirmationData map[string]any
	}
	var list struct{ Confirmations []waiting }
	r.get("/api/confirmations", alice, &list)
	if len(list.Confirmations) != 1 {
		t.Fatalf("got %+v, want one", list)
	}
	delete(list.Confirmations[0].ConfirmationData, "expiresAt")
	want := []waiting{{
		ConfirmationID: id, State: "pending", Message: "Delete Frank Davis?", McpServer: "hr", ConversationID: conversationOf(t, asked),
		ConfirmationData: map[string]any{"employeeName": "Frank Davis", "origin": map[string]any{"surface": "terminal"}, "approvalUrl": "http://gateway.test/#/approve/" + id, "digest": digestOfFrank},
	}}
	if diff := cmp.Diff(want, list.Confirmations); diff != "" {
		t.Errorf("own (-want +got):\n%s", diff)
	}
	r.get("/api/confirmations", frank, &list)
	if len(list.Confirmations) != 0 {
		t.Errorf("another person's: got %+v", list)
	}
	if status := r.get("/api/confirmations/"+id, frank, nil); status != 403 {
		t.Errorf("another person reads it: got %d, want 403", status)
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

// TestAnswerIsBoundToWhatWasDrawn: another digest consumes nothing, and our own
// page must send one.
func TestAnswerIsBoundToWhatWasDrawn(t *testing.T) {
	r := newRig(t)
	r.model.script["Delete"] = []step{calls("delete_employee")}
	id := confirmationsIn(r.ask(alice, "Delete", ""))[0]
	c := r.signIn(alice)
	browser := []string{"Cookie", c.Name + "=" + c.Value, "Sec-Fetch-Site", "same-origin"}
	answer := func(token, digest string, headers ...string) (int, string) {
		return r.read(r.send("POST", "/api/confirm/"+id, token, `{"approved":true,"digest":"`+digest+`"}`, headers...))
	}
	if status, body := answer("", "", browser...); status != 400 || !strings.Contains(body, "digest must be") {
		t.Errorf("a page without a digest: got %d %s, want 400", status, body)
	}
	for _, caller := range [][]string{{""}, {alice}} {
		headers := browser
		if caller[0] != "" {
			headers = nil
		}
		if status, body := answer(caller[0], strings.Repeat("0", 64), headers...); status != 409 || !strings.Contains(body, `"error":"Confirmation cannot be answered"`) || !strings.Contains(body, `"code":"CONFIRMATION_STALE"`) {
			t.Errorf("another digest: got %d %s, want 409", status, body)
		}
	}
	if status, body := answer("", digestOfFrank, browser...); status != 200 || !strings.Contains(body, "Frank Davis has been deleted.") {
		t.Errorf("the right digest: got %d %s, want the receipt", status, body)
	}
}

func TestConfirmationThatCannotBeShownIsNamed(t *testing.T) {
	r := newRig(t)
	r.model.script["Delete"] = []step{calls("delete_employee")}
	id := confirmationsIn(r.ask(alice, "Delete", ""))[0]
	r.servers.mu.Lock()
	r.servers.fail = fault.ServiceDown.New("The hr service cannot be reached.")
	r.servers.mu.Unlock()
	var list struct {
		Confirmations []any
		Unavailable   []struct{ ConfirmationID, McpServer, Expires, Message string }
	}
	r.get("/api/confirmations", alice, &list)
	if len(list.Confirmations) != 0 || len(list.Unavailable) != 1 {
		t.Fatalf("got %+v, want one that cannot be shown", list)
	}
	if u := list.Unavailable[0]; u.ConfirmationID != id || u.McpServer != "hr" || u.Expires == "" || !strings.Contains(u.Message, "cannot be reached") {
		t.Errorf("got %+v", u)
	}
}
