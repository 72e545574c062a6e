package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"text/tabwriter"

	"countersign.dev/internal/client/draw"
	"countersign.dev/internal/fault"
	"countersign.dev/internal/result"
)

// Call calls one tool and prints its answer: data as JSON, a change that waits as its
// card. An error envelope fails it. With JSON, envelopes are printed as they are.
func Call(ctx context.Context, o Options, tool string, input json.RawMessage) error {
	cl, err := o.client(ctx)
	if err != nil {
		return err
	}
	server, err := cl.serverOf(ctx, tool)
	if err != nil {
		return err
	}
	var answer json.RawMessage
	if err := cl.post(ctx, "/api/mcp/"+server+"/"+url.PathEscape(tool), input, &answer); err != nil {
		return err
	}
	outcome, err := result.DecodeEnvelope(answer)
	if err != nil { // an answer in another dialect
		outcome = result.Outcome{}
	}
	if err := printAnswer(ctx, o, cl, answer, outcome); err != nil || outcome.Fault() == nil {
		return err
	}
	return errors.New(typedWrong(outcome.Fault()))
}

func printAnswer(ctx context.Context, o Options, cl *client, answer json.RawMessage, outcome result.Outcome) error {
	switch p := outcome.Pending(); {
	case o.JSON:
		_, err := fmt.Fprintln(o.Out, string(compact(answer)))
		return err
	case outcome.Fault() != nil:
		return nil // the error of the command says it
	case p != nil:
		v := &view{gateway: cl, fields: map[string]result.Fields{}}
		draw.Card(o.Out, p, v.fieldsOf(ctx, actionOf(p)).Preview) // its message says where to answer it
		return nil
	}
	var out bytes.Buffer
	if err := json.Indent(&out, answer, "", "  "); err != nil {
		return errUnreadable
	}
	_, err := fmt.Fprintln(o.Out, out.String())
	return err
}

// actionOf is the name of the tool that a change waits for.
func actionOf(p *result.Pending) string {
	action, _ := p.Data["action"].(string)
	return action
}

// typedWrong says what is wrong with a call to the person who typed its name and inputs, and
// therefore knows them: "new_salary is required".
func typedWrong(f *fault.Error) string {
	message, advice := f.ForPeople()
	if message == fault.Unfit { // who typed a name reads about it
		message, advice = f.Message, f.SuggestedAction
	}
	if f.People == nil || len(f.People.Inputs) == 0 {
		return strings.TrimSpace(message + " " + advice)
	}
	remarks := make([]string, len(f.People.Inputs))
	for i, input := range f.People.Inputs {
		remarks[i] = input.Field + " " + input.Wrong
	}
	said := strings.TrimSuffix(f.Message, ".") + ":"
	if strings.HasSuffix(f.Message, "?") {
		said = f.Message
	}
	return said + " " + strings.Join(remarks, "; ") + "."
}

// Tools lists the tools that the person may call.
func Tools(ctx context.Context, o Options) error {
	cl, err := o.client(ctx)
	if err != nil {
		return err
	}
	list, err := cl.tools(ctx)
	if err != nil {
		return err
	}
	if o.JSON {
		return json.NewEncoder(o.Out).Encode(list)
	}
	w := tabwriter.NewWriter(o.Out, 0, 4, 2, ' ', 0)
	fmt.Fprintln(w, "SERVER\tTOOL\tKIND\tWHAT IT DOES")
	for _, t := range list.Tools {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", t.Server, t.Name, t.Kind, firstSentence(t.Description))
	}
	return w.Flush()
}

func firstSentence(text string) string {
	first, _, _ := strings.Cut(text, ". ")
	return strings.TrimSuffix(first, ".") + "."
}
