package client

import (
	"context"
	"errors"
	"io"
	"time"

	"countersign.dev/internal/fault"
)

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
