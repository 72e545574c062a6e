package embedded_test

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"countersign.dev/internal/embedded"
	"countersign.dev/internal/fault"
	"countersign.dev/internal/testkit"
)

// TestDownloadedPostgresServes hides what is installed, and fetches.
func TestDownloadedPostgresServes(t *testing.T) {
	if testing.Short() {
		t.Skip("downloads 15 MB")
	}
	folder := passable(t)
	var reports []string
	fetch := embedded.Download(folder, func(s string) { reports = append(reports, s) })
	pg, err := embedded.StartPostgres(t.Context(), embedded.PostgresOptions{Bin: "fetch", Fetch: fetch})
	if errors.Is(err, fault.ServiceDown.New("")) && strings.Contains(err.Error(), "could not be fetched") {
		testkit.Missing(t, "a network to fetch PostgreSQL from: "+err.Error())
	}
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = pg.Stop(context.WithoutCancel(t.Context())) }()
	conn, err := pgx.Connect(t.Context(), pg.AdminURL("postgres"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(context.WithoutCancel(t.Context())) }()
	var version string
	if err := conn.QueryRow(t.Context(), "show server_version").Scan(&version); err != nil || !strings.HasPrefix(version, "17") {
		t.Errorf("got version %q, %v", version, err)
	}
	if len(reports) == 0 {
		t.Error("the download reported no progress")
	}
	before := len(reports)
	if _, err := fetch(t.Context()); err != nil || len(reports) != before {
		t.Errorf("what was fetched is fetched again: %v", err)
	}
	if left, _ := filepath.Glob(filepath.Join(folder, "unpacking-*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}
