package client

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"countersign.dev/internal/fault"
	"countersign.dev/internal/result"
)

// Chat asks one question, or holds a conversation when there is none. Pending
// changes are shown, and in a conversation they can be answered.
func Chat(ctx context.Context, o Options, question string) error {
	cl, err := o.client(ctx)
	if err != nil {
		return err
	}
	t := &conversation{Options: o, client: cl}
	if question != "" {
		return t.ask(ctx, question)
	}
	return t.converse(ctx)
}

// conversation is one conversation in a terminal.
type conversation struct {
	Options
	client  *client
	id      string            // empty before the first answer
	pending []*result.Pending // confirmations of the last answer
}

func (t *conversation) converse(ctx context.Context) error {
	fmt.Fprintln(t.Err, fault.Welcome)
	fmt.Fprintln(t.Err, `Ask a question. "approve" or "deny" answers a pending change; Ctrl-D ends.`)
	lines := bufio.NewScanner(t.In)
	for {
		fmt.Fprint(t.Err, "> ")
		if !lines.Scan() {
			fmt.Fprintln(t.Err)
			return lines.Err()
		}
		line := strings.TrimSpace(lines.Text())
		if line == "" {
			continue
		}
		if err := t.say(ctx, line); err != nil {
			if ctx.Err() != nil {
				return nil
			}
			fmt.Fprintln(t.Err, fault.Sentence(err))
		}
	}
}

func (t *conversation) say(ctx context.Context, line string) error {
	if (line == "approve" || line == "deny") && len(t.pending) > 0 {
		return t.answer(ctx, line == "approve")
	}
	return t.ask(ctx, line)
}

// answer approves or denies the oldest pending change of the last answer. The
// digest binds the answer to what was printed.
func (t *conversation) answer(ctx context.Context, approved bool) error {
	digest, err := t.pending[0].Digest()
	if err != nil {
		return err
	}
	var answer json.RawMessage
	body := map[string]any{"approved": approved, "digest": digest}
	if err := t.client.post(ctx, "/api/confirm/"+t.pending[0].ID, body, &answer); err != nil {
		return err
	}
	t.pending = t.pending[1:]
	o, err := result.DecodeEnvelope(answer)
	if err != nil {
		return err
	}
	if o.Fault() != nil {
		return o.Fault()
	}
	fmt.Fprintln(t.Out, cmp.Or(o.Message(), "The change was made."))
	return nil
}

// ask sends a question and prints the answer as it comes.
func (t *conversation) ask(ctx context.Context, question string) error {
	resp, err := t.client.query(ctx, question, t.id, t.Model)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	a := &answer{Options: t.Options, fields: t.fieldsOf}
	err = t.print(ctx, a, resp.Body)
	t.id, t.pending = cmp.Or(a.id, t.id), a.pending
	return err
}

// print prints an answer as it comes. One that failed has its tables too.
func (t *conversation) print(ctx context.Context, a *answer, body io.Reader) error {
	var failed error
	err := eachEvent(body, func(data string) {
		if t.JSON {
			fmt.Fprintln(t.Out, data)
		}
		failed = cmp.Or(failed, a.take(data))
	})
	if err != nil {
		return err
	}
	return cmp.Or(failed, a.end(ctx))
}

// fieldsOf returns what a tool declares about the fields of its answers; nothing
// when the tools cannot be listed, because rows are readable without it.
func (t *conversation) fieldsOf(ctx context.Context, tool string) map[string]result.Field {
	list, err := t.client.tools(ctx)
	if err != nil {
		return nil
	}
	for _, info := range list.Tools {
		if info.Name == tool && info.Fields != nil {
			return info.Fields.Output
		}
	}
	return nil
}
