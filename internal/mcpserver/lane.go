package mcpserver

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"countersign.dev/internal/access"
	"countersign.dev/internal/deadline"
	"countersign.dev/internal/fault"
	"countersign.dev/internal/httpx"
	"countersign.dev/internal/mcpwire"
	"countersign.dev/internal/result"
	"countersign.dev/internal/telemetry"
)

// Lane says which calls are answered without the SDK, which costs 20 times as much
// as the rest of a call.
type Lane int

// The values of a lane. What it does not understand goes to the SDK, whose answers
// are the same but for the frame of a legacy one.
const (
	LaneOn     Lane = iota // those that the lane understands whole
	LaneOff                // none
	LaneForced             // all; one that it does not understand fails, for tests
)

// maxKept bounds the buffers that are kept for the next answer, in bytes.
const maxKept = 64 << 10

var buffers = sync.Pool{New: func() any { return new([]byte) }}

// lane answers calls without the SDK.
type lane struct {
	mode     Lane
	about    []byte // the server in the answers of the modern version, as JSON
	sessions sessions
	run      func(ctx context.Context, who *access.Principal, tool string, args json.RawMessage) result.Outcome
	encode   func(result.Outcome) json.RawMessage
	links    func(tool string, o result.Outcome, answer json.RawMessage) []json.RawMessage // for clients of linksVersion and later
}

// begun is a call that the lane has taken.
type begun struct {
	context.Context             // ends when its client cancels it
	version         string      // of the protocol
	call            *legacyCall // nil: a modern one
}

// sessionIdle is how long an MCP session may be idle. It costs a goroutine and
// about 8 KB.
const sessionIdle = 15 * time.Minute

const sessionHeader = "Mcp-Session-Id"

// serve answers a tools/call that passed the gate, if it understands it whole.
// Otherwise it returns false and has done nothing.
func (l *lane) serve(w http.ResponseWriter, r *http.Request, body []byte) bool {
	if l.mode == LaneOff || !acceptsBoth(r.Header["Accept"]) {
		return false
	}
	c, understood := mcpwire.ReadCall(body, r.Header.Get(mcpwire.HeaderName))
	if !understood {
		return false
	}
	who, err := access.From(r.Context())
	if err != nil {
		return false
	}
	b, understood := l.begin(r, c, who)
	if !understood {
		return false
	}
	ctx := b.Context
	if names := telemetry.RequestOf(ctx); names.Trace == "" && c.Trace != "" {
		names.Trace = httpx.TraceID(c.Trace)
		ctx = telemetry.WithRequest(ctx, names)
	}
	o := l.run(ctx, who, c.Tool, c.Args)
	cancelled := unanswered(ctx, o)
	l.sessions.end(b.call)
	if cancelled { // its client no longer waits: a stream without an answer, which no client takes for a fault
		w.Header().Set("Content-Type", "text/event-stream")
		w.WriteHeader(http.StatusOK)
		return true
	}
	l.write(w, c, b.version, o)
	return true
}

// write answers a call as the SDK would: with HTTP 400 for an unknown tool in
// the modern version, and 200 otherwise.
func (l *lane) write(w http.ResponseWriter, c mcpwire.Call, version string, o result.Outcome) {
	buffer, status := buffers.Get().(*[]byte), http.StatusOK
	if f := o.Fault(); f != nil && f.Code == fault.UnknownTool {
		*buffer = mcpwire.AppendError((*buffer)[:0], c, jsonrpc.CodeInvalidParams, f.Message)
		if c.Modern {
			status = http.StatusBadRequest
		}
	} else {
		answer := mcpwire.Result{Structured: l.encode(o), IsError: f != nil}
		if version >= linksVersion {
			answer.Links = l.links(c.Tool, o, answer.Structured)
		}
		*buffer = mcpwire.AppendResult((*buffer)[:0], c, answer, l.about)
	}
	delete(w.Header(), "Vary") // for caches, which may not keep this answer; a ninth header makes the map of all much larger
	httpx.Raw(w, status, *buffer)
	if answered, ok := w.(http.Flusher); ok {
		answered.Flush() // sent before the request is logged and counted
	}
	if cap(*buffer) <= maxKept {
		buffers.Put(buffer)
	}
}

// begin takes a call, if its headers are what its message says. A modern client cancels
// it by disconnecting, a legacy one by a notification in its session.
func (l *lane) begin(r *http.Request, c mcpwire.Call, who *access.Principal) (b begun, ok bool) {
	session := r.Header[sessionHeader]
	switch {
	case !c.Modern && len(session) == 1 && r.Header[mcpwire.HeaderMethod] == nil:
		return l.sessions.begin(r, session[0], string(c.ID), who)
	case c.Modern && session == nil && is(r.Header, mcpwire.HeaderVersion, mcpwire.ModernVersion) &&
		is(r.Header, mcpwire.HeaderMethod, mcpwire.MethodCall) && is(r.Header, mcpwire.HeaderName, c.Tool):
		return begun{r.Context(), modernVersion, nil}, true
	}
	return b, false
}

// is reports whether a header was sent once, with this value.
func is(h http.Header, name, value string) bool {
	given := h[name]
	return len(given) == 1 && given[0] == value
}

// acceptsBoth reports whether a client takes JSON and streams, as the protocol has
// it. Rarer ways to say so are left to the SDK.
func acceptsBoth(accept []string) bool {
	return len(accept) == 1 && (accept[0] == "*/*" || strings.Contains(accept[0], "application/json") && strings.Contains(accept[0], "text/event-stream"))
}

// sessions are the open MCP sessions of handshake versions. The SDK has them too,
// and ends them.
type sessions struct {
	now  func() time.Time
	mu   sync.Mutex
	open map[string]*openSession

	sweeping bool
}

// openSession is what the lane knows of a session.
type openSession struct {
	owner   access.Owner
	version string
	reached time.Time              // when a request of it last went to the SDK
	calls   map[string]*legacyCall // of the lane, by their id
	free    func()                 // its slot
}

// legacyCall is a call in a session. Its context ends by a notification.
type legacyCall struct {
	deadline.Context
	id string
	of *openSession
}

// sdkPeriod is how often a busy session's call goes to the SDK, which counts a
// session as idle when it sees no request of it.
const sdkPeriod = sessionIdle / 3

// know records a session before its client can call in it.
func (l *lane) know(req *mcp.ServerRequest[*mcp.InitializeParams]) {
	if who := callerOf(req.Extra).who; who != nil && req.Session.ID() != "" && req.Params != nil {
		l.sessions.add(req.Session.ID(), who.Owner(), req.Params.ProtocolVersion)
	}
}

func (s *sessions) add(id string, owner access.Owner, version string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open[id] = &openSession{owner: owner, version: version, reached: s.now(), calls: map[string]*legacyCall{}, free: func() {}}
}

// hold keeps how the slot of a session is freed, if it is known. sweeping reports
// whether the end of sessions is looked for already.
func (s *sessions) hold(id string, free func()) (known, sweeping bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	open := s.open[id]
	if open == nil {
		return false, s.sweeping
	}
	sweeping, s.sweeping = s.sweeping, true
	open.free = free
	return true, sweeping
}

// sweepAgain reports whether there are sessions whose end is to be looked for.
func (s *sessions) sweepAgain() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sweeping = len(s.open) > 0
	return s.sweeping
}

// remove forgets a session that has ended, and frees its slot.
func (s *sessions) remove(id string) {
	s.mu.Lock()
	open := s.open[id]
	delete(s.open, id)
	s.mu.Unlock()
	if open != nil {
		open.free()
	}
}

// ids are those of the sessions.
func (s *sessions) ids() map[string]struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	ids := make(map[string]struct{}, len(s.open))
	for id := range s.open {
		ids[id] = struct{}{}
	}
	return ids
}

// checkFirst refuses to initialize a session of the caller's own that is open.
func (s *sessions) checkFirst(r *http.Request, m message) error {
	who, err := access.From(r.Context())
	if err != nil || m.method != "initialize" {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if open := s.open[r.Header.Get(sessionHeader)]; open != nil && open.owner == who.Owner() {
		return refuse(jsonrpc.CodeInvalidRequest, initializedBefore)
	}
	return nil
}

// reach records that a request of a session goes to the SDK.
func (s *sessions) reach(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if open := s.open[id]; open != nil {
		open.reached = s.now()
	}
}

// begin begins a call in a session of its own principal. The client's
// disconnection does not end it.
func (s *sessions) begin(r *http.Request, session, call string, who *access.Principal) (b begun, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	open := s.open[session]
	switch {
	case open == nil, open.owner != who.Owner(), !legacyVersions[open.version], open.calls[call] != nil:
		return b, false
	case r.Header[mcpwire.HeaderVersion] != nil && !is(r.Header, mcpwire.HeaderVersion, open.version):
		return b, false
	case s.now().Sub(open.reached) > sdkPeriod:
		return b, false
	}
	began := &legacyCall{id: call, of: open}
	began.Detach(r.Context())
	open.calls[call] = began
	return begun{began, open.version, began}, true
}

// end forgets a call that is over.
func (s *sessions) end(c *legacyCall) {
	if c == nil {
		return
	}
	c.End()
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(c.of.calls, c.id)
}

// cancel ends a call of the lane when a message is the notification of that.
func (l *lane) cancel(r *http.Request, m message) bool {
	if m.method != "notifications/cancelled" {
		return false
	}
	var params struct {
		ID json.RawMessage `json:"requestId"`
	}
	who, err := access.From(r.Context())
	return err == nil && json.Unmarshal(m.params, &params) == nil &&
		l.sessions.cancel(r.Header.Get(sessionHeader), string(params.ID), who)
}

// cancel ends a call of the lane, if there is one of this id in the session.
func (s *sessions) cancel(session, call string, who *access.Principal) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	open := s.open[session]
	if open == nil || open.owner != who.Owner() || open.calls[call] == nil {
		return false
	}
	open.calls[call].End()
	return true
}
