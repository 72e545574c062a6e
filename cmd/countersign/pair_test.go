package main

import (
	"bufio"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"countersign.dev/internal/auth"
	"countersign.dev/internal/commandline"
	"countersign.dev/internal/database"
	"countersign.dev/internal/domain/hr"
	"countersign.dev/internal/embedded"
	"countersign.dev/internal/testkit"
)

// TestTwoProcessesAndAConfiguration runs the gateway and the HR server as two
// processes, each with its file, on a real redis-server, a database by URL and
// the issuer of a running demo: the same question, the same approval.
func TestTwoProcessesAndAConfiguration(t *testing.T) {
	t.Parallel()
	d := sharedDemo(t)
	folder := dataFolder(t)
	pg := privatePostgres(t, folder)
	gatewayPort, hrPort := freePort(t), freePort(t)
	gatewayFile, path := writeConfigs(t, folder, map[string]string{
		"GATEWAY_PORT": gatewayPort, "HR_PORT": hrPort, "ISSUER": d.Issuer, "REDIS": redisServer(t, folder),
		"DATABASE": loginURL(t, pg, hr.Login), "ADMIN": pg.AdminURL("postgres"), "FOLDER": folder,
	})
	for _, args := range [][]string{{"migrate", "--config", path}, {"seed", "--config", path}, {"seed", "--config", path}} {
		if out, code := runConfigured(t, auditOf(path, "check"), args...); code != 0 {
			t.Fatalf("%v: exit %d: %s", args, code, out)
		}
	}
	pair := &process{ready: ready{Gateway: "http://localhost:" + gatewayPort, Servers: map[string]string{"hr": "http://localhost:" + hrPort}}}
	startConfigured(t, pair.Servers["hr"]+"/ready", "serve", "hr", "--config", path)
	checks(t, path, "check", commandline.ExitFailed, "data of hr rows were read", "server hr ready", `Is "countersign gateway" running?`)
	startConfigured(t, pair.Gateway+"/readyz", "gateway", "--config", gatewayFile)
	checks(t, gatewayFile, "gateway", commandline.ExitDone, // with the log that the gateway holds
		"audit log can be written", "audit-hr.jsonl can be read; it has no event yet", "redis answers", "issuer "+d.Issuer+" answers", "gateway ready", "server hr ready")
	checkOverStdio(t, pair, path)
	checkConnected(t, gatewayFile)
	checkSettingsOfClients(t, pair)

	s := pair.ask(t, "nina.patel", "Who is on my team?")
	if len(s.names()) != 9 {
		t.Errorf("got %v\n%s", s.names(), s.text)
	}
	s = pair.ask(t, "alice.chen", "Increase Sarah's salary to $420,000")
	if len(s.pending) != 1 {
		t.Fatalf("got %d cards:\n%s", len(s.pending), s.text)
	}
	first := pair.confirm(t, "alice.chen", s.pending[0].ID, true)
	again := pair.confirm(t, "alice.chen", s.pending[0].ID, true)
	if first.status != 200 || first.body != again.body || !strings.Contains(first.body, "420,000") {
		t.Errorf("got %d %s, then %d %s", first.status, first.body, again.status, again.body)
	}
	if a := pair.confirm(t, "bob.martinez", s.pending[0].ID, true); a.status != 403 {
		t.Errorf("another person: %d %s", a.status, a.body)
	}
	checkRecord(t, pair)
	logs, err := filepath.Glob(auditOf(path, "*"))
	if err != nil || !slices.Contains(logs, auditOf(path, "gateway")) || !slices.Contains(logs, auditOf(path, "hr")) {
		t.Fatalf("got the logs %v, %v", logs, err)
	}
	// All of them, because a process that has run for half a minute knows the heads of the others.
	if out, code := runCommand(t, append([]string{"audit", "verify"}, logs...)...); code != 0 {
		t.Errorf("the logs %v: %s", logs, out)
	}
}

// checkSettingsOfClients: what a configuration says for clients reaches them, at the
// gateway and at a server.
func checkSettingsOfClients(t *testing.T, pair *process) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, pair.Gateway+"/login", nil)
	if err != nil {
		t.Fatal(err)
	}
	login, err := testkit.Transport.RoundTrip(req) // follows no redirect
	if err != nil {
		t.Fatal(err)
	}
	_ = login.Body.Close()
	to, err := login.Location()
	if err != nil {
		t.Fatal(err)
	}
	if asked := to.Query(); asked.Get("scope") != "openid records.read offline_access confirm" || asked.Get("resource") != "https://records.example" {
		t.Errorf("the sign-in asks the issuer for %v", asked)
	}
	for name, base := range map[string]string{"gateway": pair.Gateway, "hr": pair.Servers["hr"]} {
		refused := send(t, http.MethodPost, base+"/mcp", "", `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, "Accept", "application/json, text/event-stream")
		if got := refused.header.Get("WWW-Authenticate"); !strings.Contains(got, `scope="openid records.read"`) {
			t.Errorf("%s: the challenge is %s", name, got)
		}
		meta := send(t, http.MethodGet, base+"/.well-known/oauth-protected-resource/mcp", "", nil)
		if !strings.Contains(meta.body, `"scopes_supported":["openid","records.read"]`) {
			t.Errorf("%s: the metadata are %s", name, meta.body)
		}
		preflight := send(t, http.MethodOptions, base+"/mcp", "", nil, "Origin", "https://portal.example", "Access-Control-Request-Method", "POST", "Access-Control-Request-Headers", "authorization,mcp-protocol-version")
		if h := preflight.header; h.Get("Access-Control-Allow-Origin") != "https://portal.example" || h.Get("Access-Control-Allow-Headers") != "authorization, mcp-protocol-version" ||
			h.Get("Access-Control-Allow-Methods") != "GET, POST, DELETE, OPTIONS" {
			t.Errorf("%s: the preflight of a configured origin got %d %v", name, preflight.status, h)
		}
		for audience, want := range map[string]int{"gateway": http.StatusOK, "hr": http.StatusUnauthorized} { // the configured one, not the server's name
			path := map[string]string{"gateway": "/api/tools", "hr": "/tools"}[name]
			if got := send(t, http.MethodGet, base+path, pair.token(t, "alice.chen", audience), nil); got.status != want {
				t.Errorf("%s with a token for %s: got %d, want %d", name, audience, got.status, want)
			}
		}
	}
}

// TestConfiguredModelTimeoutApplies configures a timeout of 1 ns.
func TestConfiguredModelTimeoutApplies(t *testing.T) {
	t.Parallel()
	d, folder, port := sharedDemo(t), dataFolder(t), freePort(t)
	path, _ := writeConfigs(t, folder, map[string]string{
		"GATEWAY_PORT": port, "HR_PORT": freePort(t), "ISSUER": d.Issuer, "REDIS": redisServer(t, folder), "MORE": "models: {rehearsal: {provider: rehearsal, timeout: 1ns}}",
	})
	gateway := &process{ready: ready{Gateway: "http://localhost:" + port}}
	startConfigured(t, gateway.Gateway+"/readyz", "gateway", "--config", path)
	s := gateway.ask(t, "alice.chen", "Who is on my team?")
	if len(s.errors) != 1 || !strings.HasPrefix(s.errors[0], "The model did not answer within 1ns. ") {
		t.Errorf("got %q\n%s", s.errors, s.raw)
	}
}

// auditOf is the audit log of one process of a configuration.
func auditOf(config, process string) string {
	return filepath.Join(filepath.Dir(config), "audit-"+process+".jsonl")
}

// runConfigured runs a command in this process with the given audit log.
func runConfigured(t testing.TB, audit string, args ...string) (string, int) {
	t.Helper()
	return runWith(t, func(name string) string {
		if name == "AUDIT" {
			return audit
		}
		return os.Getenv(name)
	}, args...)
}

// checks runs `check` with the audit log of a process and compares lines.
func checks(t *testing.T, path, process string, code int, lines ...string) {
	t.Helper()
	out, got := runConfigured(t, auditOf(path, process), "check", "--config", path)
	printed := strings.Join(strings.Fields(out), " ")
	for _, want := range lines {
		if !strings.Contains(printed, want) {
			t.Errorf("check does not say %q", want)
		}
	}
	if got != code || t.Failed() {
		t.Errorf("check: exit %d, want %d:\n%s", got, code, out)
	}
}

// privatePostgres starts a PostgreSQL outside of any demo.
func privatePostgres(t testing.TB, folder string) *embedded.Postgres {
	t.Helper()
	pg, err := embedded.StartPostgres(t.Context(), embedded.PostgresOptions{
		Bin: os.Getenv("COUNTERSIGN_POSTGRES_BIN"), Dir: filepath.Join(folder, "postgres"),
		Fetch: embedded.Download(embedded.DownloadFolder(), func(string) {}),
	})
	needStart(t, err)
	t.Cleanup(func() { _ = pg.Stop(context.WithoutCancel(t.Context())) })
	return pg
}

// loginURL is the address for an application's login, with a random password
// that `migrate` sets.
func loginURL(t testing.TB, pg *embedded.Postgres, login string) string {
	t.Helper()
	url, err := database.LoginURL(pg.AdminURL("postgres"), login, rand.Text())
	if err != nil {
		t.Fatal(err)
	}
	return url
}

const pairConfig = `listen: 127.0.0.1:$GATEWAY_PORT
public_url: http://localhost:$GATEWAY_PORT
issuer: {url: "$ISSUER", audience: gateway, scopes: [openid, records.read, offline_access, confirm], resource: "https://records.example"}
allowed_origins: ["https://portal.example"]
keys: $KEYS
gateway: {url: "http://localhost:$GATEWAY_PORT"}
redis: {url: "$REDIS"}
servers:
  hr: {url: "http://localhost:$HR_PORT", listen: "127.0.0.1:$HR_PORT"}
$SERVERS
databases:
  hr: {url: "$DATABASE", admin_url: "$ADMIN"}
$MORE
audit: {path: "${AUDIT}"$OTHERS}
`

// writeConfigs writes the files of the gateway and of the HR server. They
// differ in their keys.
func writeConfigs(t testing.TB, folder string, values map[string]string) (gateway, hr string) {
	t.Helper()
	key, err := auth.NewKey()
	if err != nil {
		t.Fatal(err)
	}
	gateway, hr = filepath.Join(folder, "gateway.yaml"), filepath.Join(folder, "hr.yaml")
	reading := maps.Clone(values)
	reading["OTHERS"] = fmt.Sprintf(", others: [%q]", auditOf(hr, "hr"))
	writeConfig(t, gateway, reading, fmt.Sprintf("{signing: [%q], sealing: {gateway: [%q]}}", key, rand.Text()+rand.Text()))
	writeConfig(t, hr, values, fmt.Sprintf("{sealing: {hr: [%q]}}", rand.Text()+rand.Text()))
	return gateway, hr
}

func writeConfig(t testing.TB, path string, values map[string]string, keys string) {
	t.Helper()
	text := os.Expand(pairConfig, func(name string) string {
		switch name {
		case "AUDIT":
			return "${AUDIT}" // per process, from its environment
		case "KEYS":
			return keys
		}
		return values[name]
	})
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// startConfigured starts a process and waits until it is ready.
func startConfigured(t testing.TB, readyURL string, args ...string) *process {
	t.Helper()
	return startUntil(t, func() bool { return isReady(readyURL) }, args...)
}

func isReady(url string) bool {
	resp, err := testkit.Client.Get(url)
	if err != nil {
		return false
	}
	_ = resp.Body.Close()
	return resp.StatusCode == http.StatusOK
}

// startUntil starts the test binary as the program and waits until it is up.
func startUntil(t testing.TB, up func() bool, args ...string) *process {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return startFileUntil(t, self, up, args...)
}

// startFileUntil starts a file of the program and waits until it is up.
func startFileUntil(t testing.TB, file string, up func() bool, args ...string) *process {
	t.Helper()
	name := args[0]
	if name == "serve" {
		name = args[1]
	}
	p, err := startFile(file, []string{"AUDIT=" + auditOf(args[len(args)-1], name)}, args...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.end(); err != nil {
			t.Errorf("%v: %v", args, err)
		}
	})
	deadline := time.After(startTimeout)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		if up() {
			return p
		}
		select {
		case err := <-p.done:
			p.done <- err
			t.Fatalf("%v ended: %v\n%s", args, err, p.stderr)
		case <-deadline:
			t.Fatalf("%v is not ready:\n%s", args, p.stderr)
		case <-tick.C:
		}
	}
}

// redisServer starts a redis-server for one test.
func redisServer(t testing.TB, folder string) string {
	t.Helper()
	bin, err := exec.LookPath("redis-server")
	if err != nil {
		testkit.Missing(t, "redis-server")
	}
	port := freePort(t)
	cmd := exec.Command(bin, "--port", port, "--bind", "127.0.0.1", "--save", "", "--dir", folder)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	lines, log := bufio.NewScanner(out), ""
	for lines.Scan() {
		log += lines.Text() + "\n"
		if strings.Contains(lines.Text(), "Ready to accept connections") {
			go func() { _, _ = io.Copy(io.Discard, out) }() // until it is killed
			return "redis://127.0.0.1:" + port
		}
	}
	t.Fatalf("redis-server did not start:\n%s", log)
	return ""
}

// checkOverStdio serves HR to a client at standard input and output, as the person of
// a token: her rows, and changes that wait for the gateway's page.
func checkOverStdio(t *testing.T, pair *process, path string) {
	t.Helper()
	audit := "AUDIT=" + auditOf(path, "stdio")
	c := overStdio(t, []string{audit, "COUNTERSIGN_TOKEN=" + sharedDemo(t).token(t, "alice.chen", "gateway")}, "serve", "hr", "--stdio", "--config", path)
	if got := callStdio(t, c, "list_employees", map[string]any{"limit": 1}); !strings.Contains(got, `"status":"success"`) {
		t.Errorf("over stdio: got %s", got)
	}
	marcus := employee(t, "Marcus Johnson").ID
	got := callStdio(t, c, "update_salary", map[string]any{"employee_id": marcus, "new_salary": 150000})
	var p struct{ ConfirmationID, Message string }
	if err := json.Unmarshal([]byte(got), &p); err != nil || !strings.Contains(p.Message, pair.Gateway+"/#/approve/"+p.ConfirmationID) {
		t.Fatalf("a change over stdio: %v %s", err, got)
	}
	if a := pair.confirm(t, "alice.chen", p.ConfirmationID, true); a.status != 200 || !strings.Contains(a.body, "150,000") {
		t.Errorf("an approval of what was asked for over stdio: %d %s", a.status, a.body)
	}
	for token, want := range map[string]string{"wrong": "The token is not valid here.", "": "no person is named: set their token in COUNTERSIGN_TOKEN or, with a development issuer, issuer.local_user"} {
		if out, code := runOverStdio(t, path, token); code != commandline.ExitFailed || !strings.Contains(out, want) {
			t.Errorf("with the token %q: exit %d: %s", token, code, out)
		}
	}
	checkLocalUser(t, pair, path)
}

// checkLocalUser serves HR as the person whom the configuration names: her rows and
// rights, without the right to approve, unless a token names another person.
func checkLocalUser(t *testing.T, pair *process, path string) {
	t.Helper()
	other := path
	path = configWith(t, path, "issuer: {", "issuer: {local_user: nina.patel, ")
	for token, more := range map[string]bool{"": false, sharedDemo(t).token(t, "alice.chen", "gateway"): true} { // Alice sees all employees
		c := overStdio(t, []string{"AUDIT=" + auditOf(path, fmt.Sprint("more-", more)), "COUNTERSIGN_TOKEN=" + token}, "serve", "hr", "--stdio", "--config", path)
		if got := callStdio(t, c, "list_employees", map[string]any{"limit": 40}); !strings.Contains(got, "marcus.j@") || strings.Contains(got, `"hasMore":true`) != more {
			t.Errorf("employees of the local user, or of the token's person (more: %v): %.500s", more, got)
		}
	}
	checks(t, path, "check-local", commandline.ExitDone, "local user nina.patel has a token of the issuer")
	path = configWith(t, other, "issuer: {", "issuer: {local_user: nobody.here, ")
	if out, code := runOverStdio(t, path, ""); code != commandline.ExitFailed || !strings.Contains(out, "The issuer gives no token of the local user.") {
		t.Errorf("a local user whom the issuer does not know: exit %d: %s", code, out)
	}
}

// runOverStdio runs a server for a client that says nothing, and returns all that the
// program writes.
func runOverStdio(t *testing.T, path, token string) (string, int) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, "serve", "hr", "--stdio", "--config", path)
	cmd.Env = append(os.Environ(), asProgram+"=.", "AUDIT="+auditOf(path, "stdio-2"), "COUNTERSIGN_TOKEN="+token)
	out, _ := cmd.CombinedOutput() // the exit code says it
	return string(out), cmd.ProcessState.ExitCode()
}

// configWith copies a configuration with one place changed.
func configWith(t *testing.T, path, old, changed string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(text), old) {
		t.Fatalf("%s has no %q", path, old)
	}
	copied, err := os.CreateTemp(filepath.Dir(path), "changed-*.yaml") // beside it, with its logs
	if err != nil {
		t.Fatal(err)
	}
	_ = copied.Close()
	path = copied.Name()
	if err := os.WriteFile(path, []byte(strings.Replace(string(text), old, changed, 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// checkConnected checks and accepts the tools of a connected server at the command line.
func checkConnected(t *testing.T, gatewayFile string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "mcp.json")
	text := fmt.Sprintf(`{"mcpServers": {"payments": {"url": %q, "allow_private": true, "roles": ["employee"], "tools": {"pay": {"approve": "never"}}}, "gone": {"url": "http://127.0.0.1:1", "allow_private": true}}}`, newPayments(t).url)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	runs := func(args ...string) (string, int) {
		out, code := runWith(t, func(name string) string {
			return map[string]string{"AUDIT": auditOf(gatewayFile, "gateway"), "MCP_JSON_PATH": file}[name]
		}, append(args, "--config", gatewayFile)...)
		return strings.Join(strings.Fields(out), " "), code
	}
	out, code := runs("check")
	for _, want := range []string{"it weakens a check: mcp_file", "allow_private", "approve: never", "connected server payments", "connected server gone failed"} {
		if !strings.Contains(out, want) || code != commandline.ExitFailed {
			t.Errorf("check, exit %d: %q is missing in\n%s", code, want, out)
		}
	}
	if out, code := runs("tools", "--accept", "payments.pay"); code != commandline.ExitDone || !strings.Contains(out, "payments.pay was accepted") {
		t.Errorf("accepting: exit %d\n%s", code, out)
	}
	if lock, err := os.ReadFile(filepath.Join(filepath.Dir(file), "mcp.lock.json")); err != nil || !strings.Contains(string(lock), "Pays.") {
		t.Errorf("the lock: %v %s", err, lock)
	}
	if out, code := runs("tools", "--accept", "payments.refund"); code != commandline.ExitFailed {
		t.Errorf("a tool that there is not: exit %d\n%s", code, out)
	}
}
