package mcpserver

import (
	"context"
	"slices"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"countersign.dev/internal/result"
)

// readByOne are resources that one tool reads: they are declared to those who may call it.
type readByOne interface{ Tool() string }

// declare takes out of what the server declares what it does not offer to a caller: prompts
// where no other server has one for them, and resources that they may not read.
func declare(ctx context.Context, s *Server, req mcp.Request, answer mcp.Result) {
	var declared *mcp.ServerCapabilities // a copy for this answer
	switch answer := answer.(type) {
	case *mcp.InitializeResult:
		declared = answer.Capabilities
	case *mcp.DiscoverResult:
		declared = answer.Capabilities
	}
	if declared == nil {
		return
	}
	ctx, _, err := withCaller(ctx, req.GetExtra(), nil)
	if err != nil {
		return
	}
	if s.opts.Prompts != nil && !hasPrompts(ctx, s.opts.Prompts) {
		declared.Prompts = nil
	}
	if !mayRead(ctx, s) {
		declared.Resources = nil
	}
}

// mayRead reports whether the caller may read resources, as far as one tool decides that.
func mayRead(ctx context.Context, s *Server) bool {
	of, one := s.opts.Resources.(readByOne)
	if !one {
		return true
	}
	tools, err := s.service.Tools(ctx)
	return err != nil || slices.ContainsFunc(tools, func(t result.ToolInfo) bool { return t.Name == of.Tool() })
}
