package storage

import (
	"testing"
	"time"

	"countersign.dev/internal/company"
	"countersign.dev/internal/config"
	"countersign.dev/internal/testkit/dbtest"
)

// TestServerRefusesALoginThatCanBypass: a superuser's login is refused.
func TestServerRefusesALoginThatCanBypass(t *testing.T) {
	cluster := dbtest.Start()
	t.Cleanup(cluster.Stop)
	admin := cluster.Database(t, "")
	db, err := HR().Demo(t.Context(), Engines{AdminURL: admin})
	if err != nil {
		t.Fatal(err)
	}
	if err := HR().Seed(t.Context(), db, company.At(time.Now())); err != nil {
		t.Fatal(err)
	}
	if _, closeStore, err := HR().Open(t.Context(), config.Database{URL: admin}, nil); err == nil {
		_ = closeStore()
		t.Error("a superuser's login was accepted")
	}
	server, closeStore, err := HR().Open(t.Context(), db, nil)
	if err != nil {
		t.Fatalf("the application's own login: %v", err)
	}
	defer func() { _ = closeStore() }()
	if err := server.Ready(t.Context()); err != nil {
		t.Errorf("a seeded database is not ready: %v", err)
	}
}
