package chat

import (
	"encoding/json"
	"strings"
	"testing"

	"countersign.dev/internal/agent"
	"countersign.dev/internal/conversation"
	"countersign.dev/internal/result"
)

// A stored answer has marks around untrusted text, for the model. Who opens the
// conversation again reads the text alone.
func TestStoredAnswersAreShownWithoutMarks(t *testing.T) {
	answer, marked := result.EncodeForModel(result.Success(json.RawMessage(`{"deal_name":"Acme <Renewal>"}`), nil, ""), []string{"deal_name"})
	if !marked {
		t.Fatalf("%s has no marks", answer)
	}
	m := conversation.Message{Message: agent.Message{Parts: []agent.Part{agent.CallResult{ID: "1", Tool: "list_deals", Answer: answer}}}}
	views := messagesOf(m, agent.Message{})
	if len(views) != 1 || strings.Contains(views[0].Content, "untrusted") || !strings.Contains(views[0].Content, `"deal_name":"Acme <Renewal>"`) {
		t.Errorf("got %+v", views)
	}
}

// A page with others after it says where they begin, by its last stored message: the
// results of that one have ids of their own.
func TestPageSaysWhereTheNextOneBegins(t *testing.T) {
	page := conversation.Stored{More: true, LastEvent: "9-0", Messages: []conversation.Message{
		{ID: "1-0", Message: agent.Message{Role: agent.Assistant, Parts: []agent.Part{agent.Call{ID: "a", Tool: "list_deals", Args: json.RawMessage(`{"n":1}`)}}}},
		{ID: "2-0", Message: agent.Message{Role: agent.ToolRole, Parts: []agent.Part{agent.CallResult{ID: "a", Tool: "list_deals", Answer: json.RawMessage(`{}`)}}}},
	}}
	view := pageOf(conversation.Conversation{}, page)
	if view.Next != "2-0" || view.LastEventID != "9-0" || len(view.Messages) != 1 || string(view.Messages[0].Args) != `{"n":1}` {
		t.Errorf("got %+v", view)
	}
	page.More = false
	if view := pageOf(conversation.Conversation{}, page); view.Next != "" {
		t.Errorf("the last page: got %q", view.Next)
	}
}
