package foreign

import (
	"context"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"countersign.dev/internal/fault"
	"countersign.dev/internal/result"
	"countersign.dev/internal/upstream/mcpsession"
)

// Bounds of a server's prompts.
const (
	maxPrompts    = 100
	maxPromptText = 16 << 10 // bytes
)

// Instructions is the name under which a server's instructions are among its prompts:
// they are a text like any other, and no model obeys them.
const Instructions = "instructions"

// Prompts lists the server's prompts and its instructions.
func (s *Server) Prompts(ctx context.Context) ([]result.Prompt, error) {
	listed, instructions, err := s.pool.Prompts(ctx, shared, maxPrompts)
	if err != nil {
		return nil, err
	}
	all := []result.Prompt{}
	if instructions != "" {
		all = append(all, result.Prompt{Name: Instructions, Title: "What the server says about itself", Server: s.o.Name})
	}
	for _, p := range listed {
		if p.Name == Instructions {
			continue
		}
		one := result.Prompt{Name: fault.Clip(p.Name, 128), Title: fault.Clip(p.Title, 200), Description: fault.Clip(p.Description, 1000), Server: s.o.Name}
		for _, a := range p.Arguments {
			if a == nil {
				continue
			}
			one.Arguments = append(one.Arguments, result.PromptArgument{Name: fault.Clip(a.Name, 128), Description: fault.Clip(a.Description, 500), Required: a.Required})
		}
		all = append(all, one)
	}
	return all, nil
}

// Prompt returns the text of a prompt, cut where it is too long. What is no text in it
// is left out.
func (s *Server) Prompt(ctx context.Context, name string, args map[string]string) (string, error) {
	if name == Instructions {
		_, instructions, err := s.pool.Prompts(ctx, shared, maxPrompts)
		return fault.Clip(instructions, maxPromptText), err
	}
	got, err := s.pool.Prompt(ctx, shared, name, args)
	if e := mcpsession.ServerError(err); e != nil {
		return "", s.failed(e.Message)
	}
	if err != nil {
		return "", err
	}
	var texts []string
	for _, m := range got.Messages {
		if m == nil {
			continue
		}
		if text, ok := m.Content.(*mcp.TextContent); ok {
			texts = append(texts, text.Text)
		}
	}
	return fault.Clip(strings.Join(texts, "\n\n"), maxPromptText), nil
}
