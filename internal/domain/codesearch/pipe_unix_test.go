//go:build unix

package codesearch_test

import (
	"path/filepath"
	"syscall"
	"testing"

	"countersign.dev/internal/domain/codesearch"
)

// A named pipe in a repository is no file: a reader would wait for its writer without end.
func TestNamedPipesHoldUpNoIndexing(t *testing.T) {
	o := codesearch.Options{Folder: t.TempDir()}
	for _, pipe := range []string{".gitignore", ".git", ".git/info/exclude", ".git/HEAD", ".git/config", "src/.gitignore", "verify.go"} {
		root := t.TempDir()
		write(t, root, "token.go", "package p\n\n// verifyToken verifies a token.\nfunc verifyToken() {}\n")
		if dir := filepath.Dir(pipe); dir != "." {
			write(t, root, filepath.Join(dir, "other"), "")
		}
		if err := syscall.Mkfifo(filepath.Join(root, pipe), 0o600); err != nil {
			t.Fatal(err)
		}
		o.Repositories = append(o.Repositories, codesearch.Repository{Name: pipe, Path: root, Anonymous: true})
	}
	s := codesearch.New(o)
	defer s.Close()
	if err := s.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got, err := s.Find(t.Context(), codesearch.AnonymousScope(), codesearch.Query{Text: "verify token", Limit: 20}); err != nil || len(got) < len(o.Repositories) {
		t.Errorf("found %d places, want one in each of %d repositories: %v", len(got), len(o.Repositories), err)
	}
}
