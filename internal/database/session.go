package database

import (
	"context"
	"errors"
	"reflect"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"countersign.dev/internal/access"
	"countersign.dev/internal/fault"
)

// Rows runs a statement for the principal in ctx and returns its rows. A struct
// T is filled by column name (or `db` tag), anything else from the one column.
// Outside [DB.Change] and [DB.Read] the call is a read-only transaction of its
// own, in one round trip. It fails with UNAUTHENTICATED without a principal, or
// with SERVICE_UNAVAILABLE, TIMEOUT or DATABASE_ERROR.
func Rows[T any](ctx context.Context, db *DB, sql string, args ...any) ([]T, error) {
	var out []T
	err := db.run(ctx, sql, args, func(rows pgx.Rows) (err error) {
		out, err = pgx.CollectRows(rows, scanner[T]())
		return err
	})
	return out, err
}

// Row is [Rows] for a statement that finds one row or none.
func Row[T any](ctx context.Context, db *DB, sql string, args ...any) (row T, found bool, err error) {
	rows, err := Rows[T](ctx, db, sql, args...)
	if err != nil || len(rows) == 0 {
		return row, false, err
	}
	return rows[0], true, nil
}

// Exec runs a statement that changes rows, and returns how many. It works only
// inside [DB.Change].
func Exec(ctx context.Context, db *DB, sql string, args ...any) (changed int64, err error) {
	if s := db.transaction(ctx); s == nil || !s.writable {
		return 0, errors.New("a statement that changes rows ran outside Change")
	}
	err = db.run(ctx, sql, args, func(rows pgx.Rows) error {
		rows.Close()
		changed = rows.CommandTag().RowsAffected()
		return rows.Err()
	})
	return changed, err
}

// ExecOne is [ExecAll] for one row.
func ExecOne(ctx context.Context, db *DB, sql string, args ...any) error {
	return ExecAll(ctx, db, sql, 1, args...)
}

// ExecAll is [Exec] for a statement that must change that many rows. When it
// changes others, the tool's roles or its preview and the store disagree:
// OPERATION_FAILED.
func ExecAll(ctx context.Context, db *DB, sql string, rows int, args ...any) error {
	changed, err := Exec(ctx, db, sql, args...)
	if err == nil && changed != int64(rows) {
		err = fault.OperationFailed.New("The record could not be changed. Nothing was changed.")
	}
	return err
}

// Probe runs a statement that returns a boolean, without a principal. The
// policies show it no row, so it can only call a function of the schema that is
// open to everyone. A readiness check uses it to see that the store has data.
func Probe(ctx context.Context, db *DB, sql string) (yes bool, err error) {
	ctx, cancel := db.bounded(ctx)
	defer cancel()
	err = db.pool.QueryRow(ctx, sql).Scan(&yes)
	return yes, translate(err)
}

func scanner[T any]() pgx.RowToFunc[T] {
	t := reflect.TypeFor[T]()
	if t.Kind() == reflect.Struct && t != reflect.TypeFor[time.Time]() {
		return pgx.RowToStructByName[T]
	}
	return pgx.RowTo[T]
}

// transaction is one of several statements, carried in the context. It begins
// with its first statement, in the same round trip.
type transaction struct {
	conn     *pgxpool.Conn
	who      *access.Principal
	begin    string // how it begins; empty once it has
	writable bool

	committed []func(context.Context) // run after the commit
}

type transactionKey struct{ db *DB }

func (db *DB) transaction(ctx context.Context) *transaction {
	s, _ := ctx.Value(transactionKey{db}).(*transaction)
	return s
}

// Read runs fn in one snapshot. The context that fn gets carries the transaction;
// fn must not use it from several goroutines.
func (db *DB) Read(ctx context.Context, fn func(ctx context.Context) error) error {
	if db.transaction(ctx) != nil {
		return fn(ctx)
	}
	return db.within(ctx, "begin isolation level repeatable read, read only", false, fn)
}

// Change runs fn in one writable transaction: everything that fn does with the
// context it gets belongs to it, and an error undoes all of it. Rows that were
// read with [ForUpdate] stay locked until the end. A transaction that the
// server aborts because of a conflict with another one is run once more, so fn
// must be safe to run twice. Inside another Change it joins that transaction.
func (db *DB) Change(ctx context.Context, fn func(ctx context.Context) error) error {
	if s := db.transaction(ctx); s != nil {
		if !s.writable {
			return errors.New("a change began inside a read")
		}
		return fn(ctx)
	}
	err := db.within(ctx, "begin read write", true, fn)
	if conflicted(err) && pause(ctx, retryPause) {
		err = db.within(ctx, "begin read write", true, fn)
	}
	return err
}

// retryPause lets the other transaction of a conflict end before this one is run
// again: begun at once, it may take the same lock before the other one wakes up.
const retryPause = 25 * time.Millisecond

// pause waits, and reports whether there is still time for more.
func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// ForUpdate is the clause that locks the rows that a statement reads, of the
// named tables or of all: inside [DB.Change] only. Elsewhere it is empty.
func ForUpdate(ctx context.Context, db *DB, of ...string) string {
	if s := db.transaction(ctx); s == nil || !s.writable {
		return ""
	}
	if len(of) == 0 {
		return " for update"
	}
	return " for update of " + strings.Join(of, ", ")
}

// within opens a transaction, runs fn in it and ends it; then it runs what
// [OnCommit] added.
func (db *DB) within(ctx context.Context, begin string, writable bool, fn func(context.Context) error) error {
	who, err := access.From(ctx)
	if err != nil {
		return err
	}
	s := &transaction{who: who, begin: begin, writable: writable}
	if err := db.transact(ctx, s, fn); err != nil {
		return err
	}
	for _, do := range s.committed {
		do(context.WithoutCancel(ctx))
	}
	return nil
}

func (db *DB) transact(ctx context.Context, s *transaction, fn func(context.Context) error) (err error) {
	ctx, cancel := db.bounded(ctx)
	defer cancel()
	if err := db.link(ctx, s.who); err != nil {
		return err
	}
	if s.conn, err = db.pool.Acquire(ctx); err != nil {
		return translate(err)
	}
	defer s.conn.Release() // a connection that is still in a transaction is closed
	if err := fn(context.WithValue(ctx, transactionKey{db}, s)); err != nil {
		s.undo(ctx)
		return err
	}
	return s.commit(ctx)
}

// OnCommit runs do after the transaction in ctx was committed, and not when it
// was undone. Outside of one it does nothing.
func OnCommit(ctx context.Context, db *DB, do func(context.Context)) {
	if s := db.transaction(ctx); s != nil {
		s.committed = append(s.committed, do)
	}
}

// commit ends a transaction. When a statement of it failed, the server answers
// the commit with a rollback and no error.
func (s *transaction) commit(ctx context.Context) error {
	if s.begin != "" {
		return nil // no statement was sent
	}
	tag, err := s.conn.Exec(ctx, "commit")
	if err != nil {
		return translate(err)
	}
	if tag.String() != "COMMIT" {
		return translate(pgx.ErrTxCommitRollback)
	}
	return nil
}

func (s *transaction) undo(ctx context.Context) {
	if s.begin != "" {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	_, _ = s.conn.Exec(ctx, "rollback") // a connection that cannot roll back is closed
}

// run sends a statement, after the identity if the transaction has none yet, and
// passes its rows to collect.
func (db *DB) run(ctx context.Context, sql string, args []any, collect func(pgx.Rows) error) error {
	who, err := access.From(ctx)
	if err != nil {
		return err
	}
	if s := db.transaction(ctx); s != nil {
		return s.run(ctx, who, sql, args, collect)
	}
	ctx, cancel := db.bounded(ctx)
	defer cancel()
	if err := db.link(ctx, who); err != nil {
		return err
	}
	conn, err := db.pool.Acquire(ctx)
	if err != nil {
		return translate(err)
	}
	defer conn.Release()
	batch := &pgx.Batch{}
	batch.Queue(identify, identity(who, "on")...)
	return send(ctx, conn, batch, sql, args, collect)
}

func (s *transaction) run(ctx context.Context, who *access.Principal, sql string, args []any, collect func(pgx.Rows) error) error {
	if who != s.who {
		return errors.New("the principal changed inside a transaction")
	}
	batch := &pgx.Batch{}
	if s.begin != "" {
		readOnly := "on"
		if s.writable {
			readOnly = "off"
		}
		batch.Queue(s.begin)
		batch.Queue(identify, identity(who, readOnly)...)
		s.begin = ""
	}
	return send(ctx, s.conn, batch, sql, args, collect)
}
