// Package dbtest gives tests a real PostgreSQL of their own: one private server
// a test binary, one database a test. Only tests import it.
//
// It knows no schema. Start with [Start] in a TestMain.
package dbtest

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"countersign.dev/internal/embedded"
	"countersign.dev/internal/testkit"
)

// Cluster is a running private server.
type Cluster struct {
	server  *embedded.Postgres
	made    atomic.Int64
	missing error // why there is none

	mu     sync.Mutex
	filled map[string]bool     // templates by name
	free   map[string][]string // databases that no test uses, by template
}

// Start starts a private server. When PostgreSQL is not installed it returns a
// cluster whose [Cluster.Database] skips the test by name, or fails it when the
// environment has CI=true.
func Start() *Cluster {
	testkit.InMemory()
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute) // the first start on a machine may fetch it
	defer cancel()
	server, err := embedded.StartPostgres(ctx, embedded.PostgresOptions{
		Bin: os.Getenv("COUNTERSIGN_POSTGRES_BIN"), Volatile: true,
		Fetch: embedded.Download(embedded.DownloadFolder(), func(text string) { fmt.Fprintln(os.Stderr, text) }),
	})
	if err != nil {
		return &Cluster{missing: err, filled: map[string]bool{}, free: map[string][]string{}}
	}
	c := &Cluster{server: server, filled: map[string]bool{}, free: map[string][]string{}}
	c.missing = c.letLoginsIn(ctx)
	testkit.Ran("PostgreSQL")
	return c
}

// letLoginsIn lets every login but the superuser in without a password: tests
// make logins and sign in with them. The superuser keeps its password, because
// a superuser can run programs as the server's user.
func (c *Cluster) letLoginsIn(ctx context.Context) error {
	const rules = "host all postgres 127.0.0.1/32 scram-sha-256\nhost all all 127.0.0.1/32 trust\n"
	if err := os.WriteFile(filepath.Join(c.server.Dir(), "data", "pg_hba.conf"), []byte(rules), 0o600); err != nil {
		return err
	}
	return c.admin(ctx, "select pg_reload_conf()")
}

// Stop ends the server and removes everything it kept.
func (c *Cluster) Stop() {
	if c.server == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), testkit.Patience)
	defer cancel()
	_ = c.server.Stop(ctx)
}

// Database makes a database for one test, from a template when one is named,
// and returns the administrator's URL of it.
func (c *Cluster) Database(tb testing.TB, template string) string {
	tb.Helper()
	name := fmt.Sprintf("test%d", c.made.Add(1))
	if template == "" {
		template = "template1"
	}
	c.must(tb, fmt.Sprintf("create database %s template %s", name, template))
	tb.Cleanup(func() { c.must(tb, fmt.Sprintf("drop database %s with (force)", name)) })
	return c.URL(name)
}

// Template makes a database that lives as long as the server, filled by fill,
// for [Cluster.Database] to copy.
func (c *Cluster) Template(tb testing.TB, name string, fill func(adminURL string) error) {
	tb.Helper()
	c.must(tb, "create database "+name)
	if err := fill(c.URL(name)); err != nil {
		tb.Fatalf("filling the template %s: %v", name, err)
	}
}

// URL is the administrator's address of a database.
func (c *Cluster) URL(database string) string { return c.server.AdminURL(database) }

func (c *Cluster) must(tb testing.TB, statement string) {
	tb.Helper()
	switch {
	case c.missing == nil:
	case os.Getenv("CI") == "true":
		tb.Fatalf("PostgreSQL: %v", c.missing)
	default:
		tb.Skipf("PostgreSQL: %v", c.missing)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*testkit.Patience)
	defer cancel()
	if err := c.admin(ctx, statement); err != nil {
		tb.Fatalf("%s: %v", statement, err)
	}
}

func (c *Cluster) admin(ctx context.Context, statement string) error {
	conn, err := pgx.Connect(ctx, c.URL("postgres"))
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	_, err = conn.Exec(ctx, statement)
	return err
}
