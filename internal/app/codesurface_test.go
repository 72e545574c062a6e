package app

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"countersign.dev/internal/access"
	"countersign.dev/internal/admission"
	"countersign.dev/internal/auth"
	"countersign.dev/internal/company"
	"countersign.dev/internal/config"
	"countersign.dev/internal/domain/codesearch"
	"countersign.dev/internal/embedded"
	"countersign.dev/internal/embedded/issuer"
	"countersign.dev/internal/quota"
	"countersign.dev/internal/storage"
	"countersign.dev/internal/testkit"
)

// codeRig is a code search server as it runs in a process of its own.
type codeRig struct {
	url, issuer, audit string
	pl                 *platform
	db                 config.Database
}

// serve serves code search at the next address, with a public one.
func (x *codeRig) serve(t *testing.T, public func(address string) string) {
	t.Helper()
	listener := loopback(t)
	x.url = "http://" + listener.Addr().String()
	d, _ := domainNamed("codesearch")
	must(t, x.pl.serveDomain(t.Context(), d, x.db, domainOptions{listener: listener, url: public(x.url), issuers: []auth.Config{{URL: x.issuer}}}))
}

// The repository is for people with one of the roles; none: for employees, and for
// programs without a token.
func newCodeRig(t *testing.T, limits quota.Limits, queue *admission.Queue, roles ...string) *codeRig {
	t.Helper()
	folder, life := t.TempDir(), newLifetime()
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), testkit.Patience)
		defer cancel()
		must(t, life.end(ctx))
	})
	redis, err := embedded.StartRedis()
	must(t, err)
	t.Cleanup(redis.Close)
	var people []issuer.Person
	for _, a := range company.Accounts() {
		people = append(people, issuer.Person(a))
	}
	identity, err := issuer.Start("localhost:0", issuer.Options{
		People: people, KeyFile: filepath.Join(folder, "issuer.pem"), TerminalClient: demoClient,
		Clients: []issuer.Client{{ID: demoClient, Audience: gatewayAudience}},
	})
	must(t, err)
	life.onEnd(identity.Close)
	keys, err := demoKeys(folder)
	must(t, err)
	x := &codeRig{issuer: identity.URL(), audit: filepath.Join(folder, "audit.jsonl")}
	x.pl, err = newPlatform(t.Context(), life, slog.New(slog.DiscardHandler), keys, platformOptions{name: "codesearch", audit: config.Audit{Path: x.audit}, redis: redis.URL(), limits: limits, patience: testkit.Patience})
	must(t, err)
	x.pl.queue = queue
	d, _ := domainNamed("codesearch")
	db, err := d.store.Demo(t.Context(), storage.Engines{Folder: folder, Code: sampleCode(t)})
	must(t, err)
	db.Maintain = false
	if len(roles) > 0 {
		db.Code.Repositories[0].Roles, db.Code.Repositories[0].Anonymous = roles, false
	}
	server, closeStore, err := d.store.Open(t.Context(), db, nil)
	must(t, err)
	must(t, server.(*codesearch.Server).Refresh(t.Context()))
	must(t, closeStore())
	x.db = db
	x.serve(t, func(address string) string { return address })
	return x
}

// search asks document 004's endpoint.
func (x *codeRig) search(t *testing.T, headers ...string) (*http.Response, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, x.url+"/mcp/search", strings.NewReader(`{"query":"verify token"}`))
	must(t, err)
	r.Header.Set("Content-Type", "application/json")
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
		if headers[i] == "Host" {
			r.Host = headers[i+1]
		}
	}
	resp, err := testkit.Client.Do(r)
	must(t, err)
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	must(t, err)
	return resp, string(text)
}

// What a proxy on this machine passes on comes from elsewhere.
func TestProxyIsNoProgramOfThisMachine(t *testing.T) {
	x := newCodeRig(t, quota.Limits{}, nil)
	if resp, _ := x.search(t); resp.StatusCode != 200 {
		t.Errorf("a program: %d", resp.StatusCode)
	}
	for _, header := range []string{"X-Forwarded-For", "Forwarded", "Via"} {
		if resp, _ := x.search(t, header, "203.0.113.9"); resp.StatusCode != 401 {
			t.Errorf("with %s: %d", header, resp.StatusCode)
		}
	}
}

// A server with a public address elsewhere is behind a proxy, which may say nothing of itself.
func TestPublishedServerNeedsATokenOnLoopback(t *testing.T) {
	x := newCodeRig(t, quota.Limits{}, nil)
	x.serve(t, func(string) string { return "https://code.example.com" })
	if resp, text := x.search(t); resp.StatusCode != http.StatusUnauthorized {
		t.Errorf("without a token: %d %s", resp.StatusCode, text)
	}
}

// The endpoint is bounded, counted and recorded as every other surface is, with a
// token and without.
func TestCodeSearchPassesTheGate(t *testing.T) {
	x := newCodeRig(t, quota.Limits{Requests: 1, Unproven: 1}, nil)
	statuses := func(n int, headers ...string) map[int]int {
		seen := map[int]int{}
		for range n {
			resp, text := x.search(t, headers...)
			seen[resp.StatusCode]++
			if resp.StatusCode == http.StatusTooManyRequests && (resp.Header.Get("Retry-After") == "" || !strings.Contains(text, `"RATE_LIMITED"`)) {
				t.Errorf("a refusal without advice: %v %s", resp.Header, text)
			}
		}
		return seen
	}
	if got := statuses(40); got[200] == 0 || got[429] == 0 || got[200]+got[429] != 40 {
		t.Errorf("programs without a token: %v", got)
	}
	if got := statuses(1, "Origin", "https://elsewhere.example"); got[200] != 1 {
		t.Errorf("pages have a share of their own: %v", got)
	}
	if resp, _ := x.search(t, "Authorization", "Bearer forged"); resp.StatusCode != 401 || !strings.Contains(resp.Header.Get("WWW-Authenticate"), "resource_metadata=") {
		t.Errorf("a forged token: %d %v", resp.StatusCode, resp.Header)
	}
	if got := statuses(40, "Authorization", "Bearer forged"); got[401] == 0 || got[429] == 0 {
		t.Errorf("forged tokens: %v", got)
	}
	if resp, _ := x.search(t, "Host", "rebound.example"); resp.StatusCode != 403 && resp.StatusCode != 429 {
		t.Errorf("a foreign host: %d", resp.StatusCode)
	}
	metrics := httptest.NewRecorder()
	x.pl.metrics.Handler().ServeHTTP(metrics, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	for _, want := range []string{`server="codesearch",status="200"`, `server="codesearch",status="429"`, `route="POST /mcp/search"`, `code="UNAUTHENTICATED",server="codesearch"`} {
		if !strings.Contains(metrics.Body.String(), want) {
			t.Errorf("the metrics have no %s", want)
		}
	}
	must(t, x.pl.refusals.Flush(t.Context(), true))
	recorded, err := os.ReadFile(x.audit)
	must(t, err)
	for _, want := range []string{`"UNAUTHENTICATED"`, `"RATE_LIMITED"`} {
		if !strings.Contains(string(recorded), want) {
			t.Errorf("the audit log has no %s:\n%s", want, recorded)
		}
	}
}

// TestEveryAnswerOfCodeSearchIsIdentified: also of the paths that all servers have.
func TestEveryAnswerOfCodeSearchIsIdentified(t *testing.T) {
	x := newCodeRig(t, quota.Limits{}, nil)
	uuid := regexp.MustCompile(`^[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}$`)
	for path, status := range map[string]int{"/ready": 200, "/nowhere": 404, "/mcp": 401, "/health": 200, "/mcp/nowhere": 404} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, x.url+path, nil)
		must(t, err)
		resp, err := testkit.Client.Do(r)
		must(t, err)
		must(t, resp.Body.Close())
		if resp.StatusCode != status || resp.Header.Get("X-MCP-Version") != "2" || !uuid.MatchString(resp.Header.Get("X-Request-ID")) {
			t.Errorf("%s: %d, version %q, id %q", path, resp.StatusCode, resp.Header.Get("X-MCP-Version"), resp.Header.Get("X-Request-ID"))
		}
	}
}

// A search without a token waits for its turn like all other work of the process.
func TestCodeSearchWaitsForItsTurn(t *testing.T) {
	x := newCodeRig(t, quota.Limits{}, admission.New(admission.Options{Slots: 1, Patience: time.Millisecond}))
	busy := x.pl.queue.Work().For(access.Owner{Issuer: x.issuer, Subject: "somebody"})
	must(t, busy.Begin(t.Context()))
	if resp, text := x.search(t); resp.StatusCode != http.StatusTooManyRequests || !strings.Contains(text, `"RATE_LIMITED"`) {
		t.Errorf("while the process is busy: %d %s", resp.StatusCode, text)
	}
	busy.End()
	if resp, text := x.search(t); resp.StatusCode != http.StatusOK {
		t.Errorf("afterwards: %d %s", resp.StatusCode, text)
	}
}
