// Package dbtest gives tests a real PostgreSQL of their own: one private server
// a test binary, one database a test. Only tests import it.
//
// It knows no schema. Start with [Start] in a TestMain.
package dbtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// Cluster is a running private server, reached through a socket in a folder
// that only its user and we can enter.
type Cluster struct {
	folder  string
	exited  chan error
	stop    func()
	made    atomic.Int64
	missing error // why there is none
}

// Start starts a private server. When PostgreSQL is not installed it returns a
// cluster whose [Cluster.Database] skips the test by name, or fails it when the
// environment has CI=true.
func Start() *Cluster {
	c := &Cluster{}
	bin, err := binaries()
	if err == nil {
		err = c.start(bin)
	}
	c.missing = err
	return c
}

// Stop ends the server and removes everything it kept.
func (c *Cluster) Stop() {
	if c.stop != nil {
		c.stop()
		<-c.exited
	}
	if c.folder != "" {
		_ = os.RemoveAll(c.folder)
	}
}

// Database makes a database for one test, from a template when one is named,
// and returns the administrator's URL of it.
func (c *Cluster) Database(tb testing.TB, template string) string {
	tb.Helper()
	c.need(tb)
	name := fmt.Sprintf("test%d", c.made.Add(1))
	if template == "" {
		template = "template1"
	}
	c.admin(tb, fmt.Sprintf("create database %s template %s", name, template))
	tb.Cleanup(func() { c.admin(tb, fmt.Sprintf("drop database %s with (force)", name)) })
	return c.URL(name)
}

// Template makes a database that lives as long as the server, filled by fill,
// for [Cluster.Database] to copy.
func (c *Cluster) Template(tb testing.TB, name string, fill func(adminURL string) error) {
	tb.Helper()
	c.need(tb)
	c.admin(tb, "create database "+name)
	if err := fill(c.URL(name)); err != nil {
		tb.Fatalf("filling the template %s: %v", name, err)
	}
}

func (c *Cluster) need(tb testing.TB) {
	tb.Helper()
	switch {
	case c.missing == nil:
	case os.Getenv("CI") == "true":
		tb.Fatalf("PostgreSQL: %v", c.missing)
	default:
		tb.Skipf("PostgreSQL: %v", c.missing)
	}
}

func (c *Cluster) admin(tb testing.TB, statement string) {
	tb.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	conn, err := pgx.Connect(ctx, c.URL("postgres"))
	if err != nil {
		tb.Fatal(err)
	}
	defer conn.Close(ctx)
	if _, err := conn.Exec(ctx, statement); err != nil {
		tb.Fatalf("%s: %v", statement, err)
	}
}

// URL is the administrator's address of a database.
func (c *Cluster) URL(database string) string {
	return "postgres://postgres@/" + database + "?host=" + url.QueryEscape(c.folder)
}

// binaries finds a folder that has initdb and postgres.
func binaries() (string, error) {
	folders := []string{os.Getenv("COUNTERSIGN_POSTGRES_BIN")}
	if path, err := exec.LookPath("initdb"); err == nil {
		folders = append(folders, filepath.Dir(path))
	}
	debian, _ := filepath.Glob("/usr/lib/postgresql/*/bin")
	slices.Reverse(debian)
	for _, folder := range append(folders, debian...) {
		if folder == "" {
			continue
		}
		if _, err := os.Stat(filepath.Join(folder, "initdb")); err == nil {
			return folder, nil
		}
	}
	return "", errors.New("neither initdb on PATH nor /usr/lib/postgresql/*/bin exists")
}

func (c *Cluster) start(bin string) (err error) {
	if c.folder, err = os.MkdirTemp("", "dbtest"); err != nil {
		return err
	}
	who, err := c.drop()
	if err != nil {
		return err
	}
	data := filepath.Join(c.folder, "data")
	initdb := exec.Command(filepath.Join(bin, "initdb"), "-D", data, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C.UTF-8", "--no-sync")
	initdb.SysProcAttr, initdb.Dir = &syscall.SysProcAttr{Credential: who}, c.folder
	if out, err := initdb.CombinedOutput(); err != nil {
		return fmt.Errorf("initdb: %w: %s", err, bytes.TrimSpace(out))
	}
	server := exec.Command(filepath.Join(bin, "postgres"), "-D", data, "-k", c.folder,
		"-c", "listen_addresses=", "-c", "shared_buffers=128MB", "-c", "work_mem=16MB", "-c", "max_connections=60",
		"-c", "fsync=off", "-c", "synchronous_commit=off", "-c", "full_page_writes=off", "-c", "jit=off")
	server.SysProcAttr = &syscall.SysProcAttr{Credential: who, Setpgid: true, Pdeathsig: syscall.SIGINT}
	server.Dir = c.folder
	c.run(server)
	return c.ready()
}

// drop gives the folder to an unprivileged user when we are root: PostgreSQL
// refuses to run as root.
func (c *Cluster) drop() (*syscall.Credential, error) {
	if os.Getuid() != 0 {
		return nil, nil
	}
	nobody, err := user.Lookup("nobody")
	if err != nil {
		return nil, err
	}
	uid, _ := strconv.Atoi(nobody.Uid)
	gid, _ := strconv.Atoi(nobody.Gid)
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, os.Chown(c.folder, uid, gid)
}

// run starts the server from a goroutine that keeps its thread: the signal that
// follows a parent's death follows the thread that started the child.
func (c *Cluster) run(server *exec.Cmd) {
	c.exited = make(chan error, 1)
	started := make(chan error)
	go func() {
		runtime.LockOSThread()
		err := server.Start()
		started <- err
		if err == nil {
			err = server.Wait()
		}
		c.exited <- err
	}()
	if <-started == nil {
		c.stop = func() { _ = server.Process.Signal(syscall.SIGINT) }
	}
}

// ready waits until the server answers, ten seconds at most.
func (c *Cluster) ready() (err error) {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		conn, err := pgx.Connect(ctx, c.URL("postgres"))
		if err == nil {
			return conn.Close(ctx)
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("the server did not start: %w", err)
		case <-tick.C:
		}
	}
}
