package embedded

import (
	"os"
	"path/filepath"
	"testing"
)

func TestKeyFileIsMadeOnceAndKeptPrivate(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.secret")
	first, err := KeyFile(path, func() (string, error) { return "fresh", nil })
	if err != nil || first != "fresh" {
		t.Fatalf("got %q, %v", first, err)
	}
	if again, err := KeyFile(path, func() (string, error) { return "another", nil }); err != nil || again != "fresh" {
		t.Errorf("the second start: got %q, %v", again, err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	if err := os.Chmod(path, 0o640); err != nil {
		t.Fatal(err)
	}
	if _, err := KeyFile(path, nil); err == nil {
		t.Error("a file that a group may read was accepted")
	}
}
