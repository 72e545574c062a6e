package storage

import (
	"context"
	"crypto/rand"
	"net/url"
	"strings"

	"countersign.dev/internal/access"
	"countersign.dev/internal/company"
	"countersign.dev/internal/config"
	"countersign.dev/internal/database"
	"countersign.dev/internal/domain/finance"
	"countersign.dev/internal/domain/hr"
)

// relational is a domain on PostgreSQL with row-level security.
type relational struct {
	schema, login string
	server        func(*database.DB) Server
	migrate       func(ctx context.Context, adminURL, password string) ([]string, error)
	seed          func(ctx context.Context, adminURL string, c *company.Company) error
}

// HR is the database of human resources.
func HR() Store {
	return relational{
		hr.SchemaName, hr.Login, func(db *database.DB) Server { return hr.New(db) }, hr.Migrate, hr.Seed,
	}.store()
}

// Finance is finance's database.
func Finance() Store {
	return relational{
		finance.SchemaName, finance.Login, func(db *database.DB) Server { return finance.New(db) }, finance.Migrate, finance.Seed,
	}.store()
}

func (r relational) store() Store {
	return Store{Open: r.open, Migrate: r.update, Demo: r.demo, Owner: true,
		Seed: func(ctx context.Context, db config.Database, c *company.Company) error {
			return r.seed(ctx, db.AdminURL, c)
		}}
}

// open refuses a login that can bypass row-level security.
func (r relational) open(ctx context.Context, db config.Database, links *access.Links) (Server, func() error, error) {
	pool, err := database.Open(ctx, db.URL, &database.Options{Links: links})
	if err != nil {
		return nil, nil, err
	}
	if err := database.SelfCheck(ctx, pool, r.schema); err != nil {
		pool.Close()
		return nil, nil, err
	}
	return r.server(pool), func() error { pool.Close(); return nil }, nil
}

func (r relational) update(ctx context.Context, db config.Database) (string, error) {
	applied, err := r.migrate(ctx, db.AdminURL, passwordOf(db.URL))
	if len(applied) == 0 {
		return "up to date", err
	}
	return "applied " + strings.Join(applied, ", "), err
}

// demo migrates with a new random password, which is kept in memory only.
func (r relational) demo(ctx context.Context, o Engines) (config.Database, error) {
	password := rand.Text()
	if _, err := r.migrate(ctx, o.AdminURL, password); err != nil {
		return config.Database{}, err
	}
	login, err := database.LoginURL(o.AdminURL, r.login, password)
	return config.Database{URL: login, AdminURL: o.AdminURL}, err
}

// passwordOf returns the password in a database URL.
func passwordOf(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.User == nil {
		return ""
	}
	password, _ := u.User.Password()
	return password
}
