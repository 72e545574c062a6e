package main

import (
	"bytes"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"countersign.dev/internal/embedded"
	"countersign.dev/internal/testkit"
)

// internals matches what no person may see: addresses, drivers, statements.
var internals = regexp.MustCompile(`(?i)127\.0\.0\.1|localhost|connection refused|dial tcp|pgx|SQLSTATE|select |postgres`)

// TestLostPrivateDatabaseEndsTheDemo: no other try would help, so it ends, and says what to do.
func TestLostPrivateDatabaseEndsTheDemo(t *testing.T) {
	t.Parallel()
	d := demoFor(t)
	killChild(t, d.cmd.Process.Pid, "postgres")
	select {
	case <-d.ended:
	case <-time.After(testkit.Patience):
		t.Fatal("the demo goes on without its database")
	}
	if code := d.cmd.ProcessState.ExitCode(); code != 1 || !strings.Contains(d.stderr.String(), "the private PostgreSQL has ended by itself: start this again") {
		t.Errorf("exit %d:\n%s", code, d.stderr)
	}
}

// reportsTheOutage calls directly and asks in a turn, and reads both answers.
func (p *process) reportsTheOutage(t *testing.T) {
	t.Helper()
	a := p.call(t, "alice.chen", "list_employees", map[string]int{"limit": 1})
	if a.status != http.StatusServiceUnavailable || !strings.Contains(a.body, "SERVICE_UNAVAILABLE") || internals.MatchString(a.body) {
		t.Errorf("a direct call: got %d %s", a.status, a.body)
	}
	s := p.ask(t, "alice.chen", "List all employees")
	if !s.done || len(s.rows) > 0 || !strings.Contains(s.raw, "SERVICE_UNAVAILABLE") || internals.MatchString(s.text) {
		t.Errorf("a turn: got %s", s.raw)
	}
	if !regexp.MustCompile(`(?i)cannot be reached|not available|unavailable|not answer`).MatchString(s.text + strings.Join(s.errors, " ")) {
		t.Errorf("the answer does not say what is wrong:\n%s", s.text)
	}
}

// killChild kills the child of a process that has the name.
func killChild(t *testing.T, parent int, name string) {
	t.Helper()
	threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", parent)) // each thread has its own
	if err != nil {
		t.Fatal(err)
	}
	if len(threads) == 0 {
		testkit.Missing(t, "a /proc file system that lists the children of a process")
	}
	var children []byte
	for _, path := range threads {
		own, _ := os.ReadFile(path) // a thread may have ended
		children = append(append(children, own...), ' ')
	}
	for _, field := range bytes.Fields(children) {
		comm, _ := os.ReadFile(filepath.Join("/proc", string(field), "comm"))
		if strings.TrimSpace(string(comm)) != name {
			continue
		}
		pid, err := strconv.Atoi(string(field))
		if err != nil {
			t.Fatal(err)
		}
		child, err := os.FindProcess(pid)
		if err == nil {
			err = child.Kill()
		}
		if err != nil {
			t.Fatal(err)
		}
		return
	}
	t.Fatalf("process %d has no child %s", parent, name)
}

// TestOutageHealsWithoutARestart: the database stops and starts again, the demo
// keeps running, and a pending confirmation stays pending.
func TestOutageHealsWithoutARestart(t *testing.T) {
	t.Parallel()
	folder := dataFolder(t)
	first := privatePostgres(t, folder)
	proxy, address := throughProxy(t, first)
	d := demoFor(t, "--postgres", address)
	marcus := employee(t, "Marcus Johnson").ID
	id := d.openSalary(t, marcus, 150000)

	if err := first.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	d.reportsTheOutage(t)
	if a := send(t, "GET", d.Servers["hr"]+"/ready", "", nil); a.status != http.StatusServiceUnavailable {
		t.Errorf("the HR server is ready without its store: %d %s", a.status, a.body)
	}
	if a := d.confirm(t, "alice.chen", id, true); a.status != http.StatusServiceUnavailable || internals.MatchString(a.body) {
		t.Errorf("an approval meanwhile: got %d %s", a.status, a.body)
	}

	proxy.LeadTo(hostOf(t, privatePostgres(t, folder)))
	d.await(t, http.StatusOK)
	if s := d.ask(t, "alice.chen", "List all employees"); len(s.rows) != 50 {
		t.Errorf("after the outage: got %d rows\n%s", len(s.rows), s.raw)
	}
	if got := d.salary(t, marcus); got != 145000 {
		t.Errorf("an approval that failed changed the salary to %v", got)
	}
	if a := d.confirm(t, "alice.chen", id, true); a.status != http.StatusOK || !strings.Contains(a.body, `"success"`) {
		t.Errorf("the approval again: got %d %s", a.status, a.body)
	}
	if got := d.salary(t, marcus); got != 150000 {
		t.Errorf("the salary is %v, want 150000", got)
	}
	if n := appliedIn(t, d.Audit)[id]; n != 1 {
		t.Errorf("the audit log has %d changes, want 1", n)
	}
}

// await repeats a direct call until it is answered with the status.
func (p *process) await(t *testing.T, status int) {
	t.Helper()
	deadline, tick := time.After(testkit.Patience), time.NewTicker(50*time.Millisecond)
	defer tick.Stop()
	for {
		a := p.call(t, "alice.chen", "list_employees", map[string]int{"limit": 1})
		if a.status == status {
			return
		}
		select {
		case <-deadline:
			t.Fatalf("got %d %s, want %d", a.status, a.body, status)
		case <-tick.C:
		}
	}
}

// throughProxy puts a proxy before a private PostgreSQL and returns the
// administrator's address through it.
func throughProxy(t *testing.T, pg *embedded.Postgres) (*testkit.Proxy, string) {
	t.Helper()
	host := hostOf(t, pg)
	proxy := testkit.NewProxy(t, host)
	return proxy, strings.Replace(pg.AdminURL("postgres"), host, proxy.Address(), 1)
}

// hostOf is the host and port of a private PostgreSQL.
func hostOf(t *testing.T, pg *embedded.Postgres) string {
	t.Helper()
	u, err := url.Parse(pg.AdminURL("postgres"))
	if err != nil {
		t.Fatal(err)
	}
	return u.Host
}
