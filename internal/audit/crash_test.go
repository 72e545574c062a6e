package audit_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"countersign.dev/internal/audit"
	"countersign.dev/internal/testkit"
)

func TestMain(m *testing.M) {
	if testkit.RunAsCrashProcess(writeUntilKilled) {
		return
	}
	os.Exit(m.Run())
}

// running is the stage of a process whose writers go on until it is killed.
const running = "running"

// writeUntilKilled writes a log in which each event has a file of its own. It
// rotates once, through the stages; then writers append without a pause, and note each
// event that Append said was written.
func writeUntilKilled(path string, at func(stage string)) {
	l, err := openLog(path)
	if err != nil {
		panic(err)
	}
	write := func(tool string) {
		if err := l.Append(context.Background(), audit.Event{Kind: audit.Outcome, Tool: tool}); err != nil {
			panic(err)
		}
	}
	write("before")
	audit.StopInRotation(l, at)
	write("at the rotation")
	var writers sync.WaitGroup
	for w := range 4 {
		writers.Go(func() {
			noted, err := os.Create(fmt.Sprintf("%s.noted-by-%d", path, w))
			if err != nil {
				panic(err)
			}
			for n := range 200_000 {
				tool := fmt.Sprintf("%d-%d", w, n)
				write(tool)
				if _, err := noted.WriteString(tool + "\n"); err != nil {
					panic(err)
				}
				if w == 0 && n == 10 {
					go at(running)
				}
			}
		})
	}
	writers.Wait()
}

func openLog(path string) (*audit.Log, error) {
	signer, err := audit.NewSigner([]byte(strings.Repeat("hr", 32)))
	if err != nil {
		return nil, err
	}
	return audit.Open(path, &audit.Options{Name: "hr", Signer: signer, MaxSize: 1})
}

// TestKilledInARotation kills a process at each stage of a rotation, and while
// writers rotate the file with each event. Opened again, the log has every event that
// Append said was written, and its chain is whole.
func TestKilledInARotation(t *testing.T) {
	stages := audit.Stages()
	for range 5 {
		stages = append(stages, running)
	}
	for _, stage := range stages {
		t.Run(stage, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "hr.jsonl")
			testkit.Kill(t, path, stage)
			again, err := openLog(path)
			if err != nil {
				t.Fatal(err)
			}
			if err := again.Append(t.Context(), audit.Event{Kind: audit.Intent, Tool: "after"}); err != nil {
				t.Fatal(err)
			}
			if err := again.Close(); err != nil {
				t.Fatal(err)
			}
			report, err := audit.Verify(path)
			if err != nil || report.Status() != audit.Whole {
				t.Fatalf("got status %d (%v): %v %v", report.Status(), err, report.Broken, report.Remarks)
			}
			there := written(t, path)
			for _, tool := range append(noted(t, path), "before", "after") {
				if !there[tool] {
					t.Errorf("event %s is not there", tool)
				}
			}
		})
	}
}

// noted are the events that Append confirmed to the killed process.
func noted(t *testing.T, path string) (all []string) {
	t.Helper()
	files, err := filepath.Glob(path + ".noted-by-*")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, strings.Fields(string(text))...)
	}
	return all
}

// written are the events of all files of a log.
func written(t *testing.T, path string) map[string]bool {
	t.Helper()
	files, err := filepath.Glob(path + ".0*")
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]bool{}
	for _, file := range append(files, path) {
		for e, err := range audit.Events(file) {
			if err != nil {
				t.Fatal(err)
			}
			all[e.Tool] = true
		}
	}
	return all
}
