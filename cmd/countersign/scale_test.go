package main

import (
	"path/filepath"
	"strings"
	"testing"

	"countersign.dev/internal/domain/finance"
	"countersign.dev/internal/domain/hr"
)

// TestSeedGrowsEveryStore fills all four stores of a configuration with a small
// part of the large company, twice, and reads rows from each.
func TestSeedGrowsEveryStore(t *testing.T) {
	folder := dataFolder(t)
	pg := privatePostgres(t, folder)
	values := map[string]string{"GATEWAY_PORT": "3100", "HR_PORT": "3101", "ISSUER": "http://localhost:3180", "REDIS": redisServer(t, folder), "FOLDER": folder}
	values["ADMIN"], values["DATABASE"] = pg.AdminURL("postgres"), loginURL(t, pg, hr.Login)
	values["MORE"] = "  finance: {url: \"" + loginURL(t, pg, finance.Login) + "\", admin_url: \"" + values["ADMIN"] + "\"}\n" +
		"  sales: {url: \"sqlite:" + filepath.Join(folder, "sales.db") + "\"}\n" +
		"  support: {url: \"sqlite:" + filepath.Join(folder, "support.db") + "\"}"
	path := filepath.Join(folder, "countersign.yaml")
	writeConfig(t, path, values)
	for _, args := range [][]string{{"migrate"}, {"seed", "--scale", "0.001"}, {"seed", "--scale", "0.001"}} {
		out, code := command1(t, append(args, "--config", path)...)
		if code != 0 || strings.Count(out, "\n") < 4 {
			t.Errorf("%v: exit %d:\n%s", args, code, out)
		}
	}
	checks(t, path, exitFailed, "data of hr rows were read", "data of finance rows were read", "data of sales rows were read", "data of support rows were read")
	if _, code := command1(t, "seed", "--scale", "-1", "--config", path); code != exitUsage {
		t.Errorf("a negative scale: exit %d", code)
	}
}
