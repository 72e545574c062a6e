package app

import (
	"testing"

	"countersign.dev/internal/company"
	"countersign.dev/internal/config"
	"countersign.dev/internal/testkit/dbtest"
)

// TestServerRefusesALoginThatCanBypass: a superuser's login never serves.
func TestServerRefusesALoginThatCanBypass(t *testing.T) {
	cluster := dbtest.Start()
	t.Cleanup(cluster.Stop)
	admin := cluster.Database(t, "")
	db, err := hrStore().demo(t.Context(), storeOptions{adminURL: admin})
	if err != nil {
		t.Fatal(err)
	}
	if err := hrStore().seed(t.Context(), db, company.At(today())); err != nil {
		t.Fatal(err)
	}
	if _, closeStore, err := hrStore().open(t.Context(), config.Database{URL: admin}); err == nil {
		_ = closeStore()
		t.Error("a superuser's login was taken")
	}
	server, closeStore, err := hrStore().open(t.Context(), db)
	if err != nil {
		t.Fatalf("the application's own login: %v", err)
	}
	defer func() { _ = closeStore() }()
	if err := server.Ready(t.Context()); err != nil {
		t.Errorf("a seeded database is not ready: %v", err)
	}
}
