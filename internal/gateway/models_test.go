package gateway_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"countersign.dev/internal/agent"
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

// A model that answers in the place of another is named to the person, in the
// usage and in the stored answer.
func TestSecondModelIsNamed(t *testing.T) {
	r := newRig(t)
	r.model.script["who?"] = []step{func(_ context.Context, _ *model, yield func(agent.Delta, error) bool) {
		_ = yield(agent.Delta{Note: "script cannot answer. other answers instead.", Model: "other"}, nil) &&
			yield(agent.Delta{Text: "Me."}, nil) &&
			yield(agent.Delta{Usage: &agent.Usage{InputTokens: 100, OutputTokens: 10, CachedTokens: 40, Cost: 1_500_000, Currency: "USD"}, Stop: agent.StopEnd}, nil)
	}}
	events := r.stream(r.send("POST", "/api/query", alice, askBody("who?", ""))).rest()
	all := dataOf(events)
	for _, want := range []string{
		`{"type":"text","text":"script cannot answer. other answers instead.\n\n","source":"gateway"}`,
		`{"type":"stop","usage":{"input_tokens":100,"output_tokens":10,"total_tokens":110,"cached_tokens":40,"price":{"amount":0.0015,"currency":"USD"},"model":"other"}}`,
	} {
		if !strings.Contains(all, want) {
			t.Errorf("%s is missing in\n%s", want, all)
		}
	}
	var stored struct {
		Model    string
		Messages []struct{ Role, Model string }
	}
	r.get("/api/conversations/"+conversationOf(t, events), alice, &stored)
	if last := stored.Messages[len(stored.Messages)-1]; last.Model != "other" || stored.Model != "script" {
		t.Errorf("got %+v", stored)
	}
}
