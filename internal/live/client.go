package live

import (
	"context"
	"encoding/json"
	"strconv"
	"sync"
	"time"

	"github.com/coder/websocket"

	"countersign.dev/internal/access"
	"countersign.dev/internal/conversation"
	"countersign.dev/internal/fault"
	"countersign.dev/internal/strictjson"
	"countersign.dev/internal/telemetry"
)

// maxRefused is how many messages in a row a client may send beyond its quota
// before it is disconnected.
const maxRefused = 20

const maxID = 64 // bytes of a message's id

// message is what a client sends.
type message struct {
	Type    string          `json:"type"`
	ID      string          `json:"id,omitempty"` // of the client's choice: what answers the message has it as replyTo
	Payload json.RawMessage `json:"payload,omitempty"`
}

// The payloads of clients.
type (
	questionPayload struct {
		Text  string `json:"text"`
		Model string `json:"model,omitempty"` // for the conversation from now on
	}
	answerPayload struct {
		ConfirmationID string `json:"confirmationId"`
		Approved       *bool  `json:"approved"` // nothing but true approves, and nothing but false denies
		Digest         string `json:"digest"`   // of the preview that the person saw
	}
)

// await reads one message and handles it in another goroutine: a goroutine that only waits
// keeps a small stack, and most connections wait most of the time.
func (c *connection) await() {
	kind, body, err := c.ws.Read(c.request.Context())
	go func() {
		if err == nil && c.receivedSafely(kind, body) {
			go c.await()
			return
		}
		c.close()
	}()
}

// receivedSafely ends the connection whose message made a panic, and not the process.
func (c *connection) receivedSafely(kind websocket.MessageType, body []byte) (more bool) {
	defer func() {
		if p := recover(); p != nil {
			c.fail(fault.Panic("a message", p), "")
			_ = c.ws.Close(websocket.StatusInternalError, fault.InternalError.Name)
		}
	}()
	return c.received(kind, body)
}

// received handles a message, and reports whether the next one may come. A message
// that is no text ends the connection, and so do too many beyond the quota in a row.
func (c *connection) received(kind websocket.MessageType, body []byte) bool {
	if c.server.o.Ended(c.right) != nil {
		return false
	}
	if kind != websocket.MessageText {
		_ = c.ws.Close(websocket.StatusUnsupportedData, "messages are JSON text")
		return false
	}
	c.touch()
	ctx := c.request.Context()
	if err := c.server.o.Quotas.Request(ctx, c.owner, int64(len(body))); err != nil {
		if c.refused++; c.refused > maxRefused {
			_ = c.ws.Close(websocket.StatusPolicyViolation, fault.From(err).Code.Name)
			return false
		}
		c.fail(err, "")
		return true
	}
	c.refused = 0
	m, err := parse[message](body, "The message")
	if err == nil {
		err = c.prove()
	}
	if err == nil {
		err = c.handle(access.With(c.withMessageID(ctx), c.principal), m)
	}
	if err != nil {
		c.fail(err, fault.Clip(m.ID, maxID))
	}
	return true
}

// withMessageID gives each message a request id of its own, after that of the connection.
func (c *connection) withMessageID(ctx context.Context) context.Context {
	c.messages++
	return telemetry.WithRequest(ctx, telemetry.RequestOf(ctx).Part(strconv.Itoa(c.messages)))
}

// prove proves the caller again when their token has expired: the session of a
// browser may have another one by now.
func (c *connection) prove() error {
	end := c.principal.Expires()
	if c.server.o.Again == nil || end.IsZero() || time.Now().Before(end) {
		return nil
	}
	p, err := c.server.o.Again(c.request)
	if err == nil {
		c.principal = p
	}
	return err
}

// handle does what one message asks for. Questions and answers run in goroutines of their
// own, which may outlive the connection.
func (c *connection) handle(ctx context.Context, m message) error {
	c.server.o.Log.DebugContext(ctx, "message received", "type", fault.Clip(m.Type, 50), "bytes", len(m.Payload), "component", "live", "connection", c.id, "conversation", c.conversation.ID)
	if len(m.ID) > maxID {
		return fault.BadRequest.New("id has %d bytes; at most %d are kept.", len(m.ID), maxID)
	}
	switch m.Type {
	case "message":
		q, err := parse[questionPayload](m.Payload, "payload")
		if err != nil {
			return err
		}
		return c.question(ctx, m, q)
	case "confirm":
		a, err := parse[answerPayload](m.Payload, "payload")
		if err != nil {
			return err
		}
		return c.beside(ctx, m, func(ctx context.Context) error { return c.answer(ctx, m, a) })
	case "cancel":
		_, err := c.server.o.Conversations.Cancel(ctx, c.conversation)
		return err
	case "ping":
		return c.send(frame{Type: "pong"})
	}
	return fault.BadRequest.New("There is no message of type %q.", fault.Clip(m.Type, 50)).Suggest("Send message, confirm, cancel or ping.")
}

// parse reads strict JSON. what begins the sentence of its error.
func parse[T any](body []byte, what string) (v T, err error) {
	if len(body) == 0 {
		return v, fault.BadRequest.New("%s is missing.", what)
	}
	if err := strictjson.Unmarshal(body, &v); err != nil {
		return v, fault.BadRequest.New("%s %s.", what, err)
	}
	return v, nil
}

// beside runs a task in a goroutine that does not end with the connection. Its error is
// sent to the client if that is still connected.
func (c *connection) beside(ctx context.Context, m message, do func(context.Context) error) error {
	if err := c.server.begin(); err != nil {
		return err
	}
	ctx, stop := c.server.detached(ctx)
	go func() {
		defer c.server.work.Done()
		defer stop()
		defer func() {
			if p := recover(); p != nil {
				c.fail(fault.Panic(m.Type, p), m.ID)
			}
		}()
		if err := do(ctx); err != nil {
			c.fail(err, m.ID)
		}
	}()
	return nil
}

// question begins a turn, and returns when it has its position in the queue, so that
// what the client sends next comes after it. The turn runs in a goroutine of its own.
func (c *connection) question(ctx context.Context, m message, q questionPayload) error {
	entry := make(chan struct{})
	entered := sync.OnceFunc(func() { close(entry) })
	err := c.beside(ctx, m, func(ctx context.Context) error {
		defer entered()
		return c.ask(ctx, q, entered)
	})
	if err == nil {
		<-entry
	}
	return err
}

// ask begins a turn, whose events come with the conversation's. It waits while
// another question is answered, and calls entered when it has its position in the queue.
func (c *connection) ask(ctx context.Context, q questionPayload, entered func()) error {
	p, err := access.From(ctx)
	if err != nil {
		return err
	}
	_, _, err = c.server.o.Conversations.Ask(ctx, p, conversation.Question{
		Text: q.Text, Conversation: c.conversation.ID, Model: q.Model, Surface: string(p.Provenance().Surface), Entered: entered,
	})
	return err
}

// answer answers a confirmation, and sends its outcome, however often it is asked.
// The conversation in which it was asked for has the outcome among its events, too.
func (c *connection) answer(ctx context.Context, m message, a answerPayload) error {
	switch {
	case a.Approved == nil:
		return fault.BadRequest.New("approved must be true or false.")
	case a.Digest == "":
		return fault.BadRequest.New("digest must be that of the request as it was shown.").Instruct("Send confirmationData.digest of the change that your person saw.")
	}
	o, err := c.server.o.Answer(ctx, a.ConfirmationID, *a.Approved, a.Digest)
	if err != nil {
		return err
	}
	_ = c.send(frame{Type: "outcome", Payload: outcomePayload{a.ConfirmationID, o.Code(), conversation.Sentence(o), m.ID}}) // a disconnected client asks again
	return nil
}
