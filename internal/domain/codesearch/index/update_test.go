package index

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"countersign.dev/internal/domain/codesearch/linguist"
)

// updated is the index of a folder after an update at a time.
func updated(t *testing.T, file, root string, o Options) *Index {
	t.Helper()
	if _, err := Update(t.Context(), file, Source{Name: "x", Root: root}, o); err != nil {
		t.Fatal(err)
	}
	ix, err := Open(file)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = ix.Close() })
	return ix
}

// TestUpdatedIndexIsAsBuiltAnew: every byte, whatever of the index before it was taken
// over: files that stay, that were touched, and that are elsewhere with the same text.
func TestUpdatedIndexIsAsBuiltAnew(t *testing.T) {
	root, folder, now := sample(t), t.TempDir(), time.Now().UTC().Truncate(time.Second)
	o := Options{Now: func() time.Time { return now }}
	put(t, root, "seal/open.go", "package seal\n\n// Open opens a sealed cursor.\nfunc (b *Box) Open(sealed string) string { return b.aead(sealed) }\n")
	updated(t, filepath.Join(folder, "old"), root, o)

	if err := os.Mkdir(filepath.Join(root, "tests"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(filepath.Join(root, "seal/open.go"), filepath.Join(root, "tests/open.go")); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(filepath.Join(root, "README.md"), now, now); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(root, "empty.txt")); err != nil {
		t.Fatal(err)
	}
	put(t, root, "web/page.ts", "export class Page { close() {} }\n")
	put(t, root, "new.py", "def seal(cursor):\n    return cursor\n")
	got, want := updated(t, filepath.Join(folder, "old"), root, o), updated(t, filepath.Join(folder, "new"), root, o)
	if !reflect.DeepEqual(got.Meta, want.Meta) {
		t.Errorf("%+v, not %+v", got.Meta, want.Meta)
	}
	for i := sectionFiles; i < sections; i++ {
		if string(got.parts[i]) != string(want.parts[i]) {
			t.Errorf("section %d differs", i)
		}
	}
}

// TestTimesOfAnotherFolderProveNothing: a file with the path, time and size of one in the folder
// before is read, and an index that is of that folder is not left as it is.
func TestTimesOfAnotherFolderProveNothing(t *testing.T) {
	before, after, file := t.TempDir(), t.TempDir(), filepath.Join(t.TempDir(), "x")
	long := time.Now().Add(-time.Hour)
	for root, text := range map[string]string{before: "secret = 1\n", after: "public = 1\n"} {
		put(t, root, "a.py", text)
		put(t, root, "b.py", "same = 1\n")
		for _, name := range []string{"a.py", "b.py"} {
			if err := os.Chtimes(filepath.Join(root, name), long, long); err != nil {
				t.Fatal(err)
			}
		}
	}
	updated(t, file, before, Options{})
	empty, emptied := t.TempDir(), filepath.Join(t.TempDir(), "empty")
	updated(t, emptied, t.TempDir(), Options{})
	if ix := updated(t, emptied, empty, Options{Settled: true}); ix.Meta.Root != empty {
		t.Errorf("the index of another empty folder stays")
	}
	ix := updated(t, file, after, Options{Settled: true})
	if text, err := ix.Text(&ix.Files[0]); err != nil || string(text) != "public = 1\n" || ix.Meta.Root != after {
		t.Errorf("%q of %s, %v", text, ix.Meta.Root, err)
	}
}

// TestSettledIndexIsWrittenForWhatItSays: one whose files are the same is left as it is,
// unless its commit, its address or what was skipped is not what it says.
func TestSettledIndexIsWrittenForWhatItSays(t *testing.T) {
	root, file, now := sample(t), filepath.Join(t.TempDir(), "x"), time.Now()
	first, second := strings.Repeat("1", 40), strings.Repeat("2", 40)
	look := func() Meta {
		t.Helper()
		now = now.Add(time.Minute)
		return updated(t, file, root, Options{Settled: true, Now: func() time.Time { return now }}).Meta
	}
	put(t, root, ".git/HEAD", first+"\n")
	made := look()
	if made.Commit != first || !look().Indexed.Equal(made.Indexed) {
		t.Errorf("nothing changed: %+v", made)
	}
	put(t, root, ".git/HEAD", second+"\n")
	if got := look(); got.Commit != second {
		t.Errorf("another commit: %+v", got)
	}
	put(t, root, ".git/config", "[remote \"origin\"]\n\turl = https://github.com/a/b.git\n")
	if got := look(); got.Remote != "https://github.com/a/b" {
		t.Errorf("another address: %+v", got)
	}
	put(t, root, "picture", "\x89PNG\x00\x00")
	if got := look(); got.Skipped != 1 {
		t.Errorf("another file that is skipped: %+v", got)
	}
}

// TestFileOfTheFutureLetsAnIndexSettle: no newer index could prove it by its time, so it is
// read in every round, and what changes in it is found.
func TestFileOfTheFutureLetsAnIndexSettle(t *testing.T) {
	root, file, now := sample(t), filepath.Join(t.TempDir(), "x"), time.Now()
	future := now.Add(time.Hour)
	write := func(name, text string, modified time.Time) {
		t.Helper()
		put(t, root, name, text)
		if err := os.Chtimes(filepath.Join(root, name), modified, modified); err != nil {
			t.Fatal(err)
		}
	}
	look := func() *Index {
		t.Helper()
		now = now.Add(time.Minute)
		return updated(t, file, root, Options{Settled: true, Now: func() time.Time { return now }})
	}
	write("late.go", "package late\n", future)
	write("other.go", "package soon\n", now.Add(-time.Hour))
	made := look()
	if again := look(); again.Checksum() != made.Checksum() {
		t.Error("nothing changed, and the index was written again")
	}
	write("late.go", "package soon\n", future) // as long as before, and as another file
	changed := look()
	if src, err := changed.Text(&changed.Files[fileAt(t, changed, "late.go")]); err != nil || string(src) != "package soon\n" {
		t.Errorf("%q, %v", src, err)
	}
	if again := look(); again.Checksum() != changed.Checksum() {
		t.Error("nothing changed again, and the index was written")
	}
	now = future.Add(time.Hour)
	if proven := look(); proven.Checksum() == changed.Checksum() {
		t.Error("its time is over, and no index proves it")
	} else if again := look(); again.Checksum() != proven.Checksum() {
		t.Error("it is proven, and the index was written")
	}
}

// TestReplacedFileIsRead, although the other one has its size and its time, as all files of
// some archives have. A file with the text of before is only read, and once.
func TestReplacedFileIsRead(t *testing.T) {
	root, file, long := t.TempDir(), filepath.Join(t.TempDir(), "x"), time.Date(1985, 10, 26, 8, 15, 0, 0, time.UTC)
	write := func(name, text string) {
		t.Helper()
		put(t, root, name+".new", text)
		if err := os.Chtimes(filepath.Join(root, name+".new"), long, long); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(filepath.Join(root, name+".new"), filepath.Join(root, name)); err != nil {
			t.Fatal(err)
		}
	}
	write("a.py", "before = 1\n")
	write("b.py", "as_before = 1\n")
	ahead := func(by time.Duration) Options {
		return Options{Settled: true, Now: func() time.Time { return time.Now().Add(by) }}
	}
	updated(t, file, root, ahead(0))
	write("a.py", "after_ = 1\n")
	write("b.py", "as_before = 1\n")
	ix := updated(t, file, root, ahead(time.Minute))
	if text, err := ix.Text(&ix.Files[0]); err != nil || string(text) != "after_ = 1\n" {
		t.Errorf("%q, %v", text, err)
	}
	r, err := Update(t.Context(), file, Source{Name: "x", Root: root}, ahead(2*time.Minute))
	if err != nil || r.Read+r.Compared != 0 || r.Reused != 2 {
		t.Errorf("%+v, %v", r, err)
	}
}

// TestFileReplacedDuringAnUpdateIsRead by the next one, however long the update takes.
func TestFileReplacedDuringAnUpdateIsRead(t *testing.T) {
	root, file, now, long := t.TempDir(), filepath.Join(t.TempDir(), "x"), time.Now(), time.Now().Add(-time.Hour)
	write := func(text string) {
		put(t, root, "a.py", text)
		if err := os.Chtimes(filepath.Join(root, "a.py"), long, long); err != nil {
			t.Error(err)
		}
	}
	write("before = 1\n")
	o := Options{Now: func() time.Time { return now }, Progress: func(Progress) {
		write("after_ = 1\n")
		now = now.Add(time.Hour)
	}}
	updated(t, file, root, o)
	ix := updated(t, file, root, Options{Now: o.Now})
	if text, err := ix.Text(&ix.Files[0]); err != nil || string(text) != "after_ = 1\n" {
		t.Errorf("%q, %v", text, err)
	}
}

// TestWritingStopsWithItsContext, and leaves the index that there was.
func TestWritingStopsWithItsContext(t *testing.T) {
	root, file := sample(t), filepath.Join(t.TempDir(), "x")
	before := updated(t, file, root, Options{})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := write(ctx, file, Meta{Name: "y", Files: 1}, make([]Entry, 1)); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if ix, err := Open(file); err != nil || ix.Checksum() != before.Checksum() {
		t.Errorf("the index is another one, or none: %v", err)
	} else {
		_ = ix.Close()
	}
}

// fileAt is the number of a file.
func fileAt(t *testing.T, ix *Index, path string) int {
	t.Helper()
	i := slices.IndexFunc(ix.Files, func(f File) bool { return f.Path == path })
	if i < 0 {
		t.Fatalf("%s is not there", path)
	}
	return i
}

// TestLeftoversAreRemovedBesideAnyName: the folder's name may look like a pattern. Files of
// others, and those that are being written, stay.
func TestLeftoversAreRemovedBesideAnyName(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "a[1]")
	removed := map[string]bool{".x.csx.1.new": true, ".x.csx.2.new": false, ".y.csx.1.new": false, "x.csx.1.new": false}
	for name := range removed {
		put(t, folder, name, "half")
		written := time.Now()
		if name != ".x.csx.2.new" {
			written = written.Add(-2 * leftoverAge)
		}
		if err := os.Chtimes(filepath.Join(folder, name), written, written); err != nil {
			t.Fatal(err)
		}
	}
	updated(t, filepath.Join(folder, "x.csx"), sample(t), Options{})
	for name, want := range removed {
		if _, err := os.Stat(filepath.Join(folder, name)); os.IsNotExist(err) != want {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestMovedFilesKeepWhatTheirTextDecides, and lose what their path decided.
func TestMovedFilesKeepWhatTheirTextDecides(t *testing.T) {
	f := File{Path: "tests/ring.h", Flags: linguist.Test | linguist.Legacy}
	f.moveTo(found{path: "src/ring.h"})
	if f.Flags != linguist.Legacy {
		t.Errorf("%b, not %b", f.Flags, linguist.Legacy)
	}
	f.moveTo(found{path: "examples/ring.h"})
	if f.Flags != linguist.Legacy|linguist.Example {
		t.Errorf("%b, not %b", f.Flags, linguist.Legacy|linguist.Example)
	}
}
