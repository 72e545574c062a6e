//go:build !unix

package audit

import (
	"io/fs"
	"os"
)

// lock does nothing where files have no advisory locks.
func lock(*os.File) error { return nil }

// identity is which file one is, whatever its name.
type identity struct{ fs.FileInfo }

// identify returns which file an open one is, and its size.
func identify(f *os.File) (id identity, size int64, err error) {
	info, err := f.Stat()
	if err != nil {
		return id, 0, err
	}
	return identity{info}, info.Size(), nil
}

// isAt reports whether the file at a path is this one.
func (id identity) isAt(path string) bool {
	info, err := os.Stat(path)
	return err == nil && os.SameFile(info, id.FileInfo)
}
