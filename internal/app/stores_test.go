package app

import (
	"bytes"
	"context"
	"log/slog"
	"net"
	"path/filepath"
	"strings"
	"testing"

	"github.com/alicebob/miniredis/v2"

	"countersign.dev/internal/company"
	"countersign.dev/internal/config"
	"countersign.dev/internal/domain/sales/sqlite"
)

// TestEmbeddedStoreWarnsBeyondItsSize: at its capacity there is no warning, one
// row beyond it there is one in `check` and one when the server starts.
func TestEmbeddedStoreWarnsBeyondItsSize(t *testing.T) {
	d, _ := domainNamed("sales")
	const warning = "The embedded sales store has 20001 deals and is meant for 20000 at most: its lists become slow. Use MongoDB."
	for deals, want := range map[int]bool{sqlite.Capacity: false, sqlite.Capacity + 1: true} {
		db := config.Database{URL: "sqlite:" + filepath.Join(t.TempDir(), "sales.db")}
		fillSales(t, db, deals)
		line, err := d.store.Check(t.Context(), db)
		if err != nil || strings.Contains(line, warning) != want {
			t.Errorf("check of %d deals: %q, %v; want a warning: %v", deals, line, err, want)
		}
		if log := logOfStart(t, d, db); strings.Contains(log, warning) != want {
			t.Errorf("start with %d deals: %q; want a warning: %v", deals, log, want)
		}
	}
}

func fillSales(t *testing.T, db config.Database, deals int) {
	t.Helper()
	path := strings.TrimPrefix(db.URL, "sqlite:")
	store, err := sqlite.Open(t.Context(), path)
	must(t, err)
	must(t, store.Fill(t.Context(), company.ScaledSales(deals, today())))
	must(t, store.Close())
}

// logOfStart starts a domain's server, ends it, and returns what it logged.
func logOfStart(t *testing.T, d domain, db config.Database) string {
	t.Helper()
	life := newLifetime()
	keys, err := demoKeys(t.TempDir())
	must(t, err)
	var log bytes.Buffer
	redis := miniredis.RunT(t)
	pl, err := newPlatform(t.Context(), life, slog.New(slog.NewTextHandler(&log, nil)), keys, platformOptions{name: "hr", audit: config.Audit{Path: filepath.Join(t.TempDir(), "audit.jsonl")}, redis: "redis://" + redis.Addr()})
	must(t, err)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	must(t, pl.serveDomain(t.Context(), d, db, domainOptions{listener: listener, url: "http://" + listener.Addr().String()}))
	must(t, life.end(context.WithoutCancel(t.Context())))
	return log.String()
}
