package checkout

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"slices"
	"syscall"
)

// maxRead bounds what is read of any file, also of one that grows.
const maxRead = 64 << 20

// Opener is os.OpenFile, or the method of a root.
type Opener func(name string, flag int, mode os.FileMode) (*os.File, error)

// Read reads a regular file of a repository, into the memory of a slice where that is enough.
// It waits for nothing: a repository may have a named pipe where a file is expected.
func Read(b []byte, open Opener, name string) ([]byte, error) {
	f, size, err := openRegular(open, name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	into := bytes.NewBuffer(slices.Grow(b[:0], int(min(size, maxRead))+bytes.MinRead))
	_, err = into.ReadFrom(io.LimitReader(f, maxRead))
	return into.Bytes(), err
}

func openRegular(open Opener, name string) (f *os.File, size int64, err error) {
	if f, err = open(name, os.O_RDONLY|syscall.O_NONBLOCK, 0); err != nil {
		return nil, 0, err
	}
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		_ = f.Close()
		return nil, 0, fmt.Errorf("%s is not a regular file", name)
	}
	return f, info.Size(), nil
}

// read reads a file of git's.
func read(name string) ([]byte, error) { return Read(nil, os.OpenFile, name) }
