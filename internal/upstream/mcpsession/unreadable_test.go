package mcpsession

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// literal is a server in memory that answers each call with the result that its tool's name is.
func literal(t *testing.T) (p *Pool, opened *int) {
	opened = new(int)
	client := NewClient(func() {})
	p = NewPool(Options{Client: client, Connect: func(context.Context) (*mcp.ClientSession, error) {
		*opened++
		ours, theirs := mcp.NewInMemoryTransports()
		conn, err := theirs.Connect(t.Context())
		if err != nil {
			return nil, err
		}
		go answerLiterally(t.Context(), conn)
		return client.Connect(t.Context(), ours, nil)
	}})
	t.Cleanup(p.Close)
	return p, opened
}

func answerLiterally(ctx context.Context, conn mcp.Connection) {
	for {
		message, err := conn.Read(ctx)
		if err != nil {
			return
		}
		request, ok := message.(*jsonrpc.Request)
		if !ok || !request.IsCall() {
			continue
		}
		response := &jsonrpc.Response{ID: request.ID}
		switch request.Method {
		case "initialize":
			response.Result = json.RawMessage(`{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"literal","version":"1"}}`)
		case "tools/call":
			var params struct{ Name string }
			_ = json.Unmarshal(request.Params, &params)
			if notification, ok := strings.CutPrefix(params.Name, "notify "); ok {
				message, err := jsonrpc.DecodeMessage([]byte(notification))
				if err != nil || conn.Write(ctx, message) != nil {
					return
				}
				params.Name = `{"content":[{"type":"text","text":"sent"}]}`
			}
			if params.Name == "end" {
				_ = conn.Close()
				return
			}
			response.Result = json.RawMessage(params.Name)
		default:
			response.Error = &jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound, Message: "no"}
		}
		if conn.Write(ctx, response) != nil {
			return
		}
	}
}

// TestNoNotificationEndsTheProcess: the SDK handles what a server sends on a goroutine of its own. The ping is
// answered after what was sent before it.
func TestNoNotificationEndsTheProcess(t *testing.T) {
	p, opened := literal(t)
	for _, method := range []string{"notifications/progress", "notifications/elicitation/complete", "notifications/message", "notifications/tools/list_changed",
		"notifications/prompts/list_changed", "notifications/resources/list_changed", "notifications/resources/updated", "notifications/cancelled", "notifications/none"} {
		for _, params := range []string{`,"params":{"progressToken":[1],"progress":1}`, `,"params":{"progressToken":{"a":1}}`, `,"params":null`, `,"params":[]`, `,"params":{"requestId":{}}`, ``} {
			message := `{"jsonrpc":"2.0","method":"` + method + `"` + params + `}`
			if _, err := p.Call(t.Context(), "alice", "notify "+message, nil); err != nil {
				t.Errorf("%s: %v", message, err)
			}
			_ = p.use(t.Context(), "alice", func(ctx context.Context, s *session) error { return s.Ping(ctx, nil) })
		}
	}
	if *opened != 1 {
		t.Errorf("%d sessions were opened", *opened)
	}
}

// TestAnswerThatIsNoResultEndsItsCallAlone: the session goes on, and one that was
// closed is no such answer.
func TestAnswerThatIsNoResultEndsItsCallAlone(t *testing.T) {
	p, opened := literal(t)
	for _, answer := range []string{`{"content":[{"type":"weird"}]}`, `{"content":[null]}`, `{"content":5}`, `[]`, `"done"`} {
		if _, err := p.Call(t.Context(), "alice", answer, nil); !errors.Is(err, ErrUnreadable) || errors.Is(err, ErrNotSent) {
			t.Errorf("%s: got %v, want that it is no result", answer, err)
		}
	}
	if _, err := p.Call(t.Context(), "alice", `{"content":[]}`, nil); err != nil || *opened != 1 {
		t.Errorf("after them: got %v in session %d, want an answer in the first", err, *opened)
	}
	if _, err := p.Call(t.Context(), "alice", "end", nil); err == nil || errors.Is(err, ErrUnreadable) {
		t.Errorf("a server that ends: got %v", err)
	}
}
