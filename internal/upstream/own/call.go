package own

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"countersign.dev/internal/admission"
	"countersign.dev/internal/mcpwire"
	"countersign.dev/internal/result"
	"countersign.dev/internal/telemetry"
	"countersign.dev/internal/upstream/mcpsession"
	"countersign.dev/internal/upstream/post"
)

// errVersion is the error of a call that the server did not run, because it does
// not speak the modern version.
var errVersion = errors.New("the server does not speak " + mcpwire.ModernVersion)

// client is what the gateway says of itself to its servers.
var client = []byte(`{"name":"countersign","version":"1"}`)

// callDirectly runs a tool with one request and without the SDK. What the answer
// carries is not decoded, but for its envelope.
func (s *Server) callDirectly(ctx context.Context, tool string, args json.RawMessage) (result.Outcome, error) {
	if len(args) == 0 {
		args = json.RawMessage("{}")
	}
	id := s.calls.Add(1)
	message, err := s.exchange(ctx, tool, mcpwire.AppendCall(nil, id, tool, args, client))
	if err != nil {
		return result.Outcome{}, err
	}
	answer, err := mcpwire.ReadAnswer(message, id)
	switch {
	case err != nil:
		return result.Failed(fmt.Errorf("answer of server %s: %w", s.o.Name, err)), nil
	case answer.Code == mcp.CodeUnsupportedProtocolVersion:
		return result.Outcome{}, errVersion
	case answer.Code != 0:
		return s.protocolError(&jsonrpc.Error{Code: answer.Code, Message: answer.Message}), nil
	}
	o, err := result.DecodeEnvelope(answer.Structured)
	if err != nil {
		return result.Failed(fmt.Errorf("answer of server %s: %w", s.o.Name, err)), nil
	}
	return o, nil
}

// exchange sends a call and returns the message that answers it. The error is like
// that of a session's call: it wraps mcpsession.ErrNotSent when the server cannot have
// carried the call out.
func (s *Server) exchange(ctx context.Context, tool string, call []byte) ([]byte, error) {
	token, err := s.auth.token(ctx)
	if err != nil {
		return nil, errors.Join(mcpsession.ErrNotSent, err)
	}
	fields := append(make([]post.Field, 0, 9), post.Field{Name: "Authorization", Value: "Bearer " + token})
	fields = append(fields, callFields[:]...)
	fields = appendNames(append(fields, post.Field{Name: mcpwire.HeaderName, Value: tool}), telemetry.RequestOf(ctx))
	back := admission.Outside(ctx)
	answer, err := s.direct.Send(ctx, post.Request{Path: s.path + "/mcp", Fields: fields, Body: call})
	back()
	switch {
	case errors.Is(err, post.ErrNotSent):
		return nil, errors.Join(mcpsession.ErrNotSent, err)
	case errors.Is(err, post.ErrTooLarge):
		return nil, errors.Join(mcpsession.ErrTooLarge, err)
	case err != nil:
		return nil, err
	}
	if err := mcpsession.Refusal(answer.Status, answer.Body); err != nil {
		return nil, err
	}
	message := answer.Body
	switch {
	case strings.HasPrefix(answer.Type, "text/event-stream"):
		message = mcpwire.InStream(message)
	case !strings.HasPrefix(answer.Type, "application/json"):
		message = nil
	}
	if message == nil {
		return nil, fmt.Errorf("/mcp answered %d without a message", answer.Status)
	}
	return message, nil
}

// callFields are the header of every direct call.
var callFields = [...]post.Field{
	{Name: "Content-Type", Value: "application/json"}, {Name: "Accept", Value: "application/json, text/event-stream"},
	{Name: mcpwire.HeaderVersion, Value: mcpwire.ModernVersion}, {Name: mcpwire.HeaderMethod, Value: mcpwire.MethodCall},
}
