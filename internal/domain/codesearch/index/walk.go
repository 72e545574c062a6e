package index

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"reflect"
	"slices"
	"time"
	"unicode/utf8"

	"countersign.dev/internal/domain/codesearch/checkout"
	"countersign.dev/internal/domain/codesearch/ignore"
	"countersign.dev/internal/domain/codesearch/linguist"
)

// found is a file that may be indexed.
type found struct {
	path     string
	size     int64
	modified time.Time
	changed  time.Time // when the file system last changed anything of it, which no program can set; zero: unknown
}

// latest is the time before which the file was not as it is now.
func (f *found) latest() time.Time {
	if f.changed.After(f.modified) {
		return f.changed
	}
	return f.modified
}

// changedAt is the time that stat calls ctime. Systems name its field differently, or have none.
func changedAt(info fs.FileInfo) time.Time {
	stat := reflect.Indirect(reflect.ValueOf(info.Sys()))
	if stat.Kind() != reflect.Struct {
		return time.Time{}
	}
	for _, name := range []string{"Ctim", "Ctimespec"} {
		if field := stat.FieldByName(name); field.IsValid() && field.CanAddr() {
			if t, ok := field.Addr().Interface().(interface{ Unix() (sec, nsec int64) }); ok {
				return time.Unix(t.Unix())
			}
		}
	}
	return time.Time{}
}

// walker lists the files of a folder: regular ones only, so that no symbolic link
// leads out of it, without what .gitignore files exclude.
type walker struct {
	root     *os.Root
	without  []string // folders that are left out
	within   string   // the folder's path in the repository that it is a part of
	patterns ignore.Patterns
	files    []found
	skipped  int
}

// walk lists a folder in lexical order. Folders that cannot be read, and those whose patterns cannot,
// are skipped.
func walk(ctx context.Context, root *os.Root, without []string) (*walker, error) {
	w := &walker{root: root, without: without}
	if err := w.above(root.Name()); err != nil {
		return nil, err
	}
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

// above adds what the repository excludes that the folder is, or is a part of, unless that
// excludes the folder itself: somebody has named it.
func (w *walker) above(folder string) error {
	top, within, ok := checkout.Repository(folder)
	if !ok {
		return nil
	}
	text, anyCase := checkout.Excludes(top)
	w.patterns.AnyCase = ignore.AnyCase(anyCase)
	w.patterns.Add(".", text)
	for i := range within {
		text, err := gitignore(os.Lstat, os.OpenFile, filepath.Join(top, filepath.Join(within[:i]...)))
		if err != nil {
			return err
		}
		w.patterns.Add(path.Join(within[:i]...), text)
		if w.patterns.Ignored(path.Join(within[:i+1]...), true) {
			w.patterns = ignore.Patterns{AnyCase: w.patterns.AnyCase}
			return nil
		}
	}
	w.within = path.Join(within...)
	return nil
}

// errPatterns is the error of a folder of which it is not known what git ignores: every path is compared
// with every pattern, and a repository may not mean well.
var errPatterns = errors.New("a .gitignore is over 1 MiB")

// gitignore reads the patterns of a folder. git does not follow a link there.
func gitignore(lstat func(name string) (fs.FileInfo, error), open checkout.Opener, folder string) ([]byte, error) {
	name := filepath.Join(folder, ".gitignore")
	info, err := lstat(name)
	if err != nil || !info.Mode().IsRegular() {
		return nil, nil
	}
	if info.Size() > maxFileSize {
		return nil, errPatterns
	}
	text, _ := checkout.Read(nil, open, name) // it excludes nothing then
	return text, nil
}

// folder decides whether to enter a folder.
func (w *walker) folder(name string) error {
	if name == "." {
		return w.enter(name)
	}
	base := path.Base(name)
	if base == ".git" || base == "node_modules" || slices.Contains(w.without, name) || w.ignored(name, true) {
		return fs.SkipDir
	}
	if _, err := w.root.Lstat(path.Join(name, ".git")); err == nil { // another repository
		return fs.SkipDir
	}
	if err := w.enter(name); err != nil {
		w.skipped++
		return fs.SkipDir
	}
	return nil
}

// enter adds the patterns of a folder.
func (w *walker) enter(name string) error {
	text, err := gitignore(w.root.Lstat, w.root.OpenFile, filepath.FromSlash(name))
	w.patterns.Add(path.Join(w.within, name), text)
	return err
}

func (w *walker) file(name string, d fs.DirEntry) error {
	if !d.Type().IsRegular() || path.Base(name) == ".git" || w.ignored(name, false) { // a worktree's is a file
		return nil
	}
	info, err := d.Info()
	if err != nil || info.Size() > maxFileSize || databases[path.Ext(name)] || !utf8.ValidString(name) { // JSON cannot ask for such a name
		w.skipped++
		return nil
	}
	w.files = append(w.files, found{name, info.Size(), info.ModTime(), changedAt(info)})
	return nil
}

// databases are the endings of SQLite's files, which are not even opened: a process that closes one gives up all
// locks that it has on it, also those of a store in use.
var databases = map[string]bool{".db": true, ".db-wal": true, ".db-shm": true, ".db-journal": true, ".sqlite": true, ".sqlite3": true}

func (w *walker) ignored(name string, folder bool) bool {
	return w.patterns.Ignored(path.Join(w.within, name), folder)
}

// texts reads files, those of one folder after each other without opening the folders
// above it again. It is for one goroutine.
type texts struct {
	name   string // of the open folder
	folder *os.Root
	text   []byte // memory of the last file
}

// read reads a file, until the next call. ok is false for one that is not text, or
// cannot be read.
func (t *texts) read(root *os.Root, f found) (src []byte, ok bool) {
	path := filepath.FromSlash(f.path)
	src, err := t.inFolder(root, path)
	if err != nil { // it may be in the place of the open folder
		src, err = checkout.Read(t.text, root.OpenFile, path)
	}
	if err != nil || len(src) > maxFileSize || linguist.IsBinary(src) {
		return nil, false
	}
	t.text = src
	return src, true
}

// inFolder reads a file of the open folder, after opening that.
func (t *texts) inFolder(root *os.Root, path string) ([]byte, error) {
	folder, base := filepath.Split(path)
	if err := t.enter(root, filepath.Clean(folder)); err != nil {
		return nil, err
	}
	return checkout.Read(t.text, t.folder.OpenFile, base)
}

// enter opens a folder, unless it is open. The root sees to it that no link leads out.
func (t *texts) enter(root *os.Root, name string) error {
	if t.folder != nil && t.name == name {
		return nil
	}
	t.closeFolder()
	folder, err := root.OpenRoot(name)
	if err == nil {
		t.folder, t.name = folder, name
	}
	return err
}

// closeFolder closes the open folder.
func (t *texts) closeFolder() {
	if t.folder != nil {
		_ = t.folder.Close()
		t.folder = nil
	}
}
