// Package sqlite is the only one that opens SQLite: one connection that writes, a
// few that read committed rows, transactions carried in the context, and the
// receipts of confirmed changes.
//
// It knows no table but that of receipts, and decides nothing about who may see
// what: a store built on it filters its own rows. Start with [Open].
package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"time"

	driver "modernc.org/sqlite"
	codes "modernc.org/sqlite/lib"

	"countersign.dev/internal/access"
	"countersign.dev/internal/confirm"
	"countersign.dev/internal/fault"
)

// DB is a file or a database in memory. It is safe for concurrent use.
type DB struct {
	name    string // of the store in messages: "sales"
	write   *sql.DB
	read    *sql.DB     // in memory: the same single connection
	writers *writerLock // nil: SQLite's own lock only
}

const (
	storeTimeout = 5 * time.Second // bounds a call whose context has no deadline
	busyTimeout  = 2 * time.Second // how long a statement waits for another process's write
	cacheSize    = 16 << 20        // bytes of the file that each connection keeps in memory
	maxReads     = 8               // connections that read a file
)

// receipts is the table of receipts. They are text: a receipt is returned byte
// for byte.
const receipts = `create table if not exists confirmations (
	id text primary key, owner_issuer text not null, owner_subject text not null, tool text not null, receipt text not null
) strict, without rowid`

// Open opens the file, or makes it; an empty path is a database in memory that
// is gone when it is closed. The schema, statements that may run again, and the
// table of receipts are made where they are missing. name is the store's name in
// messages.
//
// A file is readable by its owner only (0600), one that exists too. SQLite gives
// its journals the mode of the file.
func Open(ctx context.Context, name, path, schema string) (*DB, error) {
	if err := keepPrivate(path); err != nil {
		return nil, fmt.Errorf("opening the %s store: %w", name, err)
	}
	db := &DB{name: name}
	var err error
	if db.write, err = open(path, false); err != nil {
		return nil, err
	}
	db.write.SetMaxOpenConns(1)
	db.read = db.write
	ctx, cancel := Bounded(ctx)
	defer cancel()
	if err := db.prepare(ctx, schema); err != nil {
		return nil, errors.Join(fmt.Errorf("opening the %s store: %w", name, err), db.Close())
	}
	if path == "" {
		return db, nil
	}
	if db.read, err = open(path, true); err != nil {
		return nil, errors.Join(err, db.write.Close())
	}
	db.read.SetMaxOpenConns(maxReads)
	db.read.SetMaxIdleConns(maxReads)
	return db, nil
}

// prepare makes the schema. Others may open the file at the same time: the first
// connections change its journal, for which SQLite does not wait.
func (db *DB) prepare(ctx context.Context, schema string) error {
	for {
		_, err := db.write.ExecContext(ctx, schema+";\n"+receipts)
		if err == nil || !busy(err) || ctx.Err() != nil {
			return err
		}
	}
}

// keepPrivate makes the file and its journals readable by their owner only.
func keepPrivate(path string) error {
	if path == "" {
		return nil
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	err = errors.Join(f.Chmod(0o600), f.Close())
	for _, suffix := range []string{"-wal", "-shm"} {
		if e := os.Chmod(path+suffix, 0o600); !errors.Is(e, os.ErrNotExist) {
			err = errors.Join(err, e)
		}
	}
	return err
}

func open(path string, readOnly bool) (*sql.DB, error) {
	options := url.Values{"_txlock": {"immediate"}, "_pragma": {
		fmt.Sprintf("busy_timeout(%d)", busyTimeout.Milliseconds()), "journal_mode(WAL)", "foreign_keys(1)", fmt.Sprintf("cache_size(-%d)", cacheSize>>10),
	}}
	if path == "" {
		return openKeeping("file::memory:?" + options.Encode())
	}
	if readOnly {
		options.Add("_pragma", "query_only(1)")
	}
	whole, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	return openKeeping((&url.URL{Scheme: "file", Path: whole, RawQuery: options.Encode()}).String())
}

// Close closes every connection.
func (db *DB) Close() error {
	if db.read == db.write {
		return errors.Join(db.write.Close(), db.writers.close())
	}
	return errors.Join(db.read.Close(), db.write.Close(), db.writers.close())
}

// Bounded gives a deadline to a call that has none.
func Bounded(ctx context.Context) (context.Context, context.CancelFunc) {
	if _, ok := ctx.Deadline(); ok {
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, storeTimeout)
}

// Querier is what a transaction and a pool have in common.
type Querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// transaction is the key under which Change carries its transaction.
type transaction struct{ db *DB }

// In is where a read runs: in the transaction of the context, when there is one.
func (db *DB) In(ctx context.Context) Querier {
	if tx, ok := ctx.Value(transaction{db}).(*sql.Tx); ok {
		return tx
	}
	return db.read
}

// Change runs fn in one transaction. It holds the write lock from its start, so
// that nothing that fn reads can change before its end.
func (db *DB) Change(ctx context.Context, fn func(context.Context) error) error {
	ctx, cancel := Bounded(ctx)
	defer cancel()
	release, err := db.writers.take(ctx)
	if err != nil {
		return db.Fault(ctx, err)
	}
	defer release()
	return db.change(ctx, fn)
}

// ChangeSoon is Change, unless its turn does not come within a time: then nothing
// runs. before runs in the same turn, outside of the transaction.
func (db *DB) ChangeSoon(ctx context.Context, wait time.Duration, before, fn func(context.Context) error) error {
	waiting, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	release, err := db.writers.take(waiting)
	if waiting.Err() != nil && ctx.Err() == nil {
		if err == nil {
			release()
		}
		return nil
	}
	if err != nil {
		return db.Fault(ctx, err)
	}
	defer release()
	if err := before(ctx); err != nil {
		return err
	}
	return db.change(ctx, fn)
}

// change runs fn in a transaction, when it is its turn.
func (db *DB) change(ctx context.Context, fn func(context.Context) error) error {
	tx, err := db.begin(ctx)
	if err != nil {
		return db.Fault(ctx, err)
	}
	defer func() { _ = tx.Rollback() }() // after a commit there is nothing to undo
	if err := fn(context.WithValue(ctx, transaction{db}, tx)); err != nil {
		return err
	}
	return db.Fault(ctx, tx.Commit())
}

// Changing reports whether the context is that of a transaction of Change, in which no
// other one can begin.
func (db *DB) Changing(ctx context.Context) bool {
	_, ok := ctx.Value(transaction{db}).(*sql.Tx)
	return ok
}

// begin waits for the write lock until the context ends. SQLite itself asks again for
// busyTimeout only, and in no order, so that one of many processes can be passed over
// for longer.
func (db *DB) begin(ctx context.Context) (*sql.Tx, error) {
	for {
		tx, err := db.write.BeginTx(ctx, nil)
		if err == nil || !busy(err) || ctx.Err() != nil {
			return tx, err
		}
	}
}

// busy reports whether another process had the lock.
func busy(err error) bool {
	var failed *driver.Error
	return errors.As(err, &failed) && failed.Code()&0xff == codes.SQLITE_BUSY
}

// Snapshot runs fn over one state of the database: what it reads agrees, whatever
// others write meanwhile. In the transaction of Change it reads there.
func (db *DB) Snapshot(ctx context.Context, fn func(context.Context) error) error {
	if _, ok := ctx.Value(transaction{db}).(*sql.Tx); ok {
		return fn(ctx)
	}
	ctx, cancel := Bounded(ctx)
	defer cancel()
	tx, err := db.read.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return db.Fault(ctx, err)
	}
	defer func() { _ = tx.Rollback() }() // it has changed nothing
	return fn(context.WithValue(ctx, transaction{db}, tx))
}

// Backup writes a copy of the database, as it is now, into a file that does not exist.
func (db *DB) Backup(ctx context.Context, file string) error {
	_, err := db.write.ExecContext(ctx, "vacuum into ?", file)
	return db.Fault(ctx, err)
}

// Begin starts a transaction for filling a store; its caller ends it.
func (db *DB) Begin(ctx context.Context) (*sql.Tx, error) {
	tx, err := db.write.BeginTx(ctx, nil)
	return tx, db.Fault(ctx, err)
}

// Exec runs a statement of a change and returns how many rows it touched. It
// works only inside Change.
func (db *DB) Exec(ctx context.Context, statement string, args ...any) (int64, error) {
	tx, ok := ctx.Value(transaction{db}).(*sql.Tx)
	if !ok {
		return 0, errors.New("a change outside of a transaction")
	}
	result, err := tx.ExecContext(ctx, statement, args...)
	if err != nil {
		return 0, db.Fault(ctx, err)
	}
	return result.RowsAffected()
}

// ExecOne runs a statement that changes one row while it is as it was seen. One
// that changes none is CONFIRMATION_STALE.
func (db *DB) ExecOne(ctx context.Context, statement string, args ...any) error {
	return db.ExecAll(ctx, 1, statement, args...)
}

// ExecAll is ExecOne for so many rows: when it changes fewer or more, the answer is CONFIRMATION_STALE.
func (db *DB) ExecAll(ctx context.Context, rows int, statement string, args ...any) error {
	n, err := db.Exec(ctx, statement, args...)
	if err == nil && n != int64(rows) {
		err = confirm.Stale()
	}
	return err
}

// Keep writes a receipt in the transaction of the context. A second one of the
// same id fails and rolls its change back.
func (db *DB) Keep(ctx context.Context, r confirm.Receipt) error {
	_, err := db.Exec(ctx, `insert into confirmations (id, owner_issuer, owner_subject, tool, receipt) values (?, ?, ?, ?, ?)`,
		string(r.ID), r.Owner.Issuer, r.Owner.Subject, r.Tool, string(r.Answer))
	return err
}

// Find returns an owner's receipt, byte for byte.
func (db *DB) Find(ctx context.Context, owner access.Owner, id confirm.ID) (json.RawMessage, bool, error) {
	ctx, cancel := Bounded(ctx)
	defer cancel()
	var receipt string
	err := db.In(ctx).QueryRowContext(ctx, `select receipt from confirmations where id = ? and owner_issuer = ? and owner_subject = ?`,
		string(id), owner.Issuer, owner.Subject).Scan(&receipt)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, false, nil
	}
	return json.RawMessage(receipt), err == nil, db.Fault(ctx, err)
}

// Each reads rows to their end and closes them. err is that of the query.
func (db *DB) Each(ctx context.Context, rows *sql.Rows, err error, read func() error) error {
	if err != nil {
		return db.Fault(ctx, err)
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		if err := read(); err != nil {
			return db.Fault(ctx, err)
		}
	}
	return db.Fault(ctx, rows.Err())
}

// Holds checks that a probe, `select exists (…)`, finds a row in a table. When it
// does not, the error is SERVICE_UNAVAILABLE with the table's name: an empty store
// is not ready.
func (db *DB) Holds(ctx context.Context, table, probe string) error {
	ctx, cancel := Bounded(ctx)
	defer cancel()
	var some bool
	if err := db.read.QueryRowContext(ctx, probe).Scan(&some); err != nil {
		return db.Fault(ctx, err)
	}
	if !some {
		return fault.ServiceDown.New("The table %s of the %s store is empty.", table, db.name).Suggest(`Run "countersign seed" for the sample company, or restore a backup.`)
	}
	return nil
}

// Oversize returns a warning for operators when a table has more rows than the
// store is meant for. instead names the kind of store that is meant for more.
func (db *DB) Oversize(ctx context.Context, table string, capacity int, instead string) (string, error) {
	ctx, cancel := Bounded(ctx)
	defer cancel()
	var rows int
	if err := db.read.QueryRowContext(ctx, "select count(*) from "+table).Scan(&rows); err != nil {
		return "", db.Fault(ctx, err)
	}
	if rows <= capacity {
		return "", nil
	}
	return fmt.Sprintf("The embedded %s store has %d %s and is meant for %d at most: its lists become slow. Use %s.",
		db.name, rows, table, capacity, instead), nil
}

// Fault turns a driver's error into a fault. The cause is kept for the log.
func (db *DB) Fault(ctx context.Context, err error) error {
	var known *fault.Error
	var failed *driver.Error
	switch {
	case err == nil || errors.As(err, &known):
		return err
	case ctx.Err() != nil:
		return fault.Timeout.New("The %s store did not answer in time.", db.name).Because(err)
	case !errors.As(err, &failed): // the pool, not the engine
		return fault.ServiceDown.New("The %s store cannot be reached.", db.name).Because(err)
	}
	switch failed.Code() & 0xff {
	case codes.SQLITE_BUSY, codes.SQLITE_LOCKED, codes.SQLITE_INTERRUPT:
		return fault.Timeout.New("The %s store was busy for too long.", db.name).Because(err)
	case codes.SQLITE_CANTOPEN, codes.SQLITE_IOERR, codes.SQLITE_NOTADB, codes.SQLITE_CORRUPT, codes.SQLITE_FULL:
		return fault.ServiceDown.New("The %s store cannot be reached.", db.name).Because(err)
	}
	return fault.StoreFailed(db.name+" store", err)
}
