package mcpsession

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Call runs a tool in the session of a key, at most once. A session that turns
// out to be dead before anything was sent is replaced. The error is the one
// that the server answered with (see [ServerError]), or says that no answer
// came; it wraps [ErrNotSent] when the call cannot have been carried out.
func (p *Pool) Call(ctx context.Context, key, tool string, args json.RawMessage) (*mcp.CallToolResult, error) {
	if len(args) == 0 {
		args = json.RawMessage("{}")
	}
	for {
		var t trace
		answer, fresh, err := p.once(withTrace(ctx, &t), &t, key, &mcp.CallToolParams{Name: tool, Arguments: args})
		switch {
		case err == nil:
			return answer, nil
		case t.sent.Load() && !t.rejected():
			return nil, t.explain(err)
		case t.sent.Load() || fresh || ctx.Err() != nil:
			return nil, NotSent(t.explain(err))
		}
	}
}

// once calls in the session of the key. fresh means that the session was opened
// for this call, so that another one would not help.
func (p *Pool) once(ctx context.Context, t *trace, key string, params *mcp.CallToolParams) (answer *mcp.CallToolResult, fresh bool, err error) {
	s, fresh, err := p.acquire(ctx, key)
	if err != nil {
		return nil, true, err
	}
	defer p.o.Client.follow(ctx, params)()
	t.sent.Store(!p.o.Traced)
	answer, err = s.CallTool(plainContext{ctx}, params)
	works := err == nil || ctx.Err() != nil || !t.rejected() && (isServerError(err) || errors.As(err, new(Rejected)))
	p.release(s, works)
	return answer, fresh, err
}

// Tools lists at most max tools of the server, in the session of a key.
func (p *Pool) Tools(ctx context.Context, key string, max int) ([]*mcp.Tool, error) {
	s, _, err := p.acquire(ctx, key)
	if err != nil {
		return nil, err
	}
	var tools []*mcp.Tool
	for t, err := range s.Tools(ctx, nil) {
		if err != nil {
			p.release(s, isServerError(err))
			return nil, err
		}
		if tools = append(tools, t); len(tools) == max {
			break
		}
	}
	p.release(s, true)
	return tools, nil
}
