package app

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"countersign.dev/internal/auth"
	"countersign.dev/internal/company"
	"countersign.dev/internal/config"
	"countersign.dev/internal/embedded/issuer"
	"countersign.dev/internal/llm"
	"countersign.dev/internal/quota"
	"countersign.dev/internal/storage"
	"countersign.dev/internal/telemetry"
	"countersign.dev/internal/testkit"
	"countersign.dev/internal/upstream"
)

// rig is a gateway and the HR server as they run in production: HTTP between
// them, PostgreSQL, a redis-server, an identity issuer, an audit log on disk.
type rig struct {
	gateway string
	hr      string // address of its server
	issuer  string
	pl      *platform
	log     *logBuffer

	auditPath string
	adminURL  string // of the database
	redis     string // its URL
}

// newRig starts one. The people may sign in beside those of the sample company.
func newRig(t testing.TB, limits quota.Limits, people ...issuer.Person) *rig {
	t.Helper()
	folder, life, x := t.TempDir(), newLifetime(), &rig{log: &logBuffer{}}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), testkit.Patience)
		defer cancel()
		must(t, life.end(ctx))
	})
	listener, hrListener := loopback(t), loopback(t)
	x.gateway = "http://" + listener.Addr().String()
	for _, a := range company.Accounts() {
		people = append(people, issuer.Person(a))
	}
	identity, err := issuer.Start("localhost:0", issuer.Options{
		People: people, KeyFile: filepath.Join(folder, "issuer.pem"), TerminalClient: demoClient,
		Clients: []issuer.Client{{ID: demoClient, Audience: gatewayAudience, RedirectURIs: []string{x.gateway + "/callback"}, LogoutURIs: []string{x.gateway + "/"}}},
	})
	must(t, err)
	life.onEnd(identity.Close)
	x.issuer = identity.URL()
	x.auditPath = filepath.Join(folder, "audit.jsonl")
	keys, err := demoKeys(folder)
	must(t, err)
	x.redis = testkit.StartRedis(t).URL()
	x.pl, err = newPlatform(t.Context(), life, slog.New(telemetry.Handler{Handler: slog.NewTextHandler(x.log, nil)}), keys, platformOptions{
		name: "hr", audit: config.Audit{Path: x.auditPath}, redis: x.redis, limits: limits, patience: testkit.Patience,
	})
	must(t, err)
	x.adminURL = startedPostgres().Database(t, "")
	d, _ := domainNamed("hr")
	db, err := d.store.Demo(t.Context(), storage.Engines{AdminURL: x.adminURL, Folder: folder})
	must(t, err)
	must(t, d.store.Seed(t.Context(), db, company.At(today())))
	x.hr = "http://" + hrListener.Addr().String()
	must(t, x.pl.serveDomain(t.Context(), d, db, domainOptions{listener: hrListener, url: x.hr, issuers: []auth.Config{{URL: x.issuer}}}))
	models, err := llm.New(map[string]llm.Options{llm.Rehearsal: {Provider: llm.Rehearsal}}, llm.Policy{Default: llm.Rehearsal})
	must(t, err)
	must(t, x.pl.serveGateway(gatewayOptions{
		listener: listener, url: x.gateway, clientID: demoClient, servers: []upstream.Server{{Name: "hr", URL: x.hr}}, models: models,
		issuers: []auth.Config{{URL: x.issuer, Audiences: []string{gatewayAudience}, ConfirmClients: []string{demoClient}}},
	}))
	return x
}

func loopback(t testing.TB) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	return l
}

// token signs a person in.
func (x *rig) token(t testing.TB, username string) string {
	t.Helper()
	body := fmt.Sprintf(`{"username":%q,"audience":%q,"scope":"mcp confirm"}`, username, gatewayAudience)
	resp, err := testkit.Client.Post(x.issuer+"/dev/token", "application/json", strings.NewReader(body))
	must(t, err)
	defer resp.Body.Close()
	var answer struct {
		Token string `json:"access_token"`
	}
	must(t, json.NewDecoder(resp.Body).Decode(&answer))
	if answer.Token == "" {
		t.Fatalf("no token for %s: %s", username, resp.Status)
	}
	return answer.Token
}

// send makes one request and returns the status and the whole answer.
func (x *rig) send(t testing.TB, method, path, token, body string) (int, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, x.gateway+path, bytes.NewReader([]byte(body)))
	must(t, err)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	r.Header.Set("Authorization", "Bearer "+token)
	resp, err := testkit.Client.Do(r)
	must(t, err)
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	must(t, err)
	return resp.StatusCode, string(text)
}
