package client

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"

	"countersign.dev/internal/fault"
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
	id      string   // empty before the first answer
	pending []string // confirmations of the last answer
}

func (t *conversation) converse(ctx context.Context) error {
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

// answer approves or denies the oldest pending change of the last answer.
func (t *conversation) answer(ctx context.Context, approved bool) error {
	id := t.pending[0]
	var answer struct {
		Message string `json:"message"`
		Data    struct {
			Message string `json:"message"`
		} `json:"data"`
	}
	if err := t.client.post(ctx, "/api/confirm/"+id, map[string]bool{"approved": approved}, &answer); err != nil {
		return err
	}
	t.pending = t.pending[1:]
	fmt.Fprintln(t.Out, cmp.Or(answer.Data.Message, answer.Message))
	return nil
}

// turnEvent is one data object of the stream (contract: `GET /api/query`).
type turnEvent struct {
	Type           string          `json:"type"`
	Status         string          `json:"status"`
	ConversationID string          `json:"conversationId"`
	Model          string          `json:"model"`
	Text           string          `json:"text"`
	Error          string          `json:"error"`
	ConfirmationID string          `json:"confirmationId"`
	Message        string          `json:"message"`
	State          string          `json:"state"`
	Warnings       json.RawMessage `json:"warnings"`
}

// ask sends a question and prints the answer as it comes.
func (t *conversation) ask(ctx context.Context, question string) error {
	body := map[string]string{"query": question}
	if t.id != "" {
		body["conversationId"] = t.id
	}
	resp, err := t.client.do(ctx, http.MethodPost, "/api/query", body)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		said, _ := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
		return statusError(resp.StatusCode, said)
	}
	t.pending = nil
	return t.stream(resp.Body)
}

func (t *conversation) stream(body io.Reader) error {
	lines := bufio.NewScanner(body)
	lines.Buffer(nil, 1<<20)
	var failed error
	for lines.Scan() {
		data, ok := strings.CutPrefix(lines.Text(), "data: ")
		if !ok {
			continue
		}
		if data == "[DONE]" {
			if !t.JSON {
				fmt.Fprintln(t.Out)
			}
			return failed
		}
		if t.JSON {
			fmt.Fprintln(t.Out, data)
		}
		if err := t.show(data); err != nil {
			failed = err
		}
	}
	return fmt.Errorf("the answer ended early")
}

// show prints one event; with JSON it only keeps ids and errors.
func (t *conversation) show(data string) error {
	var e turnEvent
	if err := json.Unmarshal([]byte(data), &e); err != nil {
		return fmt.Errorf("the gateway sent an event that cannot be read")
	}
	out := t.Out
	if t.JSON {
		out = io.Discard
	}
	switch {
	case e.Status == "pending_confirmation":
		t.pending = append(t.pending, e.ConfirmationID)
		fmt.Fprintf(out, "\n%s\nWaiting for your approval: %s\n", e.Message, e.ConfirmationID)
	case e.Type == "start":
		t.id = e.ConversationID
		label := e.Model
		if label == "rehearsal" {
			label += ", not an AI model"
		}
		fmt.Fprintf(t.Err, "[%s]\n", label)
	case e.Type == "text":
		fmt.Fprint(out, e.Text)
	case e.Type == "error":
		return fmt.Errorf("%s", e.Error)
	}
	return nil
}
