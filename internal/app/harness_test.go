package app

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"countersign.dev/internal/access"
	"countersign.dev/internal/company"
	"countersign.dev/internal/config"
	"countersign.dev/internal/confirm"
	"countersign.dev/internal/result"
	"countersign.dev/internal/seal"
	"countersign.dev/internal/storage"
	"countersign.dev/internal/testkit"
	"countersign.dev/internal/testkit/dbtest"
	"countersign.dev/internal/testkit/domaintest"
	"countersign.dev/internal/testkit/oracle"
	"countersign.dev/internal/tool"
)

// fixedDay is the date of these tests' sample company, so that golden files do
// not depend on the day.
var fixedDay = time.Date(2026, time.November, 16, 0, 0, 0, 0, time.UTC)

// harness runs every domain of the list on seeded stores, without a network
// between them.
type harness struct {
	company *company.Company
	runners map[string]*tool.Runner
	events  *testkit.MemorySink
	log     *logBuffer
}

// logBuffer is a log that tests read.
type logBuffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// Write appends to the log.
func (l *logBuffer) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(b)
}

func (l *logBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// postgres is the server of all tests, which the first that needs one starts.
var (
	postgres        *dbtest.Cluster
	startedPostgres = sync.OnceValue(func() *dbtest.Cluster {
		postgres = dbtest.Start()
		return postgres
	})
)

// newHarness opens and seeds every store as a demo does.
func newHarness(t testing.TB) *harness {
	t.Helper()
	w := &harness{company: company.At(fixedDay), runners: map[string]*tool.Runner{}, events: &testkit.MemorySink{}, log: &logBuffer{}}
	under := storage.Engines{AdminURL: startedPostgres().Database(t, ""), Folder: t.TempDir(), Code: sampleCode(t)}
	confirmations := confirm.NewService(domaintest.NewRedis(t), w.events, nil)
	for _, d := range domains() {
		db, err := d.store.Demo(t.Context(), under)
		shareWithAddresses(db.Tasks)
		if err == nil {
			err = d.store.Seed(t.Context(), db, w.company)
		}
		if err != nil {
			t.Fatalf("%s: %v", d.name, err)
		}
		w.runners[d.name] = w.mount(t, d, db, confirmations)
	}
	return w
}

// shareWithAddresses lets people open their workspaces whose user name is their
// address, as the harness signs them in.
func shareWithAddresses(t *config.Tasks) {
	if t == nil {
		return
	}
	for i := range t.Workspaces {
		for _, a := range company.Accounts() {
			if slices.Contains(t.Workspaces[i].People, a.Username) {
				t.Workspaces[i].People = append(t.Workspaces[i].People, a.Email)
			}
		}
	}
}

func (w *harness) mount(t testing.TB, d domain, db config.Database, confirmations *confirm.Service) *tool.Runner {
	t.Helper()
	server, closeStore, err := d.store.Open(t.Context(), db, &access.Links{})
	if err != nil {
		t.Fatalf("%s: %v", d.name, err)
	}
	t.Cleanup(func() { _ = closeStore() })
	if indexed, ok := server.(interface{ Refresh(context.Context) error }); ok {
		if err := indexed.Refresh(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	cursors, err := seal.NewRing("cursor", seal.RandomSecret())
	if err != nil {
		t.Fatal(err)
	}
	r, err := tool.NewRunner(server.Tools(), tool.Options{
		Server: d.name, Codes: d.codes, Policy: d.policy, Cursors: cursors, Confirmations: confirmations, Receipts: server.Receipts(), Audit: w.events,
		Log: slog.New(slog.NewTextHandler(w.log, &slog.HandlerOptions{Level: slog.LevelDebug})),
	})
	if err != nil {
		t.Fatalf("%s: %v", d.name, err)
	}
	return r
}

// sampleCode is a small repository.
func sampleCode(t testing.TB) string {
	t.Helper()
	root := filepath.Join(t.TempDir(), "sample")
	err := os.CopyFS(root, os.DirFS(filepath.Join("testdata", "code")))
	if err == nil {
		err = os.Mkdir(filepath.Join(root, ".git"), 0o700)
	}
	if err != nil {
		t.Fatal(err)
	}
	when := fixedDay.Add(-time.Hour)
	if err := os.Chtimes(filepath.Join(root, "tokens", "verify.py"), when, when); err != nil {
		t.Fatal(err)
	}
	return root
}

// call calls a tool as a person.
func (w *harness) call(t testing.TB, who *access.Principal, server, name string, in map[string]any) result.Outcome {
	t.Helper()
	raw, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	o := w.runners[server].Call(access.With(t.Context(), who), name, raw)
	for _, info := range w.runners[server].Visible(catalogue()) {
		if info.Name == name {
			domaintest.CheckAnswer(t, info, w.runners[server].Encode(o))
		}
	}
	return o
}

// account is one of the accounts of the sample company.
func account(t testing.TB, username string) oracle.Asker {
	t.Helper()
	for _, a := range company.Accounts() {
		if a.Username == username {
			return oracle.Asker{Email: a.Email, Roles: a.Roles}
		}
	}
	t.Fatalf("there is no account %s", username)
	return oracle.Asker{}
}

// catalogue is a principal that lists every tool and may call none.
func catalogue() *access.Principal {
	return access.NewPrincipal(access.Claims{Issuer: testkit.Issuer, Subject: "catalogue", Purpose: access.PurposeCatalogue})
}

// roles are all roles, in the order that tables show them.
func roles() []access.Role {
	all := []access.Role{access.Employee, access.Manager, access.Executive}
	for _, d := range domains() {
		all = append(all, d.policy.Roles...)
	}
	return append(all, access.Auditor)
}

// roleNames are the roles as tokens spell them.
func roleNames() []string {
	var names []string
	for _, r := range roles() {
		names = append(names, string(r))
	}
	return names
}

// TestListedToolsAreTheCallableOnes: for every role and every account, a tool is
// listed exactly when calling it is not refused for a missing role.
func TestListedToolsAreTheCallableOnes(t *testing.T) {
	w := newHarness(t)
	askers := []oracle.Asker{{Email: "nobody@tamshai.local"}}
	for _, role := range roleNames() {
		askers = append(askers, oracle.Asker{Email: "eve@tamshai.local", Roles: []string{role}})
	}
	for _, a := range company.Accounts() {
		askers = append(askers, oracle.Asker{Email: a.Email, Roles: a.Roles})
	}
	for server, r := range w.runners {
		for _, info := range r.Visible(catalogue()) {
			for _, a := range askers {
				listed := slices.ContainsFunc(r.Visible(a.Principal()), func(i result.ToolInfo) bool { return i.Name == info.Name })
				code := r.Call(access.With(t.Context(), a.Principal()), info.Name, json.RawMessage(`{"no":"field"}`)).Code()
				if callable := code == "VALIDATION_ERROR"; listed != callable || !callable && code != "INSUFFICIENT_PERMISSIONS" {
					t.Errorf("%s.%s for %v: listed %v, calling it is %s", server, info.Name, a.Roles, listed, code)
				}
			}
		}
	}
}
