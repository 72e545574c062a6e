package mcpsession

import (
	"context"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Prompts lists at most max prompts of the server, in the session of a key, and its
// instructions. A server without prompts has none.
func (p *Pool) Prompts(ctx context.Context, key string, max int) (prompts []*mcp.Prompt, instructions string, err error) {
	err = p.use(ctx, key, func(ctx context.Context, s *session) error {
		prompts, instructions = nil, ""
		about := s.InitializeResult()
		if about == nil {
			return nil
		}
		instructions = about.Instructions
		if about.Capabilities == nil || about.Capabilities.Prompts == nil {
			return nil
		}
		prompts, err = listed(max, func(cursor string) ([]*mcp.Prompt, string, error) {
			page, err := s.ListPrompts(ctx, &mcp.ListPromptsParams{Cursor: cursor})
			if err != nil {
				return nil, "", err
			}
			return page.Prompts, page.NextCursor, nil
		})
		return err
	})
	return prompts, instructions, err
}

// Prompt gets a prompt of the server.
func (p *Pool) Prompt(ctx context.Context, key, name string, args map[string]string) (got *mcp.GetPromptResult, err error) {
	err = p.use(ctx, key, func(ctx context.Context, s *session) error {
		got, err = s.GetPrompt(ctx, &mcp.GetPromptParams{Name: name, Arguments: args})
		return err
	})
	return got, err
}
