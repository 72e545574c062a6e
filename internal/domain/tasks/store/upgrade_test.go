package store

import (
	"compress/gzip"
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"modernc.org/sqlite"

	"countersign.dev/internal/testkit"
)

// upgradeStages are the points of an upgrade from the first version at which a process
// is killed: statements beside those of the schema reach them.
var upgradeStages = []string{"backed up", "between two steps", "in the last step", "before the commit", "upgraded"}

// upgradeSlowly upgrades a file in a process that may be killed at each stage.
func upgradeSlowly(file string, at func(stage string)) {
	sqlite.MustRegisterScalarFunction("reach", 1, func(_ *sqlite.FunctionContext, args []driver.Value) (driver.Value, error) {
		at(args[0].(string))
		return nil, nil
	})
	reach := func(i int) string { return fmt.Sprintf(";\nselect reach('%s');\n", upgradeStages[i]) }
	staged := steps()
	staged[1].schema = reach(0) + staged[1].schema + reach(1)
	last := len(staged) - 1
	staged[last].schema += reach(2) + "create index an_index on tasks (updated_at)" + reach(3)
	w, err := open(context.Background(), file, "/somewhere", time.Now, staged)
	if err != nil {
		fmt.Println("error", err)
		return
	}
	at(upgradeStages[4])
	_ = w.Close()
}

// TestKilledInAnUpgrade: whenever a process is killed, the file has its tasks in the
// old version or in the new one, the next process upgrades it, and the backup is the
// file as it was.
func TestKilledInAnUpgrade(t *testing.T) {
	for _, stage := range upgradeStages {
		t.Run(stage, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "w.db")
			firstVersion(t, file)
			testkit.Kill(t, file, stage)
			wantUpgraded(t, file)
		})
	}
}

// TestKilledWhileABackupIsWritten: what is there of it is no backup.
func TestKilledWhileABackupIsWritten(t *testing.T) {
	file := filepath.Join(t.TempDir(), "w.db")
	firstVersion(t, file)
	if err := os.WriteFile(file+".v1.bak.part", []byte("SQLite format 3\x00 and no more"), 0o600); err != nil {
		t.Fatal(err)
	}
	wantUpgraded(t, file)
}

// TestBackupOfAnEarlierAttemptIsKept: one that was upgraded since would be no backup.
func TestBackupOfAnEarlierAttemptIsKept(t *testing.T) {
	file := filepath.Join(t.TempDir(), "w.db")
	firstVersion(t, file)
	if err := os.WriteFile(file+".v1.bak", []byte("kept"), 0o600); err != nil {
		t.Fatal(err)
	}
	at(t, file, time.Now)
	if text, err := os.ReadFile(file + ".v1.bak"); err != nil || string(text) != "kept" {
		t.Errorf("got %q, %v", text, err)
	}
}

// firstVersion makes a file of the first version with two tasks, one below the other.
func firstVersion(t *testing.T, file string) {
	t.Helper()
	old, err := open(t.Context(), file, "/somewhere", time.Now, steps()[:1])
	if err != nil {
		t.Fatal(err)
	}
	err = old.Change(t.Context(), func(ctx context.Context) error {
		_, err := old.Exec(ctx, `insert into tasks (title, status, priority, parent_task_id, created_by, created_at, updated_at) values
  ('first', 'todo', 'high', null, 'a', 1, 1), ('second', 'todo', 'low', 1, 'a', 2, 2)`)
		return err
	})
	if err := errors.Join(err, old.Close()); err != nil {
		t.Fatal(err)
	}
}

// wantUpgraded opens the file, and its backup in the version that it was.
func wantUpgraded(t *testing.T, file string) {
	t.Helper()
	w := at(t, file, time.Now)
	if err := w.Check(t.Context()); err != nil {
		t.Error(err)
	}
	if _, total, below, err := treeOf(t, w, 1, TreePage{Page: Page{Limit: 1}, MaxDepth: 1}); err != nil || total != 1 || below != 1 {
		t.Errorf("the tree: got %d, %d, %v", total, below, err)
	}
	wantTagged(t, w, TaskFilter{}, "second", "first")
	wantTagged(t, w, TaskFilter{Priority: "high"}, "first")
	old, err := open(t.Context(), file+".v1.bak", "/somewhere", time.Now, steps()[:1])
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = old.Close() }()
	var version, tasks int
	err = old.In(t.Context()).QueryRowContext(t.Context(), "select user_version, (select count(*) from tasks) from pragma_user_version").Scan(&version, &tasks)
	if err != nil || version != 1 || tasks != 2 {
		t.Errorf("the backup: got version %d, %d tasks, %v", version, tasks, err)
	}
	for _, left := range []string{".v1.bak.part", ".v2.bak"} {
		if _, err := os.Stat(file + left); err == nil {
			t.Errorf("%s was left", left)
		}
	}
}

// TestFileOfTheSixthVersion: one that a program of that version wrote, with the words
// of most rows in the sets and some rows deleted and reworded, is searched as the others.
func TestFileOfTheSixthVersion(t *testing.T) {
	packed, err := os.Open("testdata/version6.db.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = packed.Close() }()
	unpacked, err := gzip.NewReader(packed)
	if err != nil {
		t.Fatal(err)
	}
	all, err := io.ReadAll(unpacked)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "w.db")
	if err := os.WriteFile(file, all, 0o600); err != nil {
		t.Fatal(err)
	}
	w := at(t, file, time.Now)
	wantNewest(t, w, "tasks", 0)
	terms := []string{"under", "nder1", "thunder", "file140", "room3/file", "internal/room3", "search", "faster"}
	agree(t, w, terms)
	for _, id := range []int64{5, 50, 140} {
		if _, err := w.UndeleteTask(t.Context(), id, false); err != nil {
			t.Fatal(err)
		}
		if _, err := w.UpdateTask(t.Context(), id+2, TaskUpdate{Title: text("blunder"), Description: Field[string]{true, text("about words")}}); err != nil {
			t.Fatal(err)
		}
	}
	agree(t, w, terms)
	err = w.Change(t.Context(), w.indexAll)
	rows, err2 := column[int](t.Context(), w.file, "select count(*) from tasks_words where tasks_words match 'search'")
	if errors.Join(err, err2) != nil || rows[0] != 147 {
		t.Errorf("FTS5 has the word in %v rows, want 147, %v, %v", rows, err, err2)
	}
	if _, n, _, err := w.SearchEntities(t.Context(), "src/file6", "", Page{Limit: 1}); err != nil || n != 11 {
		t.Errorf("entities: got %d, %v, want 11", n, err)
	}
	if _, err := os.Stat(file + ".v6.bak"); err != nil {
		t.Error(err)
	}
}

// TestSearchesOfAnOlderFile: a file of a version before answers as one that was made
// with the newest one.
func TestSearchesOfAnOlderFile(t *testing.T) {
	testkit.Alone(t)
	for version := 3; version < 6; version++ { // of the sixth there is a file: TestFileOfTheSixthVersion
		t.Run(fmt.Sprint("version ", version), func(t *testing.T) { searchesOfAnOlderFile(t, steps()[:version]) })
	}
}

func searchesOfAnOlderFile(t *testing.T, steps []step) {
	file := filepath.Join(t.TempDir(), "w.db")
	old, err := open(t.Context(), file, "/somewhere", time.Now, steps)
	if err != nil {
		t.Fatal(err)
	}
	fresh := opened(t)
	for _, w := range []*Workspace{old, fresh} {
		fillRows(t, w, 700)
		if err := w.Change(t.Context(), func(ctx context.Context) error {
			_, err := w.Exec(ctx, `update tasks set deleted_at = 5 where id % 9 = 0; update tasks set status = 'blocked' where id % 11 = 0; update entities set deleted_at = 5 where id = 3;
insert into tasks (id, title, status, priority, created_by, created_at, updated_at) values (40000, 'the earliest of words', 'todo', 'high', 'a', 5, 5)`)
			return err
		}); err != nil {
			t.Fatal(err)
		}
	}
	if err := old.Close(); err != nil {
		t.Fatal(err)
	}
	upgraded := at(t, file, time.Now)
	wantNewest(t, upgraded, "tasks", 0)
	wantNewest(t, upgraded, "entities", 0)
	answers := func(w *Workspace) (lines []string) {
		for _, term := range []string{"words", "file", "file12", "room7", "ile69.go", "earliest", "search 42"} {
			tasks, n, _, err := w.SearchTasks(t.Context(), term, Page{Limit: 50})
			entities, m, _, err2 := w.SearchEntities(t.Context(), term, "file", Page{Limit: 50})
			lines = append(lines, fmt.Sprint(term, n, m, errors.Join(err, err2)))
			for _, task := range tasks {
				lines = append(lines, fmt.Sprint(task.ID, task.Snippet))
			}
			for _, e := range entities {
				lines = append(lines, e.Name)
			}
		}
		for _, f := range []TaskFilter{{Ready: true, Tags: []string{"part7"}}, {Blocked: true, Tags: []string{"docs", "part9"}}, {Ready: true, Tags: []string{"rare"}}} {
			tasks, n, err := w.Tasks(t.Context(), f, Page{Limit: 50})
			for _, task := range tasks {
				lines = append(lines, fmt.Sprint(task.ID, task.Unblocks, task.BlockedBy))
			}
			lines = append(lines, fmt.Sprint(f.Tags, n, err))
		}
		return lines
	}
	want := answers(fresh)
	if diff := gocmp.Diff(want, answers(upgraded)); len(want) < 150 || diff != "" {
		t.Errorf("%d lines (-want +got):\n%s", len(want), diff)
	}
	made(t, upgraded, NewTask{Title: "made after the upgrade"})
	wantFound(t, upgraded, "after upg", "made after the upgrade")
}
