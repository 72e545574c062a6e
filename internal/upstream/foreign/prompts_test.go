package foreign

import (
	"context"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"countersign.dev/internal/fault"
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

// TestPromptsAreCheckedBeforeTheirServerIsAsked: for their name and arguments. What fails at
// the server is reported in our words, unless it is about the arguments.
func TestPromptsAreCheckedBeforeTheirServerIsAsked(t *testing.T) {
	there, here := mcp.NewInMemoryTransports()
	server := mcp.NewServer(&mcp.Implementation{Name: "x", Version: "1"}, nil)
	asked := 0
	greet := &mcp.Prompt{Name: "greet", Arguments: []*mcp.PromptArgument{{Name: "tone"}, {Name: "who", Required: true}}}
	server.AddPrompt(greet, func(_ context.Context, r *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
		asked++
		switch r.Params.Arguments["who"] {
		case "all":
			return nil, &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "a secret of the server"}
		case "7":
			return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "7 is no person"}
		}
		return &mcp.GetPromptResult{Messages: []*mcp.PromptMessage{{Role: "user", Content: &mcp.TextContent{Text: "Hello"}}}}, nil
	})
	if _, err := server.Connect(t.Context(), there, nil); err != nil {
		t.Fatal(err)
	}
	s := New(Options{Name: "x", Connection: inMemory{here}})
	defer s.Close()
	for _, c := range []struct {
		name  string
		args  map[string]string
		code  *fault.Code // nil: none
		want  string
		asked int
	}{
		{"greet", map[string]string{"who": "Nina"}, nil, "Hello", 1},
		{"greet", map[string]string{"who": ""}, nil, "Hello", 1},
		{"greet", map[string]string{"tone": "warm"}, fault.InvalidInput, `needs the argument "who"`, 0},
		{"greet", nil, fault.InvalidInput, `needs the argument "who"`, 0},
		{"other", nil, fault.InvalidInput, `has no text "other"`, 0},
		{"greet", map[string]string{"who": "all"}, fault.OperationFailed, "The x service failed", 1},
		{"greet", map[string]string{"who": "7"}, fault.InvalidInput, "7 is no person", 1},
	} {
		asked = 0
		text, err := s.Prompt(t.Context(), c.name, c.args)
		if f := fault.From(err); err != nil {
			text = f.Message
		}
		if (c.code == nil) != (err == nil) || c.code != nil && !fault.Is(err, c.code) || !strings.Contains(text, c.want) || strings.Contains(text, "secret") || asked != c.asked {
			t.Errorf("%s %v: got %q (%v), asked %d times", c.name, c.args, text, err, asked)
		}
	}
}

// inMemory is a connection in this process.
type inMemory struct{ transport mcp.Transport }

func (c inMemory) Transport() mcp.Transport { return c.transport }
func (c inMemory) Traced() bool             { return false }
