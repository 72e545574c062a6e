package embedded

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"countersign.dev/internal/fault"
)

// home is the folder of one private server:
//
//	data/           the cluster, owned by the server's user
//	password        the superuser's, readable by us alone
//	postgres.log    what the server said
//	lock            held as long as we use the folder
type home struct {
	root      string
	temporary bool
	account   *account // whom the server runs as; nil: ourselves
	lock      *os.File
}

const (
	pidFile    = "postmaster.pid"
	tempPrefix = "countersign-postgres-"
	movedLink  = "moved"  // leads to where the server's user can go
	originLink = "origin" // leads back
	movedRoot  = "/var/lib/countersign"
	maxLog     = 8 << 20
	lockWithin = 3 * time.Second
)

func (h *home) data() string { return filepath.Join(h.root, "data") }
func (h *home) log() string  { return filepath.Join(h.root, "postgres.log") }

// openHome finds or makes the folder and locks it. Without a folder it makes a
// temporary one.
func openHome(ctx context.Context, dir string) (*home, error) {
	who, err := unprivileged()
	if err != nil {
		return nil, err
	}
	h := &home{account: who, temporary: dir == ""}
	if h.root, err = h.place(dir); err != nil {
		return nil, err
	}
	if h.lock, err = h.takeLock(ctx); err != nil {
		return nil, err
	}
	return h, nil
}

// close frees the folder, and removes a temporary one.
func (h *home) close() error {
	var err error
	if h.temporary {
		err = os.RemoveAll(h.root)
	}
	return errors.Join(err, h.lock.Close())
}

func (h *home) place(dir string) (string, error) {
	if h.temporary {
		return h.tempPlace()
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(dir, 0o711); err != nil {
		return "", fmt.Errorf("make the data folder: %w", err)
	}
	if moved, err := os.Readlink(filepath.Join(dir, movedLink)); err == nil {
		return moved, h.letIn(moved)
	}
	if !h.account.reaches(filepath.Dir(dir)) && !h.openTemp(filepath.Dir(dir)) {
		return h.move(dir)
	}
	return dir, h.letIn(dir)
}

// openTemp lets the server's user pass through folders of ours below the
// temporary one. Anywhere else a closed folder stays closed.
func (h *home) openTemp(dir string) bool {
	base := filepath.Clean(os.TempDir())
	for at := dir; at != base; at = filepath.Dir(at) {
		info, err := os.Lstat(at)
		if err != nil || !info.IsDir() || !ours(info) || at == filepath.Dir(at) {
			return false
		}
	}
	for at := dir; at != base; at = filepath.Dir(at) {
		info, err := os.Lstat(at)
		if err != nil || os.Chmod(at, info.Mode().Perm()|0o011) != nil {
			return false
		}
	}
	return h.account.reaches(dir)
}

// move keeps the cluster of a folder that the server's user cannot reach, such
// as one under /root, in /var/lib. Two links lead there and back; a cluster
// whose folder was deleted goes with the next move.
func (h *home) move(dir string) (string, error) {
	if err := errors.Join(os.MkdirAll(movedRoot, 0o711), h.letIn(movedRoot)); err != nil {
		return "", fmt.Errorf("make a data folder outside %s: %w", dir, err)
	}
	dropOrphans()
	moved, err := os.MkdirTemp(movedRoot, "postgres-")
	if err != nil {
		return "", fmt.Errorf("make a data folder outside %s: %w", dir, err)
	}
	link := filepath.Join(dir, movedLink)
	if err := errors.Join(os.Symlink(moved, link), os.Symlink(link, filepath.Join(moved, originLink))); err != nil {
		return "", fmt.Errorf("make a data folder outside %s: %w", dir, err)
	}
	return moved, h.letIn(moved)
}

// dropOrphans removes moved clusters that no folder leads to any more. Only
// root can write where they are.
func dropOrphans() {
	origins, err := filepath.Glob(filepath.Join(movedRoot, "postgres-*", originLink))
	if err != nil {
		return
	}
	for _, origin := range origins {
		moved := filepath.Dir(origin)
		link, err := os.Readlink(origin)
		if err != nil {
			continue
		}
		if target, err := os.Readlink(link); errors.Is(err, fs.ErrNotExist) || err == nil && target != moved {
			_ = os.RemoveAll(moved) // what stays is dropped the next time
		}
	}
}

// letIn allows the server's user to pass through; what lies in the folder has
// modes of its own.
func (h *home) letIn(dir string) error {
	if h.account == nil {
		return nil
	}
	return os.Chmod(dir, 0o711)
}

func (h *home) tempPlace() (string, error) {
	for _, base := range []string{os.TempDir(), "/tmp", "/var/tmp"} {
		if !h.account.reaches(base) {
			continue
		}
		sweep(base)
		dir, err := os.MkdirTemp(base, tempPrefix)
		if err != nil {
			return "", fmt.Errorf("make a data folder: %w", err)
		}
		return dir, h.letIn(dir)
	}
	return "", fault.ServiceDown.New("There is no temporary folder that an unprivileged user can reach, and PostgreSQL refuses to run as root.").
		Suggest("Set TMPDIR to a folder such as /tmp.")
}

// sweep removes temporary folders whose process was killed before it could. An
// hour's age keeps it from one that is just being made.
func sweep(base string) {
	left, err := filepath.Glob(filepath.Join(base, tempPrefix+"*"))
	if err != nil {
		return
	}
	for _, dir := range left {
		info, err := os.Lstat(dir)
		if err != nil || !info.IsDir() || time.Since(info.ModTime()) < time.Hour || !ours(info) {
			continue
		}
		if lock, err := tryLock(filepath.Join(dir, "lock")); err == nil {
			_ = os.RemoveAll(dir) // what stays is swept the next time
			_ = lock.Close()
		}
	}
}

// takeLock waits a moment: a process that was killed just now frees its lock
// when the kernel has buried it.
func (h *home) takeLock(ctx context.Context) (*os.File, error) {
	deadline := time.Now().Add(lockWithin)
	for {
		lock, err := tryLock(filepath.Join(h.root, "lock"))
		if err == nil || !errors.Is(err, errLocked) {
			return lock, err
		}
		if time.Now().After(deadline) || pause(ctx) != nil {
			return nil, fault.ServiceDown.New("The data folder %s is in use by another running countersign.", h.root).
				Suggest("Stop that one, or use another folder.")
		}
	}
}

// vacate waits until what is left of a previous server is gone, and asks it to
// go: we hold the lock, so nobody uses it any more.
func (h *home) vacate(ctx context.Context) error {
	deadline := time.Now().Add(leaveWithin)
	for asked := false; ; asked = true {
		gone, err := leave(h.data(), !asked)
		if gone || err != nil {
			return err
		}
		if time.Now().After(deadline) || pause(ctx) != nil {
			return fault.ServiceDown.New("A previous PostgreSQL still runs on %s.", h.data()).
				Suggest("Wait a moment and start again, or end that process.")
		}
	}
}

func pause(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(4 * pollEvery):
		return nil
	}
}

// cluster returns the superuser's password, after making the cluster if there
// is none.
func (h *home) cluster(ctx context.Context, found binaries, volatile bool) (string, error) {
	version, err := os.ReadFile(filepath.Join(h.data(), "PG_VERSION"))
	if errors.Is(err, fs.ErrNotExist) {
		return h.initdb(ctx, found, volatile)
	}
	if err != nil {
		return "", fmt.Errorf("read the cluster's version: %w", err)
	}
	if made := strings.TrimSpace(string(version)); made != strconv.Itoa(found.major) {
		return "", fault.ServiceDown.New("The data folder %s was made by PostgreSQL %.20s, and this is %d.", h.root, made, found.major).
			Suggest("Name the folder of that version's programs in COUNTERSIGN_POSTGRES_BIN, or use another data folder.")
	}
	password, err := os.ReadFile(h.passwordFile())
	if err != nil {
		return "", fmt.Errorf("read the private server's password: %w", err)
	}
	return string(password), nil
}

func (h *home) passwordFile() string { return filepath.Join(h.root, "password") }

// initdb makes the cluster beside its place and moves it there when it is
// whole, so that a crash leaves none rather than half of one.
func (h *home) initdb(ctx context.Context, found binaries, volatile bool) (string, error) {
	password := rand.Text()
	if err := os.WriteFile(h.passwordFile(), []byte(password), 0o600); err != nil {
		return "", fmt.Errorf("keep the private server's password: %w", err)
	}
	half := h.data() + ".new"
	err := h.tryInitdb(ctx, found, half, password, "C.UTF-8", volatile)
	if err != nil && ctx.Err() == nil { // some systems have no such locale
		err = h.tryInitdb(ctx, found, half, password, "C", volatile)
	}
	if err != nil {
		return "", err
	}
	if err := os.Rename(half, h.data()); err != nil {
		return "", fmt.Errorf("put the cluster in its place: %w", err)
	}
	return password, nil
}

// tryInitdb sorts by bytes, so that texts compare as everywhere else and their
// comparisons are leakproof, and knows the letters of all languages.
func (h *home) tryInitdb(ctx context.Context, found binaries, dir, password, letters string, volatile bool) error {
	secret := filepath.Join(h.root, "password.once")
	defer os.Remove(secret)
	err := errors.Join(os.RemoveAll(dir), os.Mkdir(dir, 0o700), h.account.own(dir),
		os.WriteFile(secret, []byte(password), 0o600), h.account.own(secret))
	if err != nil {
		return fmt.Errorf("make the data folder: %w", err)
	}
	args := []string{"-D", dir, "-U", superuser, "--auth=scram-sha-256", "--pwfile=" + secret,
		"--encoding=UTF8", "--locale=C", "--lc-ctype=" + letters}
	if volatile {
		args = append(args, "--no-sync")
	}
	log, err := h.openLog()
	if err != nil {
		return err
	}
	defer log.Close()
	cmd := h.command(found.program("initdb"), args...)
	cmd.Stdout, cmd.Stderr = log, log
	return h.finish(ctx, cmd)
}

// finish runs a program to its end, or to that of ctx.
func (h *home) finish(ctx context.Context, cmd *exec.Cmd) error {
	c, err := launch(cmd)
	if err != nil {
		return fmt.Errorf("start initdb: %w", err)
	}
	select {
	case <-c.exited:
	case <-ctx.Done():
		c.stop(ctx)
		return fmt.Errorf("make the cluster: %w", ctx.Err())
	}
	if c.err != nil {
		return fault.ServiceDown.New("PostgreSQL could not make its data folder.").Suggest("Its log is %s.", h.log()).Because(c.err)
	}
	return nil
}

// command runs as the server's user, from a folder that this user can enter,
// with an environment that no setting of ours or of the caller reaches.
func (h *home) command(program string, args ...string) *exec.Cmd {
	cmd := exec.Command(program, args...)
	cmd.Dir = h.root
	cmd.Env = []string{"LC_ALL=C", "TZ=UTC"}
	cmd.SysProcAttr = attributes(h.account)
	return cmd
}

// openLog appends, and begins anew when the log has grown large.
func (h *home) openLog() (*os.File, error) {
	if info, err := os.Stat(h.log()); err == nil && info.Size() > maxLog {
		if err := os.Truncate(h.log(), 0); err != nil {
			return nil, err
		}
	}
	return os.OpenFile(h.log(), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
}
