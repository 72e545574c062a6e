package support_test

import (
	"context"
	"path/filepath"
	"testing"

	"countersign.dev/internal/domain/support"
	"countersign.dev/internal/domain/support/sqlite"
	"countersign.dev/internal/testkit"
)

// closeUntilKilled closes a ticket of the file at path and keeps the receipt.
func closeUntilKilled(path string, at func(stage string)) {
	ctx := context.Background()
	s, err := sqlite.Open(ctx, path)
	if err != nil {
		panic(err)
	}
	row, _, err := s.Ticket(ctx, everything, "TICK-003")
	if err != nil {
		panic(err)
	}
	c := support.Closing{ID: row.ID, Version: row.Version, Resolution: "Killed in the middle.", At: day}
	err = s.Change(ctx, func(ctx context.Context) error {
		if err := s.CloseTicket(ctx, everything, c); err != nil {
			return err
		}
		at("before the receipt")
		if err := s.Keep(ctx, receipt("killed")); err != nil {
			return err
		}
		at("before the end")
		return nil
	})
	if err != nil {
		panic(err)
	}
	at("after the end")
}

// TestKilledProcessLeavesBothOrNeither: kill -9 in the middle of a change.
func TestKilledProcessLeavesBothOrNeither(t *testing.T) {
	for stage, want := range map[string]bool{"before the receipt": false, "before the end": false, "after the end": true} {
		t.Run(stage, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "support.db")
			fill(t, sqliteAt(t, path), sample())
			testkit.Kill(t, path, stage)

			s := sqliteAt(t, path)
			row, _, err := s.Ticket(t.Context(), everything, "TICK-003")
			_, found, err2 := s.Find(t.Context(), ann, "killed")
			if err != nil || err2 != nil || (row.Status == "closed") != want || found != want {
				t.Errorf("status %s, receipt %v, %v, %v; want both: %v", row.Status, found, err, err2, want)
			}
		})
	}
}
