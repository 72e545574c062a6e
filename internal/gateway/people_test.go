package gateway_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"countersign.dev/internal/fault"
	"countersign.dev/internal/result"
)

// TestPeopleReadNoToolLanguage: what a refusal suggests to a program stays where
// programs call tools, and reaches no stream, message, answer or page.
func TestPeopleReadNoToolLanguage(t *testing.T) {
	r := newRig(t)
	refuse := fault.ConfirmationStale.New("Nina has nine reports.").Suggest("Assign them first.").Instruct("Assign them first. Use list_employees with manager_id 1.")
	r.servers.call["get_employee"] = func(context.Context, json.RawMessage) result.Outcome { return result.Failed(refuse) }
	r.model.script["Delete Nina"] = []step{calls("get_employee"), says("That is not possible.")}
	r.model.script["Delete Frank"] = []step{calls("delete_employee")}
	check := func(where, got string) {
		t.Helper()
		if !strings.Contains(got, "Assign them first.") || strings.Contains(got, "list_employees with") {
			t.Errorf("%s: %s", where, got)
		}
	}

	events := r.ask(alice, "Delete Nina", "")
	var finished string
	for _, e := range events {
		if strings.Contains(e.data, `"state":"complete"`) {
			finished = e.data
		}
	}
	check("the stream", finished)
	_, stored := r.read(r.send("GET", "/api/conversations/"+conversationOf(t, events), alice, ""))
	check("the stored message", stored)

	socket := r.connect(alice, "", "connected")
	socket.ask("Delete Nina")
	for _, f := range socket.until("end") {
		if f.Type == "status" && f.Payload.State == "complete" && f.Payload.Tool != "" {
			check("the WebSocket", string(f.Payload.Data))
		}
	}

	var waiting struct{ ConfirmationID string }
	for _, e := range r.ask(alice, "Delete Frank", "") {
		if strings.Contains(e.data, "pending_confirmation") {
			if err := json.Unmarshal([]byte(e.data), &waiting); err != nil {
				t.Fatal(err)
			}
		}
	}
	r.servers.mu.Lock()
	r.servers.fail = refuse
	r.servers.mu.Unlock()
	_, answered := r.read(r.send("POST", "/api/confirm/"+waiting.ConfirmationID, alice, `{"approved":true}`))
	check("the answer of a card", answered)

	cookie := r.signIn(alice)
	own := []string{"Cookie", cookie.Name + "=" + cookie.Value, "Sec-Fetch-Site", "same-origin"}
	_, page := r.read(r.send("POST", "/api/query", "", `{`, own...))
	_, program := r.read(r.send("POST", "/api/query", alice, `{`))
	if strings.Contains(page, "JSON object") || !strings.Contains(program, "JSON object") {
		t.Errorf("the page reads %s, a program %s", page, program)
	}
}
