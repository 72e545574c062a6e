package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"

	"countersign.dev/internal/client/draw"
	"countersign.dev/internal/result"
)

// conversation reads a conversation with all its messages, page by page, and waits
// between pages as long as the gateway asks for.
func (c *client) conversation(ctx context.Context, id string) (*wholeConversation, error) {
	path, whole := "/api/conversations/"+url.PathEscape(id), &wholeConversation{}
	if err := c.get(ctx, path, whole); err != nil {
		return nil, err
	}
	for next := whole.Next; next != ""; {
		var page wholeConversation
		switch err := c.get(ctx, path+"?after="+url.QueryEscape(next), &page); {
		case err == nil:
			whole.Messages, next = append(whole.Messages, page.Messages...), page.Next
		case !waitAsked(ctx, err):
			return nil, err
		}
	}
	return whole, nil
}

// showStored prints the messages of a conversation.
func (v *view) showStored(ctx context.Context, whole *wholeConversation) {
	v.screen.remark(draw.Short(whole.Title))
	for _, m := range whole.Messages {
		switch m.Role {
		case "user":
			v.screen.line("\n" + v.screen.styled(bold, prompt+safe(m.Content)))
		case "tool":
			v.showResult(ctx, m.Server, m.Tool, m.Args, json.RawMessage(m.Content))
		default:
			v.screen.line(safe(m.Content))
		}
		for _, n := range m.Notes {
			v.screen.line("\n" + safe(n.Text))
		}
	}
}

// showMissed prints the conversation again, of which some events are lost.
func (c *chat) showMissed(ctx context.Context) error {
	whole, err := c.gateway.conversation(ctx, c.id)
	if err != nil {
		return err
	}
	c.screen.remark("Some events are no longer kept. This is the whole conversation:")
	c.showStored(ctx, whole)
	return nil
}

// showResult draws the rows of a stored answer of a tool.
func (v *view) showResult(ctx context.Context, server, tool string, args, envelope json.RawMessage) {
	o, err := result.DecodeEnvelope(envelope)
	if err != nil {
		return
	}
	if rows := draw.Rows(o); rows != nil {
		_ = v.draw(ctx, tool, rows) // into memory, and on the screen
	}
	v.list = nextOf(server, tool, args, o.Page())
}

// nextOf returns how the page after one is asked for; nil when there is none, or its
// call is not known.
func nextOf(server, tool string, args json.RawMessage, page *result.Page) *list {
	if page == nil || !page.More || server == "" {
		return nil
	}
	next := &list{server, tool, map[string]json.RawMessage{}}
	if len(args) > 0 && json.Unmarshal(args, &next.args) != nil {
		return nil
	}
	input, value := page.Following()
	if input == "" {
		return nil
	}
	next.args[input], _ = json.Marshal(value) // a text or a number
	return next
}

// key tells the pages of a turn apart; empty: it is a first page.
func (l *list) key() string {
	if l == nil || l.args["cursor"] == nil && l.args["offset"] == nil {
		return ""
	}
	return fmt.Sprintf("%s %s %s", l.tool, l.args["cursor"], l.args["offset"])
}

// nextPage calls the tool of the last list again, where that has ended.
func (v *view) nextPage(ctx context.Context) error {
	l := v.list
	if l == nil {
		return errors.New("there is no list with another page")
	}
	var answer json.RawMessage
	if err := v.gateway.post(ctx, "/api/mcp/"+url.PathEscape(l.server)+"/"+url.PathEscape(l.tool), l.args, &answer); err != nil {
		return err
	}
	o, err := result.DecodeEnvelope(answer)
	if err != nil {
		return errUnreadable
	}
	if o.Fault() != nil {
		return o.Fault()
	}
	if v.json {
		_, err := v.out.Write(append(compact(answer), '\n'))
		return err
	}
	return v.showPage(ctx, l, o)
}

// showPage draws a page, of one row too.
func (v *view) showPage(ctx context.Context, l *list, o result.Outcome) error {
	args, err := json.Marshal(l.args)
	if err != nil {
		return err
	}
	v.list = nextOf(l.server, l.tool, args, o.Page())
	if rows := draw.AllRows(o); len(rows) > 0 {
		if err := v.draw(ctx, l.tool, rows); err != nil {
			return err
		}
	}
	if page := o.Page(); page != nil && page.Hint != "" {
		v.screen.line(safe(page.Hint))
	}
	if v.list != nil {
		v.screen.remark("/next shows more rows.")
	}
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
