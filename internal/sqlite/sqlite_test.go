package sqlite_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"countersign.dev/internal/sqlite"
)

const schema = `create table if not exists notes (text text)`

// readAs reads a file as another user of the machine.
func readAs(t *testing.T, uid uint32, path string) error {
	t.Helper()
	c := exec.CommandContext(t.Context(), "cat", path)
	c.Dir = "/"
	c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uid, Gid: uid}}
	return c.Run()
}

func TestFilesAreTheOwnersOnly(t *testing.T) {
	dir, err := os.MkdirTemp("/tmp", "sqlite-modes") // other users can enter it, unlike t.TempDir
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	fresh, old := filepath.Join(dir, "fresh.db"), filepath.Join(dir, "old.db")
	if err := os.WriteFile(old, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{fresh, old} {
		db, err := sqlite.Open(t.Context(), "notes", path, schema)
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		for _, file := range []string{path, path + "-wal", path + "-shm"} {
			info, err := os.Stat(file)
			if err != nil {
				t.Fatal(err)
			}
			if info.Mode().Perm() != 0o600 {
				t.Errorf("%s has mode %v, want 0600", filepath.Base(file), info.Mode())
			}
			if os.Geteuid() == 0 && readAs(t, 65534, file) == nil {
				t.Errorf("another user reads %s", filepath.Base(file))
			}
		}
	}
}
