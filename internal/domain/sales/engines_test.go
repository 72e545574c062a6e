package sales_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"countersign.dev/internal/company"
	"countersign.dev/internal/domain/sales"
	salesmongo "countersign.dev/internal/domain/sales/mongo"
	"countersign.dev/internal/domain/sales/sqlite"
	"countersign.dev/internal/result"
	"countersign.dev/internal/testkit"
	"countersign.dev/internal/testkit/conformance"
	"countersign.dev/internal/testkit/domaintest"
	"countersign.dev/internal/testkit/mongotest"
)

var mongoServer *mongotest.Server

func TestMain(m *testing.M) {
	if conformance.RunAsCrashProcess(domain()) {
		return
	}
	if testkit.Fuzzing() { // no target needs the engine, and every worker would start one
		os.Exit(m.Run())
	}
	mongoServer = mongotest.Start()
	testkit.InMemory()
	code := m.Run()
	mongoServer.Stop()
	testkit.Ran("SQLite")
	testkit.Ran(mongoServer.Name())
	os.Exit(code)
}

// engine is a store under test, and what only the engine behind it can do.
type engine struct {
	store        sales.Store
	direct       sales.Store // the same rows, not through the proxy
	address      string      // for another process
	remove       func(dealID string)
	touch        func(dealID string) // another process changes the deal's value
	abroad       func(dealID string) // another process makes it a deal of 90 million yen
	cut, restore func()              // changes cannot reach the store, and can again
}

func engineOf(s *conformance.Store) *engine { return s.Handle.(*engine) }

// engines are the implementations of the store.
var engines = []conformance.Engine{
	{Name: "memory", Slow: true, Open: opens(memory)},
	{Name: "sqlite", Open: opens(file), Connect: func(ctx context.Context, path string) (domaintest.Domain, error) {
		return served(sqlite.Open(ctx, path))
	}},
	{Name: "mongodb", Open: opens(document), Connect: func(ctx context.Context, address string) (domaintest.Domain, error) {
		server, database, _ := strings.Cut(address, " ")
		return served(salesmongo.Open(ctx, server, &salesmongo.Options{Database: database}))
	}},
}

// onEveryEngine runs a test on each store with the sample company.
func onEveryEngine(t *testing.T, test func(t *testing.T, s *conformance.Store)) {
	t.Helper()
	for _, e := range engines {
		t.Run(e.Name, func(t *testing.T) {
			t.Parallel()
			test(t, e.Open(t, conformance.Company))
		})
	}
}

func served[S sales.Store](store S, err error) (domaintest.Domain, error) {
	return sales.New(store, func() time.Time { return day }), err
}

// opens is the Open of an engine.
func opens(open func(t testing.TB) *engine) func(t testing.TB, dataset string) *conformance.Store {
	return func(t testing.TB, name string) *conformance.Store {
		e := open(t)
		fill(t, e.direct, dataset(name))
		return stored(t, e, func() *conformance.Store { return stored(t, open(t), nil) })
	}
}

// stored is a store as the suite takes it.
func stored(t testing.TB, e *engine, empty func() *conformance.Store) *conformance.Store {
	server := sales.New(e.store, func() time.Time { return day })
	return &conformance.Store{
		Domain: server, Handle: e, Address: e.address, Ready: server.Ready, Empty: empty, Cut: e.cut, Restore: e.restore, CutsReads: e.direct != e.store,
		Seed: func() error { return server.Seed(t.Context(), company.At(day.AddDate(1, 0, 0))) },
		Dump: func() string { return dump(t, e.direct) },
	}
}

// everything may be seen by Carol.
var everything = sales.ScopeOf(testkit.Person("carol", "sales-write"), "")

// dump writes every row of the store down, versions included.
func dump(t testing.TB, s sales.Store) string {
	t.Helper()
	ctx := testkit.Patiently(t)
	deals, err := s.Deals(ctx, everything, sales.DealQuery{Limit: 1000, Sort: sales.Newest})
	if err != nil {
		t.Fatal(err)
	}
	out := fmt.Sprintf("%+v", deals)
	for _, c := range fixtureOf(company.At(day).Sales()).customers {
		customer, found, err := s.Customer(ctx, everything, c.ID)
		if err != nil {
			t.Fatal(err)
		}
		out += fmt.Sprintf("%v %+v", found, customer)
	}
	return out
}

func fill(t testing.TB, s sales.Store, b *fixture) {
	t.Helper()
	if err := s.Fill(testkit.Patiently(t), b.rows()); err != nil {
		t.Fatal(err)
	}
}

func decode(o result.Outcome, into any) error { return json.Unmarshal(o.Data(), into) }

func sqliteAt(t testing.TB, path string) *sqlite.Store {
	t.Helper()
	s, err := sqlite.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// memory is a store that no other process reaches.
func memory(t testing.TB) *engine {
	s := sqliteAt(t, "")
	return &engine{store: s, direct: s}
}

func file(t testing.TB) *engine {
	path := filepath.Join(t.TempDir(), "sales #1?.db")
	s := sqliteAt(t, path)
	other, err := sql.Open("sqlite", (&url.URL{Scheme: "file", Path: path, RawQuery: "_txlock=immediate"}).String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = other.Close() })
	run := func(statement, id string) {
		if _, err := other.Exec(statement, id); err != nil {
			t.Fatal(err)
		}
	}
	var hold *sql.Tx
	return &engine{
		store: s, direct: s, address: path,
		remove: func(id string) { run(`delete from deals where id = ?`, id) },
		touch:  func(id string) { run(`update deals set value = value + 1, version = version + 1 where id = ?`, id) },
		abroad: func(id string) { run(`update deals set value = 90000000, currency = 'JPY' where id = ?`, id) },
		cut: func() { // another process holds the right to write
			if hold, err = other.Begin(); err != nil {
				t.Fatal(err)
			}
		},
		restore: func() { _ = hold.Rollback() },
	}
}

// document is a database of the server of this run, behind a proxy.
func document(t testing.TB) *engine {
	address, database := mongoServer.Database(t)
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	proxy := testkit.NewProxy(t, u.Host)
	u.Path = "/"
	q := u.Query()
	q.Set("directConnection", "true") // a replica set must not show the client a way around
	u.RawQuery = q.Encode()
	far := u.String()
	u.Host = proxy.Address()
	client, err := mongo.Connect(options.Client().ApplyURI(address))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = client.Database(database).Drop(context.Background())
		_ = client.Disconnect(context.Background())
	})
	deals := client.Database(database).Collection("deals")
	one := func(hex string) bson.D {
		id, _ := bson.ObjectIDFromHex(hex)
		return bson.D{{Key: "_id", Value: id}}
	}
	return &engine{
		store: mongoAt(t, u.String(), database), direct: mongoAt(t, far, database), address: far + " " + database, cut: proxy.Cut, restore: proxy.Restore,
		remove: func(id string) {
			if _, err := deals.DeleteOne(t.Context(), one(id)); err != nil {
				t.Fatal(err)
			}
		},
		touch: func(id string) {
			change := bson.D{{Key: "$inc", Value: bson.D{{Key: "value", Value: 1}, {Key: "version", Value: 1}}}}
			if _, err := deals.UpdateOne(t.Context(), one(id), change); err != nil {
				t.Fatal(err)
			}
		},
		abroad: func(id string) {
			change := bson.D{{Key: "$set", Value: bson.D{{Key: "value", Value: 9e7}, {Key: "currency", Value: "JPY"}}}}
			if _, err := deals.UpdateOne(t.Context(), one(id), change); err != nil {
				t.Fatal(err)
			}
		},
	}
}

func mongoAt(t testing.TB, address, database string) sales.Store {
	t.Helper()
	s, err := salesmongo.Open(t.Context(), address, &salesmongo.Options{Database: database})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}
