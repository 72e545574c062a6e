package live

import (
	"context"
	"crypto/rand"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/coder/websocket"

	"countersign.dev/internal/access"
	"countersign.dev/internal/admission"
	"countersign.dev/internal/conversation"
	"countersign.dev/internal/fault"
	"countersign.dev/internal/quota"
)

// maxFrame bounds the bytes of a client's message.
const maxFrame = 16 << 10

// Chat serves GET /ws, the WebSocket of one conversation of the caller:
// ?sessionId= names it, and ?after= the number of the last event that arrived;
// without them a conversation begins with the first message. The gate has checked
// host, origin and caller.
func (s *Server) Chat(w http.ResponseWriter, r *http.Request, p *access.Principal) error {
	if !strings.EqualFold(r.Header.Get("Upgrade"), "websocket") {
		return fault.BadRequest.New("This address takes WebSocket connections only.").Suggest("Connect with a WebSocket client, or use POST /api/query.")
	}
	if err := s.begin(); err != nil {
		return err
	}
	release, err := s.o.Quotas.Hold(r.Context(), quota.Streams, p.Owner())
	if err != nil {
		s.work.Done()
		return err
	}
	ended := func() { release(); s.work.Done() }
	at, err := s.position(r, p)
	if err != nil {
		ended()
		return err
	}
	admission.From(r.Context()).End() // what follows is waiting
	// The gate knows more origins than the library could check.
	ws, err := websocket.Accept(slim{w}, r, &websocket.AcceptOptions{InsecureSkipVerify: true})
	if err != nil {
		s.o.Log.InfoContext(r.Context(), "a WebSocket request was not valid", "error", err)
		ended()
		return nil // Accept has answered
	}
	// The connection outlives the request, whose goroutine and buffers it does not need.
	go s.open(ws, r.WithContext(context.WithoutCancel(r.Context())), p, at, ended)
	return nil
}

// open begins to serve a connection. It calls ended when the connection has ended.
func (s *Server) open(ws *websocket.Conn, r *http.Request, p *access.Principal, at position, ended func()) {
	ws.SetReadLimit(maxFrame)
	now := time.Now()
	c := &connection{server: s, ws: ws, request: r, conversation: at.conversation, owner: p.Owner(), principal: p, id: rand.Text(), userAgent: userAgentOf(r.UserAgent()), connected: now, ended: ended}
	c.active.Store(now.UnixMilli())
	c.serve(at)
}

// unknownSession also answers callers who do not own the session, before the upgrade.
func unknownSession() error {
	return fault.ForbiddenRequest.New("This session is not yours, or does not exist.").Suggest("Begin a new conversation.").Instruct("Connect without sessionId to begin a new one.")
}

// position finds the conversation of a request, and the event after which to read.
func (s *Server) position(r *http.Request, p *access.Principal) (at position, err error) {
	id, after := r.URL.Query().Get("sessionId"), r.URL.Query().Get("after")
	if id == "" {
		at.conversation, err = s.o.Conversations.Begin(r.Context(), p.Owner())
		at.state, at.after = "connected", idOf(0)
		return at, err
	}
	at.state = "reconnected"
	at.conversation, err = s.o.Conversations.Resume(r.Context(), p.Owner(), id)
	switch {
	case fault.From(err) != nil && fault.From(err).Kind() == fault.NotFound:
		return at, unknownSession()
	case err != nil:
		return at, err
	case after != "":
		return at, s.resumeAt(r.Context(), &at, after)
	}
	at.after, err = s.o.Conversations.Covered(r.Context(), at.conversation)
	return at, err
}

// resumeAt sets the event after which a client wants to go on. When what followed it
// is no longer kept, the conversation's messages are what the client has missed.
func (s *Server) resumeAt(ctx context.Context, at *position, after string) error {
	seq, err := strconv.ParseInt(after, 10, 64)
	if err != nil || seq < 0 {
		return fault.BadRequest.New("after is not the number of an event.").Suggest("Send the seq of the last message that arrived, or leave it out.")
	}
	at.after, err = s.o.Conversations.Position(ctx, at.conversation.Log(), idOf(seq))
	if f := fault.From(err); err != nil && f.Kind() == fault.NotFound {
		at.gap = true
		at.after, err = s.o.Conversations.Covered(ctx, at.conversation)
	}
	return err
}

// connection is one open WebSocket.
type connection struct {
	server       *Server
	ws           *websocket.Conn
	request      *http.Request // with which it began
	conversation conversation.Conversation
	owner        access.Owner
	principal    *access.Principal // of the reader: proved again when the token has expired
	id           string
	userAgent    string
	connected    time.Time
	ended        func()
	active       atomic.Int64 // milliseconds
	sent         atomic.Int64 // number of the last event

	// Ended when the reader ends.
	right      context.Context // of the caller, to this connection
	stopRight  context.CancelFunc
	stopEvents func()
	stopBeat   func()

	// Used by the reader alone.
	refused  int // messages in a row
	messages int // that were read
}

// serve greets the client and begins to read its messages, to send events and to
// ping. Only the reading has a goroutine while nothing happens. What ends first closes the
// connection; that ends the reading, which ends the rest.
func (c *connection) serve(at position) {
	ctx := c.request.Context()
	c.right, c.stopRight = c.server.o.Right(c.request) // reading goes on without it, so that the client learns why it is disconnected
	c.log(ctx, "WebSocket opened", "state", at.state)
	c.list(ctx, true)
	c.sent.Store(seqOf(at.after))
	if c.send(frame{Type: "connection", Payload: c.greeting(at)}) != nil {
		c.close()
		return
	}
	c.stopEvents = c.server.o.Conversations.FollowFunc(c.right, c.conversation.Log(), at.after, c.deliver)
	c.stopBeat = c.beat(c.right)
	go c.await()
}
