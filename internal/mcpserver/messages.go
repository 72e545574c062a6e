package mcpserver

import (
	"context"
	"encoding/json"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"countersign.dev/internal/access"
	"countersign.dev/internal/fault"
	"countersign.dev/internal/gate"
	"countersign.dev/internal/result"
)

// answer is the receiving middleware: it answers tools/list and tools/call from
// the Toolbox, for the principal of this request.
func (s *Server) answer(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (_ mcp.Result, err error) {
		defer func() { // on the SDK's goroutines a panic would end the process
			if p := recover(); p != nil {
				err = s.protocolError(ctx, fault.Panic(method, p))
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
			if req.Session.InitializeParams() != nil {
				return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: initializedBefore}
			}
			s.lane.know(req)
		}
		answer, err := next(ctx, method, req)
		if err == nil {
			declare(ctx, s, req, answer)
		}
		return answer, err
	}
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
		infos = s.confirmations.addTo(infos)
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
	callerOf(req.Extra).cancelled.Store(unanswered(ctx, o))
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
			o = result.Failed(fault.Panic(name, p))
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
		return s.confirmations.call(ctx, args)
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
	if versionOf(req) >= linksVersion {
		for _, link := range s.links(req.Params.Name, o, answer) {
			r.Content = append(r.Content, link)
		}
	}
	r.ResultType = resultType(versionOf(req))
	return r
}

// links are the blocks of an answer that link the resources which it names.
func (s *Server) links(tool string, o result.Outcome, answer json.RawMessage) (blocks []json.RawMessage) {
	if s.opts.Resources == nil || o.Fault() != nil {
		return nil
	}
	for _, r := range s.opts.Resources.Links(tool, answer) {
		block, err := json.Marshal(&mcp.ResourceLink{URI: r.URI, Name: r.Name, Title: r.Title, Description: r.Description, MIMEType: r.MIMEType, Meta: mcp.Meta{metaUntrusted: true}})
		if err == nil { // it is strings alone
			blocks = append(blocks, block)
		}
	}
	return blocks
}
