//go:build linux

package supervise_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"countersign.dev/internal/supervise"
	"countersign.dev/internal/testkit"
)

// leave makes the test's own executable start a program and wait to be killed.
const leave = "start-and-wait"

func TestMain(m *testing.M) {
	if supervise.Asked(os.Args) {
		os.Exit(supervise.Main(os.Args))
	}
	if len(os.Args) > 1 && os.Args[1] == leave {
		p, err := supervise.Start(supervise.Command{Path: "/bin/sh", Args: []string{"-c", stubborn}})
		if err != nil {
			os.Exit(1)
		}
		_, _ = io.Copy(os.Stdout, p.Stdout)
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// stubborn starts a process in a session of its own, whose parent ends at once,
// and one below itself; prints the numbers of all three; and ignores every request
// to end.
const stubborn = `
trap "" TERM INT HUP
(setsid sh -c 'trap "" TERM INT HUP; sleep 1000 & echo $!; echo $$; wait' &)
sleep 1000 &
echo $!
while :; do sleep 1; done`

func numbers(t *testing.T, r io.Reader, n int) (pids []int) {
	t.Helper()
	lines := bufio.NewScanner(r)
	for len(pids) < n && lines.Scan() {
		pid, err := strconv.Atoi(lines.Text())
		if err != nil {
			t.Fatalf("got %q, want the number of a process", lines.Text())
		}
		pids = append(pids, pid)
	}
	if len(pids) < n {
		t.Fatalf("got %v, want the numbers of %d processes", pids, n)
	}
	return pids
}

// gone waits until every process of the numbers has ended.
func gone(t *testing.T, pids []int) {
	t.Helper()
	for _, pid := range pids {
		fd, err := unix.PidfdOpen(pid, 0)
		if errors.Is(err, unix.ESRCH) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, int(testkit.Patience.Milliseconds()))
		if err != nil || n != 1 {
			t.Errorf("process %d did not end: %v", pid, err)
		}
		_ = unix.Close(fd)
	}
}

func TestEverythingEndsWithTheProgram(t *testing.T) {
	p, err := supervise.Start(supervise.Command{Path: "/bin/sh", Args: []string{"-c", stubborn}, Grace: 1})
	if err != nil {
		t.Fatal(err)
	}
	pids := numbers(t, p.Stdout, 3)
	p.End()
	gone(t, pids)
}

// A program that goes on without its standard input, and what it started in its group,
// are asked to terminate before they are killed.
func TestAProgramIsAskedToTerminateFirst(t *testing.T) {
	var mu sync.Mutex
	var said []string
	p, err := supervise.Start(supervise.Command{
		Path: "/bin/sh", Args: []string{"-c", `
trap 'echo the program >&2; wait; exit' TERM
sh -c 'trap "echo its child >&2; exit" TERM; while :; do sleep 0.05; done' &
echo ready
while :; do sleep 0.05; done`},
		Grace: 200 * time.Millisecond, Said: func(line string) { mu.Lock(); defer mu.Unlock(); said = append(said, line) },
	})
	if err != nil {
		t.Fatal(err)
	}
	_, _ = bufio.NewReader(p.Stdout).ReadString('\n')
	p.End()
	mu.Lock()
	defer mu.Unlock()
	if !slices.Contains(said, "its child") || !slices.Contains(said, "the program") {
		t.Errorf("asked to terminate: %q", said)
	}
}

// A program that ends by itself takes with it what it started.
func TestWhatAProgramLeavesBehindEnds(t *testing.T) {
	p, err := supervise.Start(supervise.Command{Path: "/bin/sh", Args: []string{"-c", `setsid sleep 1000 & echo $!; exit 3`}})
	if err != nil {
		t.Fatal(err)
	}
	defer p.End()
	pids := numbers(t, p.Stdout, 1)
	<-p.Done()
	gone(t, pids)
	var status *exec.ExitError
	if !errors.As(p.Err(), &status) || status.ExitCode() != 3 {
		t.Errorf("got %v, want the program's exit status 3", p.Err())
	}
}

func TestEverythingEndsWhenTheStarterIsKilled(t *testing.T) {
	starter := exec.Command(os.Args[0], leave)
	out, err := starter.StdoutPipe()
	if err == nil {
		err = starter.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	pids := numbers(t, out, 3)
	if err := starter.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = starter.Wait()
	gone(t, pids)
}

func TestAProgramGetsOnlyItsEnvironmentAndLastWordsArrive(t *testing.T) {
	t.Setenv("SECRET_OF_THE_GATEWAY", "x")
	var said []string
	p, err := supervise.Start(supervise.Command{
		Path: "/bin/sh", Args: []string{"-c", `env >&2; echo "$1"; cat`, "sh", "a; b $(c)"}, Env: []string{"ONLY=this"}, Dir: "/",
		Said: func(line string) { said = append(said, line) },
	})
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprintln(p.Stdin, "and this")
	_ = p.Stdin.Close()
	<-p.Done()
	out, err := io.ReadAll(p.Stdout)
	if err != nil || string(out) != "a; b $(c)\nand this\n" {
		t.Errorf("got %q and %v, want the argument as it is, and the input", out, err)
	}
	if text := strings.Join(said, "\n"); !strings.Contains(text, "ONLY=this") || strings.Contains(text, "SECRET") {
		t.Errorf("its environment is\n%s", text)
	}
	p.End()
}

func TestALongLineIsCut(t *testing.T) {
	var said []string
	p, err := supervise.Start(supervise.Command{
		Path: "/bin/sh", Args: []string{"-c", `head -c 1000000 /dev/zero | tr '\0' x >&2; echo >&2; echo end >&2`},
		Env: []string{"PATH=" + os.Getenv("PATH")}, Said: func(line string) { said = append(said, line) },
	})
	if err != nil {
		t.Fatal(err)
	}
	p.End()
	if len(said) != 2 || len(said[0]) != 1024 || said[1] != "end" {
		t.Errorf("got %d lines, the first of %d bytes", len(said), len(said[0]))
	}
}

func TestAProgramThatIsNotThereSaysSo(t *testing.T) {
	said := make(chan string, 1)
	p, err := supervise.Start(supervise.Command{Path: "/no/such/program", Said: func(line string) { said <- line }})
	if err != nil {
		t.Fatal(err)
	}
	<-p.Done()
	if line := <-said; !strings.Contains(line, "no such file") {
		t.Errorf("got %q", line)
	}
	p.End()
}

// TestAnEmptyEnvironmentIsEmpty, and not that of this process, as package os/exec
// has it.
func TestAnEmptyEnvironmentIsEmpty(t *testing.T) {
	t.Setenv("SECRET_OF_THE_GATEWAY", "x")
	p, err := supervise.Start(supervise.Command{Path: "/bin/sh", Args: []string{"-c", "export -p; echo end"}})
	if err != nil {
		t.Fatal(err)
	}
	out, err := io.ReadAll(p.Stdout)
	if err != nil || !strings.Contains(string(out), "end") || strings.Contains(string(out), "SECRET") {
		t.Errorf("got %v, and its environment is\n%s", err, out)
	}
	p.End()
}

// Processes that a killed supervisor leaves behind are not waited for.
func TestEndWaitsForNoOrphanOfAKilledSupervisor(t *testing.T) {
	p, err := supervise.Start(supervise.Command{Path: "/bin/sh", Args: []string{"-c", `
setsid sleep 1000 &
echo $!; echo $PPID; wait`}, Env: os.Environ(), Grace: 10 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	pids := numbers(t, p.Stdout, 2)
	defer func() { _ = unix.Kill(pids[0], unix.SIGKILL) }()
	if err := unix.Kill(pids[1], unix.SIGKILL); err != nil {
		t.Fatal(err)
	}
	p.End()
	if err := unix.Kill(pids[0], 0); err != nil {
		t.Errorf("the orphan has ended, so nothing was proved: %v", err)
	}
}
