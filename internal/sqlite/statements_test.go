package sqlite_test

import (
	"context"
	"path/filepath"
	"testing"

	"countersign.dev/internal/sqlite"
)

// TestStatementsAreUsedAgain: by reads within each other's rows, after rows that were
// not read to their end, after a change of the tables, and by more texts than are kept.
func TestStatementsAreUsedAgain(t *testing.T) {
	db, err := sqlite.Open(t.Context(), "notes", filepath.Join(t.TempDir(), "notes.db"), schema)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	const one, all = "insert into notes values (?)", "select text from notes order by text"
	texts := func(ctx context.Context, stop int, each func()) (found []string) {
		t.Helper()
		rows, err := db.In(ctx).QueryContext(ctx, all)
		if err := db.Each(ctx, rows, err, func() error {
			var text string
			if err := rows.Scan(&text); err != nil {
				return err
			}
			each()
			if found = append(found, text); len(found) == stop {
				return rows.Close()
			}
			return nil
		}); err != nil {
			t.Error(err)
		}
		return found
	}
	nothing := func() {}
	err = db.Change(t.Context(), func(ctx context.Context) error {
		for _, text := range []string{"a", "b", "c"} {
			if n, err := db.Exec(ctx, one, text); err != nil || n != 1 {
				t.Fatal(n, err)
			}
		}
		inner := 0
		outer := texts(ctx, 0, func() { inner += len(texts(ctx, 0, nothing)) })
		if len(outer) != 3 || inner != 9 {
			t.Errorf("within each other: got %v, and %d", outer, inner)
		}
		if first, again := texts(ctx, 1, nothing), texts(ctx, 0, nothing); len(first) != 1 || len(again) != 3 {
			t.Errorf("after rows that were not read: got %v, then %v", first, again)
		}
		if _, err := db.Exec(ctx, "alter table notes add column more text default 'x'; update notes set text = text || '!'"); err != nil {
			return err
		}
		if _, err := db.Exec(ctx, one, "d"); err == nil {
			t.Error("a row of one column was taken by a table of two")
		}
		for i := range 100 {
			if _, err := db.Exec(ctx, "insert into notes (text) values (? || "+string(rune('0'+i%10))+") -- "+string(rune('A'+i)), "e"); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	if found := texts(t.Context(), 0, nothing); len(found) != 103 || found[0] != "a!" {
		t.Errorf("at the end: got %d, %v", len(found), found[:1])
	}
}

// TestCancelledStatementIsUsedAgain: one whose context ended while it ran.
func TestCancelledStatementIsUsedAgain(t *testing.T) {
	db, err := sqlite.Open(t.Context(), "notes", "", schema)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	const long = "with recursive n(i) as (select 1 union all select i + 1 from n where i < ?) select count(*) from n"
	count := func(ctx context.Context, up int) (n int, err error) {
		err = db.In(ctx).QueryRowContext(ctx, long, up).Scan(&n)
		return n, err
	}
	if n, err := count(t.Context(), 3); n != 3 || err != nil {
		t.Fatal(n, err)
	}
	ended, cancel := context.WithCancel(t.Context())
	go cancel()
	if _, err := count(ended, 1<<40); err == nil {
		t.Fatal("it was not cancelled")
	}
	if n, err := count(t.Context(), 4); n != 4 || err != nil {
		t.Errorf("got %d, %v", n, err)
	}
}
