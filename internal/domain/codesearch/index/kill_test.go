package index

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// killedFolder makes this test binary index a folder again and again.
const killedFolder = "COUNTERSIGN_TEST_INDEX_FOLDER"

// indexForever changes a file and updates the index, until the process is killed. It says
// when it has read all files, which is when it begins to write, and when it has written.
func indexForever(t *testing.T, folder string) {
	for i := 0; ; i++ {
		text := fmt.Sprintf("package a\n\nfunc Generation%d() {}\n", i)
		if err := os.WriteFile(filepath.Join(folder, "src", "generation.go"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		read := func(p Progress) {
			if p.Files == p.Total {
				fmt.Println("read")
			}
		}
		if _, err := Update(t.Context(), filepath.Join(folder, "x.csx"), Source{Name: "x", Root: filepath.Join(folder, "src")}, Options{Progress: read}); err != nil {
			t.Fatal(err)
		}
		fmt.Println("updated")
	}
}

// TestKilledIndexingLeavesAnIndex: a process that indexes is killed at one moment or
// another, and the index that is opened then is a whole one.
func TestKilledIndexingLeavesAnIndex(t *testing.T) {
	if folder := os.Getenv(killedFolder); folder != "" {
		indexForever(t, folder)
	}
	folder := t.TempDir()
	if err := os.Mkdir(filepath.Join(folder, "src"), 0o700); err != nil {
		t.Fatal(err)
	}
	for i := range 60 {
		text := "package a\n" + strings.Repeat(fmt.Sprintf("\nfunc F%d() {\n\tverify(token%d)\n}\n", i, i), 200)
		if err := os.WriteFile(filepath.Join(folder, "src", fmt.Sprintf("f%d.go", i)), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for round := range 12 {
		killWhileIndexing(t, folder, 2+round) // after it has read, or has written, in turn
		ix, err := Open(filepath.Join(folder, "x.csx"))
		if err != nil {
			t.Fatalf("after kill %d: %v", round, err)
		}
		if ix.Meta.Files != 61 {
			t.Errorf("after kill %d the index has %d files", round, ix.Meta.Files)
		}
		_ = ix.Close()
	}
}

// killWhileIndexing starts a process that indexes, and kills it after it has said so
// much, at whatever it does then.
func killWhileIndexing(t *testing.T, folder string, said int) {
	t.Helper()
	command := exec.Command(os.Args[0], "-test.run=^TestKilledIndexingLeavesAnIndex$")
	command.Env = append(os.Environ(), killedFolder+"="+folder)
	out, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	for range said {
		if !lines.Scan() {
			t.Error("the process ended by itself")
			break
		}
	}
	_ = command.Process.Kill()
	if err := command.Wait(); err == nil || !strings.Contains(err.Error(), "killed") {
		t.Errorf("the process ended with %v", err)
	}
}

// TestLeftoversAreRemoved: what a killed process was writing goes when the next one
// writes, unless it may be written still.
func TestLeftoversAreRemoved(t *testing.T) {
	folder := t.TempDir()
	file, old, fresh := filepath.Join(folder, "x.csx"), filepath.Join(folder, ".x.csx.123.new"), filepath.Join(folder, ".x.csx.456.new")
	for _, name := range []string{old, fresh} {
		if err := os.WriteFile(name, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	long := time.Now().Add(-2 * leftoverAge)
	if err := os.Chtimes(old, long, long); err != nil {
		t.Fatal(err)
	}
	if _, err := Update(t.Context(), file, Source{Name: "x", Root: t.TempDir()}, Options{}); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(old); !os.IsNotExist(err) {
		t.Error("an old leftover is there")
	}
	if _, err := os.Stat(fresh); err != nil {
		t.Error("a file that another process may be writing was removed")
	}
}
