// Package sqlite keeps support in SQLite with FTS5, in a file or in memory: the
// embedded store of demos and small installations.
//
// It is simple on purpose: a search with words ranks each row that has them, a
// list without words reads rows newest first and filters them, so the cost of
// both grows with the table. It is meant for [Capacity] tickets and as many
// articles at most. Start with [Open].
package sqlite

import (
	"context"
	_ "embed"
	"errors"

	"countersign.dev/internal/domain/support"
	engine "countersign.dev/internal/sqlite"
)

//go:embed schema.sql
var schemaSQL string

// Capacity is how many tickets, and how many articles, this store is meant for:
// up to here a search stays within about 10 ms, unless nearly every row has its
// words. Beyond it searches grow slower with each row.
const Capacity = 10_000

// Store is a [support.Store] in SQLite. It is safe for concurrent use.
type Store struct{ *engine.DB }

// Open opens the file, or makes it; an empty path is a store in memory that is
// gone when it is closed. The schema is made where it is missing, all of it or a part.
func Open(ctx context.Context, path string) (*Store, error) {
	db, err := engine.Open(ctx, "support", path, schemaSQL)
	if err != nil {
		return nil, err
	}
	s := &Store{db}
	if err := s.upgrade(ctx); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// upgrade adds the column that the files of earlier versions lack.
func (s *Store) upgrade(ctx context.Context) error {
	if added, err := s.hasClosedAt(ctx); added || err != nil {
		return err
	}
	return s.Change(ctx, func(ctx context.Context) error {
		if added, err := s.hasClosedAt(ctx); added || err != nil { // by another process, since
			return err
		}
		_, err := s.Exec(ctx, `alter table tickets add column closed_at integer`)
		return err
	})
}

func (s *Store) hasClosedAt(ctx context.Context) (has bool, err error) {
	err = s.In(ctx).QueryRowContext(ctx, `select exists (select 1 from pragma_table_info('tickets') where name = 'closed_at')`).Scan(&has)
	return has, s.Fault(ctx, err)
}

// Ready reads a row of each table through the index of its words.
func (s *Store) Ready(ctx context.Context) error {
	for _, table := range []string{"tickets", "articles"} {
		probe := "select exists (select 1 from " + table + "_words w join " + table + " t on t.n = w.rowid)"
		if err := s.Holds(ctx, table, probe); err != nil {
			return err
		}
	}
	return nil
}

// Oversize warns of more tickets or more articles than Capacity.
func (s *Store) Oversize(ctx context.Context) (string, error) {
	for _, table := range []string{"tickets", "articles"} {
		if warning, err := s.DB.Oversize(ctx, table, Capacity, "Elasticsearch or OpenSearch"); warning != "" || err != nil {
			return warning, err
		}
	}
	return "", nil
}

var _ support.Store = (*Store)(nil)
