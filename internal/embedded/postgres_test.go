package embedded_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5"

	"countersign.dev/internal/embedded"
	"countersign.dev/internal/fault"
	"countersign.dev/internal/testkit"
)

// crashDir makes this test program start a server, print its address, and wait
// to be killed.
const crashDir = "EMBEDDED_TEST_CRASH_DIR"

func TestMain(m *testing.M) {
	if dir := os.Getenv(crashDir); dir != "" {
		p, err := embedded.StartPostgres(context.Background(), embedded.PostgresOptions{Dir: dir})
		if err != nil {
			fmt.Println("failed:", err)
			os.Exit(1)
		}
		fmt.Println(p.AdminURL("postgres"))
		select {}
	}
	testkit.InMemory()
	os.Exit(m.Run())
}

// passable is a folder that the user of a private PostgreSQL may enter, unlike
// one of t.TempDir's.
func passable(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "countersign-test-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

func start(t *testing.T, o embedded.PostgresOptions) *embedded.Postgres {
	t.Helper()
	p, err := embedded.StartPostgres(t.Context(), o)
	if err != nil {
		missing(t, err)
	}
	t.Cleanup(func() { stop(t, p) })
	return p
}

// missing skips by name where PostgreSQL is not installed, and fails in CI.
func missing(t *testing.T, err error) {
	t.Helper()
	if strings.Contains(err.Error(), "was not found on this computer") && os.Getenv("CI") != "true" {
		t.Skip("PostgreSQL is missing: its programs were not found")
	}
	t.Fatalf("%v (%v)", err, fault.From(err).Unwrap())
}

func stop(t *testing.T, p *embedded.Postgres) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), testkit.Patience)
	defer cancel()
	if err := p.Stop(ctx); err != nil {
		t.Error(err)
	}
}

func connect(t *testing.T, address string) *pgx.Conn {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), testkit.Patience)
	defer cancel()
	conn, err := pgx.Connect(ctx, address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	return conn
}

func ask(t *testing.T, conn *pgx.Conn, query string) string {
	t.Helper()
	var got string
	if err := conn.QueryRow(t.Context(), query).Scan(&got); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return got
}

func run(t *testing.T, conn *pgx.Conn, statements ...string) {
	t.Helper()
	for _, s := range statements {
		if _, err := conn.Exec(t.Context(), s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
}

func TestServerIsPrivateAndLeavesNothing(t *testing.T) {
	t.Parallel()
	p := start(t, embedded.PostgresOptions{})
	admin := connect(t, p.AdminURL("postgres"))
	run(t, admin, "create role clerk login password 'p/w @:?'", "create database shop owner clerk")
	clerk := connect(t, p.URL("clerk", "p/w @:?", "shop"))
	if got := ask(t, clerk, "select current_user || ' ' || current_database()"); got != "clerk shop" {
		t.Errorf("got %q", got)
	}
	for name, address := range map[string]string{
		"wrong password": p.URL("postgres", "x", "postgres"), "no password": p.URL("postgres", "", "postgres"), "unknown login": p.URL("nobody", "x", "postgres"),
	} {
		if conn, err := pgx.Connect(t.Context(), address); err == nil {
			_ = conn.Close(t.Context())
			t.Errorf("%s could connect", name)
		}
	}
	for setting, want := range map[string]string{
		"fsync": "on", "listen_addresses": "127.0.0.1", "unix_socket_directories": "", "password_encryption": "scram-sha-256",
		"server_encoding": "UTF8", "lc_collate": "C", "timezone": "UTC",
	} {
		if got := ask(t, admin, "select current_setting('"+setting+"')"); got != want {
			t.Errorf("%s is %q, want %q", setting, got, want)
		}
	}
	if got := ask(t, admin, "select lower('ÄÉ')"); got != "äé" {
		t.Errorf("letters beyond ASCII: got %q", got)
	}
	dir := p.Dir()
	stop(t, p)
	stop(t, p)
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Errorf("%s is still there: %v", dir, err)
	}
	select {
	case <-p.Exited():
	default:
		t.Error("the server was stopped and has not exited")
	}
}

func TestKeptFolderKeepsEverything(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(passable(t), "with space")
	p := start(t, embedded.PostgresOptions{Dir: dir})
	run(t, connect(t, p.AdminURL("postgres")), "create table kept as select 'yes' as answer")
	if info, err := os.Stat(filepath.Join(p.Dir(), "password")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("password file: %v, %v", info, err)
	}
	stop(t, p)
	p = start(t, embedded.PostgresOptions{Dir: dir})
	if got := ask(t, connect(t, p.AdminURL("postgres")), "select answer from kept"); got != "yes" {
		t.Errorf("got %q", got)
	}
}

func TestServerDiesWithItsKilledParentAndStartsAgain(t *testing.T) {
	t.Parallel()
	start(t, embedded.PostgresOptions{Volatile: true}) // skips where there is none
	dir := passable(t)
	parent := exec.Command(os.Args[0])
	parent.Env = append(os.Environ(), crashDir+"="+dir)
	out, err := parent.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := parent.Start(); err != nil {
		t.Fatal(err)
	}
	address, err := bufio.NewReader(out).ReadString('\n')
	if err != nil || strings.HasPrefix(address, "failed") {
		t.Fatalf("%q, %v", address, err)
	}
	conn := connect(t, strings.TrimSpace(address))
	run(t, conn, "create table kept as select 'yes' as answer")
	if err := parent.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = parent.Wait()            // fails, because it was killed
	if runtime.GOOS == "linux" { // elsewhere the next start ends the server
		ended, cancel := context.WithTimeout(t.Context(), testkit.Patience)
		defer cancel()
		if _, err := conn.WaitForNotification(ended); errors.Is(err, context.DeadlineExceeded) {
			t.Error("the server outlived its parent")
		}
	}
	p := start(t, embedded.PostgresOptions{Dir: dir})
	if got := ask(t, connect(t, p.AdminURL("postgres")), "select answer from kept"); got != "yes" {
		t.Errorf("got %q", got)
	}
}

func TestServerThatIsKilledIsNoticedAndRecovers(t *testing.T) {
	t.Parallel()
	dir := passable(t)
	p := start(t, embedded.PostgresOptions{Dir: dir})
	run(t, connect(t, p.AdminURL("postgres")), "create table kept as select 'yes' as answer")
	text, err := os.ReadFile(filepath.Join(p.Dir(), "data", "postmaster.pid"))
	if err != nil {
		t.Fatal(err)
	}
	var pid int
	if _, err := fmt.Sscan(string(text), &pid); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	<-p.Exited()
	stop(t, p)
	p = start(t, embedded.PostgresOptions{Dir: dir}) // its child processes may still be ending
	if got := ask(t, connect(t, p.AdminURL("postgres")), "select answer from kept"); got != "yes" {
		t.Errorf("got %q", got)
	}
}

// TestUnrelatedProcessIsLeftAlone writes a stale pid file with the number of an
// unrelated process: this one.
func TestUnrelatedProcessIsLeftAlone(t *testing.T) {
	t.Parallel()
	dir := passable(t)
	stop(t, start(t, embedded.PostgresOptions{Dir: dir, Volatile: true}))
	stale := fmt.Sprintf("%d\n%s/data\n1\n5432\n\n127.0.0.1\n  1  1\nready\n", os.Getpid(), dir)
	if err := os.WriteFile(filepath.Join(dir, "data", "postmaster.pid"), []byte(stale), 0o600); err != nil {
		t.Fatal(err)
	}
	start(t, embedded.PostgresOptions{Dir: dir, Volatile: true})
}

func TestClusterInUseIsRefused(t *testing.T) {
	t.Parallel()
	dir := passable(t)
	start(t, embedded.PostgresOptions{Dir: dir, Volatile: true})
	_, err := embedded.StartPostgres(t.Context(), embedded.PostgresOptions{Dir: dir})
	if err == nil || !strings.Contains(fault.From(err).Message, "in use by another running countersign") {
		t.Errorf("got %v", err)
	}
}

func TestClusterOfAnotherVersionIsRefused(t *testing.T) {
	t.Parallel()
	dir := passable(t)
	stop(t, start(t, embedded.PostgresOptions{Dir: dir, Volatile: true}))
	if err := os.WriteFile(filepath.Join(dir, "data", "PG_VERSION"), []byte("99\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := embedded.StartPostgres(t.Context(), embedded.PostgresOptions{Dir: dir})
	if err == nil || !strings.Contains(fault.From(err).Message, "was made by PostgreSQL 99, and this is") {
		t.Errorf("got %v", err)
	}
}

func TestPartialClusterIsMadeAgain(t *testing.T) {
	t.Parallel()
	dir := passable(t)
	if err := os.MkdirAll(filepath.Join(dir, "data.new", "base"), 0o700); err != nil {
		t.Fatal(err)
	}
	p := start(t, embedded.PostgresOptions{Dir: dir, Volatile: true})
	connect(t, p.AdminURL("postgres"))
}

func TestDatabasesAreCopiedFromATemplate(t *testing.T) {
	t.Parallel()
	p := start(t, embedded.PostgresOptions{Volatile: true})
	admin := connect(t, p.AdminURL("postgres"))
	run(t, admin, "create database template")
	filled := connect(t, p.AdminURL("template"))
	run(t, filled, "create table kept as select 'yes' as answer")
	if err := filled.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	run(t, admin, "create database one template template")
	if got := ask(t, connect(t, p.AdminURL("one")), "select answer from kept"); got != "yes" {
		t.Errorf("got %q", got)
	}
}
