package searchtest

import (
	"os/exec"
	"syscall"
)

// bindToParent makes the kernel kill the node when this process ends, even by
// SIGKILL.
func bindToParent(command *exec.Cmd) {
	command.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
}
