package conversation

import (
	"context"
	"log/slog"

	"countersign.dev/internal/confirm"
	"countersign.dev/internal/state"
)

// Changes appends the changes that wait or were answered to the log of their
// owner, through whatever surface and in whatever process: a [confirm.Notifier].
type Changes struct {
	events events
	log    *slog.Logger
}

// NewChanges returns the notifier over the Redis that conversations are kept in.
func NewChanges(redis *state.Redis, log *slog.Logger) Changes { return Changes{events{redis}, log} }

// Changed implements [confirm.Notifier]. The log has no preview: readers get it
// from the owning server, which checks who asks.
func (c Changes) Changed(ctx context.Context, r confirm.Record) {
	_, err := c.events.append(ctx, PersonLog(r.Owner), Event{
		Type: Change, Confirmation: string(r.ID), Server: r.Server, Tool: r.Action, Status: string(r.State), Expires: r.Expires,
	})
	if err != nil {
		c.log.WarnContext(ctx, "a change did not reach its owner's log", "error", err)
	}
}
