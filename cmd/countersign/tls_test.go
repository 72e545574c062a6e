package main

import (
	"crypto/tls"
	"crypto/x509"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"countersign.dev/internal/domain/hr"
	"countersign.dev/internal/testkit"
	"countersign.dev/internal/testkit/certtest"
)

// TestServerOverTLS runs the HR server behind a certificate that the gateway does not
// trust, and replaces it, while both run, by one that it trusts: before, no call
// reaches the server; after, calls and approvals do.
func TestServerOverTLS(t *testing.T) {
	d, folder := sharedDemo(t), dataFolder(t)
	foreign, key := certtest.Files(t, folder, "foreign")
	trusted, trustedKey := certtest.Pair(t, "trusted")
	bundle := filepath.Join(folder, "trusted.pem")
	certtest.Replace(t, bundle, trusted)
	t.Setenv("SSL_CERT_FILE", bundle) // of the processes that are started from here
	t.Setenv("SSL_CERT_DIR", folder+"/none")

	pg, gatewayPort, hrPort := privatePostgres(t, folder), freePort(t), freePort(t)
	gatewayFile, hrFile := writeConfigs(t, folder, map[string]string{
		"GATEWAY_PORT": gatewayPort, "HR_PORT": hrPort, "ISSUER": d.Issuer, "REDIS": redisServer(t, folder),
		"DATABASE": loginURL(t, pg, hr.Login), "ADMIN": pg.AdminURL("postgres"),
		"MORE": "tls: {cert: " + foreign + ", key: " + key + "}",
	})
	rewrite(t, gatewayFile, "tls: {cert: "+foreign+", key: "+key+"}", "")
	for _, file := range []string{gatewayFile, hrFile} {
		rewrite(t, file, "http://localhost:"+hrPort, "https://localhost:"+hrPort)
	}
	for _, args := range [][]string{{"migrate", "--config", hrFile}, {"seed", "--config", hrFile}} {
		if out, code := runConfigured(t, auditOf(hrFile, "check"), args...); code != 0 {
			t.Fatalf("%v: exit %d: %s", args, code, out)
		}
	}
	startUntil(t, func() bool { return speaksFor(t, hrPort, foreign) }, "serve", "hr", "--config", hrFile)
	pair := &process{ready: ready{Gateway: "http://localhost:" + gatewayPort}}
	startConfigured(t, pair.Gateway+"/readyz", "gateway", "--config", gatewayFile)

	get := func() answer {
		return send(t, "POST", pair.Gateway+"/api/mcp/hr/list_employees", pair.token(t, "alice.chen", "gateway"), `{"input":{"limit":2}}`)
	}
	if a := get(); a.status == 200 && strings.Contains(a.body, `"status":"success"`) {
		t.Fatalf("a certificate of an unknown authority was accepted: %s", a.body)
	}
	certtest.Replace(t, foreign, trusted) // the file, not what it was made for
	certtest.Replace(t, key, trustedKey)
	a, deadline, tick := get(), time.After(testkit.Patience), time.NewTicker(50*time.Millisecond)
	defer tick.Stop()
	for !strings.Contains(a.body, `"status":"success"`) { // the breaker lets a probe through after a pause
		select {
		case <-tick.C:
			a = get()
		case <-deadline:
			t.Fatalf("the new certificate is not served: %d %s", a.status, a.body)
		}
	}
	if a.status != 200 || !strings.Contains(a.body, `"returnedCount":2`) {
		t.Fatalf("with a certificate of a trusted authority: %d %s", a.status, a.body)
	}
	id := pair.openSalary(t, employee(t, "Marcus Johnson").ID, 150000)
	if a := pair.confirm(t, "alice.chen", id, true); a.status != 200 || !strings.Contains(a.body, "150,000") {
		t.Errorf("an approval: %d %s", a.status, a.body)
	}
}

// rewrite replaces a text of a file, which must be in it.
func rewrite(t *testing.T, path, before, after string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil || !strings.Contains(string(text), before) {
		t.Fatalf("%s has no %q: %v", path, before, err)
	}
	if err := os.WriteFile(path, []byte(strings.ReplaceAll(string(text), before, after)), 0o600); err != nil {
		t.Fatal(err)
	}
}

// speaksFor reports whether a listener proves that it has a certificate.
func speaksFor(t *testing.T, port, certFile string) bool {
	t.Helper()
	cert, err := os.ReadFile(certFile)
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(cert)
	conn, err := tls.Dial("tcp", "localhost:"+port, &tls.Config{RootCAs: roots})
	if err != nil {
		return false
	}
	_ = conn.Close()
	return true
}
