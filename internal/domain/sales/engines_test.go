package sales_test

import (
	"context"
	"database/sql"
	"io"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"countersign.dev/internal/domain/sales"
	"countersign.dev/internal/testkit"
	"countersign.dev/internal/testkit/mongotest"
)

var mongoServer *mongotest.Server

func TestMain(m *testing.M) {
	if runAsVictim() {
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

func sqliteAt(t *testing.T, path string) *sales.SQLite {
	t.Helper()
	s, err := sales.OpenSQLite(t.Context(), path)
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
	wire := newWire(t, address)
	open := func() sales.Store {
		m, err := sales.OpenMongo(t.Context(), wire.address, &sales.MongoOptions{Database: database})
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
	r := &rig{Store: open(), again: open, cut: wire.cut, mend: wire.mend}
	r.remove = func(hex string) {
		id, _ := bson.ObjectIDFromHex(hex)
		if _, err := client.Database(database).Collection("deals").DeleteOne(t.Context(), bson.D{{Key: "_id", Value: id}}); err != nil {
			t.Fatal(err)
		}
	}
	return r
}

// wire stands between a store and its server, and can be cut.
type wire struct {
	t       *testing.T
	address string
	target  string
	local   string

	mu       sync.Mutex
	listener net.Listener
	open     map[net.Conn]bool
}

func newWire(t *testing.T, address string) *wire {
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	w := &wire{t: t, target: u.Host, local: "127.0.0.1:0", open: map[net.Conn]bool{}}
	w.mend()
	w.local = w.listener.Addr().String()
	u.Host, u.Path = w.local, "/"
	q := u.Query()
	q.Set("directConnection", "true") // a replica set must not tell the client the way around
	u.RawQuery = q.Encode()
	w.address = u.String()
	t.Cleanup(w.cut)
	return w
}

func (w *wire) mend() {
	listener, err := net.Listen("tcp", w.local)
	if err != nil {
		w.t.Fatal(err)
	}
	w.mu.Lock()
	w.listener = listener
	w.mu.Unlock()
	go func() { // ends when the listener is closed
		for {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			go w.carry(c)
		}
	}()
}

// carry ends when either side closes.
func (w *wire) carry(c net.Conn) {
	server, err := net.Dial("tcp", w.target)
	if err != nil {
		_ = c.Close()
		return
	}
	w.mu.Lock()
	w.open[c], w.open[server] = true, true
	w.mu.Unlock()
	go func() {
		_, _ = io.Copy(server, c)
		_ = server.Close()
	}()
	_, _ = io.Copy(c, server)
	_ = c.Close()
}

func (w *wire) cut() {
	w.mu.Lock()
	defer w.mu.Unlock()
	_ = w.listener.Close()
	for c := range w.open {
		_ = c.Close()
	}
	w.open = map[net.Conn]bool{}
}
