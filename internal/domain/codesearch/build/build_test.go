package build

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"countersign.dev/internal/domain/codesearch/embed"
	"countersign.dev/internal/domain/codesearch/index"
)

func write(t *testing.T, folder, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func makeFolders(t *testing.T, all ...string) {
	t.Helper()
	for _, folder := range all {
		if err := os.MkdirAll(folder, 0o700); err != nil {
			t.Fatal(err)
		}
	}
}

// TestBarShowsRateAndTimeLeft, and is not shown without a terminal.
func TestBarShowsRateAndTimeLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		b := newBar(&out, "platform", true)
		b.on = true // a buffer is no terminal
		time.Sleep(2 * time.Second)
		b.show(index.Progress{Files: 25, Total: 100, Bytes: 5e6, TotalBytes: 20e6})
		time.Sleep(time.Second)
		b.embedded(embed.Report{Chunks: 120, Kept: 20, Made: 50})
		b.end()
		for _, want := range []string{"platform [#######....", "25 of 100 files", "2.5 MB/s", "6s left", "[###############...............] 50 of 100 embeddings, 17 a second, 3s left", "\r\033[K"} {
			if !strings.Contains(out.String(), want) {
				t.Errorf("%q is not in %q", want, out.String())
			}
		}
	})
	var out bytes.Buffer
	b := newBar(&out, "platform", true)
	b.show(index.Progress{Files: 1, Total: 1, Bytes: 1, TotalBytes: 1})
	if b.end(); out.Len() > 0 {
		t.Errorf("where there is no terminal: %q", out.String())
	}
}

// TestOneFailureStopsNothing: a folder that cannot be read fails alone, and files
// that are no text are counted.
func TestOneFailureStopsNothing(t *testing.T) {
	root, folder := t.TempDir(), t.TempDir()
	write(t, root, "a.go", "package a\n")
	write(t, root, "b.go", "\x00\x01\x02 binary \x00")
	var out bytes.Buffer
	err := Run(t.Context(), Options{Known: []Repository{{"gone", filepath.Join(root, "gone")}, {"here", root}}, Folder: folder, Out: &out, Err: &out})
	if err == nil || !strings.Contains(out.String(), "gone\tfailed") || !strings.Contains(out.String(), "here\t1 files, 1 lines; 1 read, 0 as before, 1 skipped") {
		t.Errorf("%v: %s", err, out.String())
	}
}

// TestStopSaysWhatIsLeft: a signal is no failure of a repository, and the old index stays.
func TestStopSaysWhatIsLeft(t *testing.T) {
	root, folder := t.TempDir(), t.TempDir()
	write(t, root, "a.go", "package a\n")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var out bytes.Buffer
	err := Run(ctx, Options{Folders: []string{root}, Folder: folder, Out: &out, Err: io.Discard})
	if err == nil || !strings.HasPrefix(err.Error(), "stopped: ") || !strings.Contains(err.Error(), "keep the index") || out.Len() > 0 {
		t.Errorf("%v, %q", err, out.String())
	}
}

// TestFoldersOfOneNameAreRefused: the index of one would replace that of the other, unless
// they are configured by names of their own.
func TestFoldersOfOneNameAreRefused(t *testing.T) {
	root := t.TempDir()
	a, b := filepath.Join(root, "a/src"), filepath.Join(root, "b/src")
	makeFolders(t, a, b)
	var out bytes.Buffer
	o := Options{Folders: []string{a, b}, Folder: t.TempDir(), Out: &out, Err: &out}
	if err := Run(t.Context(), o); err == nil || !strings.Contains(err.Error(), "two of the folders are called src") || out.Len() > 0 {
		t.Errorf("%v: %s", err, out.String())
	}
	o.Known = []Repository{{"b", b}}
	if err := Run(t.Context(), o); err != nil {
		t.Error(err)
	}
	o.Folders = []string{a, a}
	if err := Run(t.Context(), o); err != nil {
		t.Errorf("one folder twice: %v", err)
	}
}

// TestFolderNamedAsAConfiguredOneIsRefused: its index would be searched by those who may see the other.
func TestFolderNamedAsAConfiguredOneIsRefused(t *testing.T) {
	root := t.TempDir()
	open, closed := filepath.Join(root, "open/platform"), filepath.Join(root, "closed/platform")
	makeFolders(t, open, closed)
	o := Options{Known: []Repository{{"platform", open + "/"}}, Folders: []string{closed}, Folder: t.TempDir(), Out: io.Discard, Err: io.Discard}
	if err := Run(t.Context(), o); err == nil || !strings.Contains(err.Error(), closed+" is called as another folder is in codesearch.repositories, platform") {
		t.Error(err)
	}
	o.Folders = []string{open}
	if err := Run(t.Context(), o); err != nil {
		t.Errorf("the configured one: %v", err)
	}
}

// TestConfiguredFolderIsOfItsOwnRepositoryAlone, and not of one that it is inside of, who may see which may not
// see it.
func TestConfiguredFolderIsOfItsOwnRepositoryAlone(t *testing.T) {
	root, folder := t.TempDir(), t.TempDir()
	inner := filepath.Join(root, "teams/pay")
	makeFolders(t, inner)
	write(t, root, "open.go", "package open\n")
	write(t, inner, "pay.go", "package pay\n")
	o := Options{Known: []Repository{{"all", root}, {"pay", inner + "/"}}, Folder: folder, Out: io.Discard, Err: io.Discard}
	if err := Run(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"all": "open.go", "pay": "pay.go"} {
		ix, err := index.Open(index.FileOf(folder, name))
		if err != nil {
			t.Fatal(err)
		}
		defer ix.Close()
		if len(ix.Files) != 1 || ix.Files[0].Path != want {
			t.Errorf("%s: %+v", name, ix.Files)
		}
	}
}

// TestIndexesAreBesideTheirFolders where no place for all is named: those of folders of one
// name, too.
func TestIndexesAreBesideTheirFolders(t *testing.T) {
	root := t.TempDir()
	a, b := filepath.Join(root, "a/src"), filepath.Join(root, "b/src")
	for _, folder := range []string{a, b} {
		if err := os.MkdirAll(folder, 0o700); err != nil {
			t.Fatal(err)
		}
		write(t, folder, "x.go", "package x\n")
	}
	var out bytes.Buffer
	beside := func(folder string) (string, error) { return filepath.Join(folder, "kept"), nil }
	if err := Run(t.Context(), Options{Folders: []string{a, b}, Beside: beside, Out: &out, Err: &out}); err != nil {
		t.Fatalf("%v: %s", err, out.String())
	}
	for _, folder := range []string{a, b} {
		ix, err := index.Open(index.FileOf(filepath.Join(folder, "kept"), "src"))
		if err != nil || ix.Meta.Root != folder {
			t.Fatalf("%s: %v", folder, err)
		}
		_ = ix.Close()
	}
	if err := Run(t.Context(), Options{Beside: beside, Out: &out, Err: &out}); err == nil {
		t.Error("nothing is named")
	}
}

// TestWatchWritesWhatChanged: an index whose files are the same is left as it is, once
// their times prove it; and a file that is gone is a change.
func TestWatchWritesWhatChanged(t *testing.T) {
	root, folder := t.TempDir(), t.TempDir()
	write(t, root, "a.go", "package a\n")
	write(t, root, "b.go", "package b\n")
	file, written := index.FileOf(folder, "x"), time.Now().Round(0)
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(written) + time.Minute) // a test's clock is behind the file system's
		ctx, cancel := context.WithCancel(t.Context())
		old := time.Now().Add(-time.Hour)
		for _, name := range []string{"a.go", "b.go"} {
			if err := os.Chtimes(filepath.Join(root, name), old, old); err != nil {
				t.Fatal(err)
			}
		}
		ended := make(chan error, 1)
		go func() {
			ended <- Run(ctx, Options{Known: []Repository{{"x", root}}, Folder: folder, Watch: true, Out: io.Discard, Err: io.Discard})
		}()
		look := func() os.FileInfo {
			t.Helper()
			time.Sleep(watchPause)
			info, err := os.Stat(file)
			if err != nil {
				t.Fatal(err)
			}
			return info
		}
		time.Sleep(watchPause / 2)
		first := look()
		if !os.SameFile(first, look()) {
			t.Error("it was written again")
		}
		if err := os.Remove(filepath.Join(root, "b.go")); err != nil {
			t.Fatal(err)
		}
		if os.SameFile(first, look()) {
			t.Error("a file that is gone is still in the index")
		}
		now := time.Now().Add(-time.Second) // too young to be proven
		if err := os.Chtimes(filepath.Join(root, "a.go"), now, now); err != nil {
			t.Fatal(err)
		}
		touched := look()
		time.Sleep(watchPause)
		proven := look()
		if os.SameFile(touched, proven) || !os.SameFile(proven, look()) {
			t.Error("a young file is not proven by a newer index, or that is written for ever")
		}
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

// TestWatchFollowsChanges until its context ends, and says once what it indexed.
func TestWatchFollowsChanges(t *testing.T) {
	root, folder := t.TempDir(), t.TempDir()
	write(t, root, "a.go", "package a\n")
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		var out bytes.Buffer
		ended := make(chan error, 1)
		go func() {
			ended <- Run(ctx, Options{Known: []Repository{{"x", root}}, Folder: folder, Watch: true, Out: &out, Err: &out})
		}()
		time.Sleep(watchPause / 2)
		write(t, root, "b.go", "package b\n")
		time.Sleep(watchPause)
		ix, err := index.Open(index.FileOf(folder, "x"))
		if err != nil {
			t.Fatal(err)
		}
		if ix.Meta.Files != 2 {
			t.Errorf("after a change the index has %d files", ix.Meta.Files)
		}
		_ = ix.Close()
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("a watch that is ended: %v", err)
		}
		if strings.Count(out.String(), "\n") != 1 {
			t.Errorf("it said %q", out.String())
		}
	})
}

// TestWatchLeavesAFailureAlone: what fails is tried again after a pause, and printed when it fails
// otherwise. A repository without embeddings is indexed all the same.
func TestWatchLeavesAFailureAlone(t *testing.T) {
	root, folder := t.TempDir(), t.TempDir()
	write(t, root, "a.go", "package a\n")
	var asked atomic.Int32
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Connection", "close")                           // a connection that is kept would outlive the bubble
		w.WriteHeader(http.StatusTooManyRequests - int(asked.Add(1))/3) // 429, 429, 428
	}))
	defer service.Close()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		var out bytes.Buffer
		ended := make(chan error, 1)
		go func() {
			ended <- Run(ctx, Options{
				Known: []Repository{{"gone", filepath.Join(root, "gone")}, {"here", root}}, Folder: folder, Watch: true, Out: &out, Err: io.Discard,
				Embeddings: embed.Service{BaseURL: service.URL, Model: "small"},
			})
		}()
		time.Sleep(embed.Pause / 2)
		write(t, root, "b.go", "package b\n")
		time.Sleep(embed.Pause / 3)
		ix, err := index.Open(index.FileOf(folder, "here"))
		if err != nil {
			t.Fatal(err)
		}
		if files := ix.Meta.Files; files != 2 || asked.Load() != 1 {
			t.Errorf("%d files, the service was asked %d times", files, asked.Load())
		}
		_ = ix.Close()
		time.Sleep(2 * embed.Pause)
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		lines := func(of string) int { return strings.Count(out.String(), of) }
		if n := asked.Load(); n != 3 || lines("gone\tfailed") != 1 || lines("0 of 1 chunks") != 1 || lines("0 of 2 chunks") != 2 || lines("status 429") != 2 {
			t.Errorf("asked %d times:\n%s", n, out.String())
		}
	})
}
