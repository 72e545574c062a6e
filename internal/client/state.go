package client

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"strconv"
	"strings"
	"time"

	"countersign.dev/internal/result"
)

// errEnd ends a chat as its person wants.
var errEnd = errors.New("the chat ends")

var errStopped = errors.New("the answer was stopped")

// The payloads of the gateway's messages, as docs/live.md has them.
type (
	connectionPayload struct {
		State, Message, SessionID string
		Gap                       bool
	}
	startPayload  struct{ Text, Model string }
	textPayload   struct{ Content string }
	statusPayload struct {
		State, Tool, Server, CallID, Message string
		Args, Data                           json.RawMessage
	}
	outcomePayload struct{ ConfirmationID, Status, Message, ReplyTo string }
	errorPayload   struct{ Code, Message, SuggestedAction, ReplyTo string }
	endPayload     struct{ Reason string }
)

// turn is one answer as it arrives. Text is printed at once; tables and warnings
// follow at its end.
type turn struct {
	own      bool // it answers the question of this terminal
	text     strings.Builder
	args     map[string]json.RawMessage // by call
	tables   []table
	warnings []string
	parts    map[string]string // the warnings of pages, by the calls for their next pages
	problem  error
}

func newTurn() *turn {
	return &turn{args: map[string]json.RawMessage{}, parts: map[string]string{}}
}

// answers is the answer that arrives, to a question on any device.
type answers struct {
	*view
	turn  *turn
	read  []table // for the last answer
	label string  // of the model, as it was printed last
}

// deck is the changes that wait and were drawn.
type deck struct {
	*view
	input   *input
	pending []*result.Pending
}

// decision is an answer to a change that waits.
type decision struct {
	id       string // of the message
	card     *result.Pending
	approved bool
	digest   string // of what was drawn
}

// chat is one terminal in a conversation. All of it belongs to the goroutine that
// runs it; a link and an input report on channels.
type chat struct {
	Options
	*view
	deck    // the changes that wait
	answers // what arrives
	input   *input
	once    bool // it ends with the answer to its question

	id        string // of the conversation; empty until the gateway has named it
	link      *link
	arrivals  chan arrival
	unlink    func()
	connected bool

	asked  *question        // own one, until its answer has ended
	late   <-chan time.Time // when a question that may be lost is given up
	orders int              // messages that were sent

	decision *decision       // that was sent, until its outcome has come
	settled  map[string]bool // confirmations whose outcome was printed
}

// question is an own question whose answer has not ended.
type question struct {
	id, text string
	sent     bool // maybe: the connection may have been lost with it
	begun    bool
	stopping bool // the person wants no answer any more
}

func newChat(o Options, cl *client, i *input) *chat {
	v := &view{gateway: cl, screen: newScreen(o, i), json: o.JSON, out: o.Out, fields: map[string]result.Fields{}}
	return &chat{Options: o, view: v, deck: deck{view: v, input: i}, answers: answers{view: v}, input: i, settled: map[string]bool{}}
}

func (c *chat) nextID() string {
	c.orders++
	return "m" + strconv.Itoa(c.orders)
}

// ask sends a question, now or when there is a connection.
func (c *chat) ask(ctx context.Context, text string) {
	c.asked = &question{id: c.nextID(), text: text}
	if c.connected {
		c.asked.send(ctx, c.link, c.Model)
	}
}

// send sends a question by a link. model is empty for that of the conversation.
func (q *question) send(ctx context.Context, l *link, model string) {
	payload := map[string]string{"text": q.text}
	if model != "" {
		payload["model"] = model
	}
	err := l.send(ctx, order{Type: "message", ID: q.id, Payload: payload})
	q.sent = !errors.Is(err, errNotConnected)
}

// failed ends the own question without an answer.
func (c *chat) failed(err error) error {
	stopped := c.asked != nil && c.asked.stopping
	c.asked, c.turn = nil, nil
	if c.once {
		return err
	}
	c.screen.endLine()
	if stopped {
		c.screen.remark(cmp.Or(safe(err.Error()), "Stopped."))
		return nil
	}
	c.screen.remark(safe(err.Error()))
	return nil
}

// view shows what the gateway stores: lists, pages and conversations.
type view struct {
	gateway *client
	screen  *screen
	out     io.Writer
	json    bool                     // pages are printed on out as they are
	list    *list                    // the last one that has a next page
	found   []summary                // what /history has listed
	fields  map[string]result.Fields // of the tools whose rows or cards were drawn
}

// summary is a conversation in a list.
type summary struct {
	ID      string    `json:"id"`
	Title   string    `json:"title"`
	Updated time.Time `json:"updated"`
}

// list is a list that has another page: the same call goes on there.
type list struct {
	server, tool string
	args         map[string]json.RawMessage
}

// wholeConversation is a conversation with its messages, which contain everything
// up to an event.
type wholeConversation struct {
	summary
	LastEventID string `json:"lastEventId"`
	Next        string `json:"next"` // after which message there are more
	Messages    []struct {
		Role    string          `json:"role"`
		Content string          `json:"content"` // of a tool: an envelope
		Tool    string          `json:"tool"`
		Server  string          `json:"server"`
		Args    json.RawMessage `json:"args"`
		Notes   []notePayload   `json:"notes"`
	} `json:"messages"`
}

type notePayload struct{ Text string }
