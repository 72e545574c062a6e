package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"countersign.dev/internal/client/draw"
	"countersign.dev/internal/plaintext"
	"countersign.dev/internal/result"
)

// take draws one message of the gateway. Types of a later version are passed over.
func (c *chat) take(ctx context.Context, m *message) error {
	switch m.Type {
	case "connection":
		return with(m, func(p connectionPayload) error { return c.connection(ctx, p) })
	case "start":
		return with(m, c.start)
	case "text":
		return with(m, c.text)
	case "note":
		return with(m, func(p notePayload) error { c.screen.line("\n" + safe(p.Text)); return nil })
	case "status":
		return with(m, c.status)
	case "confirmation":
		return c.waits(ctx, m.Payload, c.once)
	case "outcome":
		return with(m, c.outcome)
	case "error":
		return with(m, func(p errorPayload) error { return c.fault(m.Seq, p) })
	case "end":
		return with(m, func(p endPayload) error { return c.end(ctx, p) })
	}
	return nil
}

// with reads the payload of a message for its reader.
func with[T any](m *message, read func(T) error) error {
	p, err := decode[T](m.Payload)
	if err != nil {
		return err
	}
	return read(p)
}

func (c *chat) connection(ctx context.Context, p connectionPayload) error {
	if p.State == "reconnecting" {
		c.screen.remark(safe(p.Message))
		return nil
	}
	if c.id != "" { // it was lost
		c.screen.remark("Connected again.")
	}
	c.id = p.SessionID
	c.attached(ctx)
	if p.Gap {
		return c.showMissed(ctx)
	}
	return nil
}

// start begins an answer. A question that was not asked here is shown.
func (c *chat) start(p startPayload) error {
	c.turn = newTurn()
	if q := c.asked; q != nil && !q.begun && q.text == p.Text {
		q.begun, c.turn.own, c.late = true, true, nil
	} else {
		c.screen.line(c.screen.styled(bold, "Question: "+safe(p.Text)))
	}
	label := p.Model
	if label == "rehearsal" {
		label += ", not an AI model"
	}
	if label != c.label {
		c.label = label
		c.screen.remark("[" + safe(label) + "]")
	}
	return nil
}

// now is the answer that arrives. A connection may begin in the middle of one.
func (a *answers) now() *turn {
	if a.turn == nil {
		a.turn = newTurn()
	}
	return a.turn
}

func (a *answers) text(p textPayload) error {
	a.now().text.WriteString(p.Content)
	a.screen.words(p.Content)
	return nil
}

// status shows what goes on, and keeps the rows of a finished call.
func (a *answers) status(p statusPayload) error {
	t := a.now()
	message := "· " + plaintext.Escape(p.Message, false)
	switch {
	case p.State == "processing":
		if len(p.Args) > 0 {
			t.args[p.CallID] = p.Args
		}
		a.screen.state(message)
	case p.CallID == "":
		t.takeNotice(p.Data)
	default:
		a.screen.remark(message)
		a.takeRows(t, p)
	}
	return nil
}

// takeNotice keeps what makes an answer incomplete.
func (t *turn) takeNotice(data json.RawMessage) {
	var notice struct {
		Hint     string
		Warnings []struct{ Message string }
	}
	if json.Unmarshal(data, &notice) != nil {
		return
	}
	t.warn(notice.Hint)
	for _, w := range notice.Warnings {
		t.warn(w.Message)
	}
}

// takeRows keeps the rows of a finished call, and how its next page is asked for.
func (a *answers) takeRows(t *turn, p statusPayload) {
	o, err := result.DecodeEnvelope(p.Data)
	if err != nil {
		return // an answer in another dialect: the text describes it
	}
	if rows := draw.Rows(o); rows != nil {
		t.tables = append(t.tables, table{p.Tool, rows})
	}
	next, continues := nextOf(p.Server, p.Tool, t.args[p.CallID], o.Page()), t.continues(p)
	if page := o.Page(); page != nil && page.More {
		t.warn(page.Hint)
		t.parts[next.key()] = page.Hint
	}
	same := a.list != nil && a.list.server == p.Server && a.list.tool == p.Tool && o.Page() != nil // a last page that was asked for in words
	if next != nil || continues || same {
		a.list = next
	}
}

// continues reports whether a call was for the page after one of this answer, which
// is therefore no longer incomplete.
func (t *turn) continues(p statusPayload) bool {
	l := &list{tool: p.Tool}
	if json.Unmarshal(t.args[p.CallID], &l.args) != nil || l.key() == "" {
		return false
	}
	hint, known := t.parts[l.key()]
	if known {
		t.warnings = slices.DeleteFunc(t.warnings, func(w string) bool { return w == hint })
	}
	return known
}

// warn keeps a warning once.
func (t *turn) warn(text string) {
	if text != "" && !slices.Contains(t.warnings, text) {
		t.warnings = append(t.warnings, text)
	}
}

// fault prints an error: of a message that was sent, or of the answer.
func (c *chat) fault(seq int64, p errorPayload) error {
	err := errors.New(strings.TrimSpace(p.Message + " " + p.SuggestedAction))
	switch {
	case seq > 0:
		c.now().problem = errors.New(p.Message)
		return nil
	case c.asked != nil && p.ReplyTo == c.asked.id:
		return c.failed(err)
	case c.decision != nil && p.ReplyTo == c.decision.id:
		c.decision = nil
	}
	c.screen.remark(safe(err.Error()))
	return nil
}

// end prints the tables of an answer, and the warnings that its text does not
// contain.
func (c *chat) end(ctx context.Context, p endPayload) error {
	t := c.now()
	c.turn = nil
	c.screen.endLine()
	c.read = t.tables
	named, unnamed := namedBy(t.text.String(), t.tables)
	if err := c.drawAll(ctx, named); err != nil {
		return err
	}
	for _, w := range t.warnings {
		if !strings.Contains(t.text.String(), w) {
			c.screen.line("\nWarning: " + safe(w))
		}
	}
	if p.Reason == "cancelled" {
		c.screen.line("Stopped. What you see may be incomplete.")
	}
	c.hints(unnamed)
	return c.finished(t, p)
}

// hints says what can be entered now, and that so many rows are not shown.
func (c *chat) hints(unnamed int) {
	how := "/rows shows them."
	if c.once {
		how = "--json prints them."
	}
	if unnamed > 0 && !c.json {
		c.screen.remark(fmt.Sprintf("%d rows were read that the answer does not name. %s", unnamed, how))
	}
	if c.once {
		return
	}
	if c.list != nil && len(c.read) > 0 {
		c.screen.remark("/next shows more rows.")
	}
	if len(c.pending) > 0 {
		c.screen.remark("/approve or /deny answers the change.")
	}
}

// finished ends the own question when this was its answer.
func (c *chat) finished(t *turn, p endPayload) error {
	if !t.own {
		if t.problem != nil {
			c.screen.remark(safe(t.problem.Error()))
		}
		return nil
	}
	if t.problem != nil {
		return c.failed(t.problem)
	}
	c.asked = nil
	switch {
	case !c.once:
		return nil
	case p.Reason == "cancelled":
		return errStopped
	}
	return errEnd
}

// decode reads a payload.
func decode[T any](payload json.RawMessage) (v T, err error) {
	if json.Unmarshal(payload, &v) != nil {
		return v, errUnreadable
	}
	return v, nil
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

// startTime is how long a question that was sent before a connection was lost may
// take to begin after it is there again: it may not have arrived.
const startTime = 5 * time.Second
