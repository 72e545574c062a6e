package support

import (
	"context"
	"database/sql"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"countersign.dev/internal/access"
	"countersign.dev/internal/confirm"
	"countersign.dev/internal/fault"
)

//go:embed schema.sql
var schemaSQL string

// SQLite keeps support in a file or in memory. It is safe for concurrent use: one
// connection writes, the others read what was committed.
type SQLite struct {
	write *sql.DB
	read  *sql.DB // in memory: the same single connection
}

// busyTimeout is how long a statement waits for another process's write.
const busyTimeout = 2 * time.Second

// At most maxReads connections read a file, and each keeps cacheSize bytes of it
// in memory.
const (
	cacheSize = 16 << 20
	maxReads  = 8
)

// OpenSQLite opens the file, or makes it; an empty path is a store in memory
// that is gone when it is closed. The schema is made where it is missing.
func OpenSQLite(ctx context.Context, path string) (*SQLite, error) {
	s := &SQLite{}
	var err error
	if s.write, err = openSQLite(path, false); err != nil {
		return nil, err
	}
	s.write.SetMaxOpenConns(1)
	s.read = s.write
	ctx, cancel := bounded(ctx)
	defer cancel()
	if _, err := s.write.ExecContext(ctx, schemaSQL); err != nil {
		return nil, errors.Join(fmt.Errorf("opening the support store: %w", err), s.Close())
	}
	if path == "" {
		return s, nil
	}
	if s.read, err = openSQLite(path, true); err != nil {
		return nil, errors.Join(err, s.write.Close())
	}
	s.read.SetMaxOpenConns(maxReads)
	s.read.SetMaxIdleConns(maxReads)
	return s, nil
}

func openSQLite(path string, readOnly bool) (*sql.DB, error) {
	options := url.Values{"_txlock": {"immediate"}, "_pragma": {
		fmt.Sprintf("busy_timeout(%d)", busyTimeout.Milliseconds()), "journal_mode(WAL)", "foreign_keys(1)", fmt.Sprintf("cache_size(-%d)", cacheSize>>10),
	}}
	if path == "" {
		return sql.Open("sqlite", "file::memory:?"+options.Encode())
	}
	if readOnly {
		options.Add("_pragma", "query_only(1)")
	}
	whole, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	return sql.Open("sqlite", (&url.URL{Scheme: "file", Path: whole, RawQuery: options.Encode()}).String())
}

// Close closes every connection.
func (s *SQLite) Close() error {
	if s.read == s.write {
		return s.write.Close()
	}
	return errors.Join(s.read.Close(), s.write.Close())
}

// querier is what a transaction and a pool have in common.
type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// transaction is the key under which Change carries its transaction.
type transaction struct{ s *SQLite }

// in is where a read runs: in the transaction of the context, when there is one.
func (s *SQLite) in(ctx context.Context) querier {
	if tx, ok := ctx.Value(transaction{s}).(*sql.Tx); ok {
		return tx
	}
	return s.read
}

// Change runs fn in one transaction. It holds the only right to write from its
// start, so that nothing that fn reads can change before its end.
func (s *SQLite) Change(ctx context.Context, fn func(context.Context) error) error {
	ctx, cancel := bounded(ctx)
	defer cancel()
	tx, err := s.write.BeginTx(ctx, nil)
	if err != nil {
		return sqliteFault(ctx, err)
	}
	defer func() { _ = tx.Rollback() }() // after a commit there is nothing to undo
	if err := fn(context.WithValue(ctx, transaction{s}, tx)); err != nil {
		return err
	}
	return sqliteFault(ctx, tx.Commit())
}

// exec runs a statement of a change and returns how many rows it touched.
func (s *SQLite) exec(ctx context.Context, statement string, args ...any) (int64, error) {
	tx, ok := ctx.Value(transaction{s}).(*sql.Tx)
	if !ok {
		return 0, errors.New("a change outside of a transaction")
	}
	result, err := tx.ExecContext(ctx, statement, args...)
	if err != nil {
		return 0, sqliteFault(ctx, err)
	}
	return result.RowsAffected()
}

// Keep writes a receipt into the transaction of the context.
func (s *SQLite) Keep(ctx context.Context, r confirm.Receipt) error {
	_, err := s.exec(ctx, `insert into confirmations (id, owner_issuer, owner_subject, tool, receipt) values (?, ?, ?, ?, ?)`,
		string(r.ID), r.Owner.Issuer, r.Owner.Subject, r.Tool, string(r.Answer))
	return err
}

// Find returns an owner's receipt, byte for byte.
func (s *SQLite) Find(ctx context.Context, owner access.Owner, id confirm.ID) (json.RawMessage, bool, error) {
	ctx, cancel := bounded(ctx)
	defer cancel()
	var receipt string
	err := s.in(ctx).QueryRowContext(ctx, `select receipt from confirmations where id = ? and owner_issuer = ? and owner_subject = ?`,
		string(id), owner.Issuer, owner.Subject).Scan(&receipt)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, false, nil
	}
	return json.RawMessage(receipt), err == nil, sqliteFault(ctx, err)
}

// Ready reads a row of each kind through the index of its words.
func (s *SQLite) Ready(ctx context.Context) error {
	ctx, cancel := bounded(ctx)
	defer cancel()
	for _, table := range []string{"tickets", "articles"} {
		probe := "select exists (select 1 from " + table + "_words w join " + table + " t on t.n = w.rowid)"
		var some bool
		if err := s.read.QueryRowContext(ctx, probe).Scan(&some); err != nil {
			return sqliteFault(ctx, err)
		}
		if !some {
			return fault.ServiceDown.New("The table %s of the support store is empty.", table).Suggest("Seed the store.")
		}
	}
	return nil
}

// sqliteFault turns what the driver says into a fault. The cause is kept for
// the log.
func sqliteFault(ctx context.Context, err error) error {
	var known *fault.Error
	var failed *sqlite.Error
	switch {
	case err == nil || errors.As(err, &known):
		return err
	case ctx.Err() != nil:
		return fault.Timeout.New("The support store did not answer in time.").Because(err)
	case !errors.As(err, &failed): // the pool, not the engine
		return fault.ServiceDown.New("The support store cannot be reached.").Because(err)
	}
	switch failed.Code() & 0xff {
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_INTERRUPT:
		return fault.Timeout.New("The support store was busy for too long.").Because(err)
	case sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_FULL:
		return fault.ServiceDown.New("The support store cannot be reached.").Because(err)
	}
	return fault.DatabaseError.New("The support store could not carry out the request.").Because(err)
}

var _ Store = (*SQLite)(nil)
