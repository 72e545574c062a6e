package sales_test

import (
	"context"
	"database/sql"
	"net/url"
	"os"
	"path/filepath"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"countersign.dev/internal/domain/sales"
	salesmongo "countersign.dev/internal/domain/sales/mongo"
	"countersign.dev/internal/domain/sales/sqlite"
	"countersign.dev/internal/testkit"
	"countersign.dev/internal/testkit/mongotest"
)

var mongoServer *mongotest.Server

func TestMain(m *testing.M) {
	if testkit.RunAsCrashProcess(closeUntilKilled) {
		return
	}
	mongoServer = mongotest.Start()
	code := m.Run()
	mongoServer.Stop()
	testkit.Ran("SQLite")
	testkit.Ran(mongoServer.Name())
	os.Exit(code)
}

// rig is a store under test, and what only the engine behind it can do.
type rig struct {
	sales.Store
	again  func() sales.Store // another handle on the same rows: another process
	remove func(dealID string)
	cut    func() // from now on, changes cannot reach the store
	mend   func()
}

// engines are the implementations. Every test of the contract runs on each.
var engines = map[string]func(t *testing.T) *rig{
	"sqlite":  fileRig,
	"memory":  memoryRig,
	"mongodb": mongoRig,
}

func onEveryEngine(t *testing.T, test func(t *testing.T, r *rig)) {
	t.Helper()
	onEngines(t, test, "sqlite", "memory", "mongodb")
}

// onSharedEngines leaves out the store in memory: nobody else can reach it, cut
// it off, or find it again.
func onSharedEngines(t *testing.T, test func(t *testing.T, r *rig)) {
	t.Helper()
	onEngines(t, test, "sqlite", "mongodb")
}

func onEngines(t *testing.T, test func(t *testing.T, r *rig), names ...string) {
	t.Helper()
	for _, name := range names {
		t.Run(name, func(t *testing.T) { test(t, engines[name](t)) })
	}
}

func memoryRig(t *testing.T) *rig { return &rig{Store: sqliteAt(t, "")} }

func sqliteAt(t *testing.T, path string) *sqlite.Store {
	t.Helper()
	s, err := sqlite.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func fileRig(t *testing.T) *rig {
	path := filepath.Join(t.TempDir(), "sales #1?.db")
	r := &rig{Store: sqliteAt(t, path), again: func() sales.Store { return sqliteAt(t, path) }}
	other, err := sql.Open("sqlite", (&url.URL{Scheme: "file", Path: path, RawQuery: "_txlock=immediate"}).String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = other.Close() })
	r.remove = func(id string) {
		if _, err := other.Exec(`delete from deals where id = ?`, id); err != nil {
			t.Fatal(err)
		}
	}
	var hold *sql.Tx
	r.cut = func() { // another process holds the right to write
		if hold, err = other.Begin(); err != nil {
			t.Fatal(err)
		}
	}
	r.mend = func() { _ = hold.Rollback() }
	return r
}

func mongoRig(t *testing.T) *rig {
	address, database := mongoServer.Database(t)
	near, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	wire := testkit.NewProxy(t, near.Host)
	near.Host, near.Path = wire.Address(), "/"
	q := near.Query()
	q.Set("directConnection", "true") // a replica set must not tell the client the way around
	near.RawQuery = q.Encode()
	open := func() sales.Store {
		m, err := salesmongo.Open(t.Context(), near.String(), &salesmongo.Options{Database: database})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = m.Close() })
		return m
	}
	client, err := mongo.Connect(options.Client().ApplyURI(address))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = client.Database(database).Drop(context.Background())
		_ = client.Disconnect(context.Background())
	})
	r := &rig{Store: open(), again: open, cut: wire.Cut, mend: wire.Restore}
	r.remove = func(hex string) {
		id, _ := bson.ObjectIDFromHex(hex)
		if _, err := client.Database(database).Collection("deals").DeleteOne(t.Context(), bson.D{{Key: "_id", Value: id}}); err != nil {
			t.Fatal(err)
		}
	}
	return r
}
