package mcpserver

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"countersign.dev/internal/fault"
)

// aboutResources answers messages about resources, for a server that has some.
type aboutResources struct{ *Server }

func (s aboutResources) answer(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		if strings.HasPrefix(method, "resources/") {
			if ctx, _, err := withCaller(ctx, req.GetExtra(), nil); err == nil && !mayRead(ctx, s.Server) {
				return nil, message{method: method}.unknown() // it is not declared to them
			}
		}
		switch req := req.(type) {
		case *mcp.ListResourcesRequest:
			return s.list(ctx, req)
		case *mcp.ListResourceTemplatesRequest:
			return s.templates(ctx, req)
		case *mcp.ReadResourceRequest:
			return s.read(ctx, req)
		}
		return next(ctx, method, req)
	}
}

// list lists no resource: there are as many as lines of files. Their
// template says what can be read.
func (s aboutResources) list(ctx context.Context, req *mcp.ListResourcesRequest) (mcp.Result, error) {
	var params mcp.ListResourcesParams // nil when the message has none
	if req.Params != nil {
		params = *req.Params
	}
	if _, _, err := s.lister(ctx, req.Extra, params.Meta, params.Cursor); err != nil {
		return nil, err
	}
	return &mcp.ListResourcesResult{Resources: []*mcp.Resource{}, Cacheable: cacheable()}, nil
}

func (s aboutResources) templates(ctx context.Context, req *mcp.ListResourceTemplatesRequest) (mcp.Result, error) {
	var params mcp.ListResourceTemplatesParams // nil when the message has none
	if req.Params != nil {
		params = *req.Params
	}
	if _, _, err := s.lister(ctx, req.Extra, params.Meta, params.Cursor); err != nil {
		return nil, err
	}
	t := s.opts.Resources.Template()
	return &mcp.ListResourceTemplatesResult{Cacheable: cacheable(), ResourceTemplates: []*mcp.ResourceTemplate{
		{URITemplate: t.URI, Name: t.Name, Title: t.Title, Description: t.Description, MIMEType: t.MIMEType, Meta: mcp.Meta{metaUntrusted: true}},
	}}, nil
}

// read calls the tool that reads a resource. One that the caller may not see
// is answered like one that does not exist.
func (s aboutResources) read(ctx context.Context, req *mcp.ReadResourceRequest) (mcp.Result, error) {
	ctx, who, err := withCaller(ctx, req.Extra, req.Params.Meta)
	if err != nil {
		return nil, s.protocolError(ctx, err)
	}
	uri := req.Params.URI
	tool, args, ok := s.opts.Resources.Reader(uri)
	if !ok {
		return nil, noResource(req)
	}
	o := s.run(ctx, who, tool, args)
	callerOf(req.Extra).cancelled.Store(unanswered(ctx, o))
	switch f := o.Fault(); {
	case f == nil:
	case f.Kind() == fault.NotFound, f.Kind() == fault.Forbidden:
		return nil, noResource(req)
	case f.Kind() == fault.Invalid:
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: f.Message}
	default:
		return nil, s.protocolError(ctx, f)
	}
	of, text, err := s.opts.Resources.Content(uri, s.service.Encode(o))
	if err != nil {
		return nil, s.protocolError(ctx, err)
	}
	contents := &mcp.ResourceContents{URI: of, MIMEType: s.opts.Resources.Template().MIMEType, Text: text, Meta: mcp.Meta{metaUntrusted: true}}
	return &readResult{Contents: []*mcp.ResourceContents{contents}, Cacheable: cacheable(), ResultType: resultType(versionOf(req))}, nil
}

// readResult is a resource on the wire: see callResult.
type readResult struct {
	mcp.ResultBase
	mcp.Cacheable
	ResultType string                  `json:"resultType,omitempty"` // modern clients only
	Contents   []*mcp.ResourceContents `json:"contents"`
}

// noResource is the error of an address at which nothing is, by the protocol's
// version.
func noResource(req *mcp.ReadResourceRequest) error {
	code := int64(jsonrpc.CodeInvalidParams)
	if versionOf(req) < modernVersion {
		code = -32002 // as handshake versions have it
	}
	data, err := json.Marshal(map[string]string{"uri": fault.Clip(req.Params.URI, fault.MaxMessage)})
	if err != nil {
		return err
	}
	return &jsonrpc.Error{Code: code, Message: "There is no such resource.", Data: data}
}
