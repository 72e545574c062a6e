package database_test

import (
	"context"
	"iter"
	"testing"

	"countersign.dev/internal/database"
	"countersign.dev/internal/fault"
)

func TestFillTakesRowsWhileTheyAreMade(t *testing.T) {
	db, adminURL := open(t, nil)
	made := func(yield func(int) bool) {
		for i := range 5000 {
			if !yield(1000 + i) {
				return
			}
		}
	}
	err := database.Seed(t.Context(), adminURL, func(ctx context.Context, s *database.Seeder) error {
		return database.Fill(ctx, s, "notes.notes", []string{"id", "owner", "text"}, iter.Seq[int](made), func(i int) []any {
			return []any{i, "cleo@x", "made"}
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	if n := count(t, as(t.Context(), "cleo@x"), db); n != 5000 {
		t.Errorf("%d rows arrived, want 5,000", n)
	}
}

func TestExecOneRefusesAChangeOfNothing(t *testing.T) {
	db, _ := open(t, nil)
	ctx := as(t.Context(), "ann@x")
	for id, want := range map[int]*fault.Code{2: nil, 3: fault.OperationFailed, 1000: fault.OperationFailed} { // 3 is Ben's
		err := db.Change(ctx, func(ctx context.Context) error {
			return database.ExecOne(ctx, db, `update notes set text = 'x' where id = $1`, id)
		})
		if want == nil && err != nil || want != nil && !fault.Is(err, want) {
			t.Errorf("note %d: got %v", id, err)
		}
	}
}

// Text cannot have the NUL character. That is a fault of the input and not of the
// store.
func TestNulCharacterIsAnInvalidInput(t *testing.T) {
	db, _ := open(t, nil)
	_, err := database.Rows[int64](as(t.Context(), "ann@x"), db, `select count(*) from notes where text = $1`, "a\x00b")
	if !fault.Is(err, fault.ValidationError) {
		t.Errorf("got %v, want VALIDATION_ERROR", err)
	}
}
