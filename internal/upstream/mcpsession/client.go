package mcpsession

import (
	"context"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"countersign.dev/internal/result"
)

// Client is an MCP client of the host. It declares no elicitation, sampling or
// roots: a person approves on the gateway's card, not in the middle of a call.
type Client struct {
	*mcp.Client
	reports sync.Map // progress token → func(result.Progress)
	tokens  atomic.Int64
}

// NewClient makes a client. toolsChanged runs when a server says that its tools
// have changed; nil ignores that.
func NewClient(toolsChanged func()) *Client {
	c := &Client{}
	options := &mcp.ClientOptions{
		Capabilities:                &mcp.ClientCapabilities{},
		MultiRoundTrip:              &mcp.MultiRoundTripOptions{Disabled: true},
		ProgressNotificationHandler: c.report,
	}
	if toolsChanged != nil {
		options.ToolListChangedHandler = func(context.Context, *mcp.ToolListChangedRequest) { toolsChanged() }
	}
	c.Client = mcp.NewClient(&mcp.Implementation{Name: "countersign", Version: "1"}, options)
	c.AddReceivingMiddleware(recovering, refuseRequests)
	return c
}

// recovering makes an error of a panic. The SDK handles what a server sends on goroutines of its own, where
// one would end the process.
func recovering(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (answer mcp.Result, err error) {
		defer func() {
			if p := recover(); p != nil {
				err = &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: fmt.Sprintf("%s cannot be handled: %v", method, p)}
			}
		}()
		return next(ctx, method, req)
	}
}

// refuseRequests refuses what a server asks of the host: it has no folders, no
// model and no person to give. The SDK would answer some of it, and keeps a lock when the end of an elicitation
// has no parameters.
func refuseRequests(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		switch method {
		case "roots/list", "sampling/createMessage", "elicitation/create", "notifications/elicitation/complete":
			return nil, &jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound, Message: "this host does not do " + method}
		}
		return next(ctx, method, req)
	}
}

// follow asks the server for the call's progress when the caller wants it. The
// returned function ends that.
func (c *Client) follow(ctx context.Context, params *mcp.CallToolParams) (end func()) {
	report := result.ProgressOf(ctx)
	if report == nil {
		return func() {}
	}
	token := strconv.FormatInt(c.tokens.Add(1), 10)
	params.SetProgressToken(token)
	c.reports.Store(token, report)
	return func() { c.reports.Delete(token) }
}

func (c *Client) report(_ context.Context, req *mcp.ProgressNotificationClientRequest) {
	if req.Params == nil {
		return
	}
	token, ours := req.Params.ProgressToken.(string) // a server may send anything, such as a list
	if !ours {
		return
	}
	if report, ok := c.reports.Load(token); ok {
		report.(func(result.Progress))(result.Progress{Done: req.Params.Progress, Total: req.Params.Total, Message: req.Params.Message})
	}
}
