package index

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"countersign.dev/internal/testkit"
)

// repository is a git repository of one commit.
func repository(t testing.TB, arguments ...string) (root string) {
	root = t.TempDir()
	testkit.Git(t, root, append([]string{"init", "--quiet", "--initial-branch=main"}, arguments...)...)
	for i := range 40 { // alike, so that a pack keeps differences
		put(t, root, fmt.Sprintf("lib/part/f%02d.go", i), fmt.Sprintf("package part\n\n%s\nfunc F%d() {}\n", strings.Repeat("// the same line again\n", 40), i))
	}
	put(t, root, "main.go", "package main\n")
	put(t, root, "web/page.js", "function page() {}\n")
	put(t, root, ".gitignore", "out/\n")
	testkit.Git(t, root, "add", ".")
	testkit.Git(t, root, "commit", "--quiet", "--message=one")
	return root
}

// described indexes a folder into a file, and reports what it read.
func described(t testing.TB, file, root string) Report {
	t.Helper()
	r, err := Update(t.Context(), file, Source{Name: "x", Root: root}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestChangedFilesAreKnown: those that differ from the commit, and those that are not in
// it, however git keeps its objects; the others are not.
func TestChangedFilesAreKnown(t *testing.T) {
	layouts := map[string]func(t *testing.T) string{
		"loose": func(t *testing.T) string { return repository(t) },
		"packed": func(t *testing.T) string {
			root := repository(t)
			testkit.Git(t, root, "gc", "--quiet", "--aggressive")
			return root
		},
		"packed below a pattern": func(t *testing.T) string {
			root := filepath.Join(t.TempDir(), "a[1]")
			if err := os.Rename(repository(t), root); err != nil {
				t.Fatal(err)
			}
			testkit.Git(t, root, "gc", "--quiet")
			return root
		},
		"by name": func(t *testing.T) string {
			root := repository(t)
			testkit.Git(t, root, "-c", "repack.useDeltaBaseOffset=false", "repack", "-adfq")
			return root
		},
		"sha-256": func(t *testing.T) string {
			root := repository(t, "--object-format=sha256")
			testkit.Git(t, root, "gc", "--quiet")
			return root
		},
		"worktree": func(t *testing.T) string {
			root := filepath.Join(t.TempDir(), "w")
			testkit.Git(t, repository(t), "worktree", "add", "--quiet", "-b", "other", root)
			return root
		},
		"shared": func(t *testing.T) string {
			root := filepath.Join(t.TempDir(), "c")
			testkit.Git(t, filepath.Dir(root), "clone", "--quiet", "--shared", repository(t), root)
			return root
		},
	}
	for name, layout := range layouts {
		t.Run(name, func(t *testing.T) {
			root, file := layout(t), filepath.Join(t.TempDir(), "x.csx")
			if r := described(t, file, root); len(r.Changed) > 0 || r.Unproven || r.Commit == "" {
				t.Fatalf("nothing is changed: %+v", r.Meta)
			}
			put(t, root, "main.go", "package main\n\nfunc main() {}\n")
			put(t, root, "new/a.go", "package new\n")
			put(t, root, "new/b/c.go", "package b\n")
			put(t, root, "lib/new.go", "package lib\n")
			put(t, root, "lib/part/f07.go", "package part\n")
			testkit.Git(t, root, "add", "lib/part/f07.go") // staged, and in no commit
			r := described(t, file, root)
			if want := []string{"lib/new.go", "lib/part/f07.go", "main.go", "new/"}; !slices.Equal(r.Changed, want) || r.Unproven {
				t.Errorf("got %v, %t, want %v", r.Changed, r.Unproven, want)
			}
			for path, want := range map[string]bool{"main.go": true, "new/a.go": true, "new/b/c.go": true, "lib/new.go": true, "lib/part/f07.go": true, "lib/part/f08.go": false, "web/page.js": false, ".gitignore": false} {
				if r.Modified(path) != want {
					t.Errorf("%s is modified: %t", path, !want)
				}
			}
			testkit.Git(t, root, "add", ".")
			testkit.Git(t, root, "commit", "--quiet", "--message=two")
			if after := described(t, file, root); len(after.Changed) > 0 || after.Unproven || after.Commit == r.Commit || after.Read > 0 {
				t.Errorf("all is in the commit: %+v, %d read", after.Meta, after.Read)
			}
		})
	}
}

// TestPartOfARepositoryHasItsCommit, and its path there, unless nothing of it is in the
// commit.
func TestPartOfARepositoryHasItsCommit(t *testing.T) {
	root, file := repository(t), filepath.Join(t.TempDir(), "x.csx")
	put(t, root, ".git/config", "[remote \"origin\"]\n\turl = git@github.com:a/b.git\n")
	whole := described(t, filepath.Join(t.TempDir(), "whole.csx"), root)
	put(t, root, "lib/part/f01.go", "package part\n")
	for range 2 { // the second one has nothing to read
		r := described(t, file, filepath.Join(root, "lib/part"))
		if r.Commit != whole.Commit || r.Remote != "https://github.com/a/b" || r.Within != "lib/part" || !slices.Equal(r.Changed, []string{"f01.go"}) {
			t.Errorf("got %+v", r.Meta)
		}
	}
	put(t, root, "out/made.go", "package out\n")
	if r := described(t, filepath.Join(t.TempDir(), "y.csx"), filepath.Join(root, "out")); r.Commit+r.Remote+r.Within != "" || r.Modified("made.go") {
		t.Errorf("a folder that is in no commit: %+v", r.Meta)
	}
}

// TestUnprovenFilesCountAsChanged: where git's objects cannot be read, or too many files
// are changed to name them.
func TestUnprovenFilesCountAsChanged(t *testing.T) {
	root, file := repository(t), filepath.Join(t.TempDir(), "x.csx")
	objects := filepath.Join(root, ".git/objects")
	if err := os.Rename(objects, objects+".away"); err != nil {
		t.Fatal(err)
	}
	if r := described(t, file, root); !r.Unproven || !r.Modified("main.go") || r.Commit == "" {
		t.Errorf("without objects: %+v", r.Meta)
	}
	if err := os.Rename(objects+".away", objects); err != nil {
		t.Fatal(err)
	}
	if r := described(t, file, root); r.Unproven || r.Modified("main.go") {
		t.Errorf("they are back: %+v", r.Meta)
	}
	for i := range maxChanged + 1 {
		put(t, root, fmt.Sprintf("web/n%d.txt", i), "new\n")
	}
	if r := described(t, file, root); !r.Unproven || len(r.Changed) > 0 {
		t.Errorf("%d files are new: %d names, %t", maxChanged+1, len(r.Changed), r.Unproven)
	}
}
