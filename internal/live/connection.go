package live

import (
	"context"
	"sync"
	"time"

	"github.com/coder/websocket"

	"countersign.dev/internal/conversation"
	"countersign.dev/internal/fault"
	"countersign.dev/internal/telemetry"
)

const (
	writeTimeout = 10 * time.Second // of one message; a slower client is disconnected
	reconnectIn  = time.Second      // after a drain
)

// close ends everything of the connection.
func (c *connection) close() {
	defer c.ended()
	_ = c.ws.CloseNow()
	c.stopRight()
	if c.stopEvents != nil {
		c.stopEvents()
		c.stopBeat()
	}
	ctx := c.request.Context()
	c.list(ctx, false)
	c.log(ctx, "WebSocket closed", "open_ms", time.Since(c.connected).Milliseconds(), "messages", c.messages)
}

func (c *connection) log(ctx context.Context, what string, more ...any) {
	c.server.o.Log.InfoContext(ctx, what, append(more, "component", "live", "connection", c.id)...)
}

func (c *connection) greeting(at position) connectionPayload {
	message := fault.Welcome
	switch {
	case at.gap:
		message = "You are connected again. Some events are no longer kept: read the conversation's messages."
	case at.state == "reconnected":
		message = "You are connected again."
	}
	return connectionPayload{State: at.state, Message: message, SessionID: c.conversation.ID, ClientID: c.id, Gap: at.gap}
}

// send sends one frame. Concurrent calls are written one after the other.
func (c *connection) send(f frame) error {
	ctx, cancel := context.WithTimeout(context.Background(), writeTimeout)
	defer cancel()
	encoded := f.encode()
	c.server.o.Log.Log(ctx, telemetry.LevelTrace, "message sent", "component", "live", "connection", c.id, "conversation", c.conversation.ID, "type", f.Type, "bytes", len(encoded))
	return c.ws.Write(ctx, websocket.MessageText, encoded)
}

// fail sends an error, whose cause is only logged, and leaves the connection open.
func (c *connection) fail(err error, replyTo string) {
	f := fault.From(err)
	if f.Kind() == fault.Internal {
		c.server.o.Log.ErrorContext(c.request.Context(), "message failed", "code", f.Code.Name, "fault_id", f.ID, "error", f.Logged(), "component", "live", "connection", c.id)
	}
	_ = c.send(errorFrame(f, replyTo))
}

// deliver sends an event, and reports whether more may follow: until the client
// leaves, the caller's right ends or the service restarts, of which the client learns
// before it is disconnected.
func (c *connection) deliver(e conversation.Event, err error) bool {
	if why := c.server.o.Ended(c.right); why != nil { // the caller may see no more events
		c.fail(why, "")
		_ = c.ws.Close(websocket.StatusPolicyViolation, why.Code.Name)
		return false
	}
	if err != nil {
		if c.right.Err() == nil {
			c.interrupted(err)
		}
		return false
	}
	if f, ok := frameOf(e); ok && c.send(f) != nil {
		_ = c.ws.CloseNow()
		return false
	}
	c.sent.Store(seqOf(e.ID))
	return true
}

// interrupted tells the client how to go on when no more events can be read here.
func (c *connection) interrupted(err error) {
	f := fault.From(err)
	if f.Kind() == fault.Unavailable {
		_ = c.send(frame{Type: "connection", Payload: connectionPayload{
			State: "reconnecting", Message: fault.Maintenance, SessionID: c.conversation.ID,
			Resume: &resume{c.conversation.ID, c.sent.Load(), reconnectIn.Milliseconds()},
		}})
		_ = c.ws.Close(websocket.StatusServiceRestart, f.Code.Name)
		return
	}
	if _, gone := c.server.o.Conversations.Resume(context.WithoutCancel(c.request.Context()), c.owner, c.conversation.ID); gone != nil {
		c.fail(gone, "")
		_ = c.ws.Close(websocket.StatusNormalClosure, "the conversation was deleted")
		return
	}
	c.fail(f, "")
	_ = c.ws.Close(websocket.StatusInternalError, f.Code.Name)
}

// beat pings the client from time to time, and closes a connection whose client
// does not answer, until stop is called, which waits for a ping under way. An idle
// connection has no goroutine for it.
func (c *connection) beat(ctx context.Context) (stop func()) {
	every := c.server.o.Heartbeat
	var (
		pulse   pulse
		mu      sync.Mutex // of a ping, and of the timer
		stopped bool
		timer   *time.Timer
	)
	mu.Lock()
	defer mu.Unlock()
	timer = time.AfterFunc(every, func() {
		mu.Lock()
		defer mu.Unlock()
		switch {
		case stopped:
			return
		case c.ping(ctx, every) == nil:
			c.server.o.Log.Log(ctx, telemetry.LevelTrace, "heartbeat answered", "component", "live", "connection", c.id)
			pulse.answered()
			c.touch()
			c.list(ctx, true)
		default:
			lost := pulse.missed()
			c.server.o.Log.DebugContext(ctx, "heartbeat not answered", "component", "live", "connection", c.id, "attempt", int(pulse))
			if lost {
				_ = c.ws.CloseNow()
				return
			}
		}
		timer.Reset(every)
	})
	return func() {
		mu.Lock()
		defer mu.Unlock()
		stopped = true
		timer.Stop()
	}
}

// maxMissed is how many pings in a row may stay unanswered.
const maxMissed = 2

// pulse counts the pings in a row that were not answered.
type pulse int

func (p *pulse) answered() { *p = 0 }

// missed counts a ping, and reports whether the client is lost.
func (p *pulse) missed() (lost bool) {
	*p++
	return *p == maxMissed
}

func (c *connection) ping(ctx context.Context, patience time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	return c.ws.Ping(ctx)
}

func (c *connection) touch() { c.active.Store(time.Now().UnixMilli()) }

// list renews the connection's entry in the list of its person's connections, or
// removes it.
func (c *connection) list(ctx context.Context, open bool) {
	owner := c.owner
	var err error
	if open {
		err = c.server.o.Connections.renew(ctx, owner, Connection{c.conversation.ID, c.id, c.connected.UnixMilli(), c.active.Load(), c.userAgent}, missedBeats*c.server.o.Heartbeat)
	} else {
		err = c.server.o.Connections.remove(ctx, owner, c.id)
	}
	if err != nil && ctx.Err() == nil {
		c.server.o.Log.WarnContext(ctx, "the list of connections could not be written", "error", err)
	}
}

// position is where a connection begins to read.
type position struct {
	conversation conversation.Conversation
	state        string // connected, reconnected
	after        string // id of an event
	gap          bool   // what followed the client's event is no longer kept
}
