package embedded

import (
	"context"
	"os/exec"
	"runtime"
	"time"
)

// pidFile is where a server writes its process id and its status.
const pidFile = "postmaster.pid"

// abortWithin is how long a child has after the caller's deadline.
const abortWithin = 5 * time.Second

// child is a child process.
type child struct {
	cmd    *exec.Cmd
	exited chan struct{}
	err    error // of Wait; set before exited is closed
}

// launch starts the command from a thread that lives as long as the child: the
// kernel signals the child when its starting THREAD ends, not our process. The
// goroutine ends with the child.
func launch(cmd *exec.Cmd) (*child, error) {
	c := &child{cmd: cmd, exited: make(chan struct{})}
	started := make(chan error)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		started <- err
		if err != nil {
			return
		}
		c.err = cmd.Wait()
		close(c.exited)
	}()
	return c, <-started
}

func (c *child) pid() int { return c.cmd.Process.Pid }

// stop interrupts the child and waits. When ctx ends first it aborts the child,
// and after abortWithin kills the process group.
func (c *child) stop(ctx context.Context) {
	interrupt(c.cmd.Process)
	select {
	case <-c.exited:
		return
	case <-ctx.Done():
	}
	abort(c.cmd.Process)
	select {
	case <-c.exited:
		return
	case <-time.After(abortWithin):
	}
	kill(c.cmd.Process)
	<-c.exited
}
