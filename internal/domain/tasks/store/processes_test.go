package store

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"countersign.dev/internal/domain/tasks/record"
	"countersign.dev/internal/testkit"
)

// creatorEnv names the file in which a process of this test creates tasks.
const (
	creatorEnv = "COUNTERSIGN_TEST_CREATOR"
	tasksEnv   = "COUNTERSIGN_TEST_TASKS" // how many tasks a process creates
)

const creators = 8

// perWriter is less in the short run, which the race detector slows down many times.
func perWriter() int {
	if testing.Short() {
		return 20
	}
	return 200
}

func TestMain(m *testing.M) {
	if testkit.RunAsCrashProcess(upgradeSlowly) {
		return
	}
	if file := os.Getenv(creatorEnv); file != "" {
		create(file)
		return
	}
	os.Exit(m.Run())
}

// create makes tasks and writes a line for each that was acknowledged, or the error.
func create(file string) {
	ctx, cancel := context.WithTimeout(context.Background(), testkit.Patience) // a loaded machine needs more than a call's 5 s for its turn
	defer cancel()
	w, err := Open(ctx, file, "/somewhere", time.Now)
	if err != nil {
		fmt.Println("error", err)
		return
	}
	count, _ := strconv.Atoi(os.Getenv(tasksEnv))
	for i := range count {
		task, err := w.CreateTask(ctx, NewTask{Title: fmt.Sprint("of ", os.Getpid(), ", ", i), Status: record.Todo, Priority: "low", CreatedBy: "creator"})
		if err != nil {
			fmt.Println("error", err)
			return
		}
		fmt.Println("made", task.ID)
	}
}

// TestProcessesShareOneWorkspaceAndMayBeKilled: eight processes create 200 tasks each,
// and every other one is killed after a random number. What was acknowledged is
// stored, the file is whole, and no caller gets an error about a lock.
func TestProcessesShareOneWorkspaceAndMayBeKilled(t *testing.T) {
	file := filepath.Join(t.TempDir(), "w.db")
	var mu sync.Mutex
	acknowledged := map[string]bool{}
	var running sync.WaitGroup
	for i := range creators {
		limit := perWriter() + 1
		if i%2 == 0 {
			limit = 1 + rand.IntN(perWriter()-1)
		}
		running.Go(func() {
			for _, line := range runCreator(t, file, limit) {
				if !strings.HasPrefix(line, "made ") {
					t.Errorf("a caller got: %s", line)
					continue
				}
				mu.Lock()
				acknowledged[strings.TrimPrefix(line, "made ")] = true
				mu.Unlock()
			}
		})
	}
	running.Wait()
	w := at(t, file, time.Now)
	if err := w.Check(t.Context()); err != nil {
		t.Error(err)
	}
	_, total, err := w.Tasks(t.Context(), TaskFilter{}, Page{Limit: 1})
	if err != nil || total < len(acknowledged) || len(acknowledged) < creators/2*perWriter() {
		t.Errorf("%d tasks were acknowledged and %d are stored: %v", len(acknowledged), total, err)
	}
	if _, found, _, err := w.SearchTasks(t.Context(), "of", Page{Limit: 1}); err != nil || found != total {
		t.Errorf("a search finds %d of %d tasks: %v", found, total, err)
	}
	for id := range acknowledged {
		var n int64
		_, _ = fmt.Sscan(id, &n)
		if _, err := w.Task(t.Context(), n); err != nil {
			t.Fatalf("task %s was acknowledged: %v", id, err)
		}
	}
}

// runCreator runs a process until it ends, or until it has written limit lines.
func runCreator(t *testing.T, file string, limit int) (lines []string) {
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), creatorEnv+"="+file, tasksEnv+"="+strconv.Itoa(perWriter()))
	out, err := child.StdoutPipe()
	if err == nil {
		err = child.Start()
	}
	if err != nil {
		t.Error(err)
		return nil
	}
	for read := bufio.NewScanner(out); read.Scan(); {
		if lines = append(lines, read.Text()); len(lines) == limit {
			_ = child.Process.Kill()
		}
	}
	_ = child.Wait() // killed, or ended
	return lines
}
