package mcpserver

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"countersign.dev/internal/access"
	"countersign.dev/internal/fault"
	"countersign.dev/internal/httpx"
	"countersign.dev/internal/result"
	"countersign.dev/internal/telemetry"
)

// listTTL is how long a client may keep a list of tools. Short, because a role
// may change with the next token.
const listTTL = 5 * time.Second

func cacheable() mcp.Cacheable {
	return mcp.Cacheable{TTLMs: int(listTTL.Milliseconds()), CacheScope: "private"}
}

// The keys of a tool's _meta.
const (
	metaKind      = "countersign/kind"
	metaRoles     = "countersign/roles"
	metaUntrusted = "countersign/untrusted"
	metaFields    = "countersign/fields" // only to a gateway that fetches the catalogue
)

// answer is the one receiving middleware: it answers what concerns tools from
// the Service, for the principal of this very request.
func (s *Server) answer(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (_ mcp.Result, err error) {
		defer func() { // the SDK runs this on its own goroutines, where a panic would end the process
			if p := recover(); p != nil {
				err = s.protocolError(ctx, panicked(p))
			}
		}()
		switch req := req.(type) {
		case *mcp.ListToolsRequest:
			return s.listTools(ctx, req)
		case *mcp.CallToolRequest:
			return s.callTool(ctx, req)
		}
		return next(ctx, method, req)
	}
}

func panicked(p any) error { return fmt.Errorf("panic: %v\n%s", p, debug.Stack()) }

// calledBy puts the caller of this request into the context, over whatever a
// session's first request left there. Without one ctx comes back as it was.
func calledBy(ctx context.Context, extra *mcp.RequestExtra, meta mcp.Meta) (context.Context, *access.Principal, error) {
	if extra == nil || extra.TokenInfo == nil {
		return ctx, nil, fault.Unauthorized.New("Nobody is signed in.")
	}
	c, ok := extra.TokenInfo.Extra[callerKey].(caller)
	if !ok {
		return ctx, nil, fault.Unauthorized.New("Nobody is signed in.")
	}
	if c.names.Trace == "" {
		carried, _ := meta["traceparent"].(string)
		c.names.Trace = httpx.TraceID(carried)
	}
	return access.With(telemetry.WithRequest(ctx, c.names), c.who), c.who, nil
}

func (s *Server) listTools(ctx context.Context, req *mcp.ListToolsRequest) (mcp.Result, error) {
	var params mcp.ListToolsParams // the SDK leaves out what the message left out
	if req.Params != nil {
		params = *req.Params
	}
	ctx, who, err := calledBy(ctx, req.Extra, params.Meta)
	if err == nil {
		err = permit(who, listing)
	}
	if err != nil {
		return nil, s.protocolError(ctx, err)
	}
	if params.Cursor != "" {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "unknown cursor: the list has one page"}
	}
	infos, err := s.service.Tools(ctx)
	if err != nil {
		return nil, s.protocolError(ctx, err)
	}
	list := &mcp.ListToolsResult{Tools: make([]*mcp.Tool, 0, len(infos)), Cacheable: cacheable()}
	for _, info := range infos {
		tool := describe(info)
		if info.Fields != nil && who.Purpose() == access.PurposeCatalogue {
			tool.Meta[metaFields] = info.Fields
		}
		list.Tools = append(list.Tools, tool)
	}
	return list, nil
}

// protocolError says in JSON-RPC what has no other place: a list that cannot be
// made, a caller who is missing.
func (s *Server) protocolError(ctx context.Context, err error) error {
	f := fault.From(err)
	s.surface.Note(ctx, f)
	return &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: f.Error()}
}

func describe(info result.ToolInfo) *mcp.Tool {
	tool := &mcp.Tool{
		Name: info.Name, Title: info.Title, Description: info.Description,
		InputSchema: info.InputSchema,
		Annotations: &mcp.ToolAnnotations{
			Title:           info.Title,
			ReadOnlyHint:    info.Annotations.ReadOnly,
			IdempotentHint:  info.Annotations.Idempotent,
			DestructiveHint: &info.Annotations.Destructive,
			OpenWorldHint:   &info.Annotations.OpenWorld,
		},
		Meta: mcp.Meta{metaKind: info.Kind, metaRoles: info.Roles},
	}
	if len(info.OutputSchema) > 0 {
		tool.OutputSchema = info.OutputSchema
	}
	if len(info.Untrusted) > 0 {
		tool.Meta[metaUntrusted] = info.Untrusted
	}
	return tool
}

func (s *Server) callTool(ctx context.Context, req *mcp.CallToolRequest) (mcp.Result, error) {
	if req.Params == nil {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "missing params"}
	}
	ctx, who, err := calledBy(ctx, req.Extra, req.Params.Meta)
	if err != nil {
		return nil, s.protocolError(ctx, err)
	}
	if err := permit(who, calling); err != nil {
		return s.deliver(req, result.Failed(err)), nil
	}
	o := s.call(ctx, req.Params.Name, req.Params.Arguments)
	switch {
	case o.Fault() != nil && o.Fault().Code == fault.UnknownTool:
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: o.Fault().Message}
	case o.Pending() != nil:
		return s.deliverPending(req, o), nil
	}
	return s.deliver(req, o), nil
}

// call runs a tool. A tool that panics failed, which is the caller's to hear as
// any other failure of a tool.
func (s *Server) call(ctx context.Context, name string, args json.RawMessage) (o result.Outcome) {
	defer func() {
		if p := recover(); p != nil {
			o = result.Failed(panicked(p))
			s.surface.Note(ctx, o.Fault())
		}
	}()
	if len(args) == 0 || string(args) == "null" { // MCP lets a call without arguments leave them out
		args = json.RawMessage("{}")
	}
	return s.service.Call(ctx, name, args)
}

// callResult is a tool's answer on the wire. The SDK's own type keeps its
// resultType to itself.
type callResult struct {
	mcp.ResultBase
	ResultType string          `json:"resultType,omitempty"` // modern clients only
	Content    []text          `json:"content"`
	Structured json.RawMessage `json:"structuredContent"`
	IsError    bool            `json:"isError,omitempty"`
}

type text struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

// deliver encodes an outcome: structured, with a text copy for clients that
// read only that.
func (s *Server) deliver(req *mcp.CallToolRequest, o result.Outcome) mcp.Result {
	answer := s.service.Encode(o)
	r := &callResult{
		Content:    []text{{Type: "text", Text: string(answer)}},
		Structured: answer,
		IsError:    o.Fault() != nil,
	}
	if req.ProtocolVersion() >= modernEra {
		r.ResultType = "complete"
	}
	return r
}

// deliverPending alone chooses how a change that waits for its human reaches
// this client. Every client gets the envelope; asking a client that can ask its
// person (input_required, elicitation) belongs here and nowhere else.
func (s *Server) deliverPending(req *mcp.CallToolRequest, o result.Outcome) mcp.Result {
	return s.deliver(req, o)
}
