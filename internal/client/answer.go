package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"countersign.dev/internal/result"
)

// turnEvent is one data object of the stream (contract: `GET /api/query`). A
// pending confirmation has no type: it is an envelope.
type turnEvent struct {
	Type           string          `json:"type"`
	ConversationID string          `json:"conversationId"`
	Model          string          `json:"model"`
	Text           string          `json:"text"`
	Source         string          `json:"source"` // of a text: empty, or gateway
	Content        string          `json:"content"`
	Error          string          `json:"error"`
	Reason         string          `json:"reason"`
	Tool           string          `json:"tool"`
	State          string          `json:"state"`
	CallID         string          `json:"callId"`
	Args           json.RawMessage `json:"args"`
	Hint           string          `json:"hint"`
	Data           json.RawMessage `json:"data"`
	Usage          struct {
		Input  int `json:"input_tokens"`
		Output int `json:"output_tokens"`
		Price  struct {
			Amount   float64 `json:"amount"`
			Currency string  `json:"currency"`
		} `json:"price"`
	} `json:"usage"`
	Warnings []struct {
		Message string `json:"message"`
	} `json:"warnings"`
}

// answer is the answer to one question. Text is printed as it comes; tables and
// warnings follow at the end. With JSON, programs read the events themselves,
// and nothing else is printed.
type answer struct {
	Options
	fields   func(ctx context.Context, tool string) map[string]result.Field
	id       string // of the conversation
	pending  []*result.Pending
	text     strings.Builder
	tables   []table
	warnings []string
}

type table struct {
	tool string
	rows []result.Row
}

// out is where people read.
func (a *answer) out() io.Writer {
	if a.JSON {
		return io.Discard
	}
	return a.Out
}

// take prints one event, or keeps it for the end.
func (a *answer) take(data string) error {
	var e turnEvent
	if err := json.Unmarshal([]byte(data), &e); err != nil {
		return errUnreadable
	}
	switch e.Type {
	case "":
		return a.takePending(json.RawMessage(data))
	case "start":
		a.start(e)
	case "text":
		a.text.WriteString(e.Text)
		fmt.Fprint(a.out(), e.Text)
	case "note":
		a.print(e.Text)
	case "message":
		a.print(e.Content)
	case "tool":
		a.takeRows(e)
	case "truncation":
		a.warn(e.Hint)
	case "service_unavailable":
		for _, w := range e.Warnings {
			a.warn(w.Message)
		}
	case "stop":
		if e.Reason == "cancelled" { // by the same person, on another device
			a.print("Stopped. What you see may be incomplete.")
		}
	case "error":
		return errors.New(e.Error)
	}
	return nil
}

func (a *answer) start(e turnEvent) {
	a.id = e.ConversationID
	label := e.Model
	if label == "rehearsal" {
		label += ", not an AI model"
	}
	fmt.Fprintf(a.Err, "[%s]\n", label)
}

// print prints a line of its own within the answer.
func (a *answer) print(line string) { fmt.Fprintf(a.out(), "\n%s\n", line) }

func (a *answer) takePending(envelope json.RawMessage) error {
	o, err := result.DecodeEnvelope(envelope)
	if err != nil || o.Pending() == nil {
		return nil // an event of a later version
	}
	p := o.Pending()
	a.pending = append(a.pending, p)
	printCard(a.out(), p)
	return nil
}

// takeRows keeps the rows of a finished call.
func (a *answer) takeRows(e turnEvent) {
	if len(e.Data) == 0 {
		return
	}
	o, err := result.DecodeEnvelope(e.Data)
	if err != nil {
		return // an answer in another dialect: the text describes it
	}
	if rows := rowsOf(o); rows != nil {
		a.tables = append(a.tables, table{e.Tool, rows})
	}
	if page := o.Page(); page != nil && page.More {
		a.warn(page.Hint)
	}
}

// warn keeps a warning once.
func (a *answer) warn(text string) {
	if text != "" && !slices.Contains(a.warnings, text) {
		a.warnings = append(a.warnings, text)
	}
}

// end prints the tables, and the warnings that the text does not contain.
func (a *answer) end(ctx context.Context) error {
	if a.JSON {
		return nil
	}
	fmt.Fprintln(a.Out)
	for _, t := range a.tables {
		fmt.Fprintln(a.Out)
		if err := printTable(a.Out, t.rows, a.fields(ctx, t.tool)); err != nil {
			return err
		}
	}
	for _, w := range a.warnings {
		if !strings.Contains(a.text.String(), w) {
			fmt.Fprintf(a.Out, "\nWarning: %s\n", w)
		}
	}
	return nil
}
