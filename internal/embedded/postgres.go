package embedded

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"countersign.dev/internal/fault"
)

// PostgresOptions says which PostgreSQL to start and where it keeps its data.
// The zero value finds an installed one and removes its data at the end.
type PostgresOptions struct {
	Bin      string  // folder of postgres and initdb, or the word "fetch"; empty: search
	Dir      string  // folder to keep and reuse; empty: a fresh one, removed by Stop
	Fetch    Fetcher // gets PostgreSQL where none is installed; nil: not offered
	Volatile bool    // no durability, for faster tests
}

const (
	startWithin = time.Minute // crash recovery included
	pollEvery   = 5 * time.Millisecond
)

// Postgres is a private PostgreSQL: a child process on a free port of loopback
// that requires passwords (SCRAM) and ends with this process, even on SIGKILL.
type Postgres struct {
	cluster  *cluster
	child    *child
	port     int
	password string

	stopping sync.Mutex
	stopped  bool
}

// StartPostgres starts a private PostgreSQL and returns when it answers. As root
// the server runs as an unprivileged user, because PostgreSQL refuses to
// run as root. It fails with a sentence for people when none is installed, when
// the folder is in use, is of another version, or cannot be entered by that user.
func StartPostgres(ctx context.Context, o PostgresOptions) (*Postgres, error) {
	found, err := findPostgres(ctx, o.Bin, o.Fetch, installedBins)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, startWithin)
	defer cancel()
	c, err := openCluster(ctx, o.Dir)
	if err != nil {
		return nil, err
	}
	p, err := c.start(ctx, found, o.Volatile)
	if err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return p, nil
}

// URL is the address of a database for one of its logins.
func (p *Postgres) URL(user, password, database string) string {
	u := url.URL{
		Scheme: "postgres", User: url.UserPassword(user, password), Path: "/" + database,
		Host: net.JoinHostPort("127.0.0.1", strconv.Itoa(p.port)), RawQuery: "sslmode=disable",
	}
	return u.String()
}

// AdminURL is the address of a database for the superuser, who makes logins and
// databases. The database "postgres" is always there.
func (p *Postgres) AdminURL(database string) string {
	return p.URL(superuser, p.password, database)
}

// Dir is the folder that holds the data and the log, postgres.log.
func (p *Postgres) Dir() string { return p.cluster.path }

// Exited is closed when the server has ended, for any reason.
func (p *Postgres) Exited() <-chan struct{} { return p.child.exited }

// Stop ends the server and its connections, and removes a temporary folder. When
// ctx ends first the server is aborted; committed data is not lost. A second
// call does nothing.
func (p *Postgres) Stop(ctx context.Context) error {
	p.stopping.Lock()
	defer p.stopping.Unlock()
	if p.stopped {
		return nil
	}
	p.stopped = true
	p.child.stop(ctx)
	return p.cluster.Close()
}

// start makes the cluster if there is none and runs a server on it.
func (c *cluster) start(ctx context.Context, found binaries, volatile bool) (*Postgres, error) {
	if !c.account.reaches(found.dir) {
		return nil, fault.ServiceDown.New("PostgreSQL refuses to run as root, and no other user can reach its programs in %s.", found.dir).
			Suggest("Put them where every user can go, or run as an ordinary user.")
	}
	if err := c.vacate(ctx); err != nil {
		return nil, err
	}
	password, err := c.prepare(ctx, found, volatile)
	if err != nil {
		return nil, err
	}
	const attempts = 3 // another process may take the port before the server does
	for attempt := 1; ; attempt++ {
		port, err := freePort()
		if err != nil {
			return nil, err
		}
		server, err := c.run(ctx, found, port, volatile)
		if err == nil {
			return &Postgres{cluster: c, child: server, port: port, password: password}, nil
		}
		if attempt == attempts || !errors.Is(err, errPortTaken) {
			return nil, err
		}
	}
}

var errPortTaken = errors.New("another process took the port")

// run starts the server and waits until it accepts connections.
func (c *cluster) run(ctx context.Context, found binaries, port int, volatile bool) (*child, error) {
	log, err := c.openLog()
	if err != nil {
		return nil, err
	}
	defer log.Close() // the child has its own copy
	from, err := log.Seek(0, io.SeekEnd)
	if err != nil {
		return nil, err
	}
	cmd := c.command(found.program("postgres"), append([]string{"-D", c.data(), "-p", strconv.Itoa(port)}, settings(volatile)...)...)
	cmd.Stdout, cmd.Stderr = log, log
	server, err := launch(cmd)
	if err != nil {
		return nil, fmt.Errorf("start postgres: %w", err)
	}
	if err := c.ready(ctx, server); err != nil {
		server.stop(ctx)
		return nil, c.explain(err, from)
	}
	return server, nil
}

// settings listen on loopback over TCP only (a socket's path may be too long,
// or in a folder of another user), and keep rows and statements out of the log.
func settings(volatile bool) []string {
	set := []string{
		"listen_addresses=127.0.0.1", "unix_socket_directories=", "shared_buffers=32MB", "jit=off",
		"timezone=UTC", "log_timezone=UTC", "log_min_error_statement=panic", "log_error_verbosity=terse",
	}
	if volatile {
		set = append(set, "fsync=off", "synchronous_commit=off", "full_page_writes=off")
	}
	args := make([]string, 0, 2*len(set))
	for _, s := range set {
		args = append(args, "-c", s)
	}
	return args
}

// ready waits for the status line of the server's pid file. (Connecting in a
// loop would fill the log with refusals.)
func (c *cluster) ready(ctx context.Context, server *child) error {
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	for !c.says(server.pid(), "ready") {
		select {
		case <-server.exited:
			return errors.New("postgres ended at its start")
		case <-ctx.Done():
			return fmt.Errorf("wait for postgres: %w", ctx.Err())
		case <-tick.C:
		}
	}
	return nil
}

// says reads postmaster.pid: the process id on the first line, the status on
// the eighth.
func (c *cluster) says(pid int, status string) bool {
	text, err := os.ReadFile(filepath.Join(c.data(), pidFile))
	if err != nil {
		return false
	}
	lines := strings.Split(string(text), "\n")
	return len(lines) > 7 && lines[0] == strconv.Itoa(pid) && strings.TrimSpace(lines[7]) == status
}

// explain adds the last line of the server's log since the offset.
func (c *cluster) explain(err error, from int64) error {
	text, readErr := os.ReadFile(c.log())
	if readErr != nil || int64(len(text)) < from {
		return err
	}
	said := strings.TrimSpace(string(text[from:]))
	if strings.Contains(said, "Address already in use") {
		return errors.Join(errPortTaken, err)
	}
	return fault.ServiceDown.New("PostgreSQL could not be started: %s", reason(said)).
		Suggest("Its log is %s.", c.log()).Because(err)
}

func freePort() (int, error) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, fmt.Errorf("find a free port: %w", err)
	}
	defer ln.Close()
	return ln.Addr().(*net.TCPAddr).Port, nil
}
