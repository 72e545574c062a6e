package mcpserver

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"countersign.dev/internal/access"
	"countersign.dev/internal/fault"
	"countersign.dev/internal/httpx"
	"countersign.dev/internal/mcpwire"
	"countersign.dev/internal/strictjson"
	"countersign.dev/internal/telemetry"
)

// Stdio is a server for one client at a pair of streams. Its person is that of Token,
// which is asked for and proved again with each message: a session does not outlive the
// person's right.
type Stdio struct {
	Server *Server
	Token  func(context.Context) (string, error) // nil: none is needed
}

// Serve answers messages, one a line, until in ends.
func (c Stdio) Serve(ctx context.Context, in io.Reader, out io.Writer) error {
	if _, err := c.person(ctx); err != nil {
		return err
	}
	c.Server.mcp.AddReceivingMiddleware(c.asPerson)
	answers := &lineWriter{out: out}
	messages := &messageReader{in: bufio.NewReader(in), longest: int(c.Server.opts.MaxBody), offers: c.Server.offers, answers: answers}
	return c.Server.mcp.Run(ctx, &transport{mcp.IOTransport{Reader: io.NopCloser(messages), Writer: answers, MaxLineLength: -1}})
}

// asPerson puts the caller where the gate puts that of a request over HTTP.
func (c Stdio) asPerson(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		var extra **mcp.RequestExtra
		switch req := req.(type) {
		case *mcp.ListToolsRequest:
			extra = &req.Extra
		case *mcp.CallToolRequest:
			extra = &req.Extra
		case *mcp.ListResourcesRequest:
			extra = &req.Extra
		case *mcp.ListResourceTemplatesRequest:
			extra = &req.Extra
		case *mcp.ReadResourceRequest:
			extra = &req.Extra
		default:
			return next(ctx, method, req)
		}
		who, err := c.person(ctx)
		if err != nil {
			return nil, c.Server.protocolError(ctx, err)
		}
		call := callIn(*extra)
		ctx, end := call.begin(ctx)
		defer end()
		*extra = extraOf(callerKey, caller{who: who, names: telemetry.Request{ID: httpx.NewID()}, cancelled: &call.unanswered})
		return next(ctx, method, req)
	}
}

// transport is the pair of streams of one client.
type transport struct{ mcp.IOTransport }

// Connect implements mcp.Transport.
func (t *transport) Connect(ctx context.Context) (mcp.Connection, error) {
	c, err := t.IOTransport.Connect(ctx)
	return &connection{Connection: c, open: make(map[jsonrpc.ID]*lineCall), closed: make(chan struct{})}, err
}

// connection ends the calls that their client cancels, and leaves their answers out. The
// SDK would not begin a call that is cancelled at once, and nothing would record it. When
// the input ends it waits for the answers of what was read: the SDK would drop them.
type connection struct {
	mcp.Connection
	mu      sync.Mutex
	open    map[jsonrpc.ID]*lineCall // the messages that have no answer yet
	waiting int                      // messages whose answer was not written yet
	settled chan struct{}            // closed when there is none; nil: the input goes on
	closed  chan struct{}
	once    sync.Once
}

// answersWithin is how long the answers of what was read before the input ended are waited for.
const answersWithin = 10 * time.Second

// lineCall is a message that waits for its answer. A message that runs a tool decides
// itself whether it is answered.
type lineCall struct {
	runs       bool // a tool
	stays      bool // no client may cancel it
	unanswered atomic.Bool

	mu        sync.Mutex
	cancelled bool
	end       context.CancelFunc // nil: it has not begun
}

const lineCallKey = "countersign/call"

func extraOf(key string, value any) *mcp.RequestExtra {
	return &mcp.RequestExtra{TokenInfo: &auth.TokenInfo{Extra: map[string]any{key: value}}}
}

// callIn is the call that a message carries from the connection, or one that nothing cancels.
func callIn(extra *mcp.RequestExtra) *lineCall {
	if extra != nil && extra.TokenInfo != nil {
		if call, ok := extra.TokenInfo.Extra[lineCallKey].(*lineCall); ok {
			return call
		}
	}
	return new(lineCall)
}

// begin returns a context that ends when the call is cancelled, which may be already.
func (c *lineCall) begin(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, end := context.WithCancel(ctx)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.end = end; c.cancelled {
		end()
	}
	return ctx, end
}

func (c *lineCall) cancel() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.cancelled = true; c.end != nil {
		c.end()
	}
}

// Read reads a message, and notes which answer is waited for. The notification that a call
// is cancelled is not passed on.
func (c *connection) Read(ctx context.Context) (jsonrpc.Message, error) {
	for {
		m, err := c.Connection.Read(ctx)
		req, ok := m.(*jsonrpc.Request)
		switch {
		case err == io.EOF:
			c.settle(ctx)
			return nil, err
		case err != nil || !ok:
			return m, err
		case req.IsCall():
			c.note(req)
		case req.Method == "notifications/cancelled" && c.cancel(req.Params):
			continue
		}
		return m, nil
	}
}

func (c *connection) note(req *jsonrpc.Request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.open[req.ID] != nil { // an id that is in use already keeps its call
		return
	}
	call := &lineCall{runs: req.Method == "tools/call" || req.Method == "resources/read", stays: req.Method == "initialize"}
	c.open[req.ID], req.Extra = call, extraOf(lineCallKey, call)
	c.waiting++
}

// settle waits until what was read is answered.
func (c *connection) settle(ctx context.Context) {
	c.mu.Lock()
	if c.waiting == 0 {
		c.mu.Unlock()
		return
	}
	c.settled = make(chan struct{})
	c.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, answersWithin)
	defer cancel()
	select {
	case <-c.settled:
	case <-c.closed:
	case <-ctx.Done():
	}
}

// answered notes that one answer was written, or left out.
func (c *connection) answered() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.waiting--; c.waiting == 0 && c.settled != nil {
		close(c.settled)
	}
}

// Close closes the connection, and waits for no answer any more.
func (c *connection) Close() error {
	c.once.Do(func() { close(c.closed) })
	return c.Connection.Close()
}

// cancel cancels the message that a notification names, and reports whether that is all
// there is to do.
func (c *connection) cancel(notification json.RawMessage) bool {
	var params struct {
		ID any `json:"requestId"`
	}
	if json.Unmarshal(notification, &params) != nil {
		return false
	}
	id, err := jsonrpc.MakeID(params.ID)
	if err != nil {
		return false
	}
	c.mu.Lock()
	call := c.open[id]
	c.mu.Unlock()
	switch {
	case call == nil || call.stays:
		return false
	case call.runs:
		call.cancel()
		return true
	}
	call.unanswered.Store(true)
	return false
}

// Write writes a message, unless it is an answer that its client has cancelled.
func (c *connection) Write(ctx context.Context, m jsonrpc.Message) error {
	if answer, ok := m.(*jsonrpc.Response); ok {
		c.mu.Lock()
		call := c.open[answer.ID]
		delete(c.open, answer.ID)
		c.mu.Unlock()
		if call != nil {
			defer c.answered()
		}
		if call != nil && call.unanswered.Load() {
			return nil
		}
	}
	return c.Connection.Write(ctx, m)
}

// person proves the token, and counts a message for its person.
func (c Stdio) person(ctx context.Context) (*access.Principal, error) {
	var token string
	var err error
	if c.Token != nil {
		if token, err = c.Token(ctx); err != nil {
			return nil, err
		}
	}
	who, err := c.Server.opts.Verify(ctx, token)
	switch {
	case err != nil:
		return nil, err
	case who == nil || who.Purpose() != access.PurposeNone:
		return nil, fault.Unauthorized.New("The token is not that of a person.")
	}
	if c.Server.opts.Surface != "" {
		who = who.WithSurface(c.Server.opts.Surface)
	}
	return who, c.Server.opts.Quotas.Request(ctx, who.Owner(), 0)
}

// lineWriter writes whole messages of several goroutines to an output that belongs to
// its caller.
type lineWriter struct {
	mu  sync.Mutex
	out io.Writer
}

// Write writes one message, with the id that its client sent.
func (w *lineWriter) Write(message []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if _, err := w.out.Write(restoreID(message)); err != nil {
		return 0, err
	}
	return len(message), nil
}

// Close leaves the output open.
func (*lineWriter) Close() error { return nil }

// messageReader passes the lines on that are messages, and answers others with a
// JSON-RPC error: the SDK would read nothing after them.
type messageReader struct {
	in      *bufio.Reader
	longest int // bytes of a line
	offers  func(message) bool
	answers io.Writer
	begun   bool   // initialize was passed on
	modern  bool   // a message of the modern version was
	rest    []byte // of the line that is passed on
}

// Read reads of the next message.
func (r *messageReader) Read(p []byte) (int, error) {
	for len(r.rest) == 0 {
		line, err := r.line()
		if err == nil && len(line) > 0 {
			r.rest, err = r.checked(line)
		}
		if err != nil {
			return 0, err
		}
	}
	n := copy(p, r.rest)
	r.rest = r.rest[n:]
	return n, nil
}

// line reads a line without the space around it. What is longer than a message may be is
// read and left out.
func (r *messageReader) line() (line []byte, err error) {
	for long := false; ; {
		part, err := r.in.ReadSlice('\n')
		if long = long || len(line)+len(part) > r.longest; long {
			line = nil
		} else {
			line = append(line, part...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case err != nil && (len(line) == 0 || err != io.EOF):
			return nil, err
		case long:
			return nil, r.reject(nil, refuse(jsonrpc.CodeParseError, "A message has at most %d bytes.", r.longest))
		}
		return bytes.TrimSpace(line), nil
	}
}

// checked returns the line if it is a message, or answers it.
func (r *messageReader) checked(line []byte) ([]byte, error) {
	if !json.Valid(line) {
		return nil, r.reject(nil, refuse(jsonrpc.CodeParseError, "That is no JSON. A message is one line of it."))
	}
	if err := strictjson.Check(line); err != nil {
		return nil, r.reject(nil, refuse(jsonrpc.CodeParseError, "The message %s.", err))
	}
	m, modern, err := r.check(line)
	var refused *jsonrpc.Error
	switch {
	case err == nil:
		r.begun, r.modern = r.begun || m.method == "initialize", r.modern || modern
		line, _, err = substituteID(m, line)
		return append(line, '\n'), err
	case !errors.As(err, &refused):
		return nil, err
	case m.method != "" && m.notification():
		return nil, nil
	}
	return nil, r.reject(m.id, refused)
}

// check reads a message, refuses what the SDK would answer otherwise, and reports whether it is
// modern. After one that is, the SDK takes no handshake, and would serve other versions without it.
func (r *messageReader) check(line []byte) (m message, modern bool, err error) {
	if m, err = readMessage(line); err != nil {
		return m, false, err
	}
	version, refused := mcpwire.ReadVersion(m.params)
	modern = version == modernVersion
	switch early := !modern && !r.begun; {
	case refused != nil:
		err = refused
	case !r.offers(m) || m.needsModern() && !modern:
		err = m.unknown()
	case early && r.modern && (m.needsSession() || m.method == "initialize"):
		err = refuse(jsonrpc.CodeInvalidRequest, "Messages of version %s came first. Go on with it, or start the server again.", modernVersion)
	case early && m.needsSession():
		err = refuse(jsonrpc.CodeInvalidRequest, initializeFirst+".")
	default:
		err = m.checkParams()
	}
	return m, modern, err
}

func (r *messageReader) reject(id json.RawMessage, why *jsonrpc.Error) error {
	line, err := json.Marshal(errorMessage(id, why))
	if err == nil {
		_, err = r.answers.Write(append(line, '\n'))
	}
	return err
}
