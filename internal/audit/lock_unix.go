//go:build unix

package audit

import (
	"errors"
	"os"
	"syscall"
)

// lock prevents other processes from opening the log until the file is closed or
// this process has ended.
func lock(f *os.File) error {
	err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return errors.New("another process is writing it")
	}
	return err
}
