package embedded

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"countersign.dev/internal/fault"
)

// fake makes a folder whose programs only print a version.
func fake(t *testing.T, dir, version string) string {
	t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"postgres", "initdb"} {
		script := "#!/bin/sh\necho '" + name + " (PostgreSQL) " + version + "'\n"
		if err := os.WriteFile(filepath.Join(dir, name), []byte(script), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestPostgresIsFoundInOrder(t *testing.T) {
	root := t.TempDir()
	installed := filepath.Join(root, "*", "bin")
	fake(t, filepath.Join(root, "9.6", "bin"), "9.6.24")
	fake(t, filepath.Join(root, "15", "bin"), "15.18 (Debian)")
	newest := fake(t, filepath.Join(root, "100", "bin"), "100beta1")
	onPath := fake(t, filepath.Join(root, "path"), "16.1")
	tooOld := fake(t, filepath.Join(root, "old"), "14.9")
	named := fake(t, filepath.Join(root, "named"), "17.0")
	fetched := fake(t, filepath.Join(root, "fetched"), "17.5")
	linked := filepath.Join(root, "links")
	if err := errors.Join(os.Mkdir(linked, 0o755), os.Symlink(filepath.Join(onPath, "postgres"), filepath.Join(linked, "postgres"))); err != nil {
		t.Fatal(err)
	}
	get := func(context.Context) (string, error) { return fetched, nil }
	for name, c := range map[string]struct {
		options         PostgresOptions
		path, installed string
		want            string
	}{
		"named before PATH":        {PostgresOptions{Bin: named}, onPath, installed, named},
		"PATH before installed":    {PostgresOptions{}, onPath, installed, onPath},
		"PATH by a link":           {PostgresOptions{}, linked, "", onPath},
		"highest installed":        {PostgresOptions{}, root, installed, newest},
		"too old is passed over":   {PostgresOptions{}, tooOld, installed, newest},
		"installed before fetch":   {PostgresOptions{Fetch: get}, "", installed, newest},
		"fetched at last":          {PostgresOptions{Fetch: get}, "", "", fetched},
		"fetch hides all the rest": {PostgresOptions{Bin: "fetch", Fetch: get}, onPath, installed, fetched},
	} {
		t.Setenv("PATH", c.path+":/bin:/usr/bin/nothing")
		found, err := findPostgres(t.Context(), c.options.Bin, c.options.Fetch, c.installed)
		if err != nil || found.dir != c.want {
			t.Errorf("%s: got %s, %v; want %s", name, found.dir, err, c.want)
		}
	}
}

func TestWithoutPostgresTheAlternativesAreNamed(t *testing.T) {
	root := t.TempDir()
	t.Setenv("PATH", root)
	for name, c := range map[string]struct {
		options       PostgresOptions
		message, ways string
	}{
		"none":         {PostgresOptions{}, "was not found on this computer", "apt install postgresql|COUNTERSIGN_POSTGRES_BIN|--postgres URL"},
		"wrong folder": {PostgresOptions{Bin: root}, "there is no program postgres", "postgres and initdb"},
		"old folder":   {PostgresOptions{Bin: fake(t, filepath.Join(root, "old"), "14.2")}, "it is version 14 and 15 is the oldest", "postgres and initdb"},
		"no fetcher":   {PostgresOptions{Bin: "fetch"}, "cannot download PostgreSQL", "COUNTERSIGN_POSTGRES_BIN|--postgres URL"},
	} {
		_, err := findPostgres(t.Context(), c.options.Bin, c.options.Fetch, "")
		if !fault.Is(err, fault.ServiceDown) {
			t.Errorf("%s: got %v", name, err)
			continue
		}
		f := fault.From(err)
		if !strings.Contains(f.Message, c.message) {
			t.Errorf("%s: says %q, want %q", name, f.Message, c.message)
		}
		for _, way := range strings.Split(c.ways, "|") {
			if !strings.Contains(f.SuggestedAction, way) {
				t.Errorf("%s: %q is not in %q", name, way, f.SuggestedAction)
			}
		}
	}
}
