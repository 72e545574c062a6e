package conversation

import (
	"context"
	"log/slog"
	"time"

	"countersign.dev/internal/confirm"
	"countersign.dev/internal/state"
)

// Changes appends the changes that wait or were answered to the log of their
// owner, through whatever surface and in whatever process: a [confirm.Notifier].
type Changes struct {
	logs hintLog
	log  *slog.Logger
}

// hintLog is a log to which entries are added as they are.
type hintLog interface {
	Append(ctx context.Context, log string, entry []byte, ttl time.Duration) (id string, err error)
}

// NewChanges returns a notifier that writes to the Redis of the conversations.
func NewChanges(redis *state.Redis, log *slog.Logger) Changes { return Changes{redis, log} }

// Changed implements [confirm.Notifier]. The log has no preview: readers get it
// from the owning server, which checks who asks. So the entry needs no seal, for
// which the servers and the gateway would have to share a key.
func (c Changes) Changed(ctx context.Context, r confirm.Record) {
	entry, err := Event{
		Type: Change, Confirmation: string(r.ID), Server: r.Server, Tool: r.Action, Status: string(r.State), Expires: r.Expires,
	}.MarshalBinary()
	if err == nil {
		_, err = c.logs.Append(ctx, PersonLog(r.Owner).key, entry, eventTTL)
	}
	if err != nil {
		c.log.WarnContext(ctx, "a change did not reach its owner's log", "error", err)
	}
}
