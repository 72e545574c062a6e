package own

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"countersign.dev/internal/mcpwire"
	"countersign.dev/internal/result"
	"countersign.dev/internal/upstream/mcpsession"
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
	message, err := mcpsession.Direct(ctx, func(ctx context.Context) ([]byte, error) {
		return s.exchange(ctx, tool, mcpwire.AppendCall(nil, id, tool, args, client))
	})
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

// exchange sends a call and returns the message that answers it.
func (s *Server) exchange(ctx context.Context, tool string, call []byte) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.o.URL+"/mcp", bytes.NewReader(call))
	if err != nil {
		return nil, errors.Join(mcpsession.ErrHost, err)
	}
	h := req.Header
	h.Set("Content-Type", "application/json")
	h.Set("Accept", "application/json, text/event-stream")
	h.Set(mcpwire.HeaderVersion, mcpwire.ModernVersion)
	h.Set(mcpwire.HeaderMethod, mcpwire.MethodCall)
	h.Set(mcpwire.HeaderName, tool)
	resp, err := s.http.Transport.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	message, err := io.ReadAll(resp.Body) // bounded by the transport
	switch kind := resp.Header.Get("Content-Type"); {
	case err != nil:
		return nil, err
	case strings.HasPrefix(kind, "text/event-stream"):
		message = mcpwire.InStream(message)
	case !strings.HasPrefix(kind, "application/json"):
		message = nil
	}
	if message == nil {
		return nil, fmt.Errorf("/mcp answered %s without a message", resp.Status)
	}
	return message, nil
}
