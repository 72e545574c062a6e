package local

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"strings"

	"countersign.dev/internal/access"
	"countersign.dev/internal/auth"
	"countersign.dev/internal/client/draw"
	"countersign.dev/internal/confirm"
	"countersign.dev/internal/fault"
	"countersign.dev/internal/mcpserver"
	"countersign.dev/internal/plaintext"
	"countersign.dev/internal/result"
)

// waiting tells a client where its person answers what waits.
type waiting struct {
	mcpserver.Toolbox
	mcpserver.Confirmations
	folder string
}

// Call runs one tool.
func (w *waiting) Call(ctx context.Context, name string, args json.RawMessage) result.Outcome {
	o := w.Toolbox.Call(ctx, name, args)
	if o.Pending() == nil {
		return o
	}
	p := *o.Pending()
	p.Message += fmt.Sprintf("\n\nNothing has changed yet. Its person approves or denies it in a terminal: countersign approve %s --local %q", p.ID, w.folder)
	return result.Waiting(p)
}

// ApproveOptions name what waits.
type ApproveOptions struct {
	ID     string
	Folder string
	In     io.Reader // a terminal
	Out    io.Writer
}

// Approve shows a change that waits to the person at the terminal, and carries out
// their answer. Anything but yes or no changes nothing.
func Approve(ctx context.Context, o ApproveOptions) error {
	h, err := open(ctx, o.Folder)
	if err != nil {
		return err
	}
	defer h.close()
	tools, err := h.tasks(ctx, slog.New(slog.DiscardHandler))
	if err != nil {
		return err
	}
	who, err := auth.LocalUser(true)
	if err != nil {
		return err
	}
	ctx = access.With(ctx, who)
	card, err := tools.Confirmation(ctx, o.ID)
	switch {
	case err != nil:
		return err
	case card.State != string(confirm.Pending):
		return notWaiting(o.ID)
	}
	drawn := &result.Pending{ID: card.ID, Message: card.Message, Data: card.Data}
	draw.Card(o.Out, drawn)
	approved, err := ask(o.In, o.Out)
	if err != nil {
		return err
	}
	digest, err := drawn.Digest()
	if err != nil {
		return err
	}
	outcome := tools.Answer(ctx, o.ID, approved, digest)
	if f := outcome.Fault(); f != nil {
		return f
	}
	_, err = fmt.Fprintln(o.Out, sentence(outcome, approved))
	return err
}

func ask(in io.Reader, out io.Writer) (approved bool, err error) {
	fmt.Fprint(out, "Approve this? yes or no: ")
	line, err := bufio.NewReader(in).ReadString('\n')
	switch answer := strings.ToLower(strings.TrimSpace(line)); {
	case answer == "yes" || answer == "y":
		return true, nil
	case answer == "no" || answer == "n":
		return false, nil
	case err != nil && err != io.EOF:
		return false, err
	}
	return false, fault.BadRequest.New("Neither yes nor no: nothing was changed, and it still waits.")
}

func sentence(o result.Outcome, approved bool) string {
	if !approved {
		return "Denied. Nothing was changed."
	}
	if text := o.Message(); text != "" {
		return plaintext.Escape(text, true)
	}
	return "Done."
}
