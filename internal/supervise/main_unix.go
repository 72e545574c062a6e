//go:build unix

package supervise

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"syscall"
)

// notRun is the exit status of a program that could not be started, as a shell
// has it.
const notRun = 127

// controlFD is the descriptor of the pipe to the process that asked.
const controlFD = 3

// Main is the supervisor: args are those of the process. It returns the exit
// status, which is the program's.
func Main(args []string) int {
	// A program's parent is the thread that started it, which must not end before.
	runtime.LockOSThread()
	signals := make(chan os.Signal, 1) // meant for the process that asked; not ignored, because a program would inherit that
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	if err := adopt(); err != nil {
		fmt.Fprintln(os.Stderr, "adopting processes:", err)
		return notRun
	}
	syscall.CloseOnExec(controlFD)
	program, err := os.StartProcess(args[2], args[2:], &os.ProcAttr{Files: []*os.File{os.Stdin, os.Stdout, os.Stderr}, Sys: boundGroup()})
	if err != nil {
		fmt.Fprintln(os.Stderr, "it could not be started:", err)
		return notRun
	}
	// The program's end must be seen by the one that reads its output.
	_, _ = os.Stdin.Close(), os.Stdout.Close()
	go obey(os.NewFile(controlFD, "control"), program.Pid)
	status := reap(program.Pid)
	for killed := true; killed; {
		killAll(program.Pid)
		killed = reapOne()
	}
	return status
}

// obey ends the program's processes as the control pipe says; a broken pipe kills
// them.
func obey(control *os.File, pid int) {
	b := make([]byte, 1)
	if n, err := control.Read(b); n == 1 && err == nil {
		_ = syscall.Kill(-pid, syscall.SIGTERM)
		_, _ = control.Read(b)
	}
	killAll(pid)
}

// reap waits for the program, and for adopted processes meanwhile. It returns
// the program's exit status.
func reap(pid int) int {
	for {
		var status syscall.WaitStatus
		ended, err := syscall.Wait4(-1, &status, 0, nil)
		switch {
		case errors.Is(err, syscall.EINTR):
		case err != nil:
			return notRun
		case ended == pid && status.Signaled():
			return 128 + int(status.Signal())
		case ended == pid:
			return status.ExitStatus()
		}
	}
}

// reapOne waits for one more process, and reports whether there was one.
func reapOne() bool {
	for {
		_, err := syscall.Wait4(-1, nil, 0, nil)
		if !errors.Is(err, syscall.EINTR) {
			return err == nil
		}
	}
}
