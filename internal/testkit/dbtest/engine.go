package dbtest

import (
	"context"
	"net/url"
	"testing"

	"github.com/jackc/pgx/v5"

	"countersign.dev/internal/access"
	"countersign.dev/internal/database"
	"countersign.dev/internal/testkit"
	"countersign.dev/internal/testkit/conformance"
	"countersign.dev/internal/testkit/domaintest"
)

// Schema is a domain over PostgreSQL.
type Schema struct {
	Login      string
	New        func(*database.DB) Domain
	Migrate    func(ctx context.Context, adminURL, password string) ([]string, error)
	Fill       func(ctx context.Context, adminURL, dataset string) error
	Again      func(ctx context.Context, adminURL string) error // seeds once more, a year later
	Everything string                                           // a query whose one value is a digest of every row
}

// Domain is a domain that knows whether its store holds data.
type Domain interface {
	domaintest.Domain
	Ready(ctx context.Context) error
}

// Filled returns the administrator's URL of a database with a dataset, that is
// the test's own until it ends.
func (s Schema) Filled(t testing.TB, c *Cluster, dataset string) (adminURL string) {
	t.Helper()
	s.Template(t, c, dataset)
	return c.reused(t, dataset)
}

// Template migrates and fills a database once in a run. It returns the
// administrator's URL.
func (s Schema) Template(t testing.TB, c *Cluster, dataset string) (adminURL string) {
	t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.filled[dataset] {
		c.Template(t, dataset, func(adminURL string) error {
			if _, err := s.Migrate(t.Context(), adminURL, ""); err != nil {
				return err
			}
			if err := s.Fill(t.Context(), adminURL, dataset); err != nil {
				return err
			}
			return save(t.Context(), adminURL)
		})
		c.filled[dataset] = true
	}
	return c.URL(dataset)
}

// Engine is the domain on a cluster, as the conformance suite opens it.
func (s Schema) Engine(cluster func() *Cluster) conformance.Engine {
	return conformance.Engine{
		Name: "PostgreSQL",
		Open: func(t testing.TB, dataset string) *conformance.Store {
			return s.store(t, cluster(), s.Filled(t, cluster(), dataset))
		},
		Connect: func(ctx context.Context, address string) (domaintest.Domain, error) {
			db, err := database.Open(ctx, address, &database.Options{Links: &access.Links{}})
			if err != nil {
				return nil, err
			}
			return s.New(db), nil
		},
	}
}

func (s Schema) store(t testing.TB, c *Cluster, adminURL string) *conformance.Store {
	t.Helper()
	address, err := database.LoginURL(adminURL, s.Login, "")
	if err != nil {
		t.Fatal(err)
	}
	proxy, near := through(t, address)
	db, err := database.Open(t.Context(), near, &database.Options{Links: &access.Links{}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(db.Close)
	d, admin := s.New(db), connect(t, adminURL)
	store := &conformance.Store{Domain: d, Address: address, Ready: d.Ready, Cut: proxy.Cut, Restore: proxy.Restore, CutsReads: true}
	store.Dump = func() (digest string) {
		if err := admin.QueryRow(t.Context(), s.Everything).Scan(&digest); err != nil {
			t.Fatal(err)
		}
		return digest
	}
	store.Admin = func(sql string, values ...any) {
		if _, err := admin.Exec(t.Context(), sql, values...); err != nil {
			t.Fatal(err)
		}
	}
	store.Seed = func() error { return s.Again(t.Context(), adminURL) }
	store.Empty = func() *conformance.Store {
		empty := c.Database(t, "")
		if _, err := s.Migrate(t.Context(), empty, ""); err != nil {
			t.Fatal(err)
		}
		return s.store(t, c, empty)
	}
	return store
}

// through puts a proxy before the server of an address.
func through(t testing.TB, address string) (p *testkit.Proxy, near string) {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	p = testkit.NewProxy(t, u.Host)
	u.Host = p.Address()
	return p, u.String()
}

func connect(t testing.TB, adminURL string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), adminURL)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	return conn
}
