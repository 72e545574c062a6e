package audit

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"countersign.dev/internal/audit/place"
)

func TestRotationKeepsTheChain(t *testing.T) {
	const writers, each = 8, 50
	dir := t.TempDir()
	l := openSigned(t, dir, "hr", func(o *Options) { o.MaxSize = 4 << 10 })
	path := filepath.Join(dir, "hr.jsonl")
	var all sync.WaitGroup
	for w := range writers {
		all.Go(func() {
			for i := range each {
				kind := []Kind{Outcome, Intent}[i%2]
				if err := l.Append(context.Background(), Event{Kind: kind, Tool: fmt.Sprintf("%d-%d", w, i)}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	segments, err := segmentsOf(path)
	if err != nil || len(segments) < 10 {
		t.Fatalf("%d renamed files, %v", len(segments), err)
	}
	if status, text := verifyAll(t, Evidence{}, path); status != Whole {
		t.Fatalf("got status %d: %s", status, text)
	}
	seen := map[string]bool{}
	for _, file := range append(segments, path) {
		for e, err := range Events(file) {
			if err != nil {
				t.Fatal(err)
			}
			seen[e.Tool] = true
		}
	}
	if len(seen) != writers*each+1 { // the lines of the files have no tool
		t.Errorf("%d of %d events are there", len(seen)-1, writers*each)
	}
	first := readAll(t, path)[0]
	if before := readAll(t, segments[len(segments)-1]); first.Kind != Opened || first.Step != stepRotated || !strings.Contains(first.Note, before[len(before)-1].Hash) {
		t.Errorf("the new file begins with %+v, want it to name the older one's last hash", first)
	}
	if err := os.Remove(segments[2]); err != nil {
		t.Fatal(err)
	}
	if status, _ := verifyAll(t, Evidence{}, path); status != Damaged {
		t.Errorf("without a file in the middle: got status %d, want %d", status, Damaged)
	}
	for _, segment := range segments[:2] {
		_ = os.Remove(segment)
	}
	if status, text := verifyAll(t, Evidence{}, path); status != Lost || !strings.Contains(text, "cannot be known") {
		t.Errorf("without the oldest files: got status %d: %s; want %d", status, text, Lost)
	}
}

func TestRotationByAge(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		l := openSigned(t, dir, "hr", func(o *Options) { o.MaxAge, o.Now = time.Hour, time.Now })
		appendAll(t, l, Event{Kind: Turn})
		time.Sleep(time.Hour)
		appendAll(t, l, Event{Kind: Turn})
		if segments, _ := segmentsOf(filepath.Join(dir, "hr.jsonl")); len(segments) != 1 {
			t.Errorf("%d renamed files, want 1", len(segments))
		}
		if status, text := verifyAll(t, Evidence{}, dir); status != Whole {
			t.Errorf("got status %d: %s", status, text)
		}
	})
}

// TestCrashAtAnyStepOfARotation puts the files into the state that a crash leaves,
// and opens the log again: no line is missing, and the chain goes on.
func TestCrashAtAnyStepOfARotation(t *testing.T) {
	rename := func(t *testing.T, path string, last uint64) {
		if err := os.Rename(path, segmentPath(path, last)); err != nil {
			t.Fatal(err)
		}
	}
	for name, c := range map[string]struct {
		crash func(t *testing.T, path string, last uint64)
		want  Status
	}{
		"before renaming":         {func(*testing.T, string, uint64) {}, Whole},
		"after renaming":          {rename, Whole},
		"after making the file":   {func(t *testing.T, p string, n uint64) { rename(t, p, n); addFile(t, p, "") }, Whole},
		"in the first line":       {func(t *testing.T, p string, n uint64) { rename(t, p, n); addFile(t, p, `{"seq":5,"ti`) }, Recovered},
		"and the head was lost":   {func(t *testing.T, p string, n uint64) { rename(t, p, n); _ = os.Remove(headPath(p)) }, Recovered},
		"and the segment was cut": {func(t *testing.T, p string, n uint64) { keepLines(t, p, int(n)-1); rename(t, p, n) }, Recovered},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			l := openSigned(t, dir, "hr")
			appendAll(t, l, Event{Kind: Turn}, Event{Kind: Intent}, Event{Kind: Turn})
			_ = l.Close()
			path := filepath.Join(dir, "hr.jsonl")
			c.crash(t, path, l.last.Seq)
			appendAll(t, openSigned(t, dir, "hr"), Event{Kind: Intent})
			status, text := verifyAll(t, Evidence{Keys: []string{signerOf(t, "hr").PublicKey()}}, path)
			if status != c.want {
				t.Errorf("got status %d: %s; want %d", status, text, c.want)
			}
		})
	}
}

func addFile(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestFileThatIsTakenAwayIsNoticed renames or deletes the file of a running log.
func TestFileThatIsTakenAwayIsNoticed(t *testing.T) {
	for name, take := range map[string]func(path string) error{
		"renamed": func(p string) error { return os.Rename(p, p+".old") },
		"deleted": os.Remove,
		"renamed, and an empty one made": func(p string) error {
			return errors.Join(os.Rename(p, p+".old"), os.WriteFile(p, nil, 0o600))
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			l, path := openSigned(t, dir, "hr"), filepath.Join(dir, "hr.jsonl")
			appendAll(t, l, Event{Kind: Intent}, Event{Kind: Turn})
			if err := take(path); err != nil {
				t.Fatal(err)
			}
			appendAll(t, l, Event{Kind: Outcome}, Event{Kind: Intent})
			if status, text := verifyAll(t, Evidence{}, path); status != Moved || !strings.Contains(text, "What events 1 to 3 were cannot be known") {
				t.Errorf("got status %d: %s; want %d", status, text, Moved)
			}
			if name == "deleted" {
				return
			}
			if status, text := verifyAll(t, Evidence{}, path+".old", path); status != Whole {
				t.Errorf("with both files: got status %d: %s", status, text)
			}
		})
	}
}

// TestQuietFolderIsLookedInto: the files of a folder that has not changed for long are
// missed at the next line, too, and so is the folder, a moment later.
func TestQuietFolderIsLookedInto(t *testing.T) {
	for name, take := range map[string]func(dir, path string) error{
		"the file":   func(_, path string) error { return os.Rename(path, path+".old") },
		"the head":   func(_, path string) error { return os.Rename(headPath(path), path+".old") },
		"the folder": func(dir, _ string) error { return errors.Join(os.Rename(dir, dir+".old"), os.Mkdir(dir, 0o700)) },
	} {
		synctest.Test(t, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "logs")
			if err := os.Mkdir(dir, 0o700); err != nil {
				t.Fatal(err)
			}
			l, path := openSigned(t, dir, "hr"), filepath.Join(dir, "hr.jsonl")
			appendAll(t, l, Event{Kind: Turn})
			long := time.Now().Add(-time.Hour)
			if err := os.Chtimes(dir, long, long); err != nil {
				t.Fatal(err)
			}
			appendAll(t, l, Event{Kind: Turn})
			if err := take(dir, path); err != nil {
				t.Fatal(err)
			}
			if name == "the folder" {
				<-time.After(place.LookAgain)
				appendAll(t, l, Event{Kind: Turn}) // makes the file, and the next one its head
			}
			appendAll(t, l, Event{Kind: Turn})
			for _, p := range []string{path, headPath(path)} {
				if _, err := os.Stat(p); err != nil {
					t.Errorf("%s: after the next line: %v", name, err)
				}
			}
		})
	}
}

func TestAnotherFileAtThePathRefusesChanges(t *testing.T) {
	dir := t.TempDir()
	l, path := openSigned(t, dir, "hr"), filepath.Join(dir, "hr.jsonl")
	appendAll(t, l, Event{Kind: Intent})
	if err := errors.Join(os.Rename(path, path+".old"), os.WriteFile(path, []byte("{}\n"), 0o600)); err != nil {
		t.Fatal(err)
	}
	if err := l.Append(t.Context(), Event{Kind: Intent}); err == nil {
		t.Fatal("an event was written to a foreign file, or to none")
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	appendAll(t, l, Event{Kind: Intent})
	if status, _ := verifyAll(t, Evidence{}, path+".old", path); status != Unwritten {
		t.Errorf("afterwards: got status %d, want %d", status, Unwritten)
	}
}
