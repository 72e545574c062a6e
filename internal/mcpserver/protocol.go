package mcpserver

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"countersign.dev/internal/access"
	"countersign.dev/internal/admission"
	"countersign.dev/internal/fault"
	"countersign.dev/internal/gate"
	"countersign.dev/internal/httpx"
	"countersign.dev/internal/mcpwire"
	"countersign.dev/internal/result"
	"countersign.dev/internal/telemetry"
)

// mount makes the SDK's server: three handlers, one middleware.
func (s *Server) mount() error {
	capabilities := &mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{}}
	if s.opts.Prompts != nil {
		capabilities.Prompts = &mcp.PromptCapabilities{}
	}
	if s.opts.Resources != nil {
		capabilities.Resources = &mcp.ResourceCapabilities{}
	}
	about := &mcp.Implementation{Name: s.opts.Name, Title: s.opts.Title, Version: s.opts.Version, WebsiteURL: s.opts.Website}
	s.mcp = mcp.NewServer(about, &mcp.ServerOptions{
		Instructions: s.opts.Instructions,
		// Explicit, because the default offers protocol logging, which is deprecated.
		Capabilities: capabilities,
		SetCacheable: func(_ context.Context, _ mcp.Request, c *mcp.Cacheable) { *c = cacheable() },
	})
	var err error
	if s.lane.about, err = json.Marshal(about); err != nil {
		return err
	}
	if s.opts.Resources != nil {
		s.mcp.AddReceivingMiddleware(aboutResources{s}.answer) // inside of the next, which keeps panics
	}
	s.mcp.AddReceivingMiddleware(s.answer)
	s.modern = s.sdk(&mcp.StreamableHTTPOptions{Stateless: true, JSONResponse: true, PropagateRequestCancellation: true})
	s.reporting = s.sdk(&mcp.StreamableHTTPOptions{Stateless: true, PropagateRequestCancellation: true})
	s.legacy = s.sdk(&mcp.StreamableHTTPOptions{SessionTimeout: sessionIdle})
	return nil
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
	cancelled, _ := ctx.Value(cancelledKey{}).(*atomic.Bool)
	return &auth.TokenInfo{
		UserID: who.Owner().String(),
		Extra:  map[string]any{callerKey: caller{who, telemetry.RequestOf(ctx), cancelled, admission.From(ctx)}},
	}, nil
}

// serveMCP passes a message through the gate to the handler of its version.
func (s *Server) serveMCP(w http.ResponseWriter, r *http.Request) error {
	var body []byte
	var err error
	switch r.Method {
	case http.MethodPost:
		r, body, err = s.gate.ReadFor(w, r, gate.AnyMCP)
	case http.MethodGet, http.MethodDelete:
		r, err = s.gate.EnterFor(w, r, gate.AnyMCP)
	default:
		w.Header().Set("Allow", strings.Join(Methods(), ", "))
		return fault.MethodNotAllowed.New("The MCP endpoint does not take this method.")
	}
	switch {
	case fault.Is(err, fault.BadRequest):
		return rejectMessage(w, http.StatusBadRequest, nil, refuse(jsonrpc.CodeParseError, "%s", fault.From(err).Message))
	case err != nil && fault.From(err).Kind() == fault.RateLimited:
		return s.rejectOverQuota(w, nil, err) // the body is not read for that
	case err != nil:
		return err
	case r.Method != http.MethodPost:
		modern, _, refused := mcpwire.IsModern(r.Header, nil)
		if refused != nil {
			return rejectMessage(w, http.StatusBadRequest, nil, refused)
		}
		return s.dispatch(w, r, message{}, modern)
	case s.lane.serve(w, r, body):
		return nil
	case s.opts.Lane == LaneForced && bytes.Contains(body, []byte(mcpwire.MethodCall)):
		return errors.New("the lane did not understand this call")
	}
	return s.post(w, r, bytes.TrimLeft(body, " \t\r\n"))
}

// post checks the frame of a message and passes it on. In a handshake version an
// error is answered with 200, because its clients take any other status for the
// end of the connection.
func (s *Server) post(w http.ResponseWriter, r *http.Request, body []byte) error {
	m, err := readMessage(body)
	modern, declares, refused := mcpwire.IsModern(r.Header, m.params)
	status := http.StatusBadRequest
	switch {
	case err != nil && (modern || body[0] != '{'):
	case err != nil:
		status = http.StatusOK
	case repeated(r.Header) != "":
		err = refuse(mcp.CodeHeaderMismatch, "The header %s is there more than once.", repeated(r.Header))
	case refused != nil:
		return rejectMessage(w, status, m.id, refused)
	default:
		status, err = check(r, s, m, modern)
	}
	switch {
	case errors.As(err, &refused) && m.method != "" && m.notification():
		w.WriteHeader(http.StatusAccepted) // a notification has no answer
		return nil
	case errors.As(err, &refused):
		return rejectMessage(w, status, m.id, refused)
	case !modern && s.lane.cancel(r, m):
		w.WriteHeader(http.StatusAccepted)
		return nil
	case !modern && declares: // the SDK takes it for a modern message
		if body, err = mcpwire.WithoutVersion(body); err != nil {
			return err
		}
	}
	body, changed, err := substituteID(m, body)
	switch {
	case err != nil:
		return err
	case changed:
		w = idWriter{w}
	}
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	return s.dispatch(w, r, m, modern)
}

// check refuses a message that the SDK would answer otherwise, with the status of that, and
// decodes the name in its header, which the SDK compares with the message's.
func check(r *http.Request, s *Server, m message, modern bool) (status int, err error) {
	offered := s.offers(m) && (modern || !m.needsModern())
	named, decoded := mcpwire.DecodeName(r.Header.Get(mcpwire.HeaderName))
	switch {
	case !modern && !offered:
		return http.StatusOK, m.unknown()
	case !modern && r.Header.Get(sessionHeader) == "" && m.needsSession():
		return http.StatusBadRequest, refuse(jsonrpc.CodeInvalidRequest, initializeFirst+", and then the Mcp-Session-Id that its answer has.")
	case !modern:
		if err = m.checkParams(); err == nil {
			err = s.lane.sessions.checkFirst(r, m)
		}
		return http.StatusOK, err
	case !decoded:
		return http.StatusBadRequest, refuse(mcp.CodeHeaderMismatch, "The header %s is not encoded as it says.", mcpwire.HeaderName)
	case !offered && r.Header.Get(mcpwire.HeaderMethod) == m.method: // other headers are refused first
		return http.StatusNotFound, m.unknown()
	}
	if r.Header[mcpwire.HeaderName] != nil {
		r.Header.Set(mcpwire.HeaderName, named)
	}
	return http.StatusBadRequest, m.checkParams()
}

// repeated names a header of the protocol that was sent more than once, or is empty. The
// SDK reads the first one, and a proxy may have read another.
func repeated(h http.Header) string {
	for _, name := range [...]string{mcpwire.HeaderVersion, mcpwire.HeaderMethod, mcpwire.HeaderName, sessionHeader} {
		if len(h[name]) > 1 {
			return name
		}
	}
	return ""
}

// rejectOverQuota answers a message over its person's quota. The id is nil when the
// message has none, or was not read.
func (s *Server) rejectOverQuota(w http.ResponseWriter, id json.RawMessage, err error) error {
	f := fault.From(err)
	httpx.RetryAfter(w, f)
	data := map[string]any{"code": f.Code.Name, "suggestedAction": f.SuggestedAction}
	if len(f.Details) > 0 {
		data["details"] = f.Details
	}
	why := refuse(codeOverQuota, "%s", f.Message)
	if why.Data, err = json.Marshal(data); err != nil {
		return err
	}
	return httpx.JSON(w, f.Code.Status, errorMessage(id, why))
}

// codeOverQuota is of the range that JSON-RPC leaves to servers; MCP names none
// for this.
const codeOverQuota = -32029

// dispatch passes a request, with its message if it is a POST, to the handler of its
// version. An answer that is reported on before it comes is a stream.
func (s *Server) dispatch(w http.ResponseWriter, r *http.Request, m message, modern bool) error {
	release, err := s.takeSlot(w, r, m, modern)
	switch {
	case err == nil:
	case fault.From(err).Kind() == fault.RateLimited:
		return s.rejectOverQuota(w, m.id, err)
	default:
		return err
	}
	defer release()
	w.Header().Set("X-Accel-Buffering", "no") // the answer may be a stream; one of the lane never is
	if streams(r, m, modern) {
		admission.From(r.Context()).End() // however long it takes until there is something to send
		httpx.KeepOpen(w)
		live, cancel := s.gate.Live(r)
		defer cancel()
		r = r.WithContext(live)
		defer func() { sayEnd(w, gate.Ended(live)) }()
	}
	if s.lane.sessions.reach(r.Header.Get(sessionHeader)); beginsSession(r, modern) {
		lasting, done := detached(r.Context())
		defer done()
		r = r.WithContext(lasting)
		r.Header = headerOfSession(r.Header)
	}
	rewriter := &errorRewriter{ResponseWriter: w, id: m.id, cancelled: new(atomic.Bool)}
	r = r.WithContext(context.WithValue(r.Context(), cancelledKey{}, rewriter.cancelled))
	handler := s.legacy
	switch {
	case modern && m.wantsProgress():
		handler = s.reporting
	case modern:
		handler = s.modern
	}
	handler.ServeHTTP(rewriter, r)
	return nil
}

// detached returns a context with the caller of a request and nothing else of it. It ends
// with the request's, at the latest when done is called. The SDK keeps the context of the
// request that begins a session as long as the session, and the request's own would
// keep its headers, its response and the buffers of its connection.
func detached(request context.Context) (ctx context.Context, done func()) {
	ctx, cancel := context.WithCancel(telemetry.WithRequest(context.Background(), telemetry.RequestOf(request)))
	if who, err := access.From(request); err == nil {
		ctx = access.With(ctx, who)
	}
	stop := context.AfterFunc(request, cancel)
	return ctx, func() { stop(); cancel() }
}

// headerOfSession returns what the SDK reads of the header with which a session begins, and
// keeps as long as the session. The caller's token is not part of it: the gate has read it,
// and the SDK asks only that there is one.
func headerOfSession(given http.Header) http.Header {
	kept := http.Header{"Authorization": {"Bearer proven"}}
	for _, name := range [...]string{"Accept", "Content-Type", mcpwire.HeaderVersion, mcpwire.HeaderMethod, mcpwire.HeaderName} {
		for _, value := range given[name] {
			kept[name] = append(kept[name], strings.Clone(value))
		}
	}
	return kept
}

// cancelledKey is the key of the flag that a request's client has cancelled it.
type cancelledKey struct{}

// sayEnd writes the reason of a stream's end as its last event. MCP clients read events
// named message and ignore others.
func sayEnd(w http.ResponseWriter, why *fault.Error) {
	if why == nil || !strings.HasPrefix(w.Header().Get("Content-Type"), "text/event-stream") {
		return
	}
	data := result.EncodeEnvelope(result.Failed(why))
	_, _ = fmt.Fprintf(w, "event: end\ndata: %s\n\n", data)
}

// errorRewriter rewrites the errors that the SDK answers outside of JSON-RPC. Its
// 403 has one reason, a session of another person, and becomes the 404 of any
// unknown session. A plain text becomes a JSON-RPC error. A cancelled message is
// not answered.
type errorRewriter struct {
	http.ResponseWriter
	id        json.RawMessage // of the message; nil when it has none
	replaced  bool            // the body was written already
	plain     bool            // the body is a text
	cancelled *atomic.Bool
}

// WriteHeader replaces the status or the type of the body.
func (e *errorRewriter) WriteHeader(status int) {
	h := e.Header()
	plain := strings.HasPrefix(h.Get("Content-Type"), "text/plain")
	switch {
	case status == http.StatusForbidden, status == http.StatusNotFound && plain:
		e.replaced = true
		_ = rejectMessage(e.ResponseWriter, http.StatusNotFound, e.id, refuse(jsonrpc.CodeInvalidRequest, "There is no such session. Send initialize to begin one.")) // a client that has gone
		return
	case status == http.StatusBadRequest && plain:
		e.plain = true
		h.Set("Content-Type", "application/json")
		h.Del("Content-Length")
	}
	e.ResponseWriter.WriteHeader(status)
}

// Write drops the body of a replaced response and encodes a plain one.
func (e *errorRewriter) Write(b []byte) (int, error) {
	if e.replaced || e.cancelled.Load() {
		return len(b), nil
	}
	if !e.plain {
		return e.ResponseWriter.Write(b)
	}
	e.replaced = true
	return len(b), json.NewEncoder(e.ResponseWriter).Encode(errorMessage(e.id, refuse(jsonrpc.CodeInvalidRequest, "%s", strings.TrimSpace(string(b)))))
}

// Unwrap lets http.ResponseController reach the connection.
func (e *errorRewriter) Unwrap() http.ResponseWriter { return e.ResponseWriter }

// Methods are those of the MCP endpoint.
func Methods() []string { return []string{http.MethodGet, http.MethodPost, http.MethodDelete} }
