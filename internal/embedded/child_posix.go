//go:build unix && !linux

package embedded

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// attributes give the child its own process group, so that a terminal's Ctrl-C
// does not reach it. Here the kernel does not signal it when we die; the next start does.
func attributes(a *account) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Credential: a.credential()}
}

// leave reports whether a previous server on that data folder is gone, and
// signals it the first time. The pid file stays: PostgreSQL checks a stale one.
func leave(data string, ask bool) (bool, error) {
	text, err := os.ReadFile(filepath.Join(data, pidFile))
	if errors.Is(err, fs.ErrNotExist) {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	first, _, _ := strings.Cut(string(text), "\n")
	pid, err := strconv.Atoi(first)
	if err != nil || !runs(pid, data) {
		return true, nil
	}
	if ask {
		_ = syscall.Kill(pid, syscall.SIGINT) // it may have ended already
	}
	return false, nil
}

// runs reports whether that process is a server on that data folder, and not
// another one with the same number.
func runs(pid int, data string) bool {
	out, err := exec.Command("ps", "-p", strconv.Itoa(pid), "-o", "command=").Output()
	return err == nil && strings.Contains(string(out), "-D "+data)
}
