//go:build unix

package embedded

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"

	"countersign.dev/internal/fault"
)

// account is the user that a server runs as when we are root. The nil account
// is our own user.
type account struct {
	name     string
	uid, gid uint32
}

// unprivileged finds the account, or nil when we are not root.
func unprivileged() (*account, error) {
	if os.Geteuid() != 0 {
		return nil, nil
	}
	for _, name := range []string{"postgres", "nobody"} {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, uidErr := strconv.ParseUint(u.Uid, 10, 32)
		gid, gidErr := strconv.ParseUint(u.Gid, 10, 32)
		if err := errors.Join(uidErr, gidErr); err != nil {
			return nil, fmt.Errorf("read the user %s: %w", name, err)
		}
		return &account{name, uint32(uid), uint32(gid)}, nil
	}
	return nil, fault.ServiceDown.New("PostgreSQL refuses to run as root, and there is no user postgres or nobody.").
		Suggest("Run as an ordinary user, or use a running server with --postgres URL.")
}

// String is the user's name.
func (a *account) String() string { return a.name }

func (a *account) credential() *syscall.Credential {
	if a == nil {
		return nil
	}
	return &syscall.Credential{Uid: a.uid, Gid: a.gid}
}

func (a *account) own(path string) error {
	if a == nil {
		return nil
	}
	return os.Lchown(path, int(a.uid), int(a.gid))
}

// admit makes a folder private, except that the account may pass through it.
func (a *account) admit(dir string) error {
	if a == nil {
		return os.Chmod(dir, 0o700)
	}
	return errors.Join(os.Chown(dir, -1, int(a.gid)), os.Chmod(dir, 0o710))
}

// reaches reports whether the account may pass through every folder down to
// dir. Folders that do not exist yet count as passable.
func (a *account) reaches(dir string) bool {
	if a == nil {
		return true
	}
	at, err := filepath.EvalSymlinks(dir)
	for errors.Is(err, fs.ErrNotExist) && dir != filepath.Dir(dir) {
		dir = filepath.Dir(dir)
		at, err = filepath.EvalSymlinks(dir)
	}
	if err != nil {
		return false
	}
	for {
		info, err := os.Stat(at)
		if err != nil || !a.passes(info) {
			return false
		}
		parent := filepath.Dir(at)
		if parent == at {
			return true
		}
		at = parent
	}
}

func (a *account) passes(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	switch mode := info.Mode().Perm(); {
	case !ok:
		return false
	case stat.Uid == a.uid:
		return mode&0o100 != 0
	case stat.Gid == a.gid:
		return mode&0o010 != 0
	default:
		return mode&0o001 != 0
	}
}

func ours(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) == os.Geteuid()
}

// kernelLocks reports that the lock of an ended process is free.
const kernelLocks = true

var errLocked = errors.New("locked by another process")

// tryLock locks the file or fails with errLocked. The kernel frees the lock when
// the file is closed or the process ends.
func tryLock(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR|syscall.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil, fmt.Errorf("lock the data folder: %w", err)
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		_ = f.Close()
		return nil, errLocked
	}
	return f, nil
}

// PostgreSQL's three shutdowns: SIGINT ends its connections, SIGQUIT leaves
// recovery to the next start, SIGKILL goes to the process group. Errors are
// ignored, because they mean that the process has ended.

func interrupt(p *os.Process) { _ = p.Signal(syscall.SIGINT) }
func abort(p *os.Process)     { _ = p.Signal(syscall.SIGQUIT) }
func kill(p *os.Process)      { _ = syscall.Kill(-p.Pid, syscall.SIGKILL) }
