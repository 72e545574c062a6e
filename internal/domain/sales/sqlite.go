package sales

import (
	"context"
	_ "embed"

	"countersign.dev/internal/sqlite"
)

//go:embed schema.sql
var schemaSQL string

// SQLite keeps sales in a file or in memory. It is safe for concurrent use.
type SQLite struct {
	*sqlite.DB
	walked int // entries
}

// OpenSQLite opens the file, or makes it; an empty path is a store in memory
// that is gone when it is closed. The schema is made where it is missing.
func OpenSQLite(ctx context.Context, path string) (*SQLite, error) {
	db, err := sqlite.Open(ctx, "sales", path, schemaSQL)
	if err != nil {
		return nil, err
	}
	return &SQLite{db, walked}, nil
}

// Ready reads a row of each table.
func (s *SQLite) Ready(ctx context.Context) error {
	for _, table := range []string{"customers", "deals"} {
		if err := s.Holds(ctx, table, "select exists (select 1 from "+table+")"); err != nil {
			return err
		}
	}
	return nil
}

var _ Store = (*SQLite)(nil)
