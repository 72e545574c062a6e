package mcpsession

import (
	"context"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Prompts lists at most max prompts of the server, in the session of a key, and its
// instructions. A server without prompts has none.
func (p *Pool) Prompts(ctx context.Context, key string, max int) (prompts []*mcp.Prompt, instructions string, err error) {
	s, _, err := p.acquire(ctx, key)
	if err != nil {
		return nil, "", err
	}
	about := s.InitializeResult()
	if about == nil || about.Capabilities == nil || about.Capabilities.Prompts == nil {
		p.release(s, true)
		if about != nil {
			instructions = about.Instructions
		}
		return nil, instructions, nil
	}
	for one, err := range s.Prompts(ctx, nil) {
		if err != nil {
			p.release(s, isServerError(err))
			return nil, "", err
		}
		if prompts = append(prompts, one); len(prompts) == max {
			break
		}
	}
	p.release(s, true)
	return prompts, about.Instructions, nil
}

// Prompt gets a prompt of the server.
func (p *Pool) Prompt(ctx context.Context, key, name string, args map[string]string) (*mcp.GetPromptResult, error) {
	s, _, err := p.acquire(ctx, key)
	if err != nil {
		return nil, err
	}
	got, err := s.GetPrompt(ctx, &mcp.GetPromptParams{Name: name, Arguments: args})
	p.release(s, err == nil || isServerError(err))
	return got, err
}
