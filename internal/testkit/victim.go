package testkit

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"testing"
)

// victimEnv holds a victim's order, and victimStageEnv where it stops.
const (
	victimEnv      = "COUNTERSIGN_TEST_VICTIM"
	victimStageEnv = "COUNTERSIGN_TEST_VICTIM_STAGE"
)

// RunAsVictim is the first line of a TestMain whose tests call [Kill]: in a
// victim it runs work with the order, and returns true. At each stage of its
// change work calls at, which waits for the kill at the stage that was ordered.
func RunAsVictim(work func(order string, at func(stage string))) bool {
	order, stage := os.Getenv(victimEnv), os.Getenv(victimStageEnv)
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

const ready = "here"

// Kill runs this test binary once more as a victim with that order, and kills it
// with SIGKILL when it has reached the stage.
func Kill(t testing.TB, order, stage string) {
	t.Helper()
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), victimEnv+"="+order, victimStageEnv+"="+stage)
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
		t.Fatalf("the victim said %q, %v before %q", line, err, stage)
	}
}
