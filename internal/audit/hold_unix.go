//go:build unix

package audit

import (
	"errors"
	"os"
	"syscall"
)

// hold keeps every other process from opening the record, until the file is
// closed or this process ends, however it ends.
func hold(f *os.File) error {
	err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return errors.New("another process is writing it")
	}
	return err
}
