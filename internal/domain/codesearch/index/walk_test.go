package index

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// TestWalkLeavesOut what is not the repository's own text: everything else in a folder
// of odd things is listed, under whatever name.
func TestWalkLeavesOut(t *testing.T) {
	root, outside := t.TempDir(), t.TempDir()
	for _, kept := range []string{"a.go", "build.go", "keep.log", "sub/build/b.go", "local.txt", "sub/deep/c.go", "odd/new\nline.go", "odd/-x *?.go", "odd/größe.go", "z/local.txt", "# a comment"} {
		put(t, root, kept, "text\n")
	}
	put(t, root, "full.txt", strings.Repeat("x", maxFileSize))
	put(t, root, ".gitignore", "# a comment\n\n/build/\n*.log\n!keep.log\r\n")
	put(t, root, "sub/.gitignore", "local.txt\n")
	put(t, root, ".git/info/exclude", "mine.txt\n")
	for _, left := range []string{"mine.txt", "x.log", "sub/y.log", "build/z.go", "build/keep.log", "sub/local.txt", "sub/deep/local.txt", "node_modules/a.js", "sub/node_modules/b.js", "clone/.git/HEAD", "clone/d.go", "worktree/.git", "worktree/e.go"} {
		put(t, root, left, "text\n")
	}
	put(t, root, "large.txt", strings.Repeat("x", maxFileSize+1))
	for _, skipped := range []string{"sub/stock.db", "sub/stock.db-wal", "stock.sqlite3", "odd/\xff.go"} {
		put(t, root, skipped, "text\n")
	}
	put(t, outside, "secret.go", "text\n")
	for link, target := range map[string]string{"link.go": filepath.Join(outside, "secret.go"), "folder": outside, "sub/up": "..", "same.go": "a.go"} {
		if err := os.Symlink(target, filepath.Join(root, link)); err != nil {
			t.Fatal(err)
		}
	}
	opened, err := os.OpenRoot(root)
	if err != nil {
		t.Fatal(err)
	}
	defer opened.Close()
	w, err := walk(t.Context(), opened, nil)
	if err != nil || w.skipped != 5 { // large.txt, too
		t.Errorf("%v; %d skipped", err, w.skipped)
	}
	var got []string
	for _, f := range w.files {
		got = append(got, f.path)
	}
	want := []string{"# a comment", ".gitignore", "a.go", "build.go", "full.txt", "keep.log", "local.txt", "odd/-x *?.go", "odd/größe.go", "odd/new\nline.go", "sub/.gitignore", "sub/build/b.go", "sub/deep/c.go", "z/local.txt"}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%q\nnot\n%q", got, want)
	}
}

// TestFolderOfARepositoryKeepsItsExclusions: those of the folders above count, unless they
// exclude the folder itself, which somebody has named.
func TestFolderOfARepositoryKeepsItsExclusions(t *testing.T) {
	top := t.TempDir()
	put(t, top, ".git/info/exclude", "mine.txt\n")
	put(t, top, ".gitignore", "*.log\n/inner/deep/left.go\n/left.go\nbuilt/\n")
	put(t, top, "inner/.gitignore", "other.go\n")
	for _, name := range []string{"a.go", "left.go", "x.log", "mine.txt", "other.go", "deep/left.go", "deep/b.go", "built/c.go"} {
		put(t, top, "inner/"+name, "text\n")
		put(t, top, "built/"+name, "text\n")
	}
	for folder, want := range map[string]string{
		"inner":       ".gitignore a.go deep/b.go left.go",
		"inner/deep":  "b.go",
		"inner/built": "c.go",
		"built":       "a.go built/c.go deep/b.go deep/left.go left.go mine.txt other.go x.log",
	} {
		opened, err := os.OpenRoot(filepath.Join(top, folder))
		if err != nil {
			t.Fatal(err)
		}
		w, err := walk(t.Context(), opened, nil)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, f := range w.files {
			got = append(got, f.path)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %q, not %q", folder, got, want)
		}
		_ = opened.Close()
	}
}

// TestFolderWithEndlessPatternsIsLeftOut: what git ignores there is not known. At the top nothing can be
// indexed.
func TestFolderWithEndlessPatternsIsLeftOut(t *testing.T) {
	top := t.TempDir()
	put(t, top, "a.go", "text\n")
	put(t, top, "vast/b.go", "text\n")
	put(t, top, "vast/.gitignore", strings.Repeat("x\n", maxFileSize/2+1))
	list := func(folder string) (files []string, skipped int, err error) {
		opened, err := os.OpenRoot(filepath.Join(top, folder))
		if err != nil {
			t.Fatal(err)
		}
		defer opened.Close()
		w, err := walk(t.Context(), opened, nil)
		if err != nil {
			return nil, 0, err
		}
		for _, f := range w.files {
			files = append(files, f.path)
		}
		return files, w.skipped, nil
	}
	if files, skipped, err := list("."); err != nil || strings.Join(files, " ") != "a.go" || skipped != 1 {
		t.Errorf("%q, %d skipped, %v", files, skipped, err)
	}
	if files, _, err := list("vast"); !errors.Is(err, errPatterns) {
		t.Errorf("%q, %v", files, err)
	}
	put(t, top, ".git/HEAD", "ref: refs/heads/main\n") // the folder above counts, too
	put(t, top, ".gitignore", strings.Repeat("x\n", maxFileSize/2+1))
	put(t, top, "other/b.go", "text\n")
	if files, _, err := list("other"); !errors.Is(err, errPatterns) {
		t.Errorf("%q, %v", files, err)
	}
}

// unfinished is an index before whose files cannot be taken over.
type unfinished struct{}

func (unfinished) meta() Meta { return Meta{} }

func (unfinished) unchanged(found, func(*File) bool) (Entry, bool) { return Entry{}, false }

func (unfinished) same(f found, _ string, _ []byte) (Entry, bool) {
	if f.path == "bad.go" {
		panic("as a fault of ours would")
	}
	return Entry{}, false
}

// TestFileThatBreaksTheAnalysisIsSkipped: the other files are read, and what was counted
// of it is in none of them.
func TestFileThatBreaksTheAnalysisIsSkipped(t *testing.T) {
	root := t.TempDir()
	put(t, root, "bad.go", "package bad\n")
	put(t, root, "good.go", "package half\n")
	opened, err := os.OpenRoot(root)
	if err != nil {
		t.Fatal(err)
	}
	defer opened.Close()
	u := &update{root: opened, old: unfinished{}, entries: make([]Entry, 2), files: []found{{path: "bad.go"}, {path: "good.go"}}}
	a := new(analyser)
	defer a.closeFolder()
	a.words([]byte("half done"), 0)
	u.one(a, 0)
	u.one(a, 1)
	var terms []string
	for _, p := range u.entries[1].posts {
		terms = append(terms, string(a.text(p.term)))
	}
	if u.skipped != 1 || u.read != 1 || u.entries[0].Path != "" || !reflect.DeepEqual(terms, []string{"packag", "half"}) {
		t.Errorf("%d skipped, %d read, the other file has %q", u.skipped, u.read, terms)
	}
}

// TestFoldersAreReadWhereTheyAre: one that was replaced while it was open, and none that
// a link leads out of the repository to.
func TestFoldersAreReadWhereTheyAre(t *testing.T) {
	folder, outside := t.TempDir(), t.TempDir()
	put(t, folder, "a/b/one.go", "package one\n")
	put(t, folder, "a/b/two.go", "package two\n")
	put(t, outside, "one.go", "package outside\n")
	put(t, folder, "a/b/grew.go", strings.Repeat("x", maxFileSize+1)) // since it was listed
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
	expect("a/b/grew.go", "")
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
