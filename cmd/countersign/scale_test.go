package main

import (
	"path/filepath"
	"strings"
	"testing"
)

// TestSeedGrowsEveryStore fills all four stores of a configuration with a small
// part of the large company, twice, and reads rows from each.
func TestSeedGrowsEveryStore(t *testing.T) {
	folder := dataFolder(t)
	pg := privatePostgres(t, folder)
	values := map[string]string{"GATEWAY_PORT": "3100", "HR_PORT": "3101", "ISSUER": "http://localhost:3180", "REDIS": redisServer(t, folder), "FOLDER": folder}
	for _, d := range []domain{domains()[0], domains()[1]} {
		db, err := d.store.demo(t.Context(), ground{adminURL: pg.AdminURL("postgres")})
		if err != nil {
			t.Fatal(err)
		}
		values["ADMIN"], values["DATABASE"] = db.AdminURL, db.URL // hr's, then finance's
		values["DATABASE_"+d.name] = db.URL
	}
	values["DATABASE"] = values["DATABASE_hr"]
	values["MORE"] = "  finance: {url: \"" + values["DATABASE_finance"] + "\", admin_url: \"" + values["ADMIN"] + "\"}\n" +
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
