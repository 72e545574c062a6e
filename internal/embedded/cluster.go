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
	"slices"
	"strconv"
	"strings"
	"time"

	"countersign.dev/internal/fault"
)

// cluster is the folder of one private server:
//
//	data/           the databases, owned by the server's user
//	password        the superuser's, readable by us alone
//	postgres.log    what the server wrote
//	lock            held as long as we use the folder
type cluster struct{ *Folder }

const (
	superuser   = "postgres"
	leaveWithin = 10 * time.Second // for the processes of a previous server
	maxLog      = 8 << 20
)

func (c *cluster) data() string         { return c.file("data") }
func (c *cluster) log() string          { return c.file("postgres.log") }
func (c *cluster) passwordFile() string { return c.file("password") }

// openCluster opens the folder, or makes it, and locks it. Without a folder it
// makes a temporary one.
func openCluster(ctx context.Context, dir string) (*cluster, error) {
	who, err := unprivileged()
	if err != nil {
		return nil, err
	}
	f, err := openFolder(ctx, dir, who)
	if err != nil {
		return nil, err
	}
	return &cluster{f}, nil
}

// vacate waits until every process of a previous server has ended, and signals
// it: we hold the lock, so no other process uses it.
func (c *cluster) vacate(ctx context.Context) error {
	deadline := time.Now().Add(leaveWithin)
	for asked := false; ; asked = true {
		gone, err := leave(c.data(), !asked)
		if gone || err != nil {
			return err
		}
		if time.Now().After(deadline) || pause(ctx) != nil {
			return fault.ServiceDown.New("A previous PostgreSQL still runs on %s.", c.data()).
				Suggest("Wait a moment and start again, or end that process.")
		}
	}
}

// prepare returns the superuser's password, after making the cluster if there
// is none.
func (c *cluster) prepare(ctx context.Context, found binaries, volatile bool) (string, error) {
	version, err := os.ReadFile(filepath.Join(c.data(), "PG_VERSION"))
	if errors.Is(err, fs.ErrNotExist) {
		return c.initdb(ctx, found, volatile)
	}
	if err != nil {
		return "", fmt.Errorf("read the cluster's version: %w", err)
	}
	if made := strings.TrimSpace(string(version)); made != strconv.Itoa(found.major) {
		return "", fault.ServiceDown.New("The data folder %s was made by PostgreSQL %.20s, and this is %d.", c.path, made, found.major).
			Suggest("Name the folder of that version's programs in COUNTERSIGN_POSTGRES_BIN, or use another data folder.")
	}
	password, err := os.ReadFile(c.passwordFile())
	if err != nil {
		return "", fmt.Errorf("read the private server's password: %w", err)
	}
	return string(password), nil
}

// initdb makes the cluster in a temporary folder and renames it when it is
// complete, so that a crash leaves no partial cluster.
func (c *cluster) initdb(ctx context.Context, found binaries, volatile bool) (string, error) {
	password := rand.Text()
	if err := os.WriteFile(c.passwordFile(), []byte(password), 0o600); err != nil {
		return "", fmt.Errorf("keep the private server's password: %w", err)
	}
	half := c.data() + ".new"
	err := c.tryInitdb(ctx, found, half, password, "C.UTF-8", volatile)
	if err != nil && ctx.Err() == nil { // some systems have no such locale
		err = c.tryInitdb(ctx, found, half, password, "C", volatile)
	}
	if err != nil {
		return "", err
	}
	if err := os.Rename(half, c.data()); err != nil {
		return "", fmt.Errorf("rename the cluster: %w", err)
	}
	return password, nil
}

// tryInitdb uses the collation C, so that texts compare by bytes and their
// comparisons are leakproof, with the character classes of all languages.
func (c *cluster) tryInitdb(ctx context.Context, found binaries, dir, password, letters string, volatile bool) error {
	secret := c.file("password.once")
	defer os.Remove(secret)
	err := errors.Join(os.RemoveAll(dir), os.Mkdir(dir, 0o700), c.account.own(dir),
		os.WriteFile(secret, []byte(password), 0o600), c.account.own(secret))
	if err != nil {
		return fmt.Errorf("make the data folder: %w", err)
	}
	args := []string{"-D", dir, "-U", superuser, "--auth=scram-sha-256", "--pwfile=" + secret,
		"--encoding=UTF8", "--locale=C", "--lc-ctype=" + letters}
	if volatile {
		args = append(args, "--no-sync")
	}
	log, err := c.openLog()
	if err != nil {
		return err
	}
	defer log.Close()
	cmd := c.command(found.program("initdb"), args...)
	cmd.Stdout, cmd.Stderr = log, log
	return c.finish(ctx, cmd)
}

// finish runs a program to its end, or to that of ctx.
func (c *cluster) finish(ctx context.Context, cmd *exec.Cmd) error {
	program, err := launch(cmd)
	if err != nil {
		return fmt.Errorf("start initdb: %w", err)
	}
	select {
	case <-program.exited:
	case <-ctx.Done():
		program.stop(ctx)
		return fmt.Errorf("make the cluster: %w", ctx.Err())
	}
	if program.err == nil {
		return nil
	}
	said, err := os.ReadFile(c.log())
	return fault.ServiceDown.New("PostgreSQL could not make its data folder: %s", reason(string(said))).Suggest("Its log is %s.", c.log()).Because(errors.Join(program.err, err))
}

// reason is the last line about what ended a program, or else its last line.
func reason(said string) string {
	lines := strings.Split(strings.TrimSpace(said), "\n")
	last := lines[len(lines)-1]
	for _, line := range slices.Backward(lines) {
		if _, why, fatal := strings.Cut(line, "FATAL:"); fatal {
			last = why
			break
		}
	}
	return strings.TrimSpace(last)
}

// command runs as the server's user, in a folder that this user can enter, with
// an environment of its own.
func (c *cluster) command(program string, args ...string) *exec.Cmd {
	cmd := exec.Command(program, args...)
	cmd.Dir = c.path
	cmd.Env = []string{"LC_ALL=C", "TZ=UTC"}
	cmd.SysProcAttr = attributes(c.account)
	return cmd
}

// openLog appends, and truncates a log larger than maxLog.
func (c *cluster) openLog() (*os.File, error) {
	if info, err := os.Stat(c.log()); err == nil && info.Size() > maxLog {
		if err := os.Truncate(c.log(), 0); err != nil {
			return nil, err
		}
	}
	return os.OpenFile(c.log(), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
}
