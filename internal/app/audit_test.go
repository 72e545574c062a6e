package app

import (
	"bytes"
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"countersign.dev/internal/audit"
	"countersign.dev/internal/config"
	"countersign.dev/internal/quota"
	"countersign.dev/internal/testkit"
)

func eventsOf(t testing.TB, path string) (all []audit.Event) {
	t.Helper()
	for e, err := range audit.Events(path) {
		must(t, err)
		all = append(all, e)
	}
	return all
}

// TestRefusedRequestsAreRecorded sends requests without a valid token, and with
// another person's userContext, to every surface.
func TestRefusedRequestsAreRecorded(t *testing.T) {
	const each = 20
	x := newRig(t, quota.Limits{})
	alice := x.token(t, "alice.chen")
	foreign := `{"query":"hello","userContext":{"username":"eve.thompson"}}`
	for range each {
		for _, c := range []struct{ path, token, body string }{
			{"/api/query", "", `{"query":"hello"}`},
			{"/api/query", "not-a-token", `{"query":"hello"}`},
			{"/mcp", "a.b.c", `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`},
			{"/api/confirm/" + "0b0e2a54-6f2a-4a53-9a3b-6c1f0a5b7c11", "", `{"approved":true}`},
		} {
			if status, answer := x.send(t, "POST", c.path, c.token, c.body); status != 401 {
				t.Fatalf("%s: got %d %s", c.path, status, answer)
			}
		}
		if status, answer := x.send(t, "POST", "/api/query", alice, foreign); status != 403 {
			t.Fatalf("got %d %s", status, answer)
		}
		if status, answer := x.send(t, "POST", "/api/mcp/hr/list_employees", alice, `{"input":{},"userContext":{"username":"eve.thompson"}}`); status != 403 {
			t.Fatalf("got %d %s", status, answer)
		}
	}
	must(t, x.pl.refusals.Flush(t.Context(), true))
	counts, lines := map[string]int{}, 0
	for _, e := range eventsOf(t, x.auditPath) {
		if e.Kind == audit.Denial {
			counts[e.Outcome+" "+e.Username] += max(e.Count, 1)
			lines++
		}
	}
	if counts["UNAUTHENTICATED "] != 4*each || counts["USER_MISMATCH alice.chen"] != 2*each {
		t.Errorf("got %v, want %d and %d", counts, 4*each, 2*each)
	}
	if lines > 12 {
		t.Errorf("%d lines for %d refusals", lines, 6*each)
	}
}

// verifyLogs runs audit verify and returns its status and what it printed.
func verifyLogs(t testing.TB, o AuditOptions) (audit.Status, string) {
	t.Helper()
	var out bytes.Buffer
	o.Out, o.Err = &out, io.Discard
	err := VerifyAudit(t.Context(), o)
	var own AuditError
	if err != nil && !errors.As(err, &own) {
		t.Fatal(err)
	}
	return own.Status, out.String()
}

// TestProcessesKeepEachOthersHeads runs two processes over one Redis, and rewrites
// the log of one of them.
func TestProcessesKeepEachOthersHeads(t *testing.T) {
	folder, redis := t.TempDir(), testkit.StartRedis(t).URL()
	keys, err := demoKeys(folder)
	must(t, err)
	paths, trusted := []string{}, []string{}
	lives := []*lifetime{}
	start := func(name string) *platform {
		life := newLifetime()
		path := filepath.Join(folder, name+".jsonl")
		pl, err := newPlatform(t.Context(), life, slog.New(slog.DiscardHandler), keys, platformOptions{name: name, audit: config.Audit{Path: path}, redis: redis})
		must(t, err)
		signer, err := keys.signer(name)
		must(t, err)
		if !slices.Contains(paths, path) {
			paths, trusted = append(paths, path), append(trusted, signer.PublicKey())
		}
		lives = append(lives, life)
		return pl
	}
	for _, name := range []string{"hr", "finance"} {
		pl := start(name)
		must(t, pl.audit.Append(t.Context(), audit.Event{Kind: audit.Outcome, Tool: "get_employee", Rows: 1}))
	}
	end := func() {
		for _, life := range lives {
			must(t, life.end(t.Context())) // exchanges heads once more
		}
		lives = nil
	}
	end()
	start("hr") // keeps the last head of finance
	end()
	all := AuditOptions{Paths: paths, Keys: trusted, Redis: redis}
	if status, said := verifyLogs(t, all); status != audit.Whole {
		t.Fatalf("got status %d: %s", status, said)
	}
	if status, said := verifyLogs(t, AuditOptions{Paths: paths[1:], Keys: trusted}); status != audit.Whole && status != audit.Lost || !strings.Contains(said, "annot be known") && !strings.Contains(said, "Not known") {
		t.Errorf("one log alone: got status %d: %s", status, said)
	}
	must(t, errors.Join(os.Remove(paths[1]), os.Remove(paths[1]+".head"))) // finance, with its stolen key
	signer, err := keys.signer("finance")
	must(t, err)
	forged, err := audit.Open(paths[1], &audit.Options{Name: "finance", Signer: signer, Now: time.Now})
	must(t, err)
	must(t, errors.Join(forged.Append(t.Context(), audit.Event{Kind: audit.Outcome, Tool: "get_employee"}), forged.Close()))
	for name, o := range map[string]AuditOptions{
		"by the other log": {Paths: paths, Keys: trusted},
		"by Redis":         {Paths: paths[1:], Keys: trusted, Redis: redis},
	} {
		if status, said := verifyLogs(t, o); status != audit.Lost && status != audit.Contradicted {
			t.Errorf("%s: got status %d: %s", name, status, said)
		}
	}
}

func TestCheckPrintsTheKeyThatVerifies(t *testing.T) {
	secret, err := newSecret()
	must(t, err)
	c := &config.Config{Audit: config.Audit{Path: filepath.Join(t.TempDir(), "audit.jsonl")}}
	c.Keys.Sealing = map[string][]string{"hr": {secret}}
	said, err := auditState(c)
	must(t, err)
	keys, err := keysOf(c)
	must(t, err)
	signer, err := keys.signer("hr")
	must(t, err)
	if !strings.Contains(said, signer.PublicKey()) || strings.Contains(said, secret) {
		t.Errorf("got %q, want the public key %s", said, signer.PublicKey())
	}
}
