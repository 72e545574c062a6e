package mcpserver

import (
	"context"
	"io"
	"sync/atomic"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"countersign.dev/internal/access"
	"countersign.dev/internal/fault"
)

// Stdio is a server for one client at a pair of streams. Its person is that of Token,
// which is proved again with each message: a session does not outlive its token.
type Stdio struct {
	Server *Server
	Token  string
}

// unclosed is an output that belongs to somebody else.
type unclosed struct{ io.Writer }

func (unclosed) Close() error { return nil }

// Serve answers messages, one a line, until in ends.
func (c Stdio) Serve(ctx context.Context, in io.Reader, out io.Writer) error {
	if _, err := c.person(ctx); err != nil {
		return err
	}
	c.Server.mcp.AddReceivingMiddleware(c.asPerson)
	return c.Server.mcp.Run(ctx, &mcp.IOTransport{Reader: io.NopCloser(in), Writer: unclosed{out}, MaxLineLength: int(c.Server.opts.MaxBody)})
}

// asPerson puts the caller where the gate puts that of a request over HTTP.
func (c Stdio) asPerson(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		var extra **mcp.RequestExtra
		switch req := req.(type) {
		case *mcp.ListToolsRequest:
			extra = &req.Extra
		case *mcp.CallToolRequest:
			extra = &req.Extra
		default:
			return next(ctx, method, req)
		}
		who, err := c.person(ctx)
		if err != nil {
			return nil, c.Server.protocolError(ctx, err)
		}
		*extra = &mcp.RequestExtra{TokenInfo: &auth.TokenInfo{Extra: map[string]any{callerKey: caller{who: who, cancelled: new(atomic.Bool)}}}}
		return next(ctx, method, req)
	}
}

// person proves the token, and counts a message for its person.
func (c Stdio) person(ctx context.Context) (*access.Principal, error) {
	who, err := c.Server.opts.Verify(ctx, c.Token)
	switch {
	case err != nil:
		return nil, err
	case who == nil || who.Purpose() != access.PurposeNone:
		return nil, fault.Unauthorized.New("The token is not that of a person.")
	}
	if c.Server.opts.Surface != "" {
		who = who.WithSurface(c.Server.opts.Surface)
	}
	return who, c.Server.opts.Quotas.Request(ctx, who.Owner(), 0)
}
