package testkit

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"testing"
)

// crashEnv holds a crash process's order, and crashStageEnv the stage at which
// it waits to be killed.
const (
	crashEnv      = "COUNTERSIGN_TEST_CRASH"
	crashStageEnv = "COUNTERSIGN_TEST_CRASH_STAGE"
)

// RunAsCrashProcess is the first line of a TestMain whose tests call [Kill]: in a
// crash process it runs work with the order, and returns true. Work calls at for
// each stage of its change; at the ordered stage, at blocks until the kill.
func RunAsCrashProcess(work func(order string, at func(stage string))) bool {
	order, stage := os.Getenv(crashEnv), os.Getenv(crashStageEnv)
	if order == "" {
		return false
	}
	work(order, func(reached string) {
		if reached == stage {
			fmt.Println(ready)
			_, _ = bufio.NewReader(os.Stdin).ReadString('\n') // until killed
		}
	})
	return true
}

// ready is the line that a crash process writes when it waits to be killed.
const ready = "ready"

// Kill runs this test binary once more as a crash process with that order, and
// kills it with SIGKILL when it reports that it has reached the stage.
func Kill(t testing.TB, order, stage string) {
	t.Helper()
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), crashEnv+"="+order, crashStageEnv+"="+stage)
	child.Stderr = os.Stderr
	in, err := child.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = in.Close() }()
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	_ = child.Process.Kill()
	_ = child.Wait()
	if line != ready+"\n" {
		t.Fatalf("the crash process wrote %q, %v before %q", line, err, stage)
	}
}
