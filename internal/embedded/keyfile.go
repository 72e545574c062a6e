package embedded

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// KeyFile returns the content of a file that holds a secret, or makes the file
// (mode 0600) with a fresh one. It fails when other users may read the file.
func KeyFile(path string, fresh func() (string, error)) (string, error) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return makeKeyFile(path, fresh)
	}
	if err != nil {
		return "", err
	}
	if info.Mode().Perm()&0o077 != 0 {
		return "", fmt.Errorf("%s may be read by other users; make it 0600", path)
	}
	text, err := os.ReadFile(path)
	return string(text), err
}

func makeKeyFile(path string, fresh func() (string, error)) (string, error) {
	text, err := fresh()
	if err != nil {
		return "", err
	}
	if err := writeWhole(path, text); err != nil {
		return "", fmt.Errorf("keep a secret: %w", err)
	}
	return text, nil
}

// writeWhole writes the file atomically: a crash leaves no partial secret.
// CreateTemp's mode is 0600.
func writeWhole(path, text string) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".key-*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	_, err = f.WriteString(text)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}
