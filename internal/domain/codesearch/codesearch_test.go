package codesearch_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"countersign.dev/internal/domain/codesearch"
	"countersign.dev/internal/domain/codesearch/index"
)

// write writes a file of a repository.
func write(t testing.TB, root, name, text string) {
	t.Helper()
	path := filepath.Join(root, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestUpdateReadsWhatChanged: a changed file is read again, a renamed one is not;
// links that lead out are not followed, ignored files not indexed.
func TestUpdateReadsWhatChanged(t *testing.T) {
	root, outside, file := t.TempDir(), t.TempDir(), filepath.Join(t.TempDir(), "x.csx")
	write(t, outside, "secret.go", "package secret\n")
	write(t, root, ".gitignore", "ignored/\n")
	write(t, root, "ignored/a.go", "package ignored\n")
	write(t, root, "a.go", "package a\n\nfunc Alpha() {}\n")
	write(t, root, "b.go", "package b\n\nfunc Beta() {}\n")
	write(t, root, "c.bin", "\x00\x01\x02")
	if err := os.Symlink(outside, filepath.Join(root, "link")); err != nil {
		t.Fatal(err)
	}
	update := func(read, reused int) {
		t.Helper()
		r, err := index.Update(t.Context(), file, index.Source{Name: "x", Root: root}, index.Options{})
		if err != nil || r.Read != read || r.Reused != reused || r.Skipped != 1 {
			t.Fatalf("read %d, reused %d, skipped %d, %v; want %d and %d", r.Read, r.Reused, r.Skipped, err, read, reused)
		}
	}
	update(3, 0) // .gitignore too
	if err := os.Rename(filepath.Join(root, "b.go"), filepath.Join(root, "c.go")); err != nil {
		t.Fatal(err)
	}
	update(0, 3)
	write(t, root, "a.go", "package a\n\nfunc Gamma() {}\n")
	update(1, 2)
	ix, err := index.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer ix.Close()
	for name, defined := range map[string]bool{"gamma": true, "beta": true, "alpha": false} {
		if _, ok := ix.Defined(name); ok != defined {
			t.Errorf("%s is defined: %v", name, ok)
		}
	}
}

// TestDamagedIndexIsRefused: any changed byte, another version, a torn file.
func TestDamagedIndexIsRefused(t *testing.T) {
	root, file := t.TempDir(), filepath.Join(t.TempDir(), "x.csx")
	write(t, root, "a.go", "package a\n\nfunc Alpha() {}\n")
	if _, err := index.Update(t.Context(), file, index.Source{Name: "x", Root: root}, index.Options{}); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for at := range whole {
		changed := append([]byte(nil), whole...)
		changed[at] ^= 0x40
		for _, data := range [][]byte{changed, whole[:at]} {
			if err := os.WriteFile(file, data, 0o600); err != nil {
				t.Fatal(err)
			}
			if ix, err := index.Open(file); err == nil {
				_ = ix.Close()
				t.Fatalf("byte %d was changed or all from it is gone, and it opened", at)
			} else if at == 4 && len(data) > at+1 && !strings.Contains(err.Error(), "countersign index") {
				t.Errorf("another version: %v", err)
			}
		}
	}
}

// TestRefreshKeepsWhatIsTheSame: a server that keeps its index current does not write it
// again while no file changes, and does when one has.
func TestRefreshKeepsWhatIsTheSame(t *testing.T) {
	root, clock := t.TempDir(), time.Now().Add(time.Hour) // later than the files
	write(t, root, "a.go", "package a\n\nfunc Alpha() {}\n")
	o := codesearch.Options{Folder: t.TempDir(), Repositories: []codesearch.Repository{{Name: "one", Path: root}}, Now: func() time.Time { return clock }}
	s := codesearch.New(o)
	t.Cleanup(func() { _ = s.Close() })
	refreshed := func() os.FileInfo {
		t.Helper()
		if err := s.Refresh(t.Context()); err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(index.FileOf(o.Folder, "one"))
		if err != nil {
			t.Fatal(err)
		}
		clock = clock.Add(time.Minute)
		return info
	}
	first := refreshed()
	if !os.SameFile(first, refreshed()) {
		t.Error("no file changed, and the index was written again")
	}
	write(t, root, "b.go", "package a\n\nfunc Beta() {}\n")
	if os.SameFile(first, refreshed()) {
		t.Error("a file is new, and the index is the old one")
	}
}

// TestRefusedFolderIsNotWritten: what is asked before each refresh can prevent it.
func TestRefusedFolderIsNotWritten(t *testing.T) {
	root, refused := t.TempDir(), errors.New("a link is in its place")
	write(t, root, "a.go", "package a\n")
	o := codesearch.Options{Folder: t.TempDir(), Repositories: []codesearch.Repository{{Name: "one", Path: root}}, Before: func() error { return refused }}
	s := codesearch.New(o)
	t.Cleanup(func() { _ = s.Close() })
	if err := s.Refresh(t.Context()); !errors.Is(err, refused) {
		t.Errorf("got %v", err)
	}
	if _, err := os.Stat(index.FileOf(o.Folder, "one")); err == nil {
		t.Error("an index was written")
	}
}
