//go:build !unix

package index

import (
	"io"
	"os"
)

// mapFile reads a file where there is no portable way to map it.
func mapFile(f *os.File, size int) (data []byte, unmap func() error, err error) {
	data = make([]byte, size)
	_, err = io.ReadFull(f, data)
	return data, func() error { return nil }, err
}
