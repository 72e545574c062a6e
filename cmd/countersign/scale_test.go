package main

import (
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"countersign.dev/internal/commandline"
	"countersign.dev/internal/domain/finance"
	"countersign.dev/internal/domain/hr"
)

// TestSeedGrowsEveryStore fills all four stores of a configuration with a small
// part of the large company, twice, and reads rows from each.
func TestSeedGrowsEveryStore(t *testing.T) {
	t.Parallel()
	folder := dataFolder(t)
	pg := privatePostgres(t, folder)
	other := portOf(t, httptest.NewServer(http.NotFoundHandler())) // answers 404 to everything
	values := map[string]string{"GATEWAY_PORT": other, "HR_PORT": other, "ISSUER": "http://localhost:" + other, "REDIS": redisServer(t, folder), "FOLDER": folder}
	values["ADMIN"], values["DATABASE"] = pg.AdminURL("postgres"), loginURL(t, pg, hr.Login)
	values["MORE"] = "  finance: {url: \"" + loginURL(t, pg, finance.Login) + "\", admin_url: \"" + values["ADMIN"] + "\"}\n" +
		"  sales: {url: \"sqlite:" + filepath.Join(folder, "sales.db") + "\"}\n" +
		"  support: {url: \"sqlite:" + filepath.Join(folder, "support.db") + "\"}"
	_, path := writeConfigs(t, folder, values)
	for _, args := range [][]string{{"migrate"}, {"seed", "--scale", "0.001"}, {"seed", "--scale", "0.001"}} {
		out, code := runConfigured(t, auditOf(path, "check"), append(args, "--config", path)...)
		if code != 0 || strings.Count(out, "\n") < 4 {
			t.Errorf("%v: exit %d:\n%s", args, code, out)
		}
	}
	checks(t, path, "check", commandline.ExitFailed, "data of hr rows were read", "data of finance rows were read", "data of sales rows were read", "data of support rows were read")
	if _, code := runConfigured(t, auditOf(path, "check"), "seed", "--scale", "-1", "--config", path); code != commandline.ExitUsage {
		t.Errorf("a negative scale: exit %d", code)
	}
}

// portOf is the port of a server, which ends with the test.
func portOf(t *testing.T, server *httptest.Server) string {
	t.Helper()
	t.Cleanup(server.Close)
	_, port, err := net.SplitHostPort(server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	return port
}
