package index

import (
	"os"
	"path/filepath"
	"testing"
)

// TestFoldersAreReadWhereTheyAre: one that was replaced while it was open, and none that
// a link leads out of the repository to.
func TestFoldersAreReadWhereTheyAre(t *testing.T) {
	folder, outside := t.TempDir(), t.TempDir()
	put(t, folder, "a/b/one.go", "package one\n")
	put(t, folder, "a/b/two.go", "package two\n")
	put(t, outside, "one.go", "package outside\n")
	root, err := os.OpenRoot(folder)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	var reader texts
	defer reader.closeFolder()
	expect := func(name, want string) {
		t.Helper()
		src, ok := reader.read(root, found{path: name})
		if ok != (want != "") || ok && string(src) != want {
			t.Errorf("%s: %q, %t, not %q", name, src, ok, want)
		}
	}
	expect("a/b/one.go", "package one\n")
	expect("a/b/two.go", "package two\n")
	if err := os.Rename(filepath.Join(folder, "a/b"), filepath.Join(folder, "a/c")); err != nil {
		t.Fatal(err)
	}
	put(t, folder, "a/b/three.go", "package three\n")
	expect("a/b/three.go", "package three\n")
	expect("a/c/two.go", "package two\n")
	if err := os.Symlink(outside, filepath.Join(folder, "a/d")); err != nil {
		t.Fatal(err)
	}
	expect("a/d/one.go", "")
	expect("a/b/three.go", "package three\n")
}
