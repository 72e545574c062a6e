//go:build !unix

package place

import (
	"io/fs"
	"os"
)

// File is which file one is, whatever its name.
type File struct{ fs.FileInfo }

// Of returns which file an open one is, and its size.
func Of(f *os.File) (id File, size int64, err error) {
	info, err := f.Stat()
	if err != nil {
		return id, 0, err
	}
	return File{info}, info.Size(), nil
}

// IsAt reports whether the file at a path is this one.
func (id File) IsAt(path string) bool {
	info, err := os.Stat(path)
	return err == nil && os.SameFile(info, id.FileInfo)
}
