// Package storage is how each domain's data is reached: opened with the rights of
// the application, migrated and seeded with those of the owner, and made for a
// demo. It knows addresses and engines, and nothing of what is served; start with
// [Store].
package storage

import (
	"context"
	"fmt"
	"os"
	"strings"

	"countersign.dev/internal/access"
	"countersign.dev/internal/company"
	"countersign.dev/internal/config"
	"countersign.dev/internal/tool"
)

// Store is how a domain reaches its data.
type Store struct {
	// Open opens the store with the application's rights and returns the server
	// over it. A store that knows people links callers by links.
	Open func(ctx context.Context, db config.Database, links *access.Links) (server Server, closeStore func() error, err error)
	// Migrate creates or updates the schema and returns what it did.
	Migrate func(context.Context, config.Database) (string, error)
	// Seed fills an empty store with the sample company.
	Seed func(context.Context, config.Database, *company.Company) error
	// Demo creates a store in the demo's engines.
	Demo func(context.Context, Engines) (config.Database, error)
	// Owner reports that migrating and seeding need the owner's login.
	Owner bool
}

// Server is what every domain offers.
type Server interface {
	Tools() []tool.Tool
	Receipts() tool.ReceiptStores
	Ready(context.Context) error
}

// Check opens the store as a server does, and reads rows. A missing file is
// reported, because opening would create it.
func (s Store) Check(ctx context.Context, db config.Database) (string, error) {
	if path, ok := sqlitePath(db.URL); ok {
		if _, err := os.Stat(path); err != nil {
			return "", fmt.Errorf(`%w. "countersign migrate" and "seed" make it`, err)
		}
	}
	server, closeStore, err := s.Open(ctx, db, &access.Links{})
	if err != nil {
		return "", err
	}
	defer func() { _ = closeStore() }()
	if err := server.Ready(ctx); err != nil {
		return "", err
	}
	if whole, ok := server.(interface {
		Check(context.Context) (string, error)
	}); ok {
		return whole.Check(ctx)
	}
	warning, err := Oversize(ctx, server)
	if err != nil {
		return "", err
	}
	if warning != "" {
		return "rows were read; warning: " + warning, nil
	}
	return "rows were read", nil
}

// sized is a domain whose store is meant for a limited number of rows.
type sized interface {
	// Oversize returns a sentence for operators when there are more.
	Oversize(context.Context) (string, error)
}

// Oversize returns the warning of a server's store, or nothing.
func Oversize(ctx context.Context, server Server) (string, error) {
	s, ok := server.(sized)
	if !ok {
		return "", nil
	}
	return s.Oversize(ctx)
}

// Engines are the engines of a demo, in which its stores are made.
type Engines struct {
	AdminURL string // administrator of the PostgreSQL
	Folder   string // for SQLite files and indexes
	Issuer   string // that signs people in
	Code     string // a repository for code search; empty: none
}

// sqlitePath returns the file of an address such as sqlite:sales.db.
func sqlitePath(address string) (path string, ok bool) { return strings.CutPrefix(address, "sqlite:") }
