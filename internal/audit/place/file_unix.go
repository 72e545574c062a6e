//go:build unix

package place

import (
	"os"
	"syscall"
)

// File is which file one is, whatever its name.
type File struct{ device, inode uint64 }

func fileOf(s *syscall.Stat_t) File { return File{uint64(s.Dev), uint64(s.Ino)} } //nolint:unconvert // the types differ by system

// Of returns which file an open one is, and its size.
func Of(f *os.File) (id File, size int64, err error) {
	info, err := f.Stat()
	if err != nil {
		return id, 0, err
	}
	return fileOf(info.Sys().(*syscall.Stat_t)), info.Size(), nil
}

// IsAt reports whether the file at a path is this one. It is os.Stat and os.SameFile
// without what these allocate, because each line asks.
func (id File) IsAt(path string) bool {
	var s syscall.Stat_t
	for {
		switch err := syscall.Stat(path, &s); err {
		case nil:
			return fileOf(&s) == id
		case syscall.EINTR:
		default:
			return false
		}
	}
}
