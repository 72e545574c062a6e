package chat_test

import (
	"encoding/json"
	"strings"
	"testing"

	"countersign.dev/internal/agent"
	"countersign.dev/internal/gateway/chat"
	"countersign.dev/internal/result"
)

func TestProgressIsAToolEvent(t *testing.T) {
	call := agent.Call{ID: "c1", Tool: "notes.import", Args: json.RawMessage(`{"n":1}`)}
	for message, progress := range map[string]result.Progress{
		"half":                         {Done: 1, Total: 2, Message: "half"},
		"notes.import… 1.5 of 2":       {Done: 1.5, Total: 2},
		"notes.import… 7":              {Done: 7},
		strings.Repeat("ä", 200) + "…": {Message: strings.Repeat("ä", 300)},
	} {
		want := `{"type":"tool","state":"processing","tool":"notes.import","server":"notes","message":"` + message + `","callId":"c1"}`
		if got := string(chat.Draw(agent.ToolProgress{Call: call, Server: "notes", Progress: progress})); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}
