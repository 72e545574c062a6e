package dbtest

import (
	"context"
	"testing"

	"github.com/jackc/pgx/v5"
)

// Connect opens one plain connection, for the baseline that a benchmark is
// compared with.
func Connect(b *testing.B, url string) *pgx.Conn {
	b.Helper()
	conn, err := pgx.Connect(b.Context(), url)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = conn.Close(context.Background()) })
	return conn
}

// ReadAll runs a query and reads every value of its rows.
func ReadAll(b *testing.B, conn *pgx.Conn, sql string, values ...any) {
	rows, err := conn.Query(b.Context(), sql, values...)
	if err != nil {
		b.Fatal(err)
	}
	for rows.Next() {
		if _, err := rows.Values(); err != nil {
			b.Fatal(err)
		}
	}
	if rows.Err() != nil {
		b.Fatal(rows.Err())
	}
}

// Vacuum does what the server's autovacuum does within a minute of a bulk load:
// an index can answer alone only what is known to be visible to everyone. The
// checkpoint comes first because these servers commit before they write, and
// what is not written yet is not known to be committed.
func Vacuum(b *testing.B, url string, tables ...string) {
	b.Helper()
	conn := Connect(b, url)
	statements := []string{"checkpoint"}
	for _, table := range tables {
		statements = append(statements, "vacuum analyze "+table)
	}
	for _, statement := range statements {
		if _, err := conn.Exec(b.Context(), statement); err != nil {
			b.Fatal(err)
		}
	}
}
