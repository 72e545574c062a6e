package database

import (
	"context"
	"fmt"
	"iter"
	"strings"

	"github.com/jackc/pgx/v5"
)

// Seeder fills a schema with the administrator's login, in one transaction.
type Seeder struct{ tx pgx.Tx }

// Seed runs fill in one transaction of the administrator's login. Two programs
// that seed at once wait for each other. No tool may use it: there is no
// principal.
func Seed(ctx context.Context, adminURL string, fill func(context.Context, *Seeder) error) error {
	return Admin(ctx, adminURL, func(ctx context.Context, tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, `select pg_advisory_xact_lock(hashtext('countersign seeding'))`); err != nil {
			return err
		}
		return fill(ctx, &Seeder{tx})
	})
}

// Ask runs a statement that returns a boolean.
func (s *Seeder) Ask(ctx context.Context, sql string, args ...any) (yes bool, err error) {
	err = s.tx.QueryRow(ctx, sql, args...).Scan(&yes)
	return yes, err
}

// Exec runs a statement.
func (s *Seeder) Exec(ctx context.Context, sql string, args ...any) error {
	_, err := s.tx.Exec(ctx, sql, args...)
	return err
}

// Copy adds rows to a table, named schema.table, by COPY. It goes through a
// temporary table, because COPY is refused on a table that forces its policies
// on its owner too.
func (s *Seeder) Copy(ctx context.Context, table string, columns []string, rows [][]any) error {
	return s.copyFrom(ctx, table, columns, pgx.CopyFromRows(rows))
}

// Fill is [Seeder.Copy] for rows from an iterator: memory does not grow with the
// number of rows.
func Fill[T any](ctx context.Context, s *Seeder, table string, columns []string, rows iter.Seq[T], values func(T) []any) error {
	next, stop := iter.Pull(rows)
	defer stop()
	return s.copyFrom(ctx, table, columns, pgx.CopyFromFunc(func() ([]any, error) {
		if row, more := next(); more {
			return values(row), nil
		}
		return nil, nil
	}))
}

func (s *Seeder) copyFrom(ctx context.Context, table string, columns []string, rows pgx.CopyFromSource) error {
	schema, name, _ := strings.Cut(table, ".")
	target := pgx.Identifier{schema, name}.Sanitize()
	staging := pgx.Identifier{"staging_" + name}
	quoted := make([]string, len(columns))
	for i, column := range columns {
		quoted[i] = pgx.Identifier{column}.Sanitize()
	}
	list := strings.Join(quoted, ", ")
	if err := s.Exec(ctx, fmt.Sprintf(`create temporary table %s on commit drop as select %s from %s with no data`, staging.Sanitize(), list, target)); err != nil {
		return fmt.Errorf("staging %s: %w", table, err)
	}
	if _, err := s.tx.CopyFrom(ctx, staging, columns, rows); err != nil {
		return fmt.Errorf("copying into %s: %w", table, err)
	}
	if err := s.Exec(ctx, fmt.Sprintf(`insert into %s (%s) select %s from %s`, target, list, list, staging.Sanitize())); err != nil {
		return fmt.Errorf("filling %s: %w", table, err)
	}
	return nil
}
