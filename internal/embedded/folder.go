package embedded

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"countersign.dev/internal/fault"
)

// Folder is a private folder of one process. No other user of the machine can
// list or enter it (mode 0700); when a server below it runs as another user,
// that user's group may pass through it, and only that (mode 0710).
type Folder struct {
	path      string
	temporary bool
	account   *account // who passes through; nil: only ourselves
	lock      *os.File
}

// FolderOptions say which folder to open.
type FolderOptions struct {
	Dir      string // folder to keep and reuse; empty: a fresh one, removed by Close
	Postgres bool   // a private PostgreSQL will run on a folder below it
}

const (
	dataVersion = "1" // of everything that a data folder holds
	versionFile = "version"
	lockFile    = "lock"
	ignoreFile  = ".gitignore"
	tempPrefix  = "countersign-data-"
	lockWithin  = 3 * time.Second
	retryEvery  = 20 * time.Millisecond
)

// OpenFolder opens the data folder of a demo, or makes it, and locks it until
// Close. It fails with a sentence for people when the folder has another
// version, holds files of something else, belongs to another user, is in use,
// or cannot be entered by the user that a private PostgreSQL runs as.
func OpenFolder(ctx context.Context, o FolderOptions) (*Folder, error) {
	var who *account
	if o.Postgres {
		var err error
		if who, err = unprivileged(); err != nil {
			return nil, err
		}
	}
	if o.Dir != "" {
		if err := checkVersion(o.Dir); err != nil {
			return nil, err
		}
	}
	f, err := openFolder(ctx, o.Dir, who)
	if err != nil {
		return nil, err
	}
	err = os.WriteFile(f.file(versionFile), []byte(dataVersion+"\n"), 0o600)
	if err == nil {
		err = f.ignoreAll()
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("write the data folder's version: %w", err), f.Close())
	}
	return f, nil
}

// ignoreAll keeps keys and databases in a folder within a repository out of git, and out of the
// index of that repository's code. What a .gitignore there says already stays.
func (f *Folder) ignoreAll() error {
	out, err := os.OpenFile(f.file(ignoreFile), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	_, err = out.WriteString("*\n")
	return errors.Join(err, out.Close())
}

// checkVersion accepts a folder of our version, an empty one and none.
func checkVersion(dir string) error {
	text, err := os.ReadFile(filepath.Join(dir, versionFile))
	if err == nil {
		if found := strings.TrimSpace(string(text)); found != dataVersion {
			return fault.ServiceDown.New("The data folder %s has version %.20q, and this program reads version %s only.", dir, found, dataVersion).
				Suggest("Use the program that made it, or another folder.")
		}
		return nil
	}
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read the data folder: %w", err)
	}
	if slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return e.Name() != lockFile }) {
		return fault.ServiceDown.New("The folder %s holds files and no version, so it is no data folder of this program.", dir).
			Suggest("Use an empty folder, such as %s.", filepath.Join(dir, "countersign"))
	}
	return nil
}

// openFolder opens a folder, or makes it, without looking at what it holds.
func openFolder(ctx context.Context, dir string, who *account) (*Folder, error) {
	f := &Folder{path: dir, temporary: dir == "", account: who}
	prepare := f.makeKept
	if f.temporary {
		prepare = f.makeTemporary
	}
	if err := prepare(); err != nil {
		return nil, err
	}
	if err := f.account.admit(f.path); err != nil {
		return nil, fmt.Errorf("make the data folder private: %w", err)
	}
	if !f.account.reaches(f.path) { // folders above it were made under a strict umask
		return nil, cannotEnter(f.account, f.path)
	}
	var err error
	f.lock, err = f.takeLock(ctx)
	return f, err
}

// cannotEnter names a folder that the account can enter instead.
func cannotEnter(a *account, dir string) error {
	refused := fault.ServiceDown.New("PostgreSQL refuses to run as root, so it runs as the user %s, who cannot enter %s.", a, dir)
	for _, other := range []string{"/var/lib/countersign", filepath.Join(os.TempDir(), "countersign"), "/var/tmp/countersign"} {
		if a.reaches(filepath.Dir(other)) && checkVersion(other) == nil {
			return refused.Suggest("Use a folder that this user can enter, such as %s, or run as an ordinary user.", other)
		}
	}
	return refused.Suggest("Use a folder that this user can enter, or run as an ordinary user.")
}

// Path is the folder's absolute path.
func (f *Folder) Path() string { return f.path }

// Close frees the folder, and removes a temporary one.
func (f *Folder) Close() error {
	var err error
	if f.temporary {
		err = os.RemoveAll(f.path)
	}
	return errors.Join(err, f.lock.Close())
}

func (f *Folder) file(name string) string { return filepath.Join(f.path, name) }

func (f *Folder) makeKept() (err error) {
	if f.path, err = filepath.Abs(f.path); err != nil {
		return err
	}
	if !f.account.reaches(filepath.Dir(f.path)) {
		return cannotEnter(f.account, f.path)
	}
	if err := os.MkdirAll(filepath.Dir(f.path), 0o755); err != nil {
		return fmt.Errorf("make the data folder: %w", err)
	}
	if err := os.Mkdir(f.path, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("make the data folder: %w", err)
	}
	info, err := os.Stat(f.path)
	if err != nil {
		return fmt.Errorf("make the data folder: %w", err)
	}
	if !info.IsDir() || !ours(info) {
		return fault.ServiceDown.New("%s is not a folder of the user that runs this program.", f.path).Suggest("Use another folder.")
	}
	return nil
}

// makeTemporary makes a fresh folder where the account can go.
func (f *Folder) makeTemporary() (err error) {
	for _, base := range []string{os.TempDir(), "/tmp", "/var/tmp"} {
		if !f.account.reaches(base) {
			continue
		}
		sweep(base)
		if f.path, err = os.MkdirTemp(base, tempPrefix); err != nil {
			return fmt.Errorf("make a data folder: %w", err)
		}
		return nil
	}
	return fault.ServiceDown.New("There is no temporary folder that an unprivileged user can enter, and PostgreSQL refuses to run as root.").
		Suggest("Set TMPDIR to a folder such as /tmp.")
}

// sweep removes temporary folders whose process was killed before it could. The
// age of an hour protects one that is being made.
func sweep(base string) {
	if !kernelLocks {
		return
	}
	left, err := filepath.Glob(filepath.Join(base, tempPrefix+"*"))
	if err != nil {
		return
	}
	for _, dir := range left {
		info, err := os.Lstat(dir)
		if err != nil || !info.IsDir() || time.Since(info.ModTime()) < time.Hour || !ours(info) {
			continue
		}
		if lock, err := tryLock(filepath.Join(dir, lockFile)); err == nil {
			_ = os.RemoveAll(dir) // what stays is swept the next time
			_ = lock.Close()
		}
	}
}

// takeLock waits a moment: the kernel frees the lock of a process that was just
// killed when it has ended.
func (f *Folder) takeLock(ctx context.Context) (*os.File, error) {
	deadline := time.Now().Add(lockWithin)
	for {
		lock, err := tryLock(f.file(lockFile))
		if err == nil || !errors.Is(err, errLocked) {
			return lock, err
		}
		if time.Now().After(deadline) || pause(ctx) != nil {
			return nil, fault.ServiceDown.New("The data folder %s is in use by another running countersign.", f.path).
				Suggest("Stop that one, or use another folder.")
		}
	}
}

func pause(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(retryEvery):
		return nil
	}
}
