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

// attributes let the child outlive nobody: it gets SIGINT when we die. Its own
// process group keeps a terminal's Ctrl-C from it, so that we end it in order.
func attributes(a *account) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGINT, Credential: a.credential()}
}

// leave reports whether every process of a previous server on that data folder
// is gone: the server and all its children work in that folder. The first time
// it asks the server to go. When nobody is there it removes the server's pid
// file, whose number may belong to an innocent process by now.
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
			_ = syscall.Kill(pid, syscall.SIGINT) // it may have gone meanwhile
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
		if at, err := os.Readlink(link); err != nil || at != dir { // unreadable: not our user's
			continue
		}
		if name, err := os.ReadFile(filepath.Join(filepath.Dir(link), "comm")); err != nil || !strings.HasPrefix(string(name), "post") {
			continue // a person's shell that stands there
		}
		if pid, err := strconv.Atoi(strings.Split(link, "/")[2]); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids, nil
}
