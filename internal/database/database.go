package database

import (
	"context"
	"fmt"
	"net/url"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"countersign.dev/internal/access"
	"countersign.dev/internal/admission"
)

// Options tunes a pool. The zero value is a good default.
type Options struct {
	MaxConns int           // connections at most; 0: 10
	Timeout  time.Duration // of a call whose context has no deadline; 0: 15 s
	Links    *access.Links // of callers to people; nil: no schema that was migrated is behind the pool
}

// DB is a pool of connections of one domain's login. It is safe for concurrent
// use; it hands out no connection, only calls that are bound to a principal.
type DB struct {
	pool    *pgxpool.Pool
	timeout time.Duration
	links   *access.Links
}

// Open reads the URL and makes a pool; it connects when it is first used. A URL
// that cannot be read is an error, and is not repeated in it: it may hold a
// password.
func Open(ctx context.Context, address string, o *Options) (*DB, error) {
	if o == nil {
		o = &Options{}
	}
	config, err := pgxpool.ParseConfig(address)
	if err != nil {
		return nil, fmt.Errorf("reading the database URL: %w", unquoted(err))
	}
	config.MaxConns = 10
	if o.MaxConns > 0 {
		config.MaxConns = int32(o.MaxConns)
	}
	config.MaxConnIdleTime = 5 * time.Minute
	config.ConnConfig.ConnectTimeout = 5 * time.Second
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, fmt.Errorf("making the pool: %w", err)
	}
	db := &DB{pool: pool, timeout: 15 * time.Second, links: o.Links}
	if o.Timeout > 0 {
		db.timeout = o.Timeout
	}
	return db, nil
}

// Close waits for the calls under way and closes every connection.
func (db *DB) Close() { db.pool.Close() }

// bounded gives a deadline to a call that has none.
func (db *DB) bounded(ctx context.Context) (context.Context, context.CancelFunc) {
	return admission.Bounded(ctx, db.timeout)
}

// LoginURL is the administrator's URL with another login and password: how a
// program that has just made a login with [Migrate] reaches the same database
// with it.
func LoginURL(adminURL, login, password string) (string, error) {
	u, err := url.Parse(adminURL)
	if err != nil {
		return "", fmt.Errorf("reading the database URL: %w", unquoted(err))
	}
	u.User = url.User(login)
	if password != "" {
		u.User = url.UserPassword(login, password)
	}
	return u.String(), nil
}
