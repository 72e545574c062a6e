package index

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/go-git/go-git/v5/plumbing/format/gitignore"
)

// found is a file that may be indexed.
type found struct {
	path     string
	size     int64
	modified time.Time
}

// walker lists the files of a folder: regular ones only, so that no symbolic link
// leads out of it, without what .gitignore files exclude.
type walker struct {
	root     *os.Root
	patterns []gitignore.Pattern
	matcher  gitignore.Matcher
	files    []found
	skipped  int
}

// walk lists a folder in lexical order. Folders that cannot be read are skipped.
func walk(ctx context.Context, root *os.Root) (*walker, error) {
	w := &walker{root: root}
	w.exclude(".git/info/exclude", nil)
	err := fs.WalkDir(root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil && d != nil && d.IsDir():
			w.skipped++
			return fs.SkipDir
		case err != nil:
			w.skipped++
			return nil
		case d.IsDir():
			return w.folder(name)
		}
		return w.file(name, d)
	})
	return w, err
}

// folder decides whether to enter a folder.
func (w *walker) folder(name string) error {
	if name == "." {
		w.exclude(".gitignore", nil)
		return nil
	}
	base := path.Base(name)
	if base == ".git" || base == "node_modules" || w.ignored(name, true) {
		return fs.SkipDir
	}
	if _, err := w.root.Lstat(path.Join(name, ".git")); err == nil { // another repository
		return fs.SkipDir
	}
	w.exclude(path.Join(name, ".gitignore"), strings.Split(name, "/"))
	return nil
}

func (w *walker) file(name string, d fs.DirEntry) error {
	if !d.Type().IsRegular() || w.ignored(name, false) {
		return nil
	}
	info, err := d.Info()
	if err != nil || info.Size() > maxFileSize {
		w.skipped++
		return nil
	}
	w.files = append(w.files, found{name, info.Size(), info.ModTime()})
	return nil
}

func (w *walker) ignored(name string, folder bool) bool {
	return w.matcher != nil && w.matcher.Match(strings.Split(name, "/"), folder)
}

// exclude adds the patterns of a file, if it is there, to those of the folders
// above.
func (w *walker) exclude(file string, domain []string) {
	text, err := readRegular(w.root.OpenFile, filepath.FromSlash(file))
	if err != nil {
		return
	}
	for line := range bytes.Lines(text) {
		pattern := strings.TrimRight(string(line), "\r\n")
		if strings.TrimSpace(pattern) == "" || strings.HasPrefix(pattern, "#") {
			continue
		}
		w.patterns = append(w.patterns, gitignore.ParsePattern(pattern, domain))
	}
	w.matcher = gitignore.NewMatcher(w.patterns)
}

// read reads a file. ok is false for one that is not text, or cannot be read.
func read(root *os.Root, f found) (src []byte, ok bool) {
	src, err := readRegular(root.OpenFile, filepath.FromSlash(f.path))
	if err != nil || len(src) > maxFileSize || isBinary(src) {
		return nil, false
	}
	return src, true
}

// readRegular reads a regular file, which os.OpenFile or the method of a root opens.
// It waits for nothing: a repository may have a named pipe where a file is expected.
func readRegular(open func(name string, flag int, mode os.FileMode) (*os.File, error), name string) ([]byte, error) {
	f, err := open(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a regular file", name)
	}
	return io.ReadAll(io.LimitReader(f, maxRead))
}

// maxRead bounds what is read of any file, also of one that grows.
const maxRead = 64 << 20
