// Package testkit is what tests share: principals, a recording audit sink,
// golden files, processes that are killed, a proxy that can be cut, and a small
// domain that exercises the seams which the company's domains do not use. Its own
// tests hold the rules of the code base.
//
// Only tests import it.
package testkit

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"countersign.dev/internal/access"
	"countersign.dev/internal/audit"
)

// Patience is how long tests wait for what has to happen. It is long, because a
// machine may be busy, and only a test that fails waits to its end.
const Patience = time.Minute

// Transport carries the requests of tests. [http.DefaultTransport] does not: each
// httptest.Server that closes ends its idle connections, also under a request that
// a parallel test is about to write to one of them.
var Transport = http.DefaultTransport.(*http.Transport).Clone()

// Client is a client over [Transport].
var Client = &http.Client{Transport: Transport}

// Patiently is the test's context with a deadline, for what would else give up
// sooner than a busy machine answers.
func Patiently(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), Patience)
	t.Cleanup(cancel)
	return ctx
}

// Issuer is the issuer of testkit's principals.
const Issuer = "https://issuer.test"

// Person makes a verified principal named username, with an address at
// tamshai.local and the roles.
func Person(username string, roles ...access.Role) *access.Principal {
	return Tokened(username, "", time.Now(), time.Hour, roles...)
}

// Tokened is [Person] with a token of that id, issued at that time and valid for
// a life.
func Tokened(username, id string, issued time.Time, life time.Duration, roles ...access.Role) *access.Principal {
	names := make([]string, len(roles))
	for i, r := range roles {
		names[i] = string(r)
	}
	return access.NewPrincipal(access.Claims{
		Issuer: Issuer, Subject: "sub-" + username, Username: username, Name: username, Email: username + "@tamshai.local", EmailVerified: true,
		Roles: names, TokenID: id, Issued: issued, Expires: issued.Add(life), MayConfirm: true, Provenance: access.Provenance{Surface: access.SurfaceChat},
	})
}

// As puts a new principal into the test's context.
func As(t testing.TB, username string, roles ...access.Role) context.Context {
	t.Helper()
	return access.With(t.Context(), Person(username, roles...))
}

// MemorySink keeps audit events in memory, and fails on demand.
type MemorySink struct {
	mu     sync.Mutex
	events []audit.Event
	broken error
}

// Append keeps the event, or returns the error that Break set.
func (s *MemorySink) Append(_ context.Context, e audit.Event) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.broken != nil {
		return s.broken
	}
	s.events = append(s.events, e)
	return nil
}

// Break makes every following Append return err; nil ends that.
func (s *MemorySink) Break(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.broken = err
}

// Events returns what was appended so far.
func (s *MemorySink) Events() []audit.Event {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.events)
}

var (
	update = flag.Bool("update", false, "rewrite golden files")
	soak   = flag.Bool("soak", false, "repeat what is random or concurrent many times more")
)

// Soak reports whether tests of what is random or concurrent are to be repeated
// many times more than a run of the whole suite has time for.
func Soak() bool { return *soak }

// Alone skips a test in a short run. CI repeats the short tests under the race
// detector, which sees nothing in a test whose work no other goroutine shares.
func Alone(t testing.TB) {
	t.Helper()
	if testing.Short() {
		t.Skip("no goroutine shares what it does")
	}
}

// Updating reports whether golden files are to be rewritten.
func Updating() bool { return *update }

// Diff is the difference of two texts.
func Diff(want, got []byte) string { return cmp.Diff(string(want), string(got)) }

// Golden compares got with a file under testdata, or rewrites it with -update.
func Golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("no golden file (run the test with -update to write it): %v", err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s differs from what the test got (-want +got):\n%s", path, cmp.Diff(string(want), string(got)))
	}
}

// Missing skips a test whose engine or program is not on this machine, with its
// name. With CI=true it fails the test instead.
func Missing(t testing.TB, what string) {
	t.Helper()
	if os.Getenv("CI") == "true" {
		t.Fatalf("missing on this machine: %s", what)
	}
	t.Skipf("missing on this machine: %s", what)
}

// named are the engines that Ran has reported in this process.
var named sync.Map

// Ran reports that tests ran on an engine: once in the output, and in the
// file that COUNTERSIGN_TEST_ENGINES names, if any, so that a run over many
// packages can end with the names of all of them. Go shows the output of a
// package that passes only with -v, or when it was asked for that one alone.
func Ran(engine string) {
	if _, known := named.LoadOrStore(engine, true); known {
		return
	}
	fmt.Println("engine that ran:", engine)
	path := os.Getenv("COUNTERSIGN_TEST_ENGINES")
	if path == "" {
		return
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		return // reporting must not fail a test
	}
	defer func() { _ = f.Close() }()
	_, _ = f.WriteString(engine + "\n")
}

// Fuzzing reports whether this test process fuzzes, alone or as a worker.
func Fuzzing() bool {
	flag.Parse()
	target, worker := flag.Lookup("test.fuzz"), flag.Lookup("test.fuzzworker")
	return target != nil && target.Value.String() != "" || worker != nil && worker.Value.String() == "true"
}
