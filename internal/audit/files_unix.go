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

// identity is which file one is, whatever its name.
type identity struct{ device, inode uint64 }

func identityOf(s *syscall.Stat_t) identity { return identity{uint64(s.Dev), uint64(s.Ino)} } //nolint:unconvert // the types differ by system

// identify returns which file an open one is, and its size.
func identify(f *os.File) (id identity, size int64, err error) {
	info, err := f.Stat()
	if err != nil {
		return id, 0, err
	}
	return identityOf(info.Sys().(*syscall.Stat_t)), info.Size(), nil
}

// isAt reports whether the file at a path is this one. It is os.Stat and os.SameFile
// without what these allocate, because each line asks.
func (id identity) isAt(path string) bool {
	var s syscall.Stat_t
	for {
		switch err := syscall.Stat(path, &s); err {
		case nil:
			return identityOf(&s) == id
		case syscall.EINTR:
		default:
			return false
		}
	}
}
