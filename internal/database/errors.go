package database

import (
	"context"
	"errors"
	"io"
	"net"
	"net/url"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"countersign.dev/internal/fault"
)

// translate turns a driver's error into a fault. The cause is kept for the log;
// no text of the server reaches a caller.
func translate(err error) error {
	if err == nil {
		return nil
	}
	_, known := errors.AsType[*fault.Error](err)
	server, answered := errors.AsType[*pgconn.PgError](err)
	switch {
	case known:
		return err
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled), pgconn.Timeout(err):
		return fault.Timeout.New("The database did not answer in time.").Because(err)
	case unreachable(err):
		return down(err)
	case answered && server.Code == "57014": // query_canceled
		return fault.Timeout.New("The database stopped the statement because it took too long.").Because(err)
	case answered && isDown(server.Code):
		return down(err)
	case answered && server.Code == "22021": // character_not_in_repertoire
		return fault.WrongInputs(fault.Input{Field: "input", Wrong: "holds a character that no text can have (NUL)", Advice: "Leave it out."}).Because(err)
	}
	return fault.StoreFailed("database", err)
}

func down(err error) error {
	return fault.ServiceDown.New("The database cannot be reached.").Because(err)
}

// unreachable reports whether a connection could not be made or was lost.
func unreachable(err error) bool {
	var connecting *pgconn.ConnectError
	var network net.Error
	return errors.As(err, &connecting) || errors.As(err, &network) ||
		errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, net.ErrClosed) ||
		pgconn.SafeToRetry(err) || strings.Contains(err.Error(), "closed pool")
}

// isDown reports whether a SQLSTATE is about the server and not about the
// statement: connection exceptions, exhausted resources, shutting down.
func isDown(code string) bool {
	return strings.HasPrefix(code, "08") || strings.HasPrefix(code, "53") || strings.HasPrefix(code, "57P")
}

// conflicted reports whether a transaction was aborted only because of another
// one: serialization failure, deadlock.
func conflicted(err error) bool {
	var server *pgconn.PgError
	return errors.As(err, &server) && (server.Code == "40001" || server.Code == "40P01")
}

// unquoted removes the address from an error about it: it may hold a password.
func unquoted(err error) error {
	var parsing *url.Error
	if errors.As(err, &parsing) {
		return parsing.Err
	}
	var config *pgconn.ParseConfigError
	if errors.As(err, &config) {
		return errors.New("it is not a PostgreSQL URL")
	}
	return err
}
