package local

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"time"

	"countersign.dev/internal/access"
	"countersign.dev/internal/auth"
	"countersign.dev/internal/client/draw"
	"countersign.dev/internal/confirm"
	"countersign.dev/internal/fault"
	"countersign.dev/internal/plaintext"
	"countersign.dev/internal/result"
	"countersign.dev/internal/sqlite"
)

// ApproveOptions name what waits.
type ApproveOptions struct {
	ID     string
	Folder string
	In     io.Reader // a terminal
	Out    io.Writer
}

// outcomes say why a change waits no more.
var outcomes = map[confirm.State]string{
	confirm.Applying:       "its answer is being carried out",
	confirm.Applied:        "it was approved, and the change was made",
	confirm.Failed:         "it was approved, and could not be carried out; nothing was changed",
	confirm.Denied:         "it was denied; nothing was changed",
	confirm.Expired:        "it has expired; nothing was changed",
	confirm.OutcomeUnknown: "it was approved, and whether the change was made is not known",
}

// Approve shows a change that waits to the person at the terminal, and carries out
// their answer. Anything but yes or no changes nothing.
func Approve(ctx context.Context, o ApproveOptions) error {
	h, err := open(ctx, o.Folder)
	if err != nil {
		return err
	}
	defer h.close()
	ctx, tools, err := h.atTerminal(ctx)
	if err != nil {
		return err
	}
	card, err := tools.Confirmation(ctx, o.ID)
	switch {
	case err != nil:
		return err
	case card.State != string(confirm.Pending):
		return fault.ConfirmationNotFound.New("Nothing waits under %s: %s.", card.ID, outcomes[confirm.State(card.State)])
	}
	drawn := &result.Pending{ID: card.ID, Message: card.Message, Data: card.Data}
	draw.Card(o.Out, drawn, nil)
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

// List prints what waits in a folder, one a line: its id, until when, and what it is.
func List(ctx context.Context, folder string, out io.Writer) error {
	h, err := open(ctx, folder)
	if err != nil {
		return err
	}
	defer h.close()
	all, err := h.waitingNow(ctx)
	if err != nil {
		return err
	}
	if len(all) == 0 {
		fmt.Fprintln(out, "Nothing waits for an answer.")
	}
	for _, one := range all {
		fmt.Fprintf(out, "%s  until %s  %s\n", one.ID, one.Expires.Local().Format(time.TimeOnly), plaintext.Escape(one.Summary, false))
	}
	return nil
}

// atTerminal returns the folder's tasks for the person at the terminal.
func (h *home) atTerminal(ctx context.Context) (context.Context, *waiting, error) {
	tools, err := h.tasks(ctx, slog.New(slog.DiscardHandler))
	if err != nil {
		return ctx, nil, err
	}
	who, err := auth.LocalUser(true)
	if err != nil {
		return ctx, nil, err
	}
	return access.With(ctx, who), tools, nil
}

// waitingNow returns what waits in the folder. An answer of the person's own that a crash
// cut off is settled first.
func (h *home) waitingNow(ctx context.Context) (waits []confirm.Record, err error) {
	all, err := sqlite.NewConfirmations(h.db, nil).Waiting(ctx)
	if err != nil {
		return nil, err
	}
	ctx, tools, err := h.atTerminal(ctx)
	if err != nil {
		return nil, err
	}
	who, err := access.From(ctx)
	if err != nil {
		return nil, err
	}
	for _, one := range all {
		if one.Owner == who.Owner() {
			card, err := tools.Confirmation(ctx, string(one.ID))
			if err != nil && !fault.Is(err, fault.ConfirmationNotFound) { // expired by now
				return nil, err
			}
			one.State = confirm.State(card.State)
		}
		if one.State == confirm.Pending {
			waits = append(waits, one)
		}
	}
	return waits, nil
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
