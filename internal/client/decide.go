package client

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"countersign.dev/internal/client/draw"
	"countersign.dev/internal/result"
)

// waits draws a change that waits for its person, and where it is answered when
// the chat ends with it.
func (d *deck) waits(ctx context.Context, envelope json.RawMessage, ends bool) error {
	o, err := result.DecodeEnvelope(envelope)
	if err != nil || o.Pending() == nil {
		return errUnreadable
	}
	if err := d.drawCard(ctx, o.Pending()); err != nil || !ends {
		return err
	}
	_, err = io.WriteString(d.screen, draw.WhereToAnswer(o.Pending()))
	return err
}

// drawCard draws a change, which can be answered from now on. What was entered
// before is no answer to it.
func (d *deck) drawCard(ctx context.Context, p *result.Pending) error {
	if !slices.ContainsFunc(d.pending, func(known *result.Pending) bool { return known.ID == p.ID }) {
		d.pending = append(d.pending, p)
	}
	d.input.discard()
	if d.json {
		return nil
	}
	var b strings.Builder
	draw.Card(&b, p, d.fieldsOf(ctx, actionOf(p)).Preview)
	d.screen.endLine()
	_, err := d.screen.Write([]byte(b.String()))
	return err
}

// decide sends the answer to a change. operand is its number among those that wait,
// which is needed when there are several.
func (c *chat) decide(ctx context.Context, approved bool, operand string) error {
	i, err := c.chosen(operand)
	if err != nil {
		return err
	}
	digest, err := c.pending[i].Digest()
	if err != nil {
		return err
	}
	c.decision = &decision{c.nextID(), c.pending[i], approved, digest}
	if c.connected {
		c.sendDecision(ctx)
	}
	return nil
}

func (d *deck) chosen(operand string) (int, error) {
	if operand == "" && len(d.pending) == 1 {
		return 0, nil
	}
	n, err := strconv.Atoi(operand)
	switch {
	case len(d.pending) == 0:
		return 0, errors.New("no change waits here; /pending shows all that wait for you")
	case err != nil || n < 1 || n > len(d.pending):
		return 0, fmt.Errorf("say which one, 1 to %d, as in /approve 1", len(d.pending))
	}
	return n - 1, nil
}

// sendDecision sends the answer with the digest of what was drawn. Sent twice, it
// has one effect and the same outcome.
func (c *chat) sendDecision(ctx context.Context) {
	sent := c.decision
	_ = c.link.send(ctx, order{Type: "confirm", ID: sent.id, Payload: map[string]any{ // when it is lost, it is sent again with the next connection
		"confirmationId": sent.card.ID, "approved": sent.approved, "digest": sent.digest,
	}})
}

// outcome prints the end of a change once: it comes as the reply to this terminal,
// and as an event to every device.
func (c *chat) outcome(p outcomePayload) error {
	c.pending = slices.DeleteFunc(c.pending, func(known *result.Pending) bool { return known.ID == p.ConfirmationID })
	if c.decision != nil && c.decision.card.ID == p.ConfirmationID {
		c.decision = nil
	}
	if c.settled[p.ConfirmationID] {
		return nil
	}
	c.settled[p.ConfirmationID] = true
	c.screen.line(safe(cmp.Or(p.Message, "The change was made.")))
	return nil
}

// showPending draws all changes that wait for the person, wherever they were asked for.
func (d *deck) showPending(ctx context.Context) error {
	var list struct {
		Confirmations []json.RawMessage
		Unavailable   []struct{ Message string }
	}
	if err := d.gateway.get(ctx, "/api/confirmations", &list); err != nil {
		return err
	}
	d.pending = nil
	for i, one := range list.Confirmations {
		var p result.Pending
		if err := json.Unmarshal(one, &p); err != nil {
			return errUnreadable
		}
		d.screen.line(fmt.Sprintf("%d of %d", i+1, len(list.Confirmations)))
		if err := d.drawCard(ctx, &p); err != nil {
			return err
		}
	}
	if len(list.Confirmations) == 0 {
		d.screen.remark("No change waits for you.")
	}
	return nil
}
