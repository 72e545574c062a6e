package gateway_test

import (
	"encoding/json"
	"strings"
	"testing"
)

func askWith(question, conversation, model string) string {
	b, _ := json.Marshal(map[string]string{"query": question, "conversationId": conversation, "model": model})
	return string(b)
}

func TestModelIsChosenPerConversation(t *testing.T) {
	r := newRig(t)
	if _, body := r.read(r.send("GET", "/api/models", alice, "")); body != `{"models":[{"name":"script","provider":"test","default":true},{"name":"other","provider":"test","default":false,"price":{"input":3,"output":15,"cached":0.3,"currency":"USD"}}]}` {
		t.Errorf("models: got %s", body)
	}
	modelOf := func(body string) (conversation, model string) {
		events := r.stream(r.send("POST", "/api/query", alice, body)).rest()
		var start struct{ Model string }
		_ = json.Unmarshal([]byte(events[0].data), &start)
		return conversationOf(t, events), start.Model
	}
	conversation, model := modelOf(askWith("hello", "", ""))
	if model != "script" {
		t.Errorf("without a choice: got %q, want the default", model)
	}
	for i, row := range []struct{ choice, want string }{{"other", "other"}, {"", "other"}, {"script", "script"}, {"", "script"}} {
		if _, model := modelOf(askWith("hello", conversation, row.choice)); model != row.want {
			t.Errorf("question %d with %q: got %q, want %q", i+1, row.choice, model, row.want)
		}
	}
	if status, body := r.read(r.send("POST", "/api/query", alice, askWith("hello", "", "oracle"))); status != 400 || !strings.Contains(body, `No model is called \"oracle\".`) {
		t.Errorf("an unknown model: got %d %s, want 400", status, body)
	}
	var list struct{ Conversations []struct{ Model string } }
	if r.get("/api/conversations", alice, &list); len(list.Conversations) != 1 || list.Conversations[0].Model != "script" {
		t.Errorf("conversations: got %+v, want one, and none for the rejected question", list)
	}
}
