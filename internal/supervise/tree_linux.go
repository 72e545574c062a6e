package supervise

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// runningExecutable names the executable that runs, also when its file was
// replaced meanwhile.
const runningExecutable = "/proc/self/exe"

// ownGroup keeps a terminal's Ctrl-C from the supervisor.
func ownGroup() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// boundGroup gives the program a group of its own, and ends it should the
// supervisor be killed.
func boundGroup() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// adopt makes this process the parent of every process below it whose own parent
// ends, so that none can leave.
func adopt() error { return unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) }

// killAll kills every process below this one, whatever its group or session.
func killAll(int) {
	children := childrenOf()
	below := children[os.Getpid()]
	for len(below) > 0 {
		pid := below[0]
		below = append(below[1:], children[pid]...)
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
}

// childrenOf lists the processes of this machine by their parents.
func childrenOf() map[int][]int {
	all := map[int][]int{}
	files, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		return all
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil { // it has ended
			continue
		}
		// "PID (NAME) STATE PARENT …"; a name may have parentheses and spaces.
		rest := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(file)))
		if err != nil || len(rest) < 2 {
			continue
		}
		if parent, err := strconv.Atoi(rest[1]); err == nil {
			all[parent] = append(all[parent], pid)
		}
	}
	return all
}
