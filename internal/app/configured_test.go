package app

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"

	"countersign.dev/internal/fault"
	"countersign.dev/internal/testkit"
	"countersign.dev/internal/testkit/certtest"
)

// run runs a gateway, or the sales server, as its command does, until the test ends. change
// changes its configuration.
func (r *replica) run(process string, change func(conf map[string]any)) (file string) {
	r.t.Helper()
	file = r.changed(process, change)
	ctx, cancel := context.WithCancel(r.t.Context())
	options, ended := ConfigOptions{File: file, Getenv: noVariables, Out: io.Discard, Err: io.Discard}, make(chan error, 1)
	go func() {
		if process == "gateway" {
			ended <- Gateway(ctx, options)
			return
		}
		ended <- Serve(ctx, ServeOptions{ConfigOptions: options, Servers: []string{process}})
	}()
	r.t.Cleanup(func() {
		cancel()
		must(r.t, <-ended)
	})
	return file
}

// changed is the changed configuration of a process.
func (r *replica) changed(process string, change func(conf map[string]any)) (file string) {
	r.t.Helper()
	file = r.config(process, []keySet{newKeySet(r.t)})
	text, err := os.ReadFile(file)
	must(r.t, err)
	var conf map[string]any
	must(r.t, json.Unmarshal(text, &conf))
	change(conf)
	text, err = json.Marshal(conf)
	must(r.t, err)
	must(r.t, os.WriteFile(file, text, 0o600))
	return file
}

// alone is a replica without an issuer, whose processes are not started yet.
func alone(t *testing.T) *replica {
	t.Helper()
	c := &cluster{t: t, folder: t.TempDir(), redis: "redis://" + miniredis.RunT(t).Addr(), issuer: "http://" + freeAddress(t), public: "https://localhost"}
	return &replica{cluster: c, gateway: freeAddress(t), sales: freeAddress(t), keysAt: freeAddress(t)}
}

// TestGatewayAndMetricsAreServedOverTLS runs a gateway with a certificate: the page and the
// metrics are served with it, and in no other way.
func TestGatewayAndMetricsAreServedOverTLS(t *testing.T) {
	t.Parallel()
	cert, key := certtest.Files(t, t.TempDir(), "process")
	c := &cluster{t: t, folder: t.TempDir(), redis: "redis://" + miniredis.RunT(t).Addr(), issuer: "http://" + freeAddress(t), public: "https://localhost"}
	r := &replica{cluster: c, gateway: freeAddress(t), sales: freeAddress(t), keysAt: freeAddress(t)}
	file, numbers := r.config("gateway", []keySet{newKeySet(t)}), freeAddress(t)
	text, err := os.ReadFile(file)
	must(t, err)
	must(t, os.WriteFile(file, fmt.Appendf(nil, `{"tls":{"cert":%q,"key":%q},"metrics":{"listen":%q},%s`, cert, key, numbers, text[1:]), 0o600))
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		ended <- Gateway(ctx, ConfigOptions{File: file, Getenv: noVariables, Out: io.Discard, Err: io.Discard})
	}()
	defer func() {
		cancel()
		must(t, <-ended)
	}()
	for _, address := range []string{r.gateway, numbers} {
		conn := awaited(t, address)
		secured := tls.Client(conn, &tls.Config{InsecureSkipVerify: true}) // the name is what is compared
		if err := secured.HandshakeContext(t.Context()); err != nil || secured.ConnectionState().PeerCertificates[0].Subject.CommonName != "process" {
			t.Errorf("%s: got %v, want the certificate", address, err)
		}
		must(t, secured.Close())
	}
}

// TestNamesOfOtherServersAreRefused: their settings would have no effect.
func TestNamesOfOtherServersAreRefused(t *testing.T) {
	t.Parallel()
	r := alone(t)
	file := r.changed("gateway", func(conf map[string]any) {
		conf["servers"] = map[string]any{"github": map[string]any{"url": "http://127.0.0.1:1"}}
	})
	o := ConfigOptions{File: file, Getenv: noVariables, Out: io.Discard, Err: io.Discard}
	ctx, cancel := context.WithCancel(t.Context())
	cancel() // nothing is to run
	for command, err := range map[string]error{"gateway": Gateway(ctx, o), "check": Check(ctx, o), "migrate": Migrate(ctx, o)} {
		if err == nil || !strings.Contains(err.Error(), `there is no server "github" of ours, which are hr, finance, sales, support, tasks, codesearch.`) {
			t.Errorf("%s: got %v", command, err)
		}
	}
}

// TestNotReadyBeforeTheIssuerWasReached: the gateway cannot check a caller before. A server can check the gateway's.
func TestNotReadyBeforeTheIssuerWasReached(t *testing.T) {
	t.Parallel()
	for process, want := range map[string]int{"gateway": http.StatusServiceUnavailable, "sales": http.StatusOK} {
		r := alone(t)
		data := ConfigOptions{File: r.changed("sales", func(map[string]any) {}), Getenv: noVariables, Out: io.Discard, Err: io.Discard}
		must(t, Migrate(t.Context(), data))
		must(t, Seed(t.Context(), SeedOptions{ConfigOptions: data})) // or it would not be ready for want of rows
		r.run(process, func(map[string]any) {})
		address := map[string]string{"gateway": r.gateway + "/readyz", "sales": r.sales + "/ready"}[process]
		host, _, _ := strings.Cut(address, "/")
		_ = awaited(t, host).Close()
		resp, err := http.Get("http://" + address)
		must(t, err)
		_ = resp.Body.Close()
		if resp.StatusCode != want {
			t.Errorf("%s: got %d, want %d", process, resp.StatusCode, want)
		}
	}
}

// TestServeSaysWhyItDoesNotStart: the operator reads whose store it is, and what its driver
// says, without the password.
func TestServeSaysWhyItDoesNotStart(t *testing.T) {
	t.Parallel()
	r := alone(t)
	file := r.changed("sales", func(conf map[string]any) {
		conf["databases"] = map[string]any{"hr": map[string]any{"url": "postgres://countersign_hr:s3cret@" + freeAddress(t) + "/hr"}}
		conf["keys"].(map[string]any)["sealing"] = map[string]any{"hr": []string{strings.Repeat("k", 32)}}
	})
	err := Serve(t.Context(), ServeOptions{ConfigOptions: ConfigOptions{File: file, Getenv: noVariables, Out: io.Discard, Err: io.Discard}, Servers: []string{"hr"}})
	said := fault.Sentence(err) // as the command prints it
	if !strings.HasPrefix(said, "hr: The database cannot be reached: failed to connect to `user=countersign_hr database=hr`") || strings.Contains(said, "s3cret") || strings.Contains(said, "support") {
		t.Errorf("got %s", said)
	}
}

// awaited connects when something listens.
func awaited(t *testing.T, address string) net.Conn {
	t.Helper()
	for until := time.Now().Add(testkit.Patience); ; runtime.Gosched() {
		conn, err := net.Dial("tcp", address)
		if err == nil {
			return conn
		}
		if time.Now().After(until) {
			t.Fatal(err)
		}
	}
}

// TestConfiguredBoundsHold runs a gateway and a server with bounds of their own: callers without
// a token are counted by the address that the configured proxy names, up to the configured limit,
// and the audit log is rotated at the configured size.
func TestConfiguredBoundsHold(t *testing.T) {
	t.Parallel()
	for process, path := range map[string]string{"gateway": "/api/user", "sales": "/tools"} {
		r := alone(t)
		address := map[string]string{"gateway": r.gateway, "sales": r.sales}[process]
		file := r.run(process, func(conf map[string]any) {
			conf["proxies"], conf["limits"] = []string{"127.0.0.1"}, map[string]any{"unproven_requests_per_second": 1}
			conf["audit"].(map[string]any)["rotate_size"] = 4 << 10
		})
		must(t, awaited(t, address).Close())
		ask := func(from string) int {
			req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+address+path, nil)
			must(t, err)
			req.Header.Set("X-Forwarded-For", from)
			resp, err := testkit.Transport.RoundTrip(req)
			must(t, err)
			must(t, resp.Body.Close())
			return resp.StatusCode
		}
		for i := range 40 {
			from, status := fmt.Sprintf("203.0.113.%d", i), 0
			for n := range 10 {
				if status = ask(from); n == 0 && status != http.StatusUnauthorized {
					t.Fatalf("%s: the first request of %s: got %d", process, from, status)
				}
			}
			if status != http.StatusTooManyRequests {
				t.Fatalf("%s: the tenth request of %s at once: got %d", process, from, status)
			}
		}
		rotated, err := filepath.Glob(strings.TrimSuffix(file, ".yaml") + ".jsonl.0*")
		if err != nil || len(rotated) == 0 {
			t.Errorf("%s: the audit log was not rotated (%v)", process, err)
		}
	}
}
