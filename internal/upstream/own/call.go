package own

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"countersign.dev/internal/admission"
	"countersign.dev/internal/fault"
	"countersign.dev/internal/mcpwire"
	"countersign.dev/internal/result"
	"countersign.dev/internal/telemetry"
	"countersign.dev/internal/upstream/mcpsession"
	"countersign.dev/internal/upstream/post"
)

// errVersion is the error of a call that the server did not run, because it does
// not speak the modern version.
var errVersion = errors.New("the server does not speak " + mcpwire.ModernVersion)

// ErrCancelled is the error of a call that the server ended as its caller asked, and has
// recorded as that.
var ErrCancelled = errors.New("the server has cancelled the call")

// afterCancel is how long a server may take to say how a call ended that was cancelled.
const afterCancel = 2 * time.Second

// client is what the gateway says of itself to its servers.
var client = []byte(`{"name":"countersign","version":"1"}`)

// callDirectly runs a tool with one request and without the SDK. What the answer
// carries is not decoded, but for its envelope.
func (s *Server) callDirectly(ctx context.Context, until time.Time, tool string, args json.RawMessage) (result.Outcome, error) {
	if len(args) == 0 {
		args = json.RawMessage("{}")
	}
	id, call := s.calls.Add(1), written.Get().(*request)
	call.body = mcpwire.AppendCall(call.body[:0], id, tool, args, client)
	message, err := s.exchange(ctx, until, tool, call)
	if cap(call.body) <= maxKept {
		written.Put(call)
	}
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

// maxKept bounds the bodies that are kept for the next call, in bytes.
const maxKept = 64 << 10

// request is what is written of a call.
type request struct {
	body   []byte
	fields [3]post.Field
}

var written = sync.Pool{New: func() any { return new(request) }}

// exchange sends a call and returns the message that answers it. The error is like
// that of a session's call: it wraps mcpsession.ErrNotSent when the server cannot have
// carried the call out.
func (s *Server) exchange(ctx context.Context, until time.Time, tool string, call *request) ([]byte, error) {
	token, err := s.auth.token(ctx)
	if err != nil {
		return nil, mcpsession.NotSent(err)
	}
	if s.fast == nil { // a client of our own keeps the deadline itself, and knows of Abort
		bounded, end := s.bounded(ctx, until)
		defer end()
		ctx = bounded
	}
	fields := appendNames(append(call.fields[:0], post.Field{Name: mcpwire.HeaderName, Value: tool}), telemetry.RequestOf(ctx))
	back := admission.Outside(ctx)
	answer, err := s.direct.Send(ctx, post.Request{Path: s.path, Bearer: token, Common: callHeader, Fields: fields, Body: call.body, Until: until})
	back()
	switch {
	case errors.Is(err, post.ErrNotSent):
		return nil, mcpsession.NotSent(err)
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
		return nil, unanswered(ctx, answer)
	}
	return message, nil
}

// unanswered is the error of an answer without a message. Our servers end a cancelled call
// with a stream of nothing.
func unanswered(ctx context.Context, answer post.Answer) error {
	if ctx.Err() != nil && answer.Status == http.StatusOK && strings.HasPrefix(answer.Type, "text/event-stream") && len(answer.Body) == 0 {
		return errors.Join(ctx.Err(), ErrCancelled)
	}
	return errors.Join(ctx.Err(), fmt.Errorf("/mcp answered %d without a message", answer.Status))
}

// callHeader is what every direct call has in its header.
var callHeader = post.NewHeader(
	post.Field{Name: "Content-Type", Value: "application/json"}, post.Field{Name: "Accept", Value: "application/json, text/event-stream"},
	post.Field{Name: mcpwire.HeaderVersion, Value: mcpwire.ModernVersion}, post.Field{Name: mcpwire.HeaderMethod, Value: mcpwire.MethodCall},
)

// bounded returns a context that ends with the caller, at the deadline if there is one,
// or with Abort.
func (s *Server) bounded(ctx context.Context, until time.Time) (context.Context, func()) {
	ctx, cancel := context.WithCancel(ctx)
	unhook := context.AfterFunc(s.life, cancel)
	if until.IsZero() {
		return ctx, func() { unhook(); cancel() }
	}
	limited, end := context.WithDeadline(ctx, until)
	return limited, func() { unhook(); end(); cancel() }
}

// protocolError reads a JSON-RPC error: the server did not run the tool.
func (s *Server) protocolError(e *jsonrpc.Error) result.Outcome {
	if e.Code == jsonrpc.CodeInvalidParams { // our servers answer so to unknown tools only
		return result.Failed(fault.UnknownTool.New("The %s service no longer has this tool.", s.o.Name).With("server", s.o.Name).Because(e))
	}
	return result.Failed(fmt.Errorf("server %s: %w", s.o.Name, e))
}
