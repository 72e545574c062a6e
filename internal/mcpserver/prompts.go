package mcpserver

import (
	"context"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"countersign.dev/internal/fault"
	"countersign.dev/internal/gate"
	"countersign.dev/internal/result"
)

// Prompts are texts of other servers that a server offers to the principal in the
// context.
type Prompts interface {
	Prompts(ctx context.Context) ([]result.Prompt, error)
	Prompt(ctx context.Context, server, name string, args map[string]string) (string, error)
}

// offers reports whether a message is of a method that exists, and of a feature that this
// server declares. The SDK answers those of others with empty lists, or as if it had done
// something. A response has no method.
func (s *Server) offers(m message) bool {
	feature, _, _ := strings.Cut(m.method, "/")
	switch {
	case m.method == "":
		return true
	case !m.known() || s.features:
		return m.known()
	case feature == "prompts":
		return s.opts.Prompts != nil
	case feature == "resources":
		return s.opts.Resources != nil && !strings.HasSuffix(m.method, "subscribe")
	}
	return feature != "logging" && feature != "completion"
}

// listPrompts lists the texts as server.prompt.
func (s *Server) listPrompts(ctx context.Context, req *mcp.ListPromptsRequest) (mcp.Result, error) {
	var params mcp.ListPromptsParams // nil when the message has none
	if req.Params != nil {
		params = *req.Params
	}
	ctx, _, err := s.lister(ctx, req.Extra, params.Meta, params.Cursor)
	if err != nil {
		return nil, err
	}
	all, err := s.opts.Prompts.Prompts(ctx)
	if err != nil {
		return nil, s.protocolError(ctx, err)
	}
	if len(all) == 0 {
		return nil, message{method: "prompts/list"}.unknown() // they are not declared to them
	}
	list := &mcp.ListPromptsResult{Prompts: []*mcp.Prompt{}, Cacheable: cacheable()}
	for _, p := range all {
		one := &mcp.Prompt{Name: p.Server + "." + p.Name, Title: p.Title, Description: p.Description, Meta: mcp.Meta{metaUntrusted: true}}
		for _, a := range p.Arguments {
			one.Arguments = append(one.Arguments, &mcp.PromptArgument{Name: a.Name, Description: a.Description, Required: a.Required})
		}
		list.Prompts = append(list.Prompts, one)
	}
	return list, nil
}

// hasPrompts reports whether another server has a prompt for the caller.
func hasPrompts(ctx context.Context, of Prompts) bool {
	all, err := of.Prompts(ctx)
	return err != nil || len(all) > 0
}

// getPrompt returns one as a text that its client's person sees. It is what another
// server wrote, and is marked so.
func (s *Server) getPrompt(ctx context.Context, req *mcp.GetPromptRequest) (mcp.Result, error) {
	ctx, who, err := withCaller(ctx, req.Extra, req.Params.Meta)
	if err == nil {
		err = gate.Permit(who, gate.Calling)
	}
	if err != nil {
		return nil, s.protocolError(ctx, err)
	}
	server, name, _ := strings.Cut(req.Params.Name, ".")
	said, err := s.opts.Prompts.Prompt(ctx, server, name, req.Params.Arguments)
	if fault.Is(err, fault.ServerNotFound) && !hasPrompts(ctx, s.opts.Prompts) {
		return nil, message{method: "prompts/get"}.unknown()
	}
	if f := fault.From(err); err != nil && f.Kind() != fault.Internal && f.Kind() != fault.Unavailable {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: f.Message}
	}
	if err != nil {
		return nil, s.protocolError(ctx, err)
	}
	return &promptResult{
		ResultBase: mcp.ResultBase{Meta: mcp.Meta{metaUntrusted: true}}, ResultType: resultType(versionOf(req)),
		Messages: []*mcp.PromptMessage{{Role: "user", Content: &mcp.TextContent{Text: said}}},
	}, nil
}

// promptResult is a prompt on the wire: see callResult.
type promptResult struct {
	mcp.ResultBase
	ResultType string               `json:"resultType,omitempty"` // modern clients only
	Messages   []*mcp.PromptMessage `json:"messages"`
}
