package local

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
)

// dataFolder is where everything of a folder is kept, and codeFolder is in it.
const (
	dataFolder = ".countersign"
	codeFolder = "code"
	ignoreFile = ".gitignore"
)

// make makes the data folder. A folder that was cloned may have brought links in the
// places where it writes: what is there already is used only when it is real, and
// nothing is followed out of the folder.
func (h *home) make() error {
	root, err := os.OpenRoot(h.folder)
	if err != nil {
		return err
	}
	defer root.Close()
	if err := root.Mkdir(dataFolder, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	if err := isReal(root, dataFolder, fs.ModeDir); err != nil {
		return err
	}
	if err := noLinks(root); err != nil {
		return err
	}
	if err := isReal(root, path.Join(dataFolder, codeFolder), fs.ModeDir); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return ignoreAll(root)
}

// noLinks refuses a data folder that has links or pipes in it: a file that is written
// there would be written elsewhere.
func noLinks(root *os.Root) error {
	return fs.WalkDir(root.FS(), dataFolder, func(name string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil // another process has removed it meanwhile
		}
		if err != nil || d.IsDir() {
			return err
		}
		return isReal(root, name, 0)
	})
}

// isReal refuses what is no folder, or no regular file, such as a link to one.
func isReal(root *os.Root, name string, want fs.FileMode) error {
	info, err := root.Lstat(name)
	if err != nil {
		return err
	}
	switch info.Mode().Type() {
	case want:
		return nil
	case fs.ModeSymlink:
		return fmt.Errorf("%s in %s is a symbolic link, and nothing is written through one: remove it, and run this again", name, root.Name())
	}
	return fmt.Errorf("%s in %s is in the place of what is kept there: remove it, and run this again", name, root.Name())
}

// ignoreAll keeps git from seeing the data folder. What a .gitignore there says
// already stays.
func ignoreAll(root *os.Root) error {
	f, err := root.OpenFile(path.Join(dataFolder, ignoreFile), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	_, err = f.WriteString("*\n")
	return errors.Join(err, f.Close())
}
