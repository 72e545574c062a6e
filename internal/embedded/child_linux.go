package embedded

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// attributes make the kernel send SIGINT to the child when this process dies.
// The child has its own process group, so that a terminal's Ctrl-C does not
// reach it and we end it in order.
func attributes(a *account) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGINT, Credential: a.credential()}
}

// leave reports whether every process of a previous server on that data folder
// is gone: the server and all its children work in that folder. The first time
// it signals the server. When all are gone it removes the server's pid file,
// whose number may belong to another process by now.
func leave(data string, ask bool) (bool, error) {
	pidPath := filepath.Join(data, pidFile)
	text, err := os.ReadFile(pidPath)
	if errors.Is(err, fs.ErrNotExist) {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	inside, err := workersIn(data)
	if err != nil {
		return false, err
	}
	if len(inside) == 0 {
		if err := os.Remove(pidPath); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return false, err
		}
		return true, nil
	}
	first, _, _ := strings.Cut(string(text), "\n")
	for _, pid := range inside {
		if ask && strconv.Itoa(pid) == first {
			_ = syscall.Kill(pid, syscall.SIGINT) // it may have ended already
		}
	}
	return false, nil
}

// workersIn lists the postgres processes whose working folder is dir.
func workersIn(dir string) ([]int, error) {
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return nil, err
	}
	links, err := filepath.Glob("/proc/[0-9]*/cwd")
	if err != nil {
		return nil, err
	}
	var pids []int
	for _, link := range links {
		if at, err := os.Readlink(link); err != nil || at != dir { // unreadable: another user's
			continue
		}
		if name, err := os.ReadFile(filepath.Join(filepath.Dir(link), "comm")); err != nil || !strings.HasPrefix(string(name), "post") {
			continue // another program, such as a shell
		}
		if pid, err := strconv.Atoi(strings.Split(link, "/")[2]); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids, nil
}
