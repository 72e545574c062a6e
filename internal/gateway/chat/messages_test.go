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
