package client

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

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
	Kind           string          `json:"kind"`   // of a note
	Error          string          `json:"error"`
	Tool           string          `json:"tool"`
	State          string          `json:"state"`
	CallID         string          `json:"callId"`
	Args           json.RawMessage `json:"args"`
	Data           json.RawMessage `json:"data"`
	Usage          struct {
		Input  int `json:"input_tokens"`
		Output int `json:"output_tokens"`
		Price  struct {
			Amount   float64 `json:"amount"`
			Currency string  `json:"currency"`
		} `json:"price"`
	} `json:"usage"`
}

// Exchange is one question with its events and its answer, for programs that read an
// answer instead of printing it.
type Exchange struct {
	Model    string            // that answered
	Text     string            // what the model wrote
	Added    []string          // what the gateway wrote because the model left it out, or got it wrong
	Calls    []Called          // in the order in which they began
	Pending  []*result.Pending // changes that wait for the person
	Problem  string            // why the turn failed; empty when it did not
	Input    int               // tokens, as the model's provider counts them; 0: not known
	Output   int
	Price    float64 // in Currency
	Currency string  // empty: the price is not known
}

// Called is one call of a tool within a turn.
type Called struct {
	ID      string
	Tool    string
	Args    json.RawMessage
	Outcome result.Outcome // the zero value until the call has finished
	Done    bool
}

// Asker holds one conversation with a gateway. It is not safe for concurrent use.
type Asker struct {
	client  *client
	model   string
	id      string // of the conversation; empty before the first answer
	pending []*result.Pending
}

// NewAsker signs in as the options say. model names the model that answers;
// empty: the gateway's default.
func NewAsker(ctx context.Context, o Options, model string) (*Asker, error) {
	c, err := o.client(ctx)
	if err != nil {
		return nil, err
	}
	return &Asker{client: c, model: model}, nil
}

// mostWaits is how often a question is sent again that the gateway refuses for now
// (429 with Retry-After, before it has done anything), and longestWait what it may ask for.
const (
	mostWaits   = 10
	longestWait = 30 * time.Second
)

// Ask asks the next question of the conversation and waits for the end of its
// turn, and before it as long as the gateway asks to wait. A turn that failed is an exchange with a problem; the error is for
// questions that were not taken and answers that cannot be read.
func (a *Asker) Ask(ctx context.Context, question string) (*Exchange, error) {
	resp, err := a.client.query(ctx, question, a.id, a.model)
	for n := 0; n < mostWaits && waitAsked(ctx, err); n++ {
		resp, err = a.client.query(ctx, question, a.id, a.model)
	}
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	x := &Exchange{}
	var unreadable error
	err = eachEvent(resp.Body, func(data string) {
		var e turnEvent
		if err := json.Unmarshal([]byte(data), &e); err != nil {
			unreadable = errUnreadable
			return
		}
		a.id = cmp.Or(e.ConversationID, a.id)
		x.take(e, data)
	})
	a.pending = append(a.pending, x.Pending...)
	return x, cmp.Or(err, unreadable)
}

// waitAsked waits as long as a refusal asks to, and reports whether it was one that did.
func waitAsked(ctx context.Context, err error) bool {
	var busy *busyError
	if !errors.As(err, &busy) || busy.wait > longestWait {
		return false
	}
	pause(ctx, busy.wait)
	return ctx.Err() == nil
}

// Close denies what still waits, so that no change of this conversation can be
// made later, and deletes the conversation. What a token without the right to
// answer cannot deny ends by itself.
func (a *Asker) Close(ctx context.Context) error {
	for _, p := range a.pending {
		_ = a.client.post(ctx, "/api/confirm/"+url.PathEscape(p.ID), map[string]any{"approved": false}, &json.RawMessage{})
	}
	id := a.id
	if a.id, a.pending = "", nil; id == "" {
		return nil
	}
	return a.client.send(ctx, http.MethodDelete, "/api/conversations/"+url.PathEscape(id), nil, &json.RawMessage{})
}

// Models lists the names of the gateway's models, the default first.
func Models(ctx context.Context, o Options) ([]string, error) {
	c, err := o.client(ctx)
	if err != nil {
		return nil, err
	}
	return models(ctx, c)
}

func models(ctx context.Context, c *client) ([]string, error) {
	var list struct {
		Models []struct {
			Name    string `json:"name"`
			Default bool   `json:"default"`
		} `json:"models"`
	}
	if err := c.get(ctx, "/api/models", &list); err != nil {
		return nil, err
	}
	var names []string
	for _, m := range list.Models {
		if m.Default {
			names = append([]string{m.Name}, names...)
		} else {
			names = append(names, m.Name)
		}
	}
	return names, nil
}

// calculated is the kind of notes about figures that are the model's calculation, which
// corrects nothing.
const calculated = "computed"

// take adds one event.
func (x *Exchange) take(e turnEvent, data string) {
	switch e.Type {
	case "":
		if o, err := result.DecodeEnvelope(json.RawMessage(data)); err == nil && o.Pending() != nil {
			x.Pending = append(x.Pending, o.Pending())
		}
	case "start":
		x.Model = e.Model
	case "text":
		if e.Source == "" {
			x.Text += e.Text
		} else {
			x.Added = append(x.Added, e.Text)
		}
	case "note":
		if e.Kind != calculated {
			x.Added = append(x.Added, e.Text)
		}
	case "tool":
		x.takeCall(e)
	case "error":
		x.Problem = e.Error
	case "stop":
		x.Input, x.Output = e.Usage.Input, e.Usage.Output
		x.Price, x.Currency = e.Usage.Price.Amount, e.Usage.Price.Currency
	}
}

func (x *Exchange) takeCall(e turnEvent) {
	for i := range x.Calls {
		if c := &x.Calls[i]; c.ID == e.CallID && c.Tool == e.Tool && !c.Done {
			if c.Done = e.State == "complete"; c.Done {
				c.Outcome, _ = result.DecodeEnvelope(e.Data) // an answer in another dialect has no rows of ours
			}
			return
		}
	}
	x.Calls = append(x.Calls, Called{ID: e.CallID, Tool: e.Tool, Args: e.Args})
}

// query asks a question, in a conversation and of a model unless they are empty.
// The caller closes the body, which is a stream of events.
func (c *client) query(ctx context.Context, question, conversation, model string) (*http.Response, error) {
	body := map[string]string{"query": question}
	if conversation != "" {
		body["conversationId"] = conversation
	}
	if model != "" {
		body["model"] = model
	}
	resp, err := c.do(ctx, http.MethodPost, "/api/query", body)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode != http.StatusOK {
		defer resp.Body.Close()
		said, _ := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
		return nil, errorOf(resp, said)
	}
	return resp, nil
}

var errUnreadable = errors.New("the gateway sent an event that cannot be read")

// eachEvent calls take with the data of each event until the turn is done.
func eachEvent(body io.Reader, take func(data string)) error {
	lines := bufio.NewScanner(body)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		data, ok := strings.CutPrefix(lines.Text(), "data: ")
		switch {
		case !ok:
		case data == "[DONE]":
			return nil
		default:
			take(data)
		}
	}
	return errors.New("the answer ended early")
}
