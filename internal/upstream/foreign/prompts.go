package foreign

import (
	"context"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
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
// is left out. A prompt that the server does not list, and a missing argument, are refused
// without it.
func (s *Server) Prompt(ctx context.Context, name string, args map[string]string) (string, error) {
	if name == Instructions {
		_, instructions, err := s.pool.Prompts(ctx, shared, maxPrompts)
		return fault.Clip(instructions, maxPromptText), err
	}
	listed, _, err := s.pool.Prompts(ctx, shared, maxPrompts)
	if err == nil {
		err = s.checkPrompt(listed, name, args)
	}
	if err != nil {
		return "", err
	}
	got, err := s.pool.Prompt(ctx, shared, name, args)
	switch e := mcpsession.ServerError(err); {
	case e != nil && e.Code == jsonrpc.CodeInvalidParams:
		return "", fault.InvalidInput.New("%s", s.failed(e.Message).Message).With("server", s.o.Name)
	case e != nil:
		return "", fault.OperationFailed.New("The %s service failed to write this text.", s.o.Name).With("server", s.o.Name).Because(err)
	case err != nil:
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

// checkPrompt refuses a prompt that is not listed, or without an argument that it needs.
func (s *Server) checkPrompt(listed []*mcp.Prompt, name string, args map[string]string) error {
	at := slices.IndexFunc(listed, func(p *mcp.Prompt) bool { return p.Name == name })
	if at < 0 {
		return fault.InvalidInput.New("The %s service has no text %q.", s.o.Name, fault.Clip(name, 128))
	}
	for _, a := range listed[at].Arguments {
		if a == nil || !a.Required {
			continue
		}
		if _, given := args[a.Name]; !given {
			return fault.InvalidInput.New("The text %q needs the argument %q.", fault.Clip(name, 128), fault.Clip(a.Name, 128))
		}
	}
	return nil
}
