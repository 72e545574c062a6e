package mcpserver

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime/debug"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"countersign.dev/internal/access"
	"countersign.dev/internal/admission"
	"countersign.dev/internal/fault"
	"countersign.dev/internal/gate"
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

// answer is the receiving middleware: it answers tools/list and tools/call from
// the Toolbox, for the principal of this request.
func (s *Server) answer(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (_ mcp.Result, err error) {
		defer func() { // on the SDK's goroutines a panic would end the process
			if p := recover(); p != nil {
				err = s.protocolError(ctx, panicked(p))
			}
		}()
		switch req := req.(type) {
		case *mcp.ListToolsRequest:
			return s.listTools(ctx, req)
		case *mcp.CallToolRequest:
			return s.callTool(ctx, req)
		case *mcp.ListPromptsRequest:
			if s.opts.Prompts != nil {
				return s.listPrompts(ctx, req)
			}
		case *mcp.GetPromptRequest:
			if s.opts.Prompts != nil {
				return s.getPrompt(ctx, req)
			}
		case *mcp.ServerRequest[*mcp.InitializeParams]:
			s.lane.know(req)
		}
		return next(ctx, method, req)
	}
}

func panicked(p any) error { return fmt.Errorf("panic: %v\n%s", p, debug.Stack()) }

// withCaller puts the caller of this request into the context, in place of the
// caller of a session's first request. Without one it returns ctx unchanged.
func withCaller(ctx context.Context, extra *mcp.RequestExtra, meta mcp.Meta) (context.Context, *access.Principal, error) {
	c := callerOf(extra)
	if c.who == nil {
		return ctx, nil, fault.Unauthorized.New("The request has no caller.")
	}
	if c.names.Trace == "" {
		carried, _ := meta["traceparent"].(string)
		c.names.Trace = httpx.TraceID(carried)
	}
	return admission.With(access.With(telemetry.WithRequest(ctx, c.names), c.who), c.work), c.who, nil
}

func (s *Server) listTools(ctx context.Context, req *mcp.ListToolsRequest) (mcp.Result, error) {
	var params mcp.ListToolsParams // nil when the message has none
	if req.Params != nil {
		params = *req.Params
	}
	ctx, who, err := s.lister(ctx, req.Extra, params.Meta, params.Cursor)
	if err != nil {
		return nil, err
	}
	infos, err := s.service.Tools(ctx)
	if err != nil {
		return nil, s.protocolError(ctx, err)
	}
	if s.showsConfirmations(who) {
		infos = withConfirmationTool(infos)
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

// lister returns the caller of a list and a context that has them, or the JSON-RPC error
// by which the list is refused. Lists have one page, so every cursor is unknown.
func (s *Server) lister(ctx context.Context, extra *mcp.RequestExtra, meta mcp.Meta, cursor string) (context.Context, *access.Principal, error) {
	ctx, who, err := withCaller(ctx, extra, meta)
	if err == nil {
		err = gate.Permit(who, gate.Listing)
	}
	if err != nil {
		return ctx, nil, s.protocolError(ctx, err)
	}
	if cursor != "" {
		return ctx, nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "unknown cursor: the list has one page"}
	}
	return ctx, who, nil
}

// protocolError makes a JSON-RPC error of what cannot be a tool's result: a
// failed list, a missing caller.
func (s *Server) protocolError(ctx context.Context, err error) error {
	f := fault.From(err)
	s.errors.LogCause(ctx, f)
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
	ctx, who, err := withCaller(ctx, req.Extra, req.Params.Meta)
	if err != nil {
		return nil, s.protocolError(ctx, err)
	}
	reported, end := withProgress(ctx, req)
	o := s.run(reported, who, req.Params.Name, req.Params.Arguments)
	end()
	if ctx.Err() != nil { // its client no longer waits
		callerOf(req.Extra).cancelled.Store(true)
	}
	if o.Fault() != nil && o.Fault().Code == fault.UnknownTool {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: o.Fault().Message}
	}
	return s.deliver(req, o), nil
}

// run runs a tool for a client of MCP, on the SDK's lane and on ours. A panic is an
// outcome like any other failure of a tool.
func (s *Server) run(ctx context.Context, who *access.Principal, name string, args json.RawMessage) (o result.Outcome) {
	defer func() {
		if p := recover(); p != nil {
			o = result.Failed(panicked(p))
			s.errors.LogCause(ctx, o.Fault())
		}
	}()
	if err := gate.Permit(who, gate.Calling); err != nil {
		return result.Failed(err)
	}
	if len(args) == 0 || string(args) == "null" { // MCP lets a call without arguments leave them out
		args = json.RawMessage("{}")
	}
	if name == getConfirmation && s.showsConfirmations(who) {
		return showConfirmation(ctx, s.opts.Show, args)
	}
	return s.service.Call(ctx, name, args)
}

// callResult is a tool's result on the wire. The SDK's own type does not export
// its resultType.
type callResult struct {
	mcp.ResultBase
	ResultType string          `json:"resultType,omitempty"` // modern clients only
	Content    []any           `json:"content"`
	Structured json.RawMessage `json:"structuredContent"`
	IsError    bool            `json:"isError,omitempty"`
}

type text struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

// deliver encodes an outcome: structured, with a text copy for clients that
// read only that, and links to the resources that it names.
func (s *Server) deliver(req *mcp.CallToolRequest, o result.Outcome) mcp.Result {
	answer := s.service.Encode(o)
	r := &callResult{
		Content:    []any{text{Type: "text", Text: string(answer)}},
		Structured: answer,
		IsError:    o.Fault() != nil,
	}
	if req.ProtocolVersion() >= linksVersion {
		for _, link := range s.links(req.Params.Name, o, answer) {
			r.Content = append(r.Content, link)
		}
	}
	r.ResultType = resultType(req.ProtocolVersion())
	return r
}

// resultType is what a result that is whole says of itself in a version.
func resultType(version string) string {
	if version < modernVersion {
		return ""
	}
	return "complete"
}

// linksVersion is the first protocol version whose clients know links in answers.
const linksVersion = "2025-06-18"

// modernVersion is the first protocol version without a handshake.
const modernVersion = "2026-07-28"

// caller is the principal of one request, the ids of the request, and whether its
// client has cancelled it: then the response stays empty.
type caller struct {
	who       *access.Principal
	names     telemetry.Request
	cancelled *atomic.Bool
	work      *admission.Work
}

const callerKey = "countersign/caller"

// callerOf returns the caller of a request; zero when it has none.
func callerOf(extra *mcp.RequestExtra) caller {
	if extra == nil || extra.TokenInfo == nil {
		return caller{}
	}
	c, _ := extra.TokenInfo.Extra[callerKey].(caller)
	return c
}
