//go:build unix

package index

import (
	"os"
	"syscall"
)

// mapFile maps a file into memory. Its content is never changed in place: a new
// index is a new file.
func mapFile(f *os.File, size int) (data []byte, unmap func() error, err error) {
	data, err = syscall.Mmap(int(f.Fd()), 0, size, syscall.PROT_READ, syscall.MAP_SHARED)
	if err != nil {
		return nil, nil, err
	}
	return data, func() error { return syscall.Munmap(data) }, nil
}
