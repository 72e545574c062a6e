package mcpserver

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"countersign.dev/internal/access"
	"countersign.dev/internal/fault"
	"countersign.dev/internal/httpx"
	"countersign.dev/internal/telemetry"
)

// sessionIdle is how long an MCP session may be idle. It costs a goroutine and
// about 8 KB.
const sessionIdle = 15 * time.Minute

// mount makes the SDK's server: two handlers, one middleware.
func (s *Server) mount() {
	s.mcp = mcp.NewServer(&mcp.Implementation{Name: s.opts.Name, Title: s.opts.Title, Version: s.opts.Version}, &mcp.ServerOptions{
		Instructions: s.opts.Instructions,
		// Explicit, because the default offers protocol logging, which is
		// deprecated, and because the SDK answers prompts/list and
		// resources/list (with nothing) whether they were offered or not.
		Capabilities: &mcp.ServerCapabilities{
			Tools:     &mcp.ToolCapabilities{},
			Prompts:   &mcp.PromptCapabilities{},
			Resources: &mcp.ResourceCapabilities{},
		},
		SetCacheable: func(_ context.Context, _ mcp.Request, c *mcp.Cacheable) { *c = cacheable() },
	})
	s.mcp.AddReceivingMiddleware(s.answer)
	s.modern = s.sdk(&mcp.StreamableHTTPOptions{Stateless: true, JSONResponse: true, PropagateRequestCancellation: true})
	s.legacy = s.sdk(&mcp.StreamableHTTPOptions{SessionTimeout: sessionIdle})
}

// sdk is one of the SDK's handlers. The gate has checked host, origin and
// token; the SDK's bearer middleware only passes the caller on to our
// middleware, under a context key that no other code can set.
func (s *Server) sdk(o *mcp.StreamableHTTPOptions) http.Handler {
	o.DisableLocalhostProtection = true // the gate checks the host
	o.MaxRequestBodyBytes = s.opts.MaxBody
	h := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s.mcp }, o)
	return auth.RequireBearerToken(tokenInfo, &auth.RequireBearerTokenOptions{AllowMissingExpiration: true})(h)
}

// tokenInfo hands the gate's caller to the SDK. UserID binds an MCP session to
// its person.
func tokenInfo(ctx context.Context, _ string, _ *http.Request) (*auth.TokenInfo, error) {
	who, err := access.From(ctx)
	if err != nil {
		return nil, auth.ErrInvalidToken
	}
	return &auth.TokenInfo{
		UserID: who.Owner().String(),
		Extra:  map[string]any{callerKey: caller{who, telemetry.RequestOf(ctx)}},
	}, nil
}

// serveMCP passes a message through the gate to the handler of its version.
func (s *Server) serveMCP(w http.ResponseWriter, r *http.Request) error {
	w.Header().Set("X-Accel-Buffering", "no")
	var body []byte
	var err error
	switch r.Method {
	case http.MethodPost:
		r, body, err = s.gate.read(w, r, anyMCP)
	case http.MethodGet, http.MethodDelete:
		r, err = s.gate.enter(w, r, anyMCP)
	default:
		w.Header().Set("Allow", "GET, POST, DELETE")
		return fault.MethodNotAllowed.New("The MCP endpoint does not take this method.")
	}
	switch {
	case fault.Is(err, fault.BadRequest):
		return rejectMessage(w, jsonrpc.CodeParseError, fault.From(err).Message)
	case err != nil:
		return err
	case bytes.HasPrefix(bytes.TrimLeft(body, " \t\r\n"), []byte("[")):
		return rejectMessage(w, jsonrpc.CodeInvalidRequest, "Batches are not supported. Send one message per request.")
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	s.dispatch(w, r, body)
	return nil
}

// rejectMessage answers a message without a readable id.
func rejectMessage(w http.ResponseWriter, code int64, message string) error {
	return httpx.JSON(w, http.StatusBadRequest, map[string]any{
		"jsonrpc": "2.0", "id": nil, "error": map[string]any{"code": code, "message": message},
	})
}

func (s *Server) dispatch(w http.ResponseWriter, r *http.Request, body []byte) {
	if streams(r) {
		httpx.KeepOpen(w)
		ctx, cancel := untilExpiry(r.Context())
		defer cancel()
		r = r.WithContext(ctx)
	}
	if isModern(r, body) {
		s.modern.ServeHTTP(w, r)
		return
	}
	s.legacy.ServeHTTP(&statusRewriter{ResponseWriter: w}, r)
}

// isModern reports whether a message is of a stateless version. Headers decide; a
// first message without any is modern when it has the metadata that only a
// modern one has.
func isModern(r *http.Request, body []byte) bool {
	if r.Header.Get("Mcp-Protocol-Version") >= modernVersion || r.Header.Get("Mcp-Method") != "" {
		return true
	}
	return r.Method == http.MethodPost && r.Header.Get("Mcp-Session-Id") == "" && carriesVersion(body)
}

func carriesVersion(body []byte) bool {
	var message struct {
		Params struct {
			Meta map[string]json.RawMessage `json:"_meta"`
		} `json:"params"`
	}
	if json.Unmarshal(body, &message) != nil {
		return false
	}
	_, carried := message.Params.Meta[mcp.MetaKeyProtocolVersion]
	return carried
}

// streams reports whether the response is a long-lived stream: that of an MCP
// session, or a modern subscription.
func streams(r *http.Request) bool {
	return r.Method == http.MethodGet || strings.EqualFold(r.Header.Get("Mcp-Method"), "subscriptions/listen")
}

// untilExpiry ends a stream when the token that opened it expires.
func untilExpiry(ctx context.Context) (context.Context, context.CancelFunc) {
	who, err := access.From(ctx)
	if err != nil || who.Expires().IsZero() {
		return context.WithCancel(ctx)
	}
	return context.WithDeadline(ctx, who.Expires())
}

// statusRewriter replaces the SDK's 403 by 404. The SDK has one reason for it: the
// session belongs to another person. The caller gets the same response as for
// any unknown session.
type statusRewriter struct {
	http.ResponseWriter
	replaced bool
}

// WriteHeader replaces the status and, with it, the body.
func (d *statusRewriter) WriteHeader(status int) {
	if status != http.StatusForbidden {
		d.ResponseWriter.WriteHeader(status)
		return
	}
	d.replaced = true
	d.ResponseWriter.WriteHeader(http.StatusNotFound)
	_, _ = fmt.Fprintln(d.ResponseWriter, "session not found")
}

// Write drops the body of a replaced response.
func (d *statusRewriter) Write(b []byte) (int, error) {
	if d.replaced {
		return len(b), nil
	}
	return d.ResponseWriter.Write(b)
}

// Unwrap lets http.ResponseController reach the connection.
func (d *statusRewriter) Unwrap() http.ResponseWriter { return d.ResponseWriter }
