package store

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

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
