//go:build !unix

package embedded

import (
	"errors"
	"io/fs"
	"os"
	"syscall"

	"countersign.dev/internal/fault"
)

// account is not needed here: a private PostgreSQL is started on Unix only.
type account struct{}

func unprivileged() (*account, error) {
	return nil, fault.ServiceDown.New("A private PostgreSQL cannot be started on this operating system.").
		Suggest("Use a running server with --postgres URL.")
}

const kernelLocks = false

var errLocked = errors.New("locked by another process")

func (a *account) own(string) error            { return nil }
func (a *account) admit(dir string) error      { return os.Chmod(dir, 0o700) }
func (a *account) String() string              { return "" }
func (a *account) reaches(string) bool         { return true }
func attributes(*account) *syscall.SysProcAttr { return nil }
func leave(string, bool) (bool, error)         { return true, nil }
func tryLock(path string) (*os.File, error)    { return os.Create(path) }
func ours(fs.FileInfo) bool                    { return true }
func interrupt(p *os.Process)                  { _ = p.Signal(os.Interrupt) }
func abort(p *os.Process)                      { _ = p.Kill() }
func kill(p *os.Process)                       { _ = p.Kill() }
