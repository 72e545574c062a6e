// Package cached keeps what tests fetch: once for a checkout, in folders under
// .cache at its root. Start at [Keep].
package cached

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
)

// Keep returns the folder of that name. It makes it with build unless there is one
// whose mark, a file that build writes, has the wanted content. Other test
// binaries that want it wait meanwhile.
func Keep(name, mark string, says []byte, build func(folder string) error) (folder string, err error) {
	root, err := moduleRoot()
	if err != nil {
		return "", err
	}
	folder = filepath.Join(root, ".cache", name)
	if err := os.MkdirAll(filepath.Dir(folder), 0o755); err != nil {
		return "", err
	}
	unlock, err := lock(filepath.Join(root, ".cache", "lock"))
	if err != nil {
		return "", err
	}
	defer unlock()
	if kept, err := os.ReadFile(filepath.Join(folder, mark)); err == nil && bytes.Equal(kept, says) {
		return folder, nil
	}
	return folder, replace(folder, build)
}

// replace makes the folder anew, or leaves it as it is.
func replace(folder string, build func(folder string) error) error {
	draft, err := os.MkdirTemp(filepath.Dir(folder), "new-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(draft) }()
	if err := build(draft); err != nil {
		return err
	}
	if err := os.RemoveAll(folder); err != nil {
		return err
	}
	return os.Rename(draft, folder)
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func moduleRoot() (string, error) {
	folder, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for ; !exists(filepath.Join(folder, "go.mod")); folder = filepath.Dir(folder) {
		if folder == filepath.Dir(folder) {
			return "", errors.New("there is no go.mod above this folder")
		}
	}
	return folder, nil
}
