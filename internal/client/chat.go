package client

import (
	"cmp"
	"context"
	"errors"
	"io"
	"strconv"
	"time"

	"countersign.dev/internal/fault"
	"countersign.dev/internal/result"
)

// startTime is how long a question that was sent before a connection was lost may
// take to begin after it is there again: it may not have arrived.
const startTime = 5 * time.Second

// Chat asks one question, or holds a conversation when there is none, over the
// gateway's WebSocket. Pending changes are shown, and in a conversation they can be
// answered. It ends with ctx, with the input, or with an interrupt while no answer
// is being given.
func Chat(ctx context.Context, o Options, question string) error {
	cl, err := o.client(ctx)
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	c := newChat(o, cl, newInput(o.In, o.Out, o.Err))
	c.once = question != ""
	defer c.input.close()
	c.screen.width() // the editor learns it
	if err := c.begin(ctx, o.Resume); err != nil {
		return err
	}
	defer func() { c.unlink() }()
	if c.once {
		c.ask(ctx, question)
	} else {
		c.screen.remark(fault.Welcome + "\nAsk a question. /help lists what else you can enter; Ctrl-D ends.")
	}
	err = c.run(ctx)
	c.screen.endLine()
	return err
}

func newChat(o Options, cl *client, i *input) *chat {
	v := &view{gateway: cl, screen: newScreen(o, i), json: o.JSON, out: o.Out, fields: map[string]result.Fields{}}
	return &chat{Options: o, view: v, deck: deck{view: v, input: i}, answers: answers{view: v}, input: i, settled: map[string]bool{}}
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

func (c *chat) run(ctx context.Context) error {
	for {
		if !c.once && c.id != "" && c.asked == nil && c.decision == nil { // the person's next line is wanted
			if err := c.input.ask(); err != nil {
				return err
			}
		}
		err := c.step(ctx)
		switch {
		case ctx.Err() != nil || errors.Is(err, errEnd):
			return nil
		case err != nil:
			return err
		}
	}
}

// step waits for whatever comes next.
func (c *chat) step(ctx context.Context) error {
	select {
	case a := <-c.arrivals:
		return c.arrived(ctx, a)
	case l := <-c.input.lines:
		c.input.taken(l)
		return c.entered(ctx, l)
	case <-c.Interrupts:
		return c.interrupted(ctx)
	case <-c.Resized:
		c.screen.width()
	case <-c.late:
		if c.late = nil; c.turn != nil { // the question waits behind the one that is answered
			c.late = time.After(startTime)
			return nil
		}
		return c.failed(errors.New("the connection was lost before the question arrived; ask it again"))
	case <-ctx.Done():
	}
	return nil
}

// entered takes a line of the person.
func (c *chat) entered(ctx context.Context, l line) error {
	switch {
	case errors.Is(l.err, io.EOF):
		return errEnd
	case l.err != nil:
		return l.err
	case l.text == "":
		return nil
	}
	err := c.command(ctx, l.text)
	if err == nil || errors.Is(err, errEnd) {
		return err
	}
	c.screen.remark(safe(fault.Sentence(err)))
	return nil
}

// begin links the chat to a conversation, or to a new one.
func (c *chat) begin(ctx context.Context, id string) error {
	l := &link{client: c.gateway, session: id}
	var stored *wholeConversation
	if id != "" {
		var err error
		if stored, err = c.gateway.conversation(ctx, id); err != nil {
			return err
		}
		l.after = seqOf(stored.LastEventID)
	}
	if c.unlink != nil {
		c.unlink()
	}
	c.id, c.connected, c.turn, c.deck.pending, c.list, c.read = "", false, nil, nil, nil, nil
	arrivals, linked := make(chan arrival, 64), make(chan struct{})
	ctx, cancel := context.WithCancel(ctx)
	go func() {
		defer close(linked)
		l.run(ctx, func(a arrival) {
			select {
			case arrivals <- a:
			case <-ctx.Done():
			}
		})
	}()
	c.link, c.arrivals = l, arrivals
	c.unlink = func() { l.close(); cancel(); <-linked }
	if stored != nil {
		c.showStored(ctx, stored)
	}
	return nil
}

// arrived takes what the link reports.
func (c *chat) arrived(ctx context.Context, a arrival) error {
	switch {
	case a.lost:
		c.connected = false
		c.screen.remark("The connection was lost. Connecting again…")
		return nil
	case a.err != nil:
		return c.unlinked(ctx, a.err)
	}
	if c.JSON && a.message.Type != "pong" {
		if _, err := c.Out.Write(append(a.message.raw, '\n')); err != nil {
			return err
		}
	}
	return c.take(ctx, a.message)
}

// unlinked ends the chat, or begins another conversation when this one is gone.
func (c *chat) unlinked(ctx context.Context, err error) error {
	var refused *rejection
	if c.once || c.id == "" || !errors.As(err, &refused) {
		return err
	}
	c.screen.remark(safe(err.Error()) + "\nA new conversation begins.")
	c.asked, c.decision, c.late = nil, nil, nil
	return c.begin(ctx, "")
}

// attached is called when there is a connection again. What was sent before may not
// have arrived: an answer to a change is sent again, which has no second effect; a
// question is given up when its answer does not begin.
func (c *chat) attached(ctx context.Context) {
	c.connected = true
	if c.decision != nil {
		c.sendDecision(ctx)
	}
	switch q := c.asked; {
	case q == nil:
	case !q.sent:
		q.send(ctx, c.link, c.Model)
	case !q.begun:
		c.late = time.After(startTime)
	}
	if q := c.asked; q != nil && q.stopping {
		_ = c.link.send(ctx, order{Type: "cancel"}) // the next connection sends it again
	}
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

func (c *chat) nextID() string {
	c.orders++
	return "m" + strconv.Itoa(c.orders)
}

// interrupted stops the answer; a second time, or when there is none, the chat.
func (c *chat) interrupted(ctx context.Context) error {
	q := c.asked
	if q == nil || q.stopping {
		return giveUp(c.once)
	}
	if !q.sent {
		c.asked = nil
		c.screen.remark("The question was not asked.")
		return giveUp(c.once)
	}
	q.stopping = true
	c.screen.state("Stopping… Ctrl-C again ends the chat.")
	if err := c.link.send(ctx, order{Type: "cancel"}); err != nil {
		c.screen.remark(err.Error())
	}
	return nil
}

func giveUp(once bool) error {
	if once {
		return errStopped
	}
	return errEnd
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
