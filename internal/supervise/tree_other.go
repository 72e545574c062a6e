//go:build unix && !linux

package supervise

import "syscall"

const runningExecutable = ""

func ownGroup() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

func boundGroup() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// adopt does nothing: only Linux lets a process adopt others.
func adopt() error { return nil }

// killAll kills the program's group. What left it is not found here.
func killAll(pid int) { _ = syscall.Kill(-pid, syscall.SIGKILL) }
