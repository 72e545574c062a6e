package place_test

import (
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"countersign.dev/internal/audit/place"
)

// TestFolderIsTrustedWhenItIsQuiet: one that has changed long ago, and not since it was seen.
// One that changed just now may change again within a tick of its clock.
func TestFolderIsTrustedWhenItIsQuiet(t *testing.T) { synctest.Test(t, testQuiet) }

func testQuiet(t *testing.T) {
	dir, long := t.TempDir(), time.Now().Add(-time.Hour)
	set := func(to time.Time) {
		if err := os.Chtimes(dir, to, to); err != nil {
			t.Fatal(err)
		}
	}
	var f place.Folder
	if err := f.Open(dir); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	if set(time.Now()); f.Unchanged() {
		t.Error("nobody has seen it")
	}
	if f.Seen(); f.Unchanged() {
		t.Error("it changed just now")
	}
	set(long)
	if f.Unchanged() {
		t.Error("it has another time than when it was seen")
	}
	if f.Seen(); !f.Unchanged() {
		t.Error("it is quiet")
	}
	if err := os.WriteFile(filepath.Join(dir, "new"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if f.Unchanged() {
		t.Error("a file has come")
	}
	set(long)
	f.Unchanged()
	f.Seen()
	if <-time.After(place.LookAgain); f.Unchanged() {
		t.Error("nobody has looked for a while")
	}
}

// TestFileIsTheSameWhateverItsName: it is known by what it is, not by its name.
func TestFileIsTheSameWhateverItsName(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	id, size, err := place.Of(f)
	if err != nil || size != 0 || !id.IsAt(path) || id.IsAt(path+".old") {
		t.Fatalf("got %v, %d, %v", id, size, err)
	}
	if err := os.Rename(path, path+".old"); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if id.IsAt(path) || !id.IsAt(path+".old") {
		t.Error("a file was taken for the one that had its name")
	}
}
