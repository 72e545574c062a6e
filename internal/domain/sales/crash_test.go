package sales_test

import (
	"context"
	"path/filepath"
	"testing"

	"countersign.dev/internal/company"
	"countersign.dev/internal/domain/sales/sqlite"
	"countersign.dev/internal/testkit"
)

// closeUntilKilled closes a deal of the file at path and keeps the receipt.
func closeUntilKilled(path string, at func(stage string)) {
	ctx := context.Background()
	s, err := sqlite.Open(ctx, path)
	if err != nil {
		panic(err)
	}
	c := closing("65a2d0000000000000000003", "killed", 1)
	err = s.Change(ctx, func(ctx context.Context) error {
		if err := s.CloseDeal(ctx, everything, c.Closing); err != nil {
			return err
		}
		at("before the receipt")
		if err := s.Keep(ctx, c.Receipt); err != nil {
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
			path := filepath.Join(t.TempDir(), "sales.db")
			fill(t, sqliteAt(t, path), bookOf(company.At(day).Sales()))
			testkit.Kill(t, path, stage)

			s := sqliteAt(t, path)
			d, _, err := s.Deal(t.Context(), everything, "65a2d0000000000000000003")
			_, found, err2 := s.Find(t.Context(), ann, "killed")
			if err != nil || err2 != nil || (d.Stage == "CLOSED_WON") != want || found != want {
				t.Errorf("stage %s, receipt %v, %v, %v; want both: %v", d.Stage, found, err, err2, want)
			}
		})
	}
}
