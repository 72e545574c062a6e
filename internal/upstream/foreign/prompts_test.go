package foreign

import (
	"context"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// TestNullInPromptsIsLeftOut: a server may write it where a list has entries.
func TestNullInPromptsIsLeftOut(t *testing.T) {
	there, here := mcp.NewInMemoryTransports()
	server := mcp.NewServer(&mcp.Implementation{Name: "x", Version: "1"}, &mcp.ServerOptions{Capabilities: &mcp.ServerCapabilities{Prompts: &mcp.PromptCapabilities{}}})
	server.AddReceivingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, r mcp.Request) (mcp.Result, error) {
			switch method {
			case "prompts/list":
				return &mcp.ListPromptsResult{Prompts: []*mcp.Prompt{nil, {Name: "greet", Arguments: []*mcp.PromptArgument{nil, {Name: "who"}}}}}, nil
			case "prompts/get":
				return &mcp.GetPromptResult{Messages: []*mcp.PromptMessage{nil, {Role: "user", Content: &mcp.TextContent{Text: "Hello"}}}}, nil
			}
			return next(ctx, method, r)
		}
	})
	if _, err := server.Connect(t.Context(), there, nil); err != nil {
		t.Fatal(err)
	}
	s := New(Options{Name: "x", Connection: inMemory{here}})
	defer s.Close()
	if all, err := s.Prompts(t.Context()); err != nil || len(all) != 1 || all[0].Name != "greet" || len(all[0].Arguments) != 1 {
		t.Errorf("listed %+v, %v", all, err)
	}
	if text, err := s.Prompt(t.Context(), "greet", nil); err != nil || text != "Hello" {
		t.Errorf("got %q, %v", text, err)
	}
}

// inMemory is a connection in this process.
type inMemory struct{ transport mcp.Transport }

func (c inMemory) Transport() mcp.Transport { return c.transport }
func (c inMemory) Traced() bool             { return false }
