package searchtest

import (
	"os/exec"
	"syscall"
)

// bindToParent ends the node when we die, however we do: it would not notice by
// itself.
func bindToParent(command *exec.Cmd) {
	command.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
}
