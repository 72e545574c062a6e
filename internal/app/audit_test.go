package app

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"countersign.dev/internal/audit"
	"countersign.dev/internal/auth"
	"countersign.dev/internal/config"
	"countersign.dev/internal/fault"
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

// TestStormOfUnprovenRequestsIsALine: what an address sends beyond its limit is one
// line with the address and a count.
func TestStormOfUnprovenRequestsIsALine(t *testing.T) {
	const requests = 60
	x := newRig(t, quota.Limits{Unproven: 1})
	for i := range requests {
		if status, answer := x.send(t, "GET", "/api/user", fmt.Sprint("junk", i), ""); status != 401 && status != 429 {
			t.Fatalf("got %d %s", status, answer)
		}
	}
	must(t, x.pl.refusals.Flush(t.Context(), true))
	counts, lines := map[string]int{}, 0
	for _, e := range eventsOf(t, x.auditPath) {
		if e.Kind == audit.Denial {
			counts[e.Outcome], lines = counts[e.Outcome]+max(e.Count, 1), lines+1
			if e.Outcome == fault.TooManyRequests.Name && !strings.Contains(e.Note, "127.0.0.1") {
				t.Errorf("got %+v, want the address", e)
			}
		}
	}
	if counts["UNAUTHENTICATED"]+counts["RATE_LIMITED"] != requests || counts["RATE_LIMITED"] == 0 || lines > 8 {
		t.Errorf("%d lines count %v, want %d in a few lines", lines, counts, requests)
	}
}

// TestForeignPagesAreRecorded sends requests of a page of another origin, and of a
// page whose name was rebound to our address, to every kind of route; and tries to
// use a cookie from another page.
func TestForeignPagesAreRecorded(t *testing.T) {
	const each = 20
	x := newRig(t, quota.Limits{})
	cookie := "countersign=x"
	for range each {
		for _, c := range []struct{ method, path, host, origin, cookie string }{
			{"GET", "/", "evil.test", "", ""},
			{"GET", "/login", "", "https://evil.test", ""},
			{"GET", "/callback", "evil.test", "", ""},
			{"GET", "/api/user", "", "https://evil.test", ""},
			{"POST", "/mcp", "evil.test", "", ""},
			{"POST", "/api/mcp/hr/list_employees", "", "null", ""},
			{"GET", "/api/user", "", "", cookie},
			{"POST", "/logout", "", "https://evil.test", cookie},
		} {
			if status := x.from(t, c.method, c.path, http.Header{"Origin": {c.origin}, "Cookie": {c.cookie}}, c.host); status != http.StatusForbidden {
				t.Fatalf("%+v: got %d, want 403", c, status)
			}
		}
	}
	must(t, x.pl.refusals.Flush(t.Context(), true))
	total, lines := 0, 0
	for _, e := range eventsOf(t, x.auditPath) {
		if e.Kind == audit.Denial && e.Outcome == fault.ForbiddenRequest.Name && e.Username == "" {
			total, lines = total+max(e.Count, 1), lines+1
		}
	}
	if total != 8*each || lines > 8 {
		t.Errorf("%d lines count %d refusals, want %d in a few lines", lines, total, 8*each)
	}
}

// from sends a request with headers, each unless empty, and returns the status.
func (x *rig) from(t *testing.T, method, path string, headers http.Header, host string) int {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, x.gateway+path, nil)
	must(t, err)
	req.Host = host
	for name, values := range headers {
		if values[0] != "" {
			req.Header[name] = values
		}
	}
	resp, err := testkit.Transport.RoundTrip(req)
	must(t, err)
	must(t, resp.Body.Close())
	return resp.StatusCode
}

// TestFailedSignInsAreRecorded: a browser that comes back without its flow, or with
// an answer that the issuer did not give, leaves a line; a storm of them leaves one
// with a count.
func TestFailedSignInsAreRecorded(t *testing.T) {
	const each = 50
	x := newRig(t, quota.Limits{})
	begun, err := testkit.Transport.RoundTrip(httptest.NewRequest("GET", x.gateway+"/login", nil))
	must(t, err)
	must(t, begun.Body.Close())
	flow := begun.Cookies()[0]
	for range each {
		if status := x.from(t, "GET", "/callback?state=x&code=y", nil, ""); status != http.StatusUnauthorized {
			t.Fatalf("without a flow: got %d", status)
		}
		if status := x.from(t, "GET", "/callback?state=x&code=y", http.Header{"Cookie": {flow.Name + "=" + flow.Value}}, ""); status != http.StatusUnauthorized {
			t.Fatalf("another flow's answer: got %d", status)
		}
	}
	must(t, x.pl.refusals.Flush(t.Context(), true))
	total, lines := 0, 0
	for _, e := range eventsOf(t, x.auditPath) {
		if e.Kind != audit.LoginSession {
			continue
		}
		if e.Step != audit.SignInFailed || e.Outcome != "UNAUTHENTICATED" || e.Note == "" || e.Username != "" {
			t.Errorf("got %+v", e)
		}
		total, lines = total+max(e.Count, 1), lines+1
	}
	if total != 2*each || lines > 8 {
		t.Errorf("%d lines count %d failed sign-ins, want %d in a few lines", lines, total, 2*each)
	}
}

// TestDroppedClaimsAreRecorded: what an additional issuer may not say is in the
// record with the person about whom it said so.
func TestDroppedClaimsAreRecorded(t *testing.T) {
	x := newRig(t, quota.Limits{})
	limited := auth.Config{URL: x.issuer, Audiences: []string{gatewayAudience}, Authority: &auth.Authority{Roles: []string{"employee"}}}
	v, err := x.pl.verifier("gateway", []auth.Config{limited}, nil)
	must(t, err)
	token := x.token(t, "alice.chen")
	for range 3 { // a verified token is kept: it is one event
		p, err := v.Verify(t.Context(), token)
		must(t, err)
		if p.HasAny("hr-write") || p.Email() != "" {
			t.Fatalf("got %v %q, want what the issuer may say", p.Roles(), p.Email())
		}
	}
	must(t, x.pl.refusals.Flush(t.Context(), true))
	var dropped []audit.Event
	for _, e := range eventsOf(t, x.auditPath) {
		if e.Step == audit.ClaimDropped {
			dropped = append(dropped, e)
		}
	}
	if len(dropped) != 1 || dropped[0].Username != "alice.chen" || dropped[0].Issuer != x.issuer || dropped[0].Count > 1 ||
		!strings.Contains(dropped[0].Note, "hr-write") || strings.Contains(dropped[0].Note, "employee") || !strings.Contains(dropped[0].Note, "may not verify addresses of ") {
		t.Errorf("got %+v", dropped)
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
	all := AuditOptions{Paths: paths, keys: trusted, redis: redis}
	if status, said := verifyLogs(t, all); status != audit.Whole {
		t.Fatalf("got status %d: %s", status, said)
	}
	if status, said := verifyLogs(t, AuditOptions{Paths: paths[1:], keys: trusted}); status != audit.Whole && status != audit.Lost || !strings.Contains(said, "annot be known") && !strings.Contains(said, "Not known") {
		t.Errorf("one log alone: got status %d: %s", status, said)
	}
	for others, want := range map[string]audit.Status{"": audit.Lost, "\n  others: [" + paths[1] + "]": audit.Whole} {
		file := filepath.Join(folder, "countersign.yaml")
		must(t, os.WriteFile(file, []byte("audit:\n  path: "+paths[0]+others+"\nissuer:\n  url: https://id.example.com\nredis:\n  url: rediss://redis.example.com\n"), 0o600))
		if status, said := verifyLogs(t, AuditOptions{ConfigOptions: ConfigOptions{File: file, Getenv: noVariables}, keys: trusted, redis: redis}); status != want {
			t.Errorf("a configuration%s: got status %d, want %d: %s", others, status, want, said)
		}
	}
	must(t, errors.Join(os.Remove(paths[1]), os.Remove(paths[1]+".head"))) // finance, with its stolen key
	signer, err := keys.signer("finance")
	must(t, err)
	forged, err := audit.Open(paths[1], &audit.Options{Name: "finance", Signer: signer, Now: time.Now})
	must(t, err)
	must(t, errors.Join(forged.Append(t.Context(), audit.Event{Kind: audit.Outcome, Tool: "get_employee"}), forged.Close()))
	for name, o := range map[string]AuditOptions{
		"by the other log": {Paths: paths, keys: trusted},
		"by Redis":         {Paths: paths[1:], keys: trusted, redis: redis},
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
