package local

import (
	"context"
	"encoding/json"
	"time"

	"countersign.dev/internal/audit"
	"countersign.dev/internal/sqlite"
)

// events is the record of what was done. It is no chain: its one reader owns the file.
type events struct{ db *sqlite.DB }

// Append writes an event. Several processes may write at a time.
func (e events) Append(ctx context.Context, event audit.Event) error {
	encoded, err := json.Marshal(event)
	if err != nil {
		return err
	}
	return e.db.Change(ctx, func(ctx context.Context) error {
		_, err := e.db.Exec(ctx, `insert into events (at, event) values (?, ?)`, time.Now().UTC().Format(time.RFC3339Nano), string(encoded))
		return err
	})
}
