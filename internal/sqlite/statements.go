package sqlite

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"

	engine "modernc.org/sqlite"
)

// The statements that a connection keeps compiled: most of a small change is
// otherwise spent on compiling it with its triggers.
const (
	maxStatements = 64
	maxText       = 4 << 10 // bytes of one; a schema is longer, and runs once
)

// openKeeping is sql.Open with connections that keep their statements.
func openKeeping(dsn string) (*sql.DB, error) {
	c, err := engine.NewConnector(dsn)
	if err != nil {
		return nil, err
	}
	return sql.OpenDB(connector{c}), nil
}

type connector struct{ driver.Connector }

// Connect opens a connection.
func (c connector) Connect(ctx context.Context) (driver.Conn, error) {
	opened, err := c.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	works, ok := opened.(engineConn)
	pooled, also := opened.(poolConn)
	if !ok || !also {
		return nil, errors.Join(fmt.Errorf("%T is no connection of SQLite", opened), opened.Close())
	}
	return &conn{works, pooled, map[string]*statement{}}, nil
}

// engineConn and poolConn are what database/sql uses of a connection.
type (
	engineConn interface {
		driver.Conn
		driver.ConnBeginTx
		driver.ExecerContext
		driver.QueryerContext
	}
	poolConn interface {
		driver.SessionResetter
		driver.Validator
	}
)

// conn is a connection with its statements by their texts. database/sql lets one
// goroutine at a time use it.
type conn struct {
	engineConn
	poolConn
	statements map[string]*statement
}

type statement struct {
	engineStatement
	reading bool // its rows are not closed
}

type engineStatement interface {
	driver.Stmt
	driver.StmtExecContext
	driver.StmtQueryContext
}

// statement returns the compiled statement of a text, or nil when it is compiled for
// one use: another one reads its rows, or there are too many.
func (c *conn) statement(text string) *statement {
	if s, kept := c.statements[text]; kept {
		if s.reading {
			return nil
		}
		return s
	}
	if len(c.statements) >= maxStatements || len(text) > maxText {
		return nil
	}
	prepared, err := c.Prepare(text)
	if err != nil {
		return nil // compiled again, it says why
	}
	s := &statement{engineStatement: prepared.(engineStatement)}
	c.statements[text] = s
	return s
}

// ExecContext runs a statement that returns no rows.
func (c *conn) ExecContext(ctx context.Context, text string, args []driver.NamedValue) (driver.Result, error) {
	if s := c.statement(text); s != nil {
		return s.ExecContext(ctx, args)
	}
	return c.engineConn.ExecContext(ctx, text, args)
}

// QueryContext runs a statement that returns rows.
func (c *conn) QueryContext(ctx context.Context, text string, args []driver.NamedValue) (driver.Rows, error) {
	s := c.statement(text)
	if s == nil {
		return c.engineConn.QueryContext(ctx, text, args)
	}
	found, err := s.QueryContext(ctx, args)
	if err != nil {
		return nil, err
	}
	s.reading = true
	return &rows{found, s}, nil
}

// Close closes the statements and the connection.
func (c *conn) Close() error {
	var failed []error
	for _, s := range c.statements {
		failed = append(failed, s.Close())
	}
	return errors.Join(append(failed, c.engineConn.Close())...)
}

// rows are those of a kept statement.
type rows struct {
	driver.Rows
	of *statement
}

// Close lets the statement be used again.
func (r *rows) Close() error {
	r.of.reading = false
	return r.Rows.Close()
}
