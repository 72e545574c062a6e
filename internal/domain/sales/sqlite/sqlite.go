// Package sqlite keeps sales in SQLite, in a file or in memory: the embedded
// store of demos and small installations.
//
// It is simple on purpose: each list is one statement that reads deals in the
// order asked for and filters them, so its cost grows with the table. It is
// meant for [Capacity] deals at most. Start with [Open].
package sqlite

import (
	"context"
	_ "embed"

	"countersign.dev/internal/domain/sales"
	engine "countersign.dev/internal/sqlite"
)

//go:embed schema.sql
var schemaSQL string

// Capacity is how many deals this store is meant for: up to here every list
// stays within about 10 ms. Beyond it lists grow slower with each deal.
const Capacity = 20_000

// Store is a [sales.Store] in SQLite. It is safe for concurrent use.
type Store struct{ *engine.DB }

// Open opens the file, or makes it; an empty path is a store in memory that is
// gone when it is closed. The schema is made where it is missing.
func Open(ctx context.Context, path string) (*Store, error) {
	if err := engine.AddLower(); err != nil {
		return nil, err
	}
	db, err := engine.Open(ctx, "sales", path, schemaSQL)
	if err != nil {
		return nil, err
	}
	return &Store{db}, nil
}

// Ready reads a row of each table.
func (s *Store) Ready(ctx context.Context) error {
	for _, table := range []string{"customers", "deals"} {
		if err := s.Holds(ctx, table, "select exists (select 1 from "+table+")"); err != nil {
			return err
		}
	}
	return nil
}

// Oversize warns of more deals than Capacity.
func (s *Store) Oversize(ctx context.Context) (string, error) {
	return s.DB.Oversize(ctx, "deals", Capacity, "MongoDB")
}

var _ sales.Store = (*Store)(nil)
