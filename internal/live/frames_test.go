package live

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"countersign.dev/internal/agent"
	"countersign.dev/internal/conversation"
	"countersign.dev/internal/fault"
	"countersign.dev/internal/testkit"
)

// TestShapesOfMessages keeps what clients read, byte for byte: every kind of event,
// on a WebSocket and in the stream of a person.
func TestShapesOfMessages(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	envelope := json.RawMessage(`{"status":"success","data":[{"name":"Nina <Patel>"}]}`)
	events := []conversation.Event{
		{Type: conversation.Started, Conversation: "c", Request: "r", Text: "Who?", Model: "m"},
		{Type: conversation.ToolStarted, CallID: "1", Tool: "list_employees", Server: "hr", Message: "List employees…", Args: json.RawMessage(`{"limit":1}`)},
		{Type: conversation.ToolProgress, CallID: "1", Tool: "list_employees", Server: "hr", Message: "1 of 2"},
		{Type: conversation.ToolFinished, CallID: "1", Tool: "list_employees", Server: "hr", Message: "List employees: 1 row", Data: envelope},
		{Type: conversation.Text, Text: "Nina."},
		{Type: conversation.Text, Text: "There are more.", Source: "gateway"},
		{Type: conversation.Note, Kind: "invented", Text: "Not from the data: $5 is the model's own.", Ranges: []agent.TextRange{{Start: 3, End: 5}}},
		{Type: conversation.Truncated, Tool: "list_employees", Text: "There are more rows."},
		{Type: conversation.Unavailable, Warnings: []agent.Warning{{Server: "sales", Code: "TIMEOUT", Message: "It did not answer."}}},
		{Type: conversation.Pending, Server: "hr", Data: json.RawMessage(`{"status":"pending_confirmation","confirmationId":"x"}`)},
		{Type: conversation.Answered, Confirmation: "x", Status: "success", Text: "Done.", At: at},
		{Type: conversation.Failed, Text: "The model did not answer.", Code: "TIMEOUT"},
		{Type: conversation.Stopped, Code: "CANCELLED", Usage: &agent.Usage{InputTokens: 7, OutputTokens: 3}},
		{Type: conversation.Done},
		{Type: conversation.Titled, Conversation: "c", Text: "Who?"},
		{Type: conversation.Turn, Conversation: "c", Status: conversation.Running},
		{Type: conversation.Change, Confirmation: "x", Server: "hr", Tool: "delete_employee", Status: "pending", Expires: at},
	}
	var shapes strings.Builder
	for i, e := range events {
		e.ID = idOf(int64(i + 1))
		socket, stream := "-", "-"
		if f, ok := frameOf(e); ok {
			socket = string(f.encode())
		}
		if news := newsOf(e); news != nil {
			b, err := json.Marshal(news)
			if err != nil {
				t.Fatal(err)
			}
			stream = string(b)
		}
		shapes.WriteString(string(e.Type) + "\n  ws     " + socket + "\n  events " + stream + "\n")
	}
	greeting := frame{Type: "connection", Payload: (&connection{id: "k"}).greeting(position{state: "connected"})}
	shapes.WriteString("connected\n  ws     " + string(greeting.encode()) + "\n")
	shapes.WriteString("error\n  ws     " + string(errorFrame(fault.BadRequest.New("No.").Suggest("Yes."), "m1").encode()) + "\n")
	testkit.Golden(t, "shapes.txt", []byte(shapes.String()))
}

// FuzzClientMessage: whatever a client sends is read as one of the four messages or
// rejected with a sentence, and what is read says the same when it is written again.
func FuzzClientMessage(f *testing.F) {
	for _, seed := range []string{`{"type":"message","payload":{"text":"hello"}}`, `{"type":"confirm","payload":{"confirmationId":"x","approved":true,"digest":"d"}}`, `{"type":"ping"}`, `{`, `[]`, `null`, `{"type":"message","payload":null}`, `{"TYPE":"ping"}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		m, err := parse[message](body, "The message")
		if err != nil {
			if fault.From(err).Code != fault.BadRequest || fault.From(err).Message == "" {
				t.Fatalf("%q: %v", body, err)
			}
			return
		}
		again, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		if same, err := parse[message](again, "The message"); err != nil || same.Type != m.Type {
			t.Fatalf("%q reads as %+v, written again as %+v (%v)", body, m, same, err)
		}
		_, _ = parse[questionPayload](m.Payload, "payload")
		_, _ = parse[answerPayload](m.Payload, "payload")
	})
}
